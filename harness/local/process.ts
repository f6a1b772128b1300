/**
 * One node's process: start, pause, resume, stop, kill, power loss, each with proof from the system.
 *
 * The process gets a group of its own, so that a Ctrl-C in the terminal reaches the harness alone. Its standard output
 * is the trace; its standard error goes straight into the node's log file, without passing through us. Time and again it
 * is started on the same data directory. A power loss is a kill that leaves a mark in the data directory; what it costs
 * is decided at the next start, from the side file of flushed lengths.
 *
 * Invariant: when `kill` has answered, every line that the process had written has been handed on.
 */
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { ENVIRONMENT_EXIT_CODE } from '../../nemesis/ports.ts';
import type { Evidence, NodeName, TraceLine } from '../../nemesis/ports.ts';
import { errorCode } from '../errors.ts';
import { RUN_VARIABLE, statusOf } from './proc.ts';
import { traceLines } from './trace-lines.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const START_TIMEOUT_MS = 15_000;
const SIGNAL_TIMEOUT_MS = 1_000;
/** Below the time in which an action has to be answered. */
const STOP_TIMEOUT_MS = 8_000;
const ORDERLY_END = 'exit code 0';
/** Name of the mark that a power loss leaves in the data directory. */
const POWER_LOST = 'power-lost';

export interface NodeProcessOptions {
  readonly node: NodeName;
  readonly runId: string;
  /** File to run, relative to the project, and its arguments. */
  readonly command: readonly string[];
  readonly dataDirectory: string;
  readonly logFile: string;
  readonly onLine: (line: TraceLine) => void;
  /** It ended without an action of ours. */
  readonly onUnexpectedExit: (detail: string, blame: 'environment' | 'node') => void;
}

interface Life {
  readonly pid: number;
  readonly startTime: number;
  /** Resolves when the process is gone and all of its output has been read. */
  readonly ended: Promise<string>;
  /** Resolves with the first line that says `start`, or with null if it ends before. */
  readonly started: Promise<TraceLine | null>;
  expectedToEnd: boolean;
}

export class NodeProcess {
  readonly #options: NodeProcessOptions;
  #life: Life | null = null;

  constructor(options: NodeProcessOptions) {
    this.#options = options;
    mkdirSync(options.dataDirectory, { recursive: true });
    mkdirSync(dirname(options.logFile), { recursive: true });
  }

