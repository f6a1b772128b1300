/**
 * One replica of a partition on this broker: its log, its epochs, its high watermark and the role it plays.
 *
 * Here stand the few ways in which a replica changes, whatever its role: records are appended, the log is cut, the high
 * watermark moves. Each says so in the trace first, and keeps log, epoch cache, checkpoint and high watermark in step.
 * `leader.ts` and `follower.ts` hold the rules of the two roles and change a replica only through these.
 *
 * Invariants: the high watermark never exceeds the end of the log (on builds that lower it with a truncation); the epoch
 * cache never names an epoch at or beyond the end, but for a leader's own that has no record yet.
 */
import type { BatchInfo, LogRange, ResponseBody } from '../protocol/index.ts';
import { assignBatches, assignEpoch, truncateFromEnd } from './epoch-cache.ts';
import type { EpochCache } from './epoch-cache.ts';
import type { LeaderRole } from './leader.ts';
import { appendBatches, createLog, resetLog, truncateLog } from './log.ts';
import type { Log } from './log.ts';
import type { Waiting } from './purgatory.ts';
import { trace, traceWhole } from './state.ts';
import type { Turn } from './state.ts';
import type { NodeId, RecoveredLog } from './step.ts';
import { appendLine, hwLine, tracedEpochs } from './trace.ts';
import type { EmittedBatch, TraceEvent, TruncationEvidence, TruncationRule } from './trace.ts';

/** What a fetch is told of one partition. */
export type FetchAnswer = ResponseBody<'Fetch'>['responses'][number]['partitions'][number];

export interface Partition {
  /** `<topic>-<partition>`: the name of its log. */
  readonly key: string;
  readonly topic: string;
  readonly index: number;
  readonly log: Log;
  epochs: EpochCache;
  highWatermark: number;
  replicas: readonly NodeId[];
  /** The ISR as the controller committed it. */
  isr: readonly NodeId[];
  /** −1 until the controller's first word; it is not read from disk. */
  leaderEpoch: number;
  partitionEpoch: number;
  /** Who leads in `leaderEpoch`; null when nobody does. */
  leader: NodeId | null;
  /** Who led last, if anybody did since the start. */
  lastLeader: NodeId | null;
  /** Requests that wait for something to happen here. */
  readonly waiting: Waiting[];
  /** What a fetch got that brought nothing of it. */
  lastEmptyAnswer: FetchAnswer | null;
  /** This broker does not hold it any more; whoever still waits for it is told so. */
  deleted: boolean;
  role: LeaderRole | { readonly kind: 'follower' } | { readonly kind: 'none' };
}

export function createPartition(topic: string, index: number): Partition {
  const key = `${topic}-${index}`;
  return {
    key,
    topic,
    index,
    log: createLog(key, 0, []),
    epochs: [],
    highWatermark: 0,
    replicas: [],
    isr: [],
    leaderEpoch: -1,
    partitionEpoch: -1,
    leader: null,
    lastLeader: null,
    waiting: [],
    lastEmptyAnswer: null,
    deleted: false,
    role: { kind: 'none' },
  };
}

/**
 * The replica that a start found on disk. Nothing is truncated here, whatever the build: that waits for a decision to
 * follow somebody. The high watermark is what the checkpoint says, as far as the log reaches.
 */
export function restorePartition(
  found: RecoveredLog,
  keepsEpochCache: boolean,
): { readonly partition: Partition; readonly line: TraceEvent } {
  const dash = found.log.lastIndexOf('-');
  const blank = createPartition(found.log.slice(0, dash), Number(found.log.slice(dash + 1)));
  const log = createLog(found.log, found.logStartOffset, found.batches);
  const epochs = keepsEpochCache ? truncateFromEnd(found.epochs, log.endOffset) : [];
  const highWatermark = Math.max(found.logStartOffset, Math.min(found.checkpointedHighWatermark, log.endOffset));
  const partition = { ...blank, log, epochs, highWatermark };
  const line: TraceEvent = {
    event: 'recover',
    partition: found.log,
    logStart: found.logStartOffset,
    flushed: found.flushedOffset,
    from: found.foundEndOffset,
    to: log.endOffset,
    cut: found.cut,
    hw: highWatermark,
    epochs: tracedEpochs(epochs),
  };
  return { partition, line };
}

