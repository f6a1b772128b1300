/**
 * Whether a loss is allowed: the rule of expected loss.
 *
 * The record is followed to its last removal on each replica. A truncation is *justified* only if the leader that was
 * then to be followed lacked that (offset, epoch), as its log stood when it took the role in that epoch; a leader that
 * truncates itself never is. A loss is *expected* only if every truncation by a member of the ISR at the promise was
 * justified, and the first leader elected after the promise that lacks the record was either elected uncleanly from
 * outside that ISR, or lost the record to an injected storage fault before it had flushed it. Everything else is a
 * violation, whatever the configuration: so a broker may not throw a record away first and be excused by an election
 * later (S1b), while a cluster that was told to prefer availability may lose what only its dead leader had (S11).
 */
import type { Key } from './history.ts';
import { partitionOf, storageFaultSeen, uncleanElectionPossible, wholeTrace, type Evidence } from './evidence.ts';
import { acksAll, outcome } from './index-history.ts';
import { kind } from './parse-trace.ts';
import {
  heldAt,
  leaderPlace,
  roleBefore,
  type AckAt,
  type ClusterTrace,
  type ElectionAt,
  type PartitionTrace,
} from './replicas.ts';
import { firstNotBefore } from './search.ts';

/** The moment from which a record had to be kept: its acknowledgement, or the high watermark passing it. */
export interface Promised {
  readonly offset: number;
  readonly epoch: number;
  /** The line that made the promise, the leader epoch in which it did, and the ISR that it relied on. */
  readonly row: number;
  readonly madeInEpoch: number;
  readonly isr: readonly number[];
}

/** How a record left a replica for the last time. */
export interface Removal {
  readonly node: number;
  readonly stay: number;
  readonly row: number;
  readonly by: 'truncation' | 'storage-fault' | 'recovery' | 'log-start' | 'deletion';
  /** Of truncations: whether the leader to follow lacked the record; null where the question does not arise. */
  readonly justified: boolean | null;
  /** Whom it followed: itself when it led, null when nobody. */
  readonly leader: number | null;
}

export interface Fate {
  readonly class: 'violation' | 'expected' | 'unknown';
  readonly labels: readonly string[];
  readonly promised: Promised | null;
  readonly removals: readonly Removal[];
  /** The first leader elected after the promise without the record. */
  readonly lacking: ElectionAt | null;
  /** One clause that says why the class is what it is. */
  readonly reason: string;
}

/** Judges the loss of a value that stood at `offset`; `row` is its row in the history. */
export function judgeLoss(evidence: Evidence, key: Key, row: number, offset: number): Fate {
  const cluster = wholeTrace(evidence);
  const partition = partitionOf(evidence, key);
  if (cluster === null || partition === null) {
    const why = evidence.run.traced === false ? 'no trace tells how that came about' : 'there is no whole trace';
    return withoutTrace(evidence, key, why);
  }
  const promised = findPromise(evidence, cluster, partition, row, offset);
  if (promised === null) return withoutTrace(evidence, key, 'the trace does not show the record');
  const fate = judgePromise(evidence, cluster, partition, promised);
  // The trace of a run that was stopped may end before the election that explains the loss.
  const breaksOff = fate.lacking === null && evidence.run.settled === null;
  return breaksOff && fate.removals.every(({ justified }) => justified !== false)
    ? withoutTrace(evidence, key, 'the trace ends before the loss')
    : fate;
}

/** Judges the loss of a record that a leader's high watermark had passed, acknowledged or not; null if none had. */
export function judgeCommitted(
  evidence: Evidence,
  cluster: ClusterTrace,
  partition: PartitionTrace,
  offset: number,
  epoch: number,
): Fate | null {
  const promised = promiseOfCommit(cluster, partition, offset, epoch);
  return promised === null ? null : judgePromise(evidence, cluster, partition, promised);
}

function judgePromise(evidence: Evidence, cluster: ClusterTrace, partition: PartitionTrace, promised: Promised): Fate {
  const removals = lastRemovals(cluster, partition, promised);
  const lacking = firstLacking(cluster, partition, promised);
  const fate = { promised, removals, lacking, labels: [] };
  const unjustified = removals.find(
    (removal) =>
      removal.justified === false && (promised.isr.includes(removal.node) || removal.leader === removal.node),
  );
  if (unjustified !== undefined) {
    const reason = `broker ${unjustified.node} truncated its log without need`;
    return { ...fate, class: 'violation', reason };
  }
  if (lacking === null || lacking.line.leader === null) {
    return { ...fate, class: 'violation', reason: 'no elected leader lacked it when it was elected' };
  }
  const { leader } = lacking.line;
  if (!lacking.line.clean && !promised.isr.includes(leader)) {
    const reason = `broker ${leader} was elected uncleanly, from outside the in-sync replicas`;
    return { ...fate, class: 'expected', reason };
  }
  if (lostToStorage(cluster, partition, promised, lacking)) {
    const labels = isLastStanding(evidence, lacking, removals, partition, promised) ? ['last-replica-standing'] : [];
    const reason = `broker ${leader} lost what it had not flushed, by a storage fault`;
    return { ...fate, labels, class: 'expected', reason };
  }
  return {
    ...fate,
    class: 'violation',
    reason: `broker ${leader} was elected without a copy, and nothing excuses that`,
  };
}

