/**
 * A pool of worker threads for many small, pure jobs, whose results come back in the order of the jobs.
 *
 * The calling thread works too: it takes its first job at once, while the workers are still loading their code, so that
 * a search that ends after a moment never waits for them. Workers get jobs in blocks, since a message costs as much as a
 * small job; a block lasts about a tenth of a second, so that little is under way when nothing more is wanted. What a job does is a module with one
 * exported function, `runJob`, loaded by every thread.
 *
 * Invariant: results are handed on in the order of the jobs, whoever finished first; so what a search finds does not
 * depend on how many threads searched. So many jobs as `ahead` says are under way or wait for an earlier one. A thread
 * that dies is a failure of the environment, never a result.
 */
import { availableParallelism } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { EnvironmentError, InterruptedError, environmentErrorFrom } from '../errors.ts';

/** A module whose `runJob` does one job; jobs and results are copied between threads as plain data. */
export interface JobModule<Job, Result> {
  readonly runJob: (job: Job) => Result;
}

export interface PoolOptions<Job, Result> {
  /** Where the {@link JobModule} is. */
  readonly module: URL;
  /** The same module, for the calling thread, imported when it is first needed. */
  readonly load: () => Promise<JobModule<Job, Result>>;
  /** All threads, the calling one included. */
  readonly threads: number;
  /** Longest block that a worker gets at once. */
  readonly block?: number;
  /** So many jobs may be taken before the first result that has not been handed on. */
  readonly ahead?: number;
  readonly signal: AbortSignal;
}

/** What a worker says. */
export type WorkerAnswer<Result> =
  | { readonly first: number; readonly results: readonly Result[] }
  /** A job threw: a mistake of ours, told as it would be told by the calling thread. */
  | { readonly message: string; readonly stack: string };

const DEFAULT_BLOCK = 16;
/** A block that took longer is followed by a shorter one. */
const BLOCK_MS = 100;
/** Blocks for each thread that may be under way or wait for an earlier one. */
const BLOCKS_AHEAD = 4;

/** So many threads as the machine has cores. */
export function defaultThreads(): number {
  return availableParallelism();
}

/** More than that are in each other's way: while hundreds load their code, none gets to its first job. */
const threadsPerCore = 4;

/** As many threads as were asked for, but no more than there are jobs, nor than the machine can keep busy. */
export function usefulThreads(wanted: number, jobs: number): number {
  return Math.max(1, Math.min(wanted, jobs, threadsPerCore * defaultThreads()));
}

/** How many jobs a worker gets after a block of so many that took it so long. */
export function nextBlock(block: number, tookMs: number, longest: number): number {
  return tookMs < BLOCK_MS ? Math.min(2 * block, longest) : Math.ceil(block / 2);
}

/**
 * Does the jobs, and yields each result as soon as all before it are there. Whoever stops listening stops the work.
 * Rejects with an {@link InterruptedError} when the signal is aborted, with an {@link EnvironmentError} when a thread
 * dies, and with whatever a job threw.
 */
export async function* runJobs<Job, Result>(
  jobs: Iterable<Job>,
  options: PoolOptions<Job, Result>,
): AsyncGenerator<Result, void, undefined> {
  const pool = new Pool(jobs[Symbol.iterator](), options);
  try {
    yield* pool.results();
  } finally {
    await pool.close();
  }
}

interface WorkerLane {
  readonly worker: Worker;
  /** Size of its next block: grows from one, so that the first results come soon. */
  block: number;
  /** When it began with the block that it is at. */
  sinceMs: number;
  online: boolean;
  /** Blocks that it has. */
  busy: number;
}

class Pool<Job, Result> {
  readonly #jobs: Iterator<Job>;
  readonly #options: PoolOptions<Job, Result>;
  readonly #lanes: WorkerLane[] = [];
  /** Results that wait for an earlier one, by number of their job. */
  readonly #done = new Map<number, Result>();
  readonly #ahead: number;
  /** No longer than that every worker may have two of them. */
  readonly #longestBlock: number;
  #handedOut = 0;
  #nextResult = 0;
  #exhausted = false;
  #closing = false;
  #failure: Error | null = null;
  #wake: () => void = () => {};

