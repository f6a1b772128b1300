/**
 * A replica that follows: where its log has to end, and what it does with what its leader sends.
 *
 * Becoming follower is where the builds part. `hw` cuts its log to its own high watermark at once, before it has spoken
 * to anybody; builds with epochs cut nothing until the leader has said where the own newest epoch ended in its log. The
 * fetcher carries the questions; here is decided what to ask and what the answers mean.
 *
 * Invariant: a follower appends only what starts exactly at its end, verbatim, with the epoch that the leader stamped.
 */
import type { RecordSet } from '../protocol/index.ts';
import { latestEpoch } from './epoch-cache.ts';
import type { EpochEnd } from './epoch-cache.ts';
import { append, moveHighWatermark, startAnewAt, traceRole, truncate } from './partition.ts';
import type { Partition } from './partition.ts';
import type { Turn } from './state.ts';
import type { NodeId } from './step.ts';
import { followerStep } from './truncation.ts';

/** What a follower has to ask its leader before, or instead of, fetching. */
export type Stage = 'asking-epoch' | 'fetching' | 'asking-bounds';

/**
 * Takes the role; `previousLeader` is who led before, null after a start. Returns what comes first on the way to the
 * leader, or null when nothing changes for a fetcher that already follows it.
 */
export function becomeFollower(turn: Turn, partition: Partition, previousLeader: NodeId | null): Stage | null {
  const { build, defects } = turn.state;
  traceRole(turn, partition, 'follower');
  partition.role = { kind: 'follower' };
  turn.touched.add(partition);
  const leaderChanged = partition.leader !== previousLeader;
  const onlyNewLeader = build.followerTrigger === 'leader-id-change' || defects.has('truncate-for-new-leader-only');
  if (onlyNewLeader && !leaderChanged) return null;
  if (partition.leader === null) return null;
  if (defects.has('truncate-none')) return 'fetching';
  if (build.truncation !== 'high-watermark' && latestEpoch(partition.epochs) >= 0) return 'asking-epoch';
  // The old rule; also of a log without any epoch, since there is nothing to ask for.
  const { highWatermark } = partition;
  truncate(turn, partition, highWatermark, 'high-watermark', { highWatermark });
  return 'fetching';
}

/** The leader's answer to the question where `asked` ends in its log. Returns what comes next. */
export function takeEpochEnd(turn: Turn, partition: Partition, leader: NodeId, asked: number, answer: EpochEnd): Stage {
  const { build, defects } = turn.state;
  const { truncation, epochLookup } = build;
  if (truncation === 'high-watermark') throw new Error(`${partition.key}: a build without epochs got an epoch's end`);
  const { epochs, log, highWatermark } = partition;
  const own = { epochs, endOffset: log.endOffset, highWatermark };
  const next = followerStep(truncation, epochLookup, own, answer);
  let { truncateTo } = next;
  if (next.done && defects.has('truncate-one-too-many')) truncateTo -= 1;
  if (next.done && defects.has('truncate-one-too-few')) truncateTo += 1;
  truncate(turn, partition, truncateTo, 'leader-epoch', {
    leader,
    question: { epoch: asked },
    answer: { epoch: answer.epoch, endOffset: answer.endOffset },
  });
  return next.done || latestEpoch(partition.epochs) < 0 ? 'fetching' : 'asking-epoch';
}

/**
 * What the leader gave for a fetch from the end of this log. Returns whether the follower can go on; it cannot when the
 * records do not fit on its end, which is where a log that has diverged gets stuck (KAFKA-3919).
 */
export function takeFetched(
  turn: Turn,
  partition: Partition,
  records: RecordSet | null,
  leaderHighWatermark: number,
): boolean {
  const fits = records === null || appendFetched(turn, partition, records);
  // May go down: a leader that was just elected knows of less than its predecessor did.
  const highWatermark = Math.min(partition.log.endOffset, leaderHighWatermark);
  if (fits && highWatermark >= 0 && highWatermark !== partition.highWatermark) {
    moveHighWatermark(turn, partition, highWatermark);
  }
  return fits;
}

/**
 * The leader's log does not reach this log's end, or starts beyond it (OFFSET_OUT_OF_RANGE). Cut to the leader's end, or
 * begin anew at its start; where this log's end has come to lie within meanwhile, keep all (KAFKA-2143).
 */
export function takeLeaderBounds(turn: Turn, partition: Partition, leader: NodeId, start: number, end: number): void {
  const { log } = partition;
  if (end < log.endOffset) {
    truncate(turn, partition, end, 'offset-out-of-range', { leader, leaderStart: start, leaderEnd: end });
  } else if (start > log.endOffset) {
    startAnewAt(turn, partition, start, 'behind-leader-start');
  }
}

function appendFetched(turn: Turn, partition: Partition, records: RecordSet): boolean {
  if (records.flaw !== undefined) return false;
  // A read is at batch granularity: the first batches may be older than what was asked for.
  const end = partition.log.endOffset;
  let known = 0;
  let knownBytes = 0;
  for (const { lastOffset, sizeBytes } of records.batches) {
    if (lastOffset >= end) break;
    known += 1;
    knownBytes += sizeBytes;
  }
  const batches = known === 0 ? records.batches : records.batches.slice(known);
  const first = batches[0];
  if (first === undefined) return true;
  if (first.baseOffset !== end || !areContiguous(batches)) return false;
  append(turn, partition, batches, withoutFirst(records.bytes, knownBytes));
  return true;
}

function areContiguous(batches: RecordSet['batches']): boolean {
  for (let index = 1; index < batches.length; index += 1) {
    if (batches[index]!.baseOffset !== batches[index - 1]!.lastOffset + 1) return false;
  }
  return true;
}

function withoutFirst(bytes: RecordSet['bytes'], skipped: number): RecordSet['bytes'] {
  if (skipped === 0) return bytes;
  if (bytes instanceof Uint8Array) return bytes.subarray(skipped);
  return { ...bytes, startPosition: bytes.startPosition + skipped };
}