/** Without a trace a loss is a violation only where the configuration and the faults leave no excuse. */
function withoutTrace(evidence: Evidence, key: Key, why: string): Fate {
  const excusable = uncleanElectionPossible(evidence, key) || storageFaultSeen(evidence, key);
  return {
    class: excusable ? 'unknown' : 'violation',
    labels: [],
    promised: null,
    removals: [],
    lacking: null,
    reason: excusable
      ? `${why}, and an unclean election or a storage fault may excuse it`
      : 'neither an unclean election nor a storage fault can excuse it',
  };
}

/** Ties a value of the history to its record in the trace, and finds the promise that was made for it. */
function findPromise(
  evidence: Evidence,
  cluster: ClusterTrace,
  partition: PartitionTrace,
  row: number,
  offset: number,
): Promised | null {
  const { values } = evidence.history;
  const acknowledged = values.outcome.get(row) === outcome.ok && values.offset.get(row) === offset;
  const ack = acknowledged
    ? findAck(cluster, partition, values.process.get(row), values.correlation.get(row), offset)
    : null;
  if (ack !== null && ack.batchEpoch !== -1 && ack.acks === acksAll) {
    return { offset, epoch: ack.batchEpoch, row: ack.row, madeInEpoch: ack.epoch, isr: ack.isr };
  }
  const epoch = epochOf(cluster, partition, values.process.get(row), values.correlation.get(row), offset);
  return promiseOfCommit(cluster, partition, offset, epoch);
}

/** The acknowledgement of an offset, preferably of this very message. */
function findAck(
  cluster: ClusterTrace,
  partition: PartitionTrace,
  process: number,
  correlation: number,
  offset: number,
): AckAt | null {
  const { store } = cluster;
  const covering = acksCovering(partition, offset);
  const exact = covering.find(
    ({ row }) => store.client.get(row) === process && store.correlation.get(row) === correlation,
  );
  if (exact !== undefined) return exact;
  // Foreign clients have other names; then the only acknowledgement of this offset has to be it.
  const [only] = covering;
  return covering.length === 1 && only !== undefined && store.client.get(only.row) === -1 ? only : null;
}

function acksCovering(partition: PartitionTrace, offset: number): readonly AckAt[] {
  const { acks } = partition;
  const first = firstNotBefore(acks.length, (at) => (acks[at] as AckAt).last < offset);
  const found: AckAt[] = [];
  for (let at = first; at < acks.length && (acks[at] as AckAt).base <= offset; at += 1) found.push(acks[at] as AckAt);
  return found;
}

/** True when the trace shows the record of this value, and no leader ever had its high watermark above it. */
export function neverCommitted(evidence: Evidence, key: Key, row: number, offset: number): boolean {
  const cluster = wholeTrace(evidence);
  const partition = partitionOf(evidence, key);
  if (cluster === null || partition === null) return false;
  const { process, correlation } = evidence.history.values;
  const epoch = epochOf(cluster, partition, process.get(row), correlation.get(row), offset);
  if (epoch === null) return false;
  const { stays } = partition;
  return !stays.at(offset).some((stay) => stays.epoch.get(stay) === epoch && stays.committed.get(stay) !== -1);
}

/** The epoch of the record that a message put at `offset`: by the message, or because only one record ever stood there. */
function epochOf(
  cluster: ClusterTrace,
  partition: PartitionTrace,
  process: number,
  correlation: number,
  offset: number,
): number | null {
  const { store } = cluster;
  const { stays } = partition;
  const covering = stays.at(offset);
  const own = covering.find((stay) => {
    const row = stays.appended.get(stay);
    return store.client.get(row) === process && store.correlation.get(row) === correlation;
  });
  if (own !== undefined) return stays.epoch.get(own);
  // What is known to be another message's record is not this value's.
  const others = new Set<number>();
  for (const stay of covering) {
    if (correlation !== -1 && store.client.get(stays.appended.get(stay)) !== -1) others.add(stays.epoch.get(stay));
  }
  const epochs = new Set(covering.map((stay) => stays.epoch.get(stay)).filter((epoch) => !others.has(epoch)));
  return epochs.size === 1 ? ([...epochs][0] ?? null) : null;
}

/** A record whose leader's high watermark passed it is promised to consumers, acknowledged or not. */
function promiseOfCommit(
  cluster: ClusterTrace,
  partition: PartitionTrace,
  offset: number,
  epoch: number | null,
): Promised | null {
  const { store } = cluster;
  const { stays } = partition;
  let first: Promised | null = null;
  for (const stay of stays.at(offset)) {
    const row = stays.committed.get(stay);
    if (row === -1 || stays.epoch.get(stay) !== epoch) continue;
    const madeInEpoch = store.epoch.get(row);
    if (first !== null && first.madeInEpoch <= madeInEpoch) continue;
    const isr = store.roles.get(row)?.isr ?? store.isrs[store.isr.get(row)] ?? [];
    first = { offset, epoch, row, madeInEpoch, isr };
  }
  return first;
}