  constructor(jobs: Iterator<Job>, options: PoolOptions<Job, Result>) {
    this.#jobs = jobs;
    this.#options = options;
    const { threads, block = DEFAULT_BLOCK, ahead = BLOCKS_AHEAD * threads * block } = options;
    this.#ahead = ahead;
    this.#longestBlock = Math.max(1, Math.min(block, Math.floor(ahead / (2 * threads))));
    options.signal.addEventListener('abort', this.#onAbort);
  }

  async *results(): AsyncGenerator<Result, void, undefined> {
    const { runJob } = await this.#options.load();
    for (;;) {
      this.#check();
      while (this.#done.has(this.#nextResult)) {
        const result = this.#done.get(this.#nextResult) as Result;
        this.#done.delete(this.#nextResult);
        yield result;
        this.#nextResult += 1;
        this.#check();
      }
      this.#startWorkers();
      for (const lane of this.#lanes) if (lane.online) this.#feed(lane);
      const [job] = this.#take(1);
      if (job === undefined) {
        if (this.#exhausted && this.#nextResult === this.#handedOut) return;
        await this.#change();
      } else {
        this.#done.set(job.number, runJob(job.job));
        /* Lets messages of workers, signals and timers in. */
        await setImmediate();
      }
    }
  }

  async close(): Promise<void> {
    this.#closing = true;
    this.#options.signal.removeEventListener('abort', this.#onAbort);
    await Promise.all(this.#lanes.map(({ worker }) => worker.terminate()));
  }

  readonly #onAbort = (): void => this.#fail(new InterruptedError());

  #check(): void {
    if (this.#options.signal.aborted) throw new InterruptedError();
    if (this.#failure !== null) throw this.#failure;
  }

  #fail(error: Error): void {
    if (this.#closing) return;
    this.#failure ??= error;
    this.#wake();
  }

  /** Resolves when a result or a failure has come in. */
  async #change(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    if (this.#failure === null && !this.#done.has(this.#nextResult)) await promise;
  }

  #take(count: number): { readonly number: number; readonly job: Job }[] {
    const taken: { number: number; job: Job }[] = [];
    const bound = this.#nextResult + this.#ahead;
    while (taken.length < count && !this.#exhausted && this.#handedOut < bound) {
      const { value, done } = this.#jobs.next();
      if (done === true) this.#exhausted = true;
      else taken.push({ number: this.#handedOut++, job: value });
    }
    return taken;
  }

  /** On the first call: the calling thread is about to do its first job. */
  #startWorkers(): void {
    if (this.#lanes.length > 0) return;
    for (let index = 1; index < this.#options.threads; index += 1) {
      try {
        this.#lanes.push(this.#startWorker());
      } catch (error) {
        throw environmentErrorFrom(error, 'cannot start a worker thread');
      }
    }
  }

  #startWorker(): WorkerLane {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), {
      workerData: { module: this.#options.module.href },
    });
    const lane: WorkerLane = { worker, block: 1, sinceMs: 0, online: false, busy: 0 };
    worker.on('online', () => {
      lane.online = true;
      this.#feed(lane);
    });
    worker.on('message', (answer: WorkerAnswer<Result>) => this.#accept(lane, answer));
    worker.on('error', (error) => this.#fail(environmentErrorFrom(error, 'a worker thread died')));
    worker.on('exit', (code) => this.#fail(new EnvironmentError(`a worker thread ended with code ${code}`)));
    return lane;
  }

  #accept(lane: WorkerLane, answer: WorkerAnswer<Result>): void {
    if (this.#closing) return;
    if ('message' in answer) {
      const error = new Error(answer.message);
      error.stack = answer.stack;
      this.#fail(error);
      return;
    }
    for (const [index, result] of answer.results.entries()) this.#done.set(answer.first + index, result);
    lane.busy -= 1;
    const nowMs = performance.now();
    lane.block = nextBlock(lane.block, nowMs - lane.sinceMs, this.#longestBlock);
    lane.sinceMs = nowMs;
    this.#feed(lane);
    this.#wake();
  }

  /** Two blocks at a time, so that a worker never waits for the calling thread, which is in the middle of a job. */
  #feed(lane: WorkerLane): void {
    for (; lane.busy < 2 && !this.#closing; lane.busy += 1) {
      const taken = this.#take(lane.block);
      const [first] = taken;
      if (first === undefined) return;
      if (lane.busy === 0) lane.sinceMs = performance.now();
      lane.worker.postMessage({ first: first.number, jobs: taken.map(({ job }) => job) }, []);
    }
  }
}
