/**
 * A replica that leads: what it knows of its followers, and what follows from it.
 *
 * A follower tells how far it got by the offset that it fetches next. From these offsets a leader draws everything: the
 * high watermark (the smallest end over the ISR), who has fallen behind, who has caught up. The ISR itself belongs to
 * the controller. A leader proposes a change (AlterPartition, KIP-497), and until the answer it counts on the *maximal
 * ISR*, the committed one and whoever it proposed to add, so that nothing is taken for committed which an ISR that the
 * controller may already have does not hold.
 *
 * Invariants: the high watermark never falls while one replica leads one epoch; a leader never proposes an ISR without
 * itself; one proposal per partition is under way at a time.
 */
import { placedBatch } from '../protocol/index.ts';
import type { BatchInfo, LogRange } from '../protocol/index.ts';
import type { Defects } from './defects.ts';
import { isEligible } from './metadata.ts';
import { append, moveHighWatermark, startEpoch, traceRole, truncate } from './partition.ts';
import type { Partition } from './partition.ts';
import { nsPerMs, traceWhole } from './state.ts';
import type { Turn } from './state.ts';
import type { NodeId } from './step.ts';
import { fetchLine } from './trace.ts';

export interface LeaderRole {
  readonly kind: 'leader';
  /** End of the log when this epoch began (LESO). */
  epochStart: number;
  readonly followers: readonly FollowerProgress[];
  proposal: IsrProposal | null;
  /** No proposal before this time: the last one was refused. */
  proposeAfterNs: number;
}

export type Led = Partition & { role: LeaderRole };

/** What a leader knows of one follower. */
interface FollowerProgress {
  readonly id: NodeId;
  /** The follower's LEO: the offset it fetched last; −1 while unknown. */
  end: number;
  lastFetchNs: number;
  /** The leader's own end when the follower fetched last. */
  endAtLastFetch: number;
  /** When the follower last had all that the leader had; −Infinity for never. */
  lastCaughtUpNs: number;
  /** Whether a trace line of this epoch tells of it. */
  traced: boolean;
}

export interface IsrProposal {
  readonly isr: readonly NodeId[];
  /** `refused`: the controller knows of a newer state, which is on its way here. */
  progress: 'unsent' | 'sent' | 'refused';
}

export function isLed(partition: Partition): partition is Led {
  return partition.role.kind === 'leader';
}

/**
 * Takes the lead, or keeps it in a new epoch. Nothing is truncated (but on a build that tells the story the folk way):
 * a new leader keeps what it holds above its high watermark, and commits it again.
 */
export function becomeLeader(turn: Turn, partition: Partition, previousEpoch: number): void {
  const { build, defects } = turn.state;
  const before = partition.role.kind === 'leader' ? partition.role : null;
  traceRole(turn, partition, 'leader');
  if (before === null && build.truncatesOnElection) {
    const { highWatermark } = partition;
    truncate(turn, partition, highWatermark, 'high-watermark-on-election', { highWatermark });
  }
  const missedEpoch = partition.leaderEpoch > previousEpoch + 1;
  const known = build.keepsFollowerEnds === 'next-epoch' && missedEpoch ? null : before;
  partition.role = {
    kind: 'leader',
    epochStart: partition.log.endOffset,
    followers: followersOf(turn, partition, known),
    proposal: null,
    proposeAfterNs: turn.nowNs,
  };
  if (build.startsEpochOnElection && !defects.has('no-epoch-start')) startEpoch(turn, partition, partition.leaderEpoch);
  turn.touched.add(partition);
  if (defects.has('commit-all-on-election')) moveHighWatermark(turn, partition, partition.log.endOffset, partition.isr);
  advanceHighWatermark(turn, partition as Led);
}

