/**
 * Where the threads of a run take their operations from, in every runtime: the drawn load, and the final read.
 *
 * Each process draws from a stream of its own, `workload:<process>`; the counters of values are shared by all, so that a
 * value is unique on its key. The final read has a few readers, each on its own, and asks of them only how far they got.
 * A load that is written out has a file of its own (`written.ts`).
 *
 * Invariant: what is drawn depends on the seed, the process and the times at which it is asked, and on no driver.
 */
import type { Key } from '../../checker/history.ts';
import type { RunConfig } from '../plan/config.ts';
import type { Random } from '../plan/random.ts';
import { completeness, createFinalRead, nextFinalOperation, observeFinalRead } from './final-read.ts';
import type { FinalReadState, KeyCompleteness } from './final-read.ts';
import { createSendPoll, defaultSendPoll, nextOperation } from './send-poll.ts';
import type { ValueCounters } from './send-poll.ts';
import type { Source } from './thread.ts';

/** Readers of the final read. */
export const finalReaders = 2;

export interface FinalReading {
  readonly sourceOf: () => Source;
  /** How far the readers have got, key by key. */
  reached(): ReadonlyMap<Key, KeyCompleteness>;
}

/** The load as the workload draws it: a source for each process. */
export function drawnLoad(
  { rate, concurrency }: Pick<RunConfig, 'rate' | 'concurrency'>,
  keys: readonly Key[],
  random: Random,
  now: () => number,
): (process: number) => Source {
  const values: ValueCounters = new Map();
  const workload = { keys, rate, concurrency, ...defaultSendPoll };
  return (process) => {
    const state = createSendPoll(workload, values, random.stream(`workload:${process}`), now());
    return { next: (nowNs) => nextOperation(state, nowNs), observe: () => {} };
  };
}

/** Every key from its beginning up to `ends`, by every reader. */
export function finalReading(ends: ReadonlyMap<Key, number>): FinalReading {
  const readers: FinalReadState[] = [];
  return {
    sourceOf() {
      const state = createFinalRead(ends);
      readers.push(state);
      return {
        next: (nowNs) => nextFinalOperation(state, nowNs),
        observe: (completion, positions, nowNs) => observeFinalRead(state, completion, positions, nowNs),
      };
    },
    reached: () => completeness(readers, ends),
  };
}