/** Appends batches that follow the end of the log; their offsets and epochs are final. */
export function append(
  turn: Turn,
  partition: Partition,
  batches: readonly BatchInfo[],
  bytes: Uint8Array | LogRange,
): void {
  const { key, log, leaderEpoch } = partition;
  traceWhole(turn, appendLine(key, leaderEpoch, batches.map(emitted), turn.msg));
  const position = appendBatches(log, batches);
  turn.effects.push({ type: 'append', log: key, position, batches, bytes });
  const { keepsEpochCache, epochConflict } = turn.state.build;
  if (keepsEpochCache) {
    const noted = turn.state.defects.has('note-own-epoch')
      ? batches.map((batch) => ({ ...batch, leaderEpoch }))
      : batches;
    setEpochs(turn, partition, assignBatches(partition.epochs, noted, epochConflict));
  }
  turn.touched.add(partition);
}

/**
 * Ends the log at `offset`, or at the batch boundary below it. Traced even where nothing is removed: that somebody
 * looked, and by which rule, is what a reader of the trace has to know.
 */
export function truncate(
  turn: Turn,
  partition: Partition,
  offset: number,
  rule: TruncationRule,
  evidence: TruncationEvidence,
): void {
  const { key, log, leaderEpoch } = partition;
  const from = log.endOffset;
  truncateLog(log, offset);
  const to = log.endOffset;
  trace(turn, { event: 'truncation', partition: key, leaderEpoch, from, to, rule, evidence });
  if (to < from) turn.effects.push({ type: 'truncate', log: key, offset: to, position: log.endPosition });
  // Also where the log was not cut: an epoch of which no record came must not be asked for again (KAFKA-10706).
  if (turn.state.build.keepsEpochCache) setEpochs(turn, partition, truncateFromEnd(partition.epochs, to));
  if (turn.state.build.lowersHighWatermarkOnTruncation && partition.highWatermark > to) {
    moveHighWatermark(turn, partition, to);
  }
  turn.touched.add(partition);
}

/** Drops everything: the replica starts again at `offset`, which it may take for committed (KAFKA-9491). */
export function startAnewAt(turn: Turn, partition: Partition, offset: number, reason: string): void {
  const { key, log, leaderEpoch } = partition;
  trace(turn, { event: 'log-start', partition: key, leaderEpoch, from: log.startOffset, to: offset, reason });
  resetLog(log, offset);
  turn.effects.push({ type: 'reset-log', log: key, offset });
  if (turn.state.build.keepsEpochCache) setEpochs(turn, partition, []);
  if (partition.highWatermark !== offset) moveHighWatermark(turn, partition, offset);
  turn.touched.add(partition);
}

/** `isr` on a leader: the set over which it was computed. */
export function moveHighWatermark(turn: Turn, partition: Partition, to: number, isr?: readonly NodeId[]): void {
  const { key, leaderEpoch, highWatermark: from } = partition;
  traceWhole(turn, hwLine(key, leaderEpoch, from, to, isr, turn.msg));
  partition.highWatermark = to;
  turn.touched.add(partition);
}

/** Notes that `epoch` starts at the end of the log, before it has a record (KAFKA-7415). */
export function startEpoch(turn: Turn, partition: Partition, epoch: number): void {
  setEpochs(turn, partition, assignEpoch(partition.epochs, epoch, partition.log.endOffset));
}

/** The line that says which role the replica took, with its end and high watermark as they were then. */
export function traceRole(turn: Turn, partition: Partition, role: 'leader' | 'follower'): void {
  const { key, leaderEpoch, leader, log, highWatermark, isr } = partition;
  const [leo, hw] = [log.endOffset, highWatermark];
  trace(turn, { event: 'role', partition: key, leaderEpoch, role, leader, leo, hw, isr });
}

function setEpochs(turn: Turn, partition: Partition, epochs: EpochCache): void {
  if (epochs === partition.epochs) return;
  partition.epochs = epochs;
  turn.effects.push({ type: 'epoch-checkpoint', log: partition.key, entries: epochs });
}

function emitted({ baseOffset, lastOffset, leaderEpoch, crc }: BatchInfo): EmittedBatch {
  return { base: baseOffset, last: lastOffset, epoch: leaderEpoch, crc };
}
