/**
 * The load: all processes of a run on real sockets, from the first operation to the final read.
 *
 * What a thread does, operation by operation, stands in `harness/workload/thread.ts`; here it gets sockets, timers and a
 * file to write its history to.
 *
 * Invariant: whatever was written down as invoked is also written down as ended before `stop` resolves, and then no
 * connection of ours is left. If the history cannot be written everything stops at once, and every promise rejects with
 * that one error.
 */
import type { Key } from '../../checker/history.ts';
import type { Address, Evidence, NodeId } from '../../nemesis/ports.ts';
import { nextProcess } from '../client/client.ts';
import { defaultClientConfig } from '../client/contract.ts';
import type { ClientConfig } from '../client/contract.ts';
import type { Completion } from '../client/operations.ts';
import { keyOf } from '../client/operations.ts';
import type { RunConfig } from '../plan/config.ts';
import type { Random } from '../plan/random.ts';
import type { KeyCompleteness } from '../workload/final-read.ts';
import { drawnLoad, finalReaders, finalReading } from '../workload/sources.ts';
import { startThread } from '../workload/thread.ts';
import type { Source, ThreadPorts } from '../workload/thread.ts';
import { evidenceOfCall, writtenLoad } from '../workload/written.ts';
import type { LoadPlan } from '../sim/simulation.ts';
import { reachOf, type Reach } from './reach.ts';
import type { Recorder } from './recorder.ts';
import type { Clock } from './sockets.ts';
import { clockFrom, driveClient } from './sockets.ts';

export interface LoadOptions {
  readonly addresses: ReadonlyMap<NodeId, Address>;
  readonly config: Pick<RunConfig, 'acks' | 'topic' | 'partitions' | 'rate' | 'concurrency' | 'clientTimeoutMs'>;
  readonly recorder: Recorder;
  readonly random: Random;
  /** As negotiated with brokers that are not ours. */
  readonly versions?: ClientConfig['versions'] | undefined;
  /** Whom brokers may refer clients to; if not given, one another. */
  readonly reach?: Reach | undefined;
  /** Told of every operation that has ended, when it is written down. */
  readonly onCompletion?: ((completion: Completion) => void) | undefined;
  /** Exactly these operations, instead of those that the workload draws. */
  readonly plan?: LoadPlan | undefined;
  /** Origin of the run's clock: a reading of `process.hrtime.bigint()`. */
  readonly clockOriginNs: bigint;
  /** Told once, and at once, when the load has ended because the history could not be written. */
  readonly onFailure?: (error: Error) => void;
}

export interface Load {
  /** Begins the operation of that name in the plan; resolves when it has ended, or cannot begin. */
  call(operation: string): Promise<Evidence>;
  /** Begins no more operations; resolves when those under way have ended and all connections are closed. */
  stop(): Promise<void>;
  /**
   * After `stop`: fresh processes read every key from its beginning up to `ends`. Resolves after `deadlineMs` at the
   * latest (and a client's deadline more) with what was reached.
   */
  finalRead(ends: ReadonlyMap<Key, number>, deadlineMs: number): Promise<ReadonlyMap<Key, KeyCompleteness>>;
}

/** Starts all processes; the topic must exist. */
export function startLoad(options: LoadOptions): Load {
  const { config, random } = options;
  const shared = createShared(options);
  const keys = Array.from({ length: config.partitions }, (_, partition) => keyOf(config.topic, partition));
  const written = options.plan === undefined ? null : writtenLoad(options.plan, config.concurrency, shared.clock());
  const sourceOf = written?.sourceOf ?? drawnLoad(config, keys, random, shared.clock);
  const threads = Array.from({ length: config.concurrency }, (_, process) => run(shared, process, sourceOf, false));
  let reading: readonly Running[] = [];

  const stop = async (): Promise<void> => {
    await Promise.all([...threads, ...reading].map((thread) => thread.stop()));
    shared.check();
  };

  return {
    call: (operation) =>
      new Promise((resolve) => {
        const answer = (ended: Parameters<typeof evidenceOfCall>[0]): void => resolve(evidenceOfCall(ended));
        if (written === null) answer('the load is not written out');
        else written.call(operation, answer);
      }),
    stop,
    async finalRead(ends, deadlineMs) {
      await stop();
      const final = finalReading(ends);
      const last = await Promise.all(threads.slice(0, finalReaders).map((thread) => thread.done));
      reading = last.map((process) => run(shared, nextProcess(process, config.concurrency), final.sourceOf, true));
      const timer = setTimeout(() => {
        for (const thread of reading) void thread.stop();
      }, deadlineMs);
      await Promise.all(reading.map((thread) => thread.done));
      clearTimeout(timer);
      shared.check();
      return final.reached();
    },
  };
}

