/**
 * The load in the kernel: what `harness/run/load.ts` is on real sockets, of the same threads.
 *
 * Its operations are drawn by the workload, from one stream for each process, or stand in a plan: then each begins at
 * its time or as soon as the one before it on its thread is over.
 */
import type { Key } from '../../checker/history.ts';
import { nextProcess } from '../client/client.ts';
import { defaultClientConfig } from '../client/contract.ts';
import type { ClientOperation, Completion } from '../client/operations.ts';
import type { RunConfig } from '../plan/config.ts';
import type { Random } from '../plan/random.ts';
import { drawnLoad, finalReaders, finalReading } from '../workload/sources.ts';
import { startThread } from '../workload/thread.ts';
import type { Thread, ThreadPorts } from '../workload/thread.ts';
import { writtenLoad } from '../workload/written.ts';
import type { WrittenLoad } from '../workload/written.ts';
import { addressOf } from './cluster.ts';
import type { SimCluster } from './cluster.ts';
import { driveInKernel } from './sim-process.ts';
import type { LoadPlan } from './simulation.ts';

export interface SimLoadOptions {
  readonly cluster: SimCluster;
  readonly config: RunConfig;
  readonly keys: readonly Key[];
  readonly random: Random;
  /** Exactly these operations; null: as the workload draws them. */
  readonly plan: LoadPlan | null;
  readonly invoked: (process: number, operation: ClientOperation, final: boolean) => void;
  readonly completed: (process: number, completion: Completion) => void;
}

const NS_PER_MS = 1e6;
/** Unix time at which the run's clock stands at zero, as records carry it: the first of January 2026. */
const UNIX_ORIGIN_MS = 1_767_225_600_000;

export class SimLoad {
  readonly #options: SimLoadOptions;
  #threads: readonly Thread[] = [];
  #written: WrittenLoad | null = null;

  constructor(options: SimLoadOptions) {
    this.#options = options;
  }

  /** Starts all processes; the topic must exist. */
  start(): void {
    const { config, plan, keys, random, cluster } = this.#options;
    const { kernel } = cluster;
    const ports = this.#ports(false);
    this.#written = plan === null ? null : writtenLoad(plan, config.concurrency, kernel.nowNs);
    const sourceOf = this.#written?.sourceOf ?? drawnLoad(config, keys, random, () => kernel.nowNs);
    this.#threads = Array.from({ length: config.concurrency }, (_, thread) =>
      startThread(ports, thread, sourceOf, () => {}),
    );
  }

  /** Begins the operation of that name in the plan; `answer` is told how it ended, or why it cannot begin. */
  call(name: string, answer: (ended: Completion | string) => void): void {
    if (this.#written === null) answer('the load is not written out');
    else this.#written.call(name, answer);
  }

  /** Begins no more operations. */
  stop(): void {
    for (const thread of this.#threads) thread.stop();
  }

  /** Whether all operations have ended. */
  get ended(): boolean {
    return this.#threads.every((thread) => thread.ended);
  }

  /** After the end: lets time pass while fresh processes read every key up to `ends`. Says whether they got there. */
  finalRead(ends: ReadonlyMap<Key, number>, timeoutMs: number): boolean {
    const { config, cluster } = this.#options;
    const { kernel } = cluster;
    const final = finalReading(ends);
    const ports = this.#ports(true);
    const reading = this.#threads
      .slice(0, finalReaders)
      .map(({ process }) => startThread(ports, nextProcess(process, config.concurrency), final.sourceOf, () => {}));
    const read = (): boolean => reading.every((thread) => thread.ended);
    if (!kernel.runUntil(read, timeoutMs * NS_PER_MS)) {
      for (const thread of reading) thread.stop();
      kernel.runUntil(read, Infinity);
    }
    return [...final.reached().values()].every((key) => key.complete);
  }

  #ports(final: boolean): ThreadPorts {
    const { cluster, config, invoked, completed } = this.#options;
    const { kernel } = cluster;
    const place = kernel.placeOf('clients');
    const bootstrap = cluster.brokers.map((node) => ({ node, ...addressOf(node) }));
    return {
      concurrency: config.concurrency,
      nowNs: () => kernel.nowNs,
      at(timeNs, action) {
        let calledOff = false;
        kernel.at(timeNs, 'operation', () => {
          if (!calledOff) action();
        });
        return () => {
          calledOff = true;
        };
      },
      drive: (process, onComplete) =>
        driveInKernel(
          kernel,
          place,
          {
            ...defaultClientConfig,
            process,
            bootstrap,
            acks: config.acks,
            operationTimeoutMs: config.clientTimeoutMs,
            metadataTimeoutMs: Math.ceil(config.clientTimeoutMs / 4),
            unixOriginMs: UNIX_ORIGIN_MS,
          },
          onComplete,
        ),
      recordInvoke: (process, operation, first) => invoked(process, operation, final && first),
      recordComplete: completed,
    };
  }
}