  /** Starts it; answers when it says in its trace that it starts, or has ended, or has been silent for too long. */
  async start(): Promise<Evidence> {
    if (this.#life !== null) return this.#evidence(false, 'it runs already');
    const life = this.#spawn();
    this.#life = life;
    const line = await within(START_TIMEOUT_MS, life.started);
    if (line === null) return this.#evidence(false, `it did not start: ${this.lastWords()}`);
    return this.#evidence(true);
  }

  pause(): Promise<Evidence> {
    return this.#signal('SIGSTOP', (state) => state === 'T');
  }

  resume(): Promise<Evidence> {
    return this.#signal('SIGCONT', (state) => state !== 'T');
  }

  async kill(): Promise<Evidence> {
    const life = this.#life;
    if (life === null) return this.#evidence(false, 'it does not run');
    life.expectedToEnd = true;
    send(life.pid, 'SIGKILL');
    const end = await life.ended;
    const gone = statusOf(life.pid)?.startTime !== life.startTime;
    return {
      effective: gone,
      facts: { pid: life.pid, startTime: life.startTime, state: gone ? 'gone' : 'there', end },
    };
  }

  async losePower(): Promise<Evidence> {
    const killed = await this.kill();
    writeFileSync(join(this.#options.dataDirectory, POWER_LOST), '');
    return { ...killed, facts: { ...killed.facts, mark: POWER_LOST } };
  }

  /** Asks it to end; kills it when it has not after a while. */
  async stop(): Promise<Evidence> {
    const life = this.#life;
    if (life === null) return this.#evidence(false, 'it does not run');
    life.expectedToEnd = true;
    send(life.pid, 'SIGTERM');
    const end = await within(STOP_TIMEOUT_MS, life.ended);
    if (end !== null) {
      const orderly = end === ORDERLY_END;
      return { effective: orderly, facts: { pid: life.pid, startTime: life.startTime, end, orderly } };
    }
    const killed = await this.kill();
    return { effective: false, facts: { ...killed.facts, orderly: false, note: 'it had to be killed' } };
  }

  /** The last line of its log, for messages. */
  lastWords(): string {
    try {
      return readFileSync(this.#options.logFile, 'utf8').trimEnd().split('\n').at(-1) ?? '';
    } catch {
      return 'it left no log';
    }
  }

  #spawn(): Life {
    const { node, runId, command, onLine, onUnexpectedExit } = this.#options;
    const log = openSync(this.#options.logFile, 'a');
    const child = execa(process.execPath, command, {
      cwd: PROJECT,
      extendEnv: false,
      env: { PATH: process.env['PATH'] ?? '', [RUN_VARIABLE]: runId },
      stdin: 'ignore',
      stdout: 'pipe',
      /* Any descriptor will do; the types of execa know only ten. */
      stderr: log as 3,
      buffer: false,
      detached: true,
      cleanup: false,
      reject: false,
    });
    const { pid } = child;
    if (pid === undefined) throw new Error(`the process of node ${node} could not be created`);
    const { promise: started, resolve } = Promise.withResolvers<TraceLine | null>();
    child.stdout.on(
      'data',
      traceLines({
        line: (line) => {
          onLine(line);
          if (line.event === 'start') resolve(line);
        },
        other: (text) => writeSync(log, `${text}\n`),
      }),
    );
    const ended = child.then(({ exitCode, signal }) => {
      closeSync(log);
      resolve(null);
      if (this.#life === life) this.#life = null;
      const how = signal === undefined ? `exit code ${exitCode ?? 'unknown'}` : signal;
      const fromOutside = exitCode === ENVIRONMENT_EXIT_CODE || signal === 'SIGKILL' || signal === 'SIGTERM';
      if (!life.expectedToEnd) onUnexpectedExit(`${how}: ${this.lastWords()}`, fromOutside ? 'environment' : 'node');
      return how;
    });
    const life: Life = {
      pid,
      startTime: statusOf(pid)?.startTime ?? 0,
      ended,
      started,
      expectedToEnd: false,
    };
    return life;
  }

  async #signal(signal: 'SIGSTOP' | 'SIGCONT', isDone: (state: string) => boolean): Promise<Evidence> {
    const life = this.#life;
    if (life === null) return this.#evidence(false, 'it does not run');
    send(life.pid, signal);
    const deadlineMs = performance.now() + SIGNAL_TIMEOUT_MS;
    for (;;) {
      const state = statusOf(life.pid)?.state ?? 'gone';
      if (isDone(state) && state !== 'gone') return this.#evidence(true);
      if (performance.now() > deadlineMs) return this.#evidence(false, `${signal} without effect`);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  #evidence(effective: boolean, note?: string): Evidence {
    const life = this.#life;
    const status = life === null ? null : statusOf(life.pid);
    return {
      effective,
      facts: {
        pid: life?.pid ?? null,
        startTime: status?.startTime ?? null,
        state: status?.state ?? 'gone',
        ...(note === undefined ? {} : { note }),
      },
    };
  }
}

/** A process that outlives the harness just long enough to clean up after it. */
export interface Watchdog {
  /** Everything is removed already: it may go. */
  dismiss(): void;
}

/** Starts the watchdog of a run, see `watchdog.ts`. It holds neither the harness nor the terminal. */
export function startWatchdog(file: string, runId: string): Watchdog {
  const child = execa(process.execPath, [file, runId], {
    extendEnv: false,
    env: { PATH: process.env['PATH'] ?? '', TMPDIR: process.env['TMPDIR'] ?? '' },
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'ignore',
    detached: true,
    cleanup: false,
    reject: false,
  });
  child.nodeChildProcess.unref();
  return { dismiss: () => void child.stdin.end() };
}

/** Whether it arrived is seen by what the system says of the process afterwards. */
function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}

/** Null when the time is up first. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(() => resolve(null), ms);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
