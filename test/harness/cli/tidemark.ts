/**
 * The tool as a user meets it: the launcher as a child process, its two streams, its exit code.
 *
 * Each caller gets a folder for temporary files of its own, so that what a run leaves can be told from what others
 * leave, and every child is bounded.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { userInfo } from 'node:os';
import { processesOfRun } from '../../../harness/local/proc.ts';

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
  /** What was said on standard error, line by line. */
  readonly lines: readonly string[];
}

export interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Resolves with the first line on standard error that matches; rejects if the command ends before. */
  said(pattern: RegExp): Promise<string>;
  readonly ended: Promise<Ended>;
}

interface Surroundings {
  readonly env?: Readonly<Record<string, string>>;
  /** Which Node starts the launcher. */
  readonly node?: string;
  /** Where standard output goes, if it is not to be read. */
  readonly stdout?: number;
  /** After which it is killed. */
  readonly boundMs?: number;
}

const BOUND_MS = 90_000;

export function start(
  argv: readonly string[],
  { env = {}, node = process.execPath, stdout, boundMs = BOUND_MS }: Surroundings = {},
): Running {
  const child = spawn(node, ['harness/main.mjs', ...argv], {
    stdio: ['ignore', stdout ?? 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0', ...env },
    timeout: boundMs,
    killSignal: 'SIGKILL',
  });
  let out = '';
  let err = '';
  const waiting = new Set<() => void>();
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    err += text;
    for (const look of waiting) look();
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, out, err, lines: err.trimEnd().split('\n') }));
  });
  return {
    child,
    pid: child.pid ?? 0,
    ended,
    said(pattern) {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      const look = (): void => {
        const line = err.split('\n').find((each) => pattern.test(each));
        if (line === undefined) return;
        waiting.delete(look);
        resolve(line);
      };
      waiting.add(look);
      look();
      void ended.then(() => reject(new Error(`the command ended without a line like ${pattern}:\n${err}`)));
      return promise;
    },
  };
}

export function tidemark(argv: readonly string[], surroundings?: Surroundings): Promise<Ended> {
  return start(argv, surroundings).ended;
}

/** What local runs with this folder for temporary files have on the machine: folders and processes. */
export function localLeftovers(temporary: string): string[] {
  const root = join(temporary, `tidemark-local-${userInfo().uid}`);
  if (!existsSync(root)) return [];
  return readdirSync(root).flatMap((run) => [run, ...processesOfRun(run).map((pid) => `${run}: process ${pid}`)]);
}

/** Waits until what another process is doing shows in the file system or the process table: neither can be subscribed to. */
export async function until(condition: () => boolean, boundMs = 15_000): Promise<void> {
  const deadline = performance.now() + boundMs;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`not within ${boundMs} ms: ${condition.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The lines of a JSONL file; a torn last line, as a killed process may leave it, is left out. */
export function jsonLines(path: string): Record<string, unknown>[] {
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}
