/**
 * The Docker engine: whether there is one that can carry pods here, and why not.
 *
 * A probe that fails names one of a few problems in one line, so that the harness can say it and use local processes.
 * Nothing is left behind. The last check is made with a real network: if its
 * gateway is an address of this machine, then pods can be reached from here; if it is not, then the engine lives in
 * another network (a virtual machine, a rootless engine, another host), or we do.
 */
import { readFileSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { randomBytes } from 'node:crypto';
import type { Engine } from './client.ts';
import { connectEngine, reason, socketPath } from './client.ts';
import { findTool } from './host.ts';
import { runLabels } from './labels.ts';
import { createNetwork } from './network.ts';

export type EngineProblem = 'no-nft' | 'no-socket' | 'socket-denied' | 'no-answer' | 'inside-container' | 'unreachable';

export type EngineProbe =
  | { readonly ok: true; readonly version: string }
  | { readonly ok: false; readonly problem: EngineProblem; readonly line: string };

export interface ProbeOptions {
  /** Instead of the variable `DOCKER_HOST`. */
  readonly dockerHost?: string;
  readonly timeoutMs?: number;
  /** Finds a program on this machine. */
  readonly find?: (tool: string) => string | null;
}

/** Can pods be run here, with the engine that `DOCKER_HOST` names or the one of this machine? */
export async function probeEngine(options: ProbeOptions = {}): Promise<EngineProbe> {
  const timeoutMs = options.timeoutMs ?? 5_000;
  const socket = socketPath(options.dockerHost);
  try {
    if (socket !== null) await touchSocket(socket, timeoutMs);
    const engine = await connectEngine(options.dockerHost);
    const version = await answer(engine, timeoutMs);
    if ((options.find ?? findTool)('nft') === null) {
      throw new Problem(
        'no-nft',
        'no `nft` on this machine, which pods need to be cut off from each other (package nftables)',
      );
    }
    if (await runsInside(engine)) {
      throw new Problem('inside-container', 'this process itself runs inside of a container of the Docker engine');
    }
    await reachable(engine);
    return { ok: true, version };
  } catch (error) {
    if (error instanceof Problem) return { ok: false, problem: error.problem, line: error.message };
    return { ok: false, problem: 'no-answer', line: `the Docker engine answers with an error: ${reason(error)}` };
  }
}

class Problem extends Error {
  readonly problem: EngineProblem;
  constructor(problem: EngineProblem, line: string) {
    super(line);
    this.problem = problem;
  }
}

function touchSocket(path: string, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ path, timeout: timeoutMs });
    socket.once('connect', () => {
      socket.destroy();
      resolve();
    });
    socket.once('timeout', () => {
      socket.destroy();
      reject(new Problem('no-answer', `the Docker engine at ${path} does not answer within ${timeoutMs} ms`));
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      socket.destroy();
      reject(socketProblem(path, error));
    });
  });
}

function socketProblem(path: string, error: NodeJS.ErrnoException): Problem {
  switch (error.code ?? '') {
    case 'ENOENT':
    case 'ENOTDIR':
      return new Problem('no-socket', `no Docker engine here: there is no socket ${path}`);
    case 'EACCES':
    case 'EPERM':
      return new Problem(
        'socket-denied',
        `there is a Docker engine, but this user may not open its socket ${path} (join the group docker, or use sudo)`,
      );
    case 'ECONNREFUSED':
      return new Problem('no-answer', `a Docker socket is left at ${path}, but no engine listens on it`);
    default:
      return new Problem('no-answer', `the Docker engine at ${path} does not answer: ${error.message}`);
  }
}

async function answer(engine: Engine, timeoutMs: number): Promise<string> {
  const deadline = AbortSignal.timeout(timeoutMs);
  // The types know nothing of the options that dockerode takes here.
  const docker = engine.docker as unknown as { version(o: { abortSignal: AbortSignal }): Promise<{ Version: string }> };
  try {
    return (await docker.version({ abortSignal: deadline })).Version;
  } catch (error) {
    const why = deadline.aborted ? `nothing within ${timeoutMs} ms` : reason(error);
    throw new Problem('no-answer', `the Docker engine does not answer: ${why}`);
  }
}

/** The engine mounts files of the container's own folder into it, so the mounts tell the container's id. */
async function runsInside(engine: Engine): Promise<boolean> {
  let mounts = '';
  try {
    mounts = readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return false;
  }
  const id = /\/containers\/([0-9a-f]{64})\//.exec(mounts)?.[1];
  if (id === undefined) return false;
  try {
    await engine.docker.getContainer(id).inspect();
    return true;
  } catch {
    return false;
  }
}

async function reachable(engine: Engine): Promise<void> {
  const name = `tidemark-probe-${randomBytes(4).toString('hex')}`;
  const network = await createNetwork(engine, name, runLabels(name));
  try {
    await bind(network.gateway);
  } catch {
    const line =
      'addresses of containers cannot be reached from here (the engine lives in another network: a virtual machine, a rootless engine, another host)';
    throw new Problem('unreachable', line);
  } finally {
    await engine.docker.getNetwork(network.id).remove();
  }
}

function bind(host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host, port: 0 }, () => server.close(() => resolve()));
  });
}
