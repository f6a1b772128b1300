/**
 * The few programs of the host that the Docker runtime starts: `ldd` to learn what a binary needs, Maven and `jlink` for
 * brokers that run on Java, and the reaper.
 */
import { accessSync, constants } from 'node:fs';
import { Socket } from 'node:net';
import { delimiter, join } from 'node:path';
import { execa } from 'execa';

/** Where a tool of the administrator lies, though an ordinary user's PATH does not name the place. */
const systemDirectories = ['/usr/sbin', '/sbin', '/usr/local/sbin', '/usr/bin', '/bin'];

/** The path of an executable, or null. */
export function findTool(name: string, searchPath: string = process.env['PATH'] ?? ''): string | null {
  const directories = [...searchPath.split(delimiter).filter((directory) => directory !== ''), ...systemDirectories];
  for (const directory of directories) {
    const path = join(directory, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      continue;
    }
  }
  return null;
}

/** The absolute paths of the shared libraries that a binary loads, its loader among them. */
export async function sharedLibraries(binary: string): Promise<string[]> {
  const { stdout, failed } = await execa('ldd', [binary], { reject: false });
  if (failed) throw new Error(`${binary} is no program that ldd understands: put another one before it in PATH`);
  const missing = /^\s*(\S+) => not found/m.exec(stdout);
  if (missing) throw new Error(`${binary} needs ${missing[1]}, which this machine does not have`);
  return librariesIn(stdout);
}

/** The same for libraries that find some others only once they are loaded: what is found. */
export async function sharedLibrariesOfAll(binaries: readonly string[]): Promise<string[]> {
  const { stdout } = await execa('ldd', binaries, { reject: false });
  return [...new Set(librariesIn(stdout))];
}

function librariesIn(output: string): string[] {
  return [...output.matchAll(/(?:=> |^\s+)(\/\S+)(?= \()/gm)].map((match) => match[1]!);
}

interface ToolOptions {
  readonly cwd?: string;
  readonly timeoutMs: number;
  /** Ends the program. */
  readonly signal?: AbortSignal;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Runs a program to its end: whether it failed, and all that it said on either output. */
export async function runTool(
  program: string,
  args: readonly string[],
  { cwd, timeoutMs, signal, environment }: ToolOptions,
): Promise<{ readonly failed: boolean; readonly output: string }> {
  const outcome = await execa(program, args, {
    all: true,
    reject: false,
    stdin: 'ignore',
    timeout: timeoutMs,
    ...(cwd === undefined ? {} : { cwd }),
    ...(signal === undefined ? {} : { cancelSignal: signal }),
    ...(environment === undefined ? {} : { env: environment }),
  });
  return { failed: outcome.failed, output: outcome.all };
}

/** A process of its own session that lives on when this one dies. Its standard input is a pipe from this process. */
export function spawnDetached(program: string, args: readonly string[]): { readonly end: (word: string) => void } {
  const child = execa(process.execPath, [program, ...args], {
    detached: true,
    cleanup: false,
    reject: false,
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'ignore',
  });
  child.stdin.on('error', () => {
    // The reaper is gone already; there is nobody left to tell.
  });
  child.nodeChildProcess.unref();
  // The pipe is a socket to Node, whatever its type says: it must not keep this process alive either.
  if (child.stdin instanceof Socket) child.stdin.unref();
  return { end: (word) => child.stdin.end(word) };
}