function followersOf(turn: Turn, { replicas, isr, log }: Partition, known: LeaderRole | null): FollowerProgress[] {
  const others = replicas.filter((id) => id !== turn.state.config.node);
  return others.map((id) => ({
    id,
    end: (known && progressOf(known, id))?.end ?? -1,
    lastFetchNs: turn.nowNs,
    endAtLastFetch: log.endOffset,
    lastCaughtUpNs: isr.includes(id) ? turn.nowNs : -Infinity,
    traced: false,
  }));
}

/** What a leader knows of one follower; nothing where it has no replica. They are few, so a list is the fastest map. */
export function progressOf({ followers }: LeaderRole, id: NodeId): FollowerProgress | undefined {
  for (const follower of followers) if (follower.id === id) return follower;
  return undefined;
}

/** Appends what a producer sent, under the next offset and this leader's epoch. */
export function appendProduced(
  turn: Turn,
  partition: Led,
  batch: BatchInfo,
  bytes: Uint8Array | LogRange,
): { readonly base: number; readonly last: number } {
  const base = partition.log.endOffset;
  const last = base + batch.lastOffset - batch.baseOffset;
  const stale = turn.state.defects.has('stamp-previous-epoch') ? partition.log.batches.at(-1)?.leaderEpoch : undefined;
  const leaderEpoch = stale ?? partition.leaderEpoch;
  append(turn, partition, [placedBatch(batch, base, leaderEpoch)], bytes);
  advanceHighWatermark(turn, partition);
  return { base, last };
}

/** A follower fetched from `offset`: it holds everything below. */
export function noteFetch(turn: Turn, partition: Led, id: NodeId, offset: number): void {
  const follower = progressOf(partition.role, id);
  if (follower === undefined) return;
  const leo = partition.log.endOffset;
  if (offset >= leo) follower.lastCaughtUpNs = turn.nowNs;
  // It reached what there was when it fetched last: so it was caught up then, however much was written since.
  else if (offset >= follower.endAtLastFetch) {
    follower.lastCaughtUpNs = Math.max(follower.lastCaughtUpNs, follower.lastFetchNs);
  }
  follower.endAtLastFetch = leo;
  follower.lastFetchNs = turn.nowNs;
  if (follower.end !== offset || !follower.traced) {
    const { key, leaderEpoch } = partition;
    traceWhole(turn, fetchLine(key, leaderEpoch, id, offset, leo, turn.msg));
    follower.end = offset;
    follower.traced = true;
  }
  proposeExpansion(turn, partition, id, follower);
  advanceHighWatermark(turn, partition);
}

/**
 * The high watermark is the smallest end over the maximal ISR and the leader itself. It advances under min.insync.replicas
 * too (before Kafka 3.7): that bound decides what is acknowledged, not what is committed.
 */
function advanceHighWatermark(turn: Turn, partition: Led): void {
  const { defects } = turn.state;
  // Nothing is left that could be committed.
  if (partition.highWatermark >= partition.log.endOffset && defects.size === 0) return;
  const isr = maximalIsr(turn, partition);
  let lowest = partition.log.endOffset;
  for (const follower of partition.role.followers) {
    if (isr.includes(follower.id) || holdsBack(turn, follower)) lowest = Math.min(lowest, follower.end);
  }
  const to = defects.size === 0 ? lowest : misjudge(defects, partition, lowest);
  const falls = to < partition.highWatermark && defects.has('high-watermark-falls');
  if (to > partition.highWatermark || falls) moveHighWatermark(turn, partition, to, isr);
}

/** What brokers with a defect take for committed. */
function misjudge(defects: Defects, { log, role }: Led, lowest: number): number {
  if (defects.has('high-watermark-at-end')) return log.endOffset;
  if (defects.has('high-watermark-falls')) return Math.max(0, lowest);
  if (!defects.has('high-watermark-of-majority')) return lowest;
  const ends = [log.endOffset, ...role.followers.map(({ end }) => end)];
  return ends.toSorted((one, other) => one - other)[Math.floor((ends.length - 1) / 2)] ?? lowest;
}