/** Where the record is gone, how it went, by broker; replicas that still hold it, or never did, are left out. */
function lastRemovals(cluster: ClusterTrace, partition: PartitionTrace, promised: Promised): Removal[] {
  const { stays } = partition;
  const last = new Map<number, number>();
  for (const stay of stays.at(promised.offset)) {
    if (stays.epoch.get(stay) === promised.epoch) last.set(stays.node.get(stay), stay);
  }
  const removals: Removal[] = [];
  for (const [node, stay] of last) {
    const row = stays.removed.get(stay);
    if (row !== -1) removals.push(removalOf(cluster, partition, promised, node, stay, row));
  }
  return removals;
}

function removalOf(
  cluster: ClusterTrace,
  partition: PartitionTrace,
  promised: Promised,
  node: number,
  stay: number,
  row: number,
): Removal {
  const { store } = cluster;
  const base = { node, stay, row, justified: null, leader: null };
  const recovery = store.recoveries.get(row);
  if (recovery !== undefined) {
    return { ...base, by: wasStorageFault(cluster, row, promised) ? 'storage-fault' : 'recovery' };
  }
  if (store.kind.get(row) === kind.logStart) return { ...base, by: 'log-start' };
  if (store.kind.get(row) !== kind.truncation) return { ...base, by: 'deletion' };
  const role = roleBefore(cluster, partition, node, row);
  const leader = role?.line.leader ?? null;
  const justified =
    role !== null &&
    leader !== null &&
    leader !== node &&
    !leaderHeld(cluster, partition, leader, role.epoch, promised);
  return { ...base, by: 'truncation', justified, leader };
}

/** What a leader wrote in the epoch itself it has, though not yet when it took the role. */
function leaderHeld(
  cluster: ClusterTrace,
  partition: PartitionTrace,
  leader: number,
  epoch: number,
  promised: Promised,
): boolean {
  const { stays } = partition;
  if (promised.epoch === epoch) {
    const covering = stays.at(promised.offset);
    return covering.some((stay) => stays.node.get(stay) === leader && stays.epoch.get(stay) === epoch);
  }
  const { place } = leaderPlace(cluster, partition, leader, epoch);
  return heldAt(cluster, partition, leader, promised.offset, promised.epoch, place);
}

function firstLacking(cluster: ClusterTrace, partition: PartitionTrace, promised: Promised): ElectionAt | null {
  for (const election of partition.elections) {
    const { leader } = election.line;
    if (election.epoch <= promised.madeInEpoch || leader === null) continue;
    const { place } = leaderPlace(cluster, partition, leader, election.epoch);
    if (!heldAt(cluster, partition, leader, promised.offset, promised.epoch, place)) return election;
  }
  return null;
}

/** The elected leader once held the record, and a storage fault took it before the election counted. */
function lostToStorage(
  cluster: ClusterTrace,
  partition: PartitionTrace,
  promised: Promised,
  lacking: ElectionAt,
): boolean {
  const leader = lacking.line.leader as number;
  const { stays } = partition;
  const { place } = leaderPlace(cluster, partition, leader, lacking.epoch);
  const before = stays
    .at(promised.offset)
    .filter(
      (stay) =>
        stays.node.get(stay) === leader &&
        stays.epoch.get(stay) === promised.epoch &&
        (cluster.position[stays.appended.get(stay)] as number) <= place,
    )
    .at(-1);
  if (before === undefined) return false;
  return wasStorageFault(cluster, stays.removed.get(before), promised);
}

/** The line tells of a power loss that took the record before it was flushed. */
function wasStorageFault(cluster: ClusterTrace, row: number, promised: Promised): boolean {
  const recovery = cluster.store.recoveries.get(row);
  return recovery !== undefined && recovery.cut === 'power-loss' && promised.offset >= recovery.flushed;
}

/** KIP-966: the ISR had shrunk below min.insync.replicas to one, that one lost the record, and good copies existed. */
function isLastStanding(
  evidence: Evidence,
  lacking: ElectionAt,
  removals: readonly Removal[],
  partition: PartitionTrace,
  promised: Promised,
): boolean {
  if (evidence.promises.minInsyncReplicas < 2 || !wasAlone(partition, lacking)) return false;
  const lostByFault = new Set(removals.filter(({ by }) => by === 'storage-fault').map(({ node }) => node));
  const { stays } = partition;
  return stays
    .at(promised.offset)
    .some((stay) => stays.epoch.get(stay) === promised.epoch && !lostByFault.has(stays.node.get(stay)));
}

/** The leader was elected from an ISR of itself: at that election, or at one that followed with nobody else in between. */
function wasAlone(partition: PartitionTrace, lacking: ElectionAt): boolean {
  const { leader } = lacking.line;
  for (const { epoch, line, isrBefore } of partition.elections) {
    if (epoch < lacking.epoch || line.leader === null) continue;
    if (line.leader !== leader) return false;
    if (isrBefore.length === 1 && isrBefore[0] === leader) return true;
  }
  return false;
}