/** A thread, and when it ends. */
interface Running {
  /** Begins no more operations; resolves as `done`. */
  stop(): Promise<number>;
  /** Resolves with the number of the last process when the thread has ended. */
  readonly done: Promise<number>;
}

/** What all threads of a load share. */
interface Shared {
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly concurrency: number;
  readonly reach: Reach;
  clientConfig(process: number): ClientConfig;
  readonly onCompletion?: ((completion: Completion) => void) | undefined;
  /** Does `action`; if it throws, ends the whole load with that error. */
  guard(action: () => void): void;
  onFail(end: () => void): void;
  failed(): boolean;
  /** Throws what ended the load. */
  check(): void;
}

function createShared(options: LoadOptions): Shared {
  const { addresses, config, recorder, clockOriginNs } = options;
  const clock = clockFrom(clockOriginNs);
  const bootstrap = [...addresses].map(([node, address]) => ({ node, ...address }));
  const unixOriginMs = Math.round(Date.now() - clock() / 1e6);
  const ends: (() => void)[] = [];
  let failure: Error | null = null;
  return {
    recorder,
    clock,
    concurrency: config.concurrency,
    reach: options.reach ?? reachOf(addresses.values()),
    onCompletion: options.onCompletion,
    clientConfig: (process) => ({
      ...defaultClientConfig,
      process,
      bootstrap,
      acks: config.acks,
      operationTimeoutMs: config.clientTimeoutMs,
      metadataTimeoutMs: Math.ceil(config.clientTimeoutMs / 4),
      unixOriginMs,
      versions: options.versions ?? defaultClientConfig.versions,
    }),
    guard(action) {
      if (failure !== null) return;
      try {
        action();
      } catch (error) {
        failure = error instanceof Error ? error : new Error(String(error));
        for (const end of ends) end();
        options.onFailure?.(failure);
      }
    },
    onFail: (end) => ends.push(end),
    failed: () => failure !== null,
    check() {
      if (failure !== null) throw failure;
    },
  };
}

/** Starts a thread on real sockets and a real clock. `final`: it reads everything back. */
function run(shared: Shared, firstProcess: number, sourceOf: (process: number) => Source, final: boolean): Running {
  const { recorder, clock } = shared;
  const { promise: done, resolve } = Promise.withResolvers<number>();
  const ports: ThreadPorts = {
    concurrency: shared.concurrency,
    nowNs: clock,
    at(timeNs, action) {
      const timer = setTimeout(() => shared.guard(action), Math.max(0, (timeNs - clock()) / 1e6));
      return () => clearTimeout(timer);
    },
    drive: (process, onComplete) =>
      driveClient(
        shared.clientConfig(process),
        clock,
        (completion) => shared.guard(() => onComplete(completion)),
        shared.reach,
      ),
    recordInvoke: (process, operation, first) =>
      recorder.invoke(process, operation, shared.clientConfig(process).acks, final && first),
    recordComplete(process, completion) {
      recorder.complete(process, completion);
      shared.onCompletion?.(completion);
    },
  };
  const thread = startThread(ports, firstProcess, sourceOf, resolve);
  shared.onFail(() => thread.end());
  if (shared.failed()) thread.end();
  return {
    done,
    stop() {
      thread.stop();
      return done;
    },
  };
}
