/**
 * The leader epoch cache of one log: for each epoch the offset at which its first record stands (KIP-101).
 *
 * It answers one question, and everything that keeps two logs alike hangs on the answer: *where did epoch e end in this
 * log?* A cache is a plain array of entries, oldest first, and never changed in place: every function returns the cache
 * that follows, and the same array where nothing changed, so that a caller knows when to write the checkpoint.
 *
 * Invariant: entries are strictly increasing in epoch and in start offset. The last one may stand at the end of the log
 * with no record yet: that is how a new leader announces its epoch (KAFKA-7415).
 */
import type { BatchInfo } from '../protocol/records.ts';
import type { EpochEntry } from './step.ts';

export type EpochCache = readonly EpochEntry[];

/** Kafka's UNDEFINED_EPOCH and UNDEFINED_EPOCH_OFFSET. */
export const undefinedEpoch = -1;
export const undefinedOffset = -1;

/** `epoch` ends, in the log that was asked, before `endOffset`; both −1 where the cache cannot tell. */
export interface EpochEnd {
  readonly epoch: number;
  readonly endOffset: number;
}

/**
 * How the builds answer, oldest first:
 * - `end-only`: no epoch in the answer (OffsetForLeaderEpoch v0, KIP-101).
 * - `undefined-below-first`: with the epoch (v1, KIP-279); nothing is known below the first epoch of the cache.
 * - `start-below-first`: an epoch below the first one ended where the first one starts (KAFKA-7415).
 */
export type EpochLookup = 'end-only' | 'undefined-below-first' | 'start-below-first';

/**
 * What happens where a new entry and the cache contradict each other (an entry as new, or one that starts as far):
 * - `new-entry-ignored`: the cache stays as it is, with a tail that this log no longer has (Kafka up to 2.0.0);
 * - `old-entries-dropped`: what was appended last is what is there (KAFKA-7415).
 */
export type EpochConflict = 'new-entry-ignored' | 'old-entries-dropped';

export const undefinedEnd: EpochEnd = { epoch: undefinedEpoch, endOffset: undefinedOffset };

/** Where `requested`, or the largest epoch below it, ends in a log with this cache and this end offset. */
export function endOffsetFor(
  cache: EpochCache,
  requested: number,
  logEndOffset: number,
  lookup: EpochLookup,
): EpochEnd {
  const latest = cache.at(-1);
  if (requested === undefinedEpoch || latest === undefined) return undefinedEnd;
  if (requested === latest.epoch) return answer(requested, logEndOffset, lookup);
  const next = cache.find((entry) => entry.epoch > requested);
  if (next === undefined) return undefinedEnd;
  const floor = cache.findLast((entry) => entry.epoch <= requested);
  if (floor !== undefined) return answer(floor.epoch, next.startOffset, lookup);
  return lookup === 'start-below-first' ? { epoch: requested, endOffset: next.startOffset } : undefinedEnd;
}

/** The cache after a record, or a new leader, of `epoch` at `startOffset`. */
export function assignEpoch(
  cache: EpochCache,
  epoch: number,
  startOffset: number,
  conflict: EpochConflict = 'old-entries-dropped',
): EpochCache {
  const latest = cache.at(-1);
  if (latest !== undefined && latest.epoch === epoch && latest.startOffset <= startOffset) return cache;
  const contradicted = latest !== undefined && (latest.epoch >= epoch || latest.startOffset >= startOffset);
  if (contradicted && conflict === 'new-entry-ignored') return cache;
  return [...cache.filter((entry) => entry.epoch < epoch && entry.startOffset < startOffset), { epoch, startOffset }];
}

/** The cache after batches were appended, each with the epoch that its leader stamped into it. */
export function assignBatches(
  cache: EpochCache,
  batches: readonly BatchInfo[],
  conflict: EpochConflict = 'old-entries-dropped',
): EpochCache {
  return batches.reduce((grown, batch) => assignEpoch(grown, batch.leaderEpoch, batch.baseOffset, conflict), cache);
}

/** The cache of a log that now ends at `endOffset`: epochs that start there or later are gone. */
export function truncateFromEnd(cache: EpochCache, endOffset: number): EpochCache {
  const kept = cache.filter((entry) => entry.startOffset < endOffset);
  return kept.length === cache.length ? cache : kept;
}

/** The cache of a log that now starts at `startOffset`: the epoch of its first record starts there. */
export function truncateFromStart(cache: EpochCache, startOffset: number): EpochCache {
  const removed = cache.filter((entry) => entry.startOffset <= startOffset);
  const last = removed.at(-1);
  if (last === undefined || (removed.length === 1 && last.startOffset === startOffset)) return cache;
  return [{ epoch: last.epoch, startOffset }, ...cache.slice(removed.length)];
}

/** The newest epoch of the cache, −1 when it is empty. */
export function latestEpoch(cache: EpochCache): number {
  return cache.at(-1)?.epoch ?? undefinedEpoch;
}

function answer(epoch: number, endOffset: number, lookup: EpochLookup): EpochEnd {
  return { epoch: lookup === 'end-only' ? undefinedEpoch : epoch, endOffset };
}
