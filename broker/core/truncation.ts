/**
 * Where a follower's log has to end before it may copy from its leader: the rule of every build, side by side.
 *
 * - `high-watermark` (Kafka up to 0.10.2): everything at or above the own high watermark goes, before anybody is asked.
 *   A record can be committed and still be above the high watermark that a follower has heard of, and this is the flaw.
 * - `epoch-once` (KIP-101): ask the leader where the own newest epoch ends in its log, and end there.
 * - `epoch-until-met` (KIP-279): the answer says which epoch it speaks of. If this log never saw that epoch, cut to the
 *   end of the nearest older one and ask again, until both speak of the same.
 *
 * Invariant: a step never lengthens a log, and a step that is not the last one removes at least the newest epoch, so that
 * asking ends. What is not here: when a follower asks (`follower.ts`), and who carries the question (`fetcher.ts`).
 */
import { endOffsetFor, undefinedEpoch, undefinedOffset } from './epoch-cache.ts';
import type { EpochCache, EpochEnd, EpochLookup } from './epoch-cache.ts';

export type Truncation = 'high-watermark' | EpochTruncation;
export type EpochTruncation = 'epoch-once' | 'epoch-until-met';

/** What a follower knows of its own log. */
export interface OwnLog {
  readonly epochs: EpochCache;
  readonly endOffset: number;
  readonly highWatermark: number;
}

export interface TruncationStep {
  /** The offset at which the log has to end; its present end when all may stay. */
  readonly truncateTo: number;
  /** Whether the follower may fetch now, or has to ask again with what is then its newest epoch. */
  readonly done: boolean;
}

/** What a follower does with its leader's answer to the epoch question. */
export function followerStep(
  rule: EpochTruncation,
  lookup: EpochLookup,
  own: OwnLog,
  answer: EpochEnd,
): TruncationStep {
  const last = (offset: number): TruncationStep => ({ truncateTo: Math.min(offset, own.endOffset), done: true });
  // The leader cannot tell (an empty cache, or no newer epoch than the one asked for): fall back on the old rule.
  if (answer.endOffset === undefinedOffset) return last(own.highWatermark);
  // A leader that answers without an epoch is an older one; then its word is all there is.
  if (rule === 'epoch-once' || answer.epoch === undefinedEpoch) return last(answer.endOffset);
  const mine = endOffsetFor(own.epochs, answer.epoch, own.endOffset, lookup);
  if (mine.endOffset === undefinedOffset) return last(answer.endOffset);
  if (mine.epoch !== answer.epoch) return { truncateTo: Math.min(mine.endOffset, own.endOffset), done: false };
  return last(Math.min(mine.endOffset, answer.endOffset));
}