/** The committed ISR and whoever this leader proposed to add. */
function maximalIsr({ state: { defects } }: Turn, partition: Led): readonly NodeId[] {
  const { proposal } = partition.role;
  if (proposal === null || defects.has('ignore-pending-isr')) return partition.isr;
  if (defects.has('shrink-before-commit')) return proposal.isr;
  return [...partition.isr, ...proposal.isr.filter((id) => !partition.isr.includes(id))];
}

/** Whether acks=all may be promised; the bound cannot exceed the number of replicas. */
export function hasEnoughReplicas(turn: Turn, partition: Partition): boolean {
  if (turn.state.defects.has('ack-below-min-isr')) return true;
  return partition.isr.length >= Math.min(turn.state.config.minInsyncReplicas, partition.replicas.length);
}

/** Time has passed: a follower may lag too much to be in the ISR, or to be waited for on its way into it. */
export function checkLag(turn: Turn, partition: Led): void {
  proposeShrinking(turn, partition);
  advanceHighWatermark(turn, partition);
}

/** Proposes to drop the followers that have not been caught up for `replica.lag.time.max.ms` (KIP-16). */
function proposeShrinking(turn: Turn, partition: Led): void {
  if (partition.role.proposal !== null || turn.nowNs < partition.role.proposeAfterNs) return;
  const kept = partition.isr.filter((id) => {
    const follower = progressOf(partition.role, id);
    if (follower === undefined || !lags(turn, follower)) return true;
    return turn.state.build.shrinkSparesEqualEnd && follower.end === partition.log.endOffset;
  });
  if (kept.length < partition.isr.length) propose(turn, partition, kept);
}

/** The controller committed an ISR, by this leader's wish or by its own. */
export function takeIsr(turn: Turn, partition: Partition, isr: readonly NodeId[], partitionEpoch: number): void {
  partition.isr = isr;
  if (!turn.state.defects.has('stale-partition-epoch')) partition.partitionEpoch = partitionEpoch;
  turn.touched.add(partition);
  if (!isLed(partition)) return;
  // Whatever was proposed is now committed, or can no longer be: the controller accepts one change per partition epoch.
  partition.role.proposal = null;
  advanceHighWatermark(turn, partition);
}

/** The proposal was certainly not committed: back to the committed ISR, and no other proposal before `afterNs`. */
export function dropProposal(turn: Turn, partition: Led, afterNs: number): void {
  partition.role.proposal = null;
  partition.role.proposeAfterNs = afterNs;
  advanceHighWatermark(turn, partition);
}

function proposeExpansion(turn: Turn, partition: Led, id: NodeId, follower: FollowerProgress): void {
  const { role, isr } = partition;
  if (isr.includes(id) || role.proposal !== null || turn.nowNs < role.proposeAfterNs) return;
  const { build, defects, metadata } = turn.state;
  const waitsForEpochStart = build.expansionWaitsForEpochStart && !defects.has('expand-without-epoch-start');
  const needed = waitsForEpochStart ? Math.max(partition.highWatermark, role.epochStart) : partition.highWatermark;
  if (follower.end < needed && !defects.has('expand-at-once')) return;
  if (!isEligible(metadata, id) && !defects.has('rejoin-while-fenced')) return;
  propose(turn, partition, [...isr, id]);
}

function propose(turn: Turn, partition: Led, isr: readonly NodeId[]): void {
  partition.role.proposal = { isr, progress: 'unsent' };
  turn.state.controller.proposalsWait = true;
}

/** A follower outside of the ISR that is about to join it: the high watermark does not run away from it. */
function holdsBack(turn: Turn, follower: FollowerProgress): boolean {
  const { build, defects } = turn.state;
  if (build.highWatermarkCounts === 'isr' || defects.has('ignore-pending-isr')) return false;
  return !lags(turn, follower) && isEligible(turn.state.metadata, follower.id);
}

function lags(turn: Turn, follower: FollowerProgress): boolean {
  return turn.nowNs - follower.lastCaughtUpNs > turn.state.config.replicaLagTimeMaxMs * nsPerMs;
}
