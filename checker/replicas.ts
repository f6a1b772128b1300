/**
 * Every replica's log, rebuilt from the trace.
 *
 * The unit is a *stay*: one batch in the log of one node, from the line that appended it to the line that removed it
 * (a truncation, a recovery, a moved log start, a deletion). With the stays, "did broker 2 hold (offset 7, epoch 1) when
 * it took the role in epoch 3" is a look-up. Each node is replayed alone, in its own order; nothing here compares
 * times or orders lines of two nodes.
 *
 * Invariant: memory is proportional to the number of batches appended, on all nodes together.
 */
import type { Key } from './history.ts';
import { kind, nodeName, type TraceNode, type TraceStore } from './parse-trace.ts';
import type { Reference } from './results.ts';
import type { ElectionLine, RoleLine, TruncationLine } from './trace-events.ts';
import { Stays } from './stays.ts';

export interface RoleAt {
  readonly row: number;
  readonly epoch: number;
  readonly line: RoleLine;
}

export interface TruncationAt {
  readonly row: number;
  readonly node: number;
  readonly epoch: number;
  readonly line: TruncationLine;
}

export interface ElectionAt {
  readonly row: number;
  readonly epoch: number;
  readonly line: ElectionLine;
  /** The ISR as it was committed before this election. */
  readonly isrBefore: readonly number[];
}

/** A change of the ISR without an election. */
export interface IsrChangeAt {
  readonly row: number;
  readonly epoch: number;
  readonly from: readonly number[];
  readonly to: readonly number[];
}

/** An acknowledgement by a leader, with the epoch of the batch that it acknowledged (−1: it did not hold it). */
export interface AckAt {
  readonly row: number;
  readonly node: number;
  readonly base: number;
  readonly last: number;
  readonly acks: number;
  readonly batchEpoch: number;
  /** Epoch in which the leader acknowledged. */
  readonly epoch: number;
  readonly isr: readonly number[];
}

/** What the trace tells of one partition. */
export interface PartitionTrace {
  readonly key: Key;
  readonly stays: Stays;
  readonly roles: Map<number, RoleAt[]>;
  readonly truncations: TruncationAt[];
  /** Rows of `recover` lines, by node. */
  readonly recoveries: Map<number, number[]>;
  /** By epoch. */
  readonly elections: ElectionAt[];
  readonly isrChanges: IsrChangeAt[];
  /** By base. */
  readonly acks: AckAt[];
  /** Assigned replicas, in order; null when their creation is not in the trace. */
  replicas: readonly number[] | null;
  deleted: boolean;
  /** Stays of a lower epoch than the batch before them in the same log. */
  readonly epochDrops: number[];
  /** ISR as the controller committed it last. */
  isr: readonly number[];
  /** At the last line of each node. */
  readonly highWatermark: Map<number, number>;
  readonly end: Map<number, number>;
}

export interface ClusterTrace {
  readonly store: TraceStore;
  readonly partitions: ReadonlyMap<Key, PartitionTrace>;
  /** Place of a row among the lines of its node. */
  readonly position: Int32Array;
  /** Empty when nothing is missing. */
  readonly damage: readonly string[];
}

/** Replays a trace. */
export function rebuildReplicas(store: TraceStore): ClusterTrace {
  const partitions = new Map<Key, PartitionTrace>();
  const byId: PartitionTrace[] = store.keys.map((key, id) => {
    const partition = emptyPartition(key, store.created.get(id) ?? null);
    partitions.set(key, partition);
    return partition;
  });
  const position = new Int32Array(store.rowCount);
  const damage = [...store.damage];
  for (const node of store.nodes) {
    for (const [place, row] of store.rowsOf(node).entries()) position[row] = place;
    if (node === 'controller') replayController(store, byId);
    else replayBroker(store, node, byId, damage);
  }
  for (const partition of partitions.values()) partition.acks.sort((x, y) => x.base - y.base || x.row - y.row);
  return { store, partitions, position, damage };
}

/** True when `node` held a batch of `epoch` that covers `offset`, as its log stood after the line at `place`. */
export function heldAt(
  cluster: ClusterTrace,
  partition: PartitionTrace,
  node: number,
  offset: number,
  epoch: number,
  place: number,
): boolean {
  return partition.stays.at(offset).some((stay) => {
    if (partition.stays.node.get(stay) !== node || partition.stays.epoch.get(stay) !== epoch) return false;
    const removed = partition.stays.removed.get(stay);
    return (
      (cluster.position[partition.stays.appended.get(stay)] as number) <= place &&
      (removed === -1 || (cluster.position[removed] as number) > place)
    );
  });
}

/**
 * The place in the lines of `leader` at which its log counts for `epoch`: when it took the role, before it truncated
 * anything, or, if it never did, just before it took a role in a later epoch, or its last line.
 */
export function leaderPlace(
  cluster: ClusterTrace,
  partition: PartitionTrace,
  leader: number,
  epoch: number,
): { readonly place: number; readonly role: RoleAt | null } {
  const roles = partition.roles.get(leader) ?? [];
  const taken = roles.find((role) => role.epoch === epoch && role.line.role === 'leader') ?? null;
  if (taken !== null) return { place: cluster.position[taken.row] as number, role: taken };
  const later = roles.find((role) => role.epoch > epoch);
  if (later !== undefined) return { place: (cluster.position[later.row] as number) - 1, role: null };
  return { place: cluster.store.rowsOf(leader).length - 1, role: null };
}

/** The role that `node` had when it wrote `row`. */
export function roleBefore(cluster: ClusterTrace, partition: PartitionTrace, node: number, row: number): RoleAt | null {
  const place = cluster.position[row] as number;
  const boot = cluster.store.boot.get(row);
  const roles = partition.roles.get(node) ?? [];
  return (
    roles.findLast(
      (role) => (cluster.position[role.row] as number) <= place && cluster.store.boot.get(role.row) === boot,
    ) ?? null
  );
}

/** A reference to a line, for whoever wants to look it up. */
export function traceReference(store: TraceStore, row: number): Reference {
  return { source: 'trace', node: store.nodeOf(row), boot: store.boot.get(row), seq: store.seq.get(row) };
}

function emptyPartition(key: Key, replicas: readonly number[] | null): PartitionTrace {
  return {
    key,
    stays: new Stays(),
    roles: new Map(),
    truncations: [],
    recoveries: new Map(),
    elections: [],
    isrChanges: [],
    acks: [],
    replicas,
    deleted: false,
    epochDrops: [],
    isr: [],
    highWatermark: new Map(),
    end: new Map(),
  };
}

function replayController(store: TraceStore, byId: readonly PartitionTrace[]): void {
  for (const row of store.rowsOf('controller')) {
    const partition = byId[store.key.get(row)];
    if (partition === undefined) continue;
    const election = store.elections.get(row);
    if (election !== undefined) {
      partition.elections.push({ row, epoch: store.epoch.get(row), line: election, isrBefore: partition.isr });
      partition.isr = election.isr;
    }
    const change = store.isrChanges.get(row);
    if (change !== undefined) {
      partition.isrChanges.push({ row, epoch: store.epoch.get(row), from: partition.isr, to: change.to });
      partition.isr = change.to;
    }
    if (store.kind.get(row) === kind.delete) partition.deleted = true;
  }
  for (const partition of byId) partition.elections.sort((x, y) => x.epoch - y.epoch || x.row - y.row);
}

/** A log while it is replayed: its stays from `head` on, in order. */
interface LiveLog {
  readonly partition: PartitionTrace;
  readonly live: number[];
  head: number;
  /** So many of `live` are known to be committed. */
  committed: number;
  end: number;
}

function replayBroker(store: TraceStore, node: number, byId: readonly PartitionTrace[], damage: string[]): void {
  const logs = new Map<number, LiveLog>();
  for (const row of store.rowsOf(node)) {
    const key = store.key.get(row);
    const partition = byId[key];
    if (partition === undefined) continue;
    let log = logs.get(key);
    if (log === undefined) {
      log = { partition, live: [], head: 0, committed: 0, end: 0 };
      logs.set(key, log);
    }
    replayLine(store, node, row, log, damage);
    partition.end.set(node, log.end);
  }
}

function replayLine(store: TraceStore, node: number, row: number, log: LiveLog, damage: string[]): void {
  const { partition } = log;
  switch (store.kind.get(row)) {
    case kind.append:
      appendBatches(store, node, row, log);
      return;
    case kind.ack:
      partition.acks.push(ackAt(store, node, row, log));
      return;
    case kind.hw:
      partition.highWatermark.set(node, store.b.get(row));
      if (store.isr.get(row) !== -1) commitBelow(log, store.b.get(row), row);
      return;
    case kind.role: {
      const line = store.roles.get(row) as RoleLine;
      listIn(partition.roles, node).push({ row, epoch: store.epoch.get(row), line });
      partition.highWatermark.set(node, line.hw);
      if (line.role === 'leader') commitBelow(log, line.hw, row);
      return;
    }
    case kind.truncation: {
      const line = store.truncations.get(row) as TruncationLine;
      partition.truncations.push({ row, node, epoch: store.epoch.get(row), line });
      // A follower that fell behind its leader's log start drops everything and begins anew, further on.
      removeFrom(log, line.to > line.from ? 0 : line.to, row);
      log.end = line.to;
      return;
    }
    case kind.recover:
      recover(store, node, row, log, damage);
      return;
    case kind.logStart:
      removeBelow(log, store.b.get(row), row);
      return;
    case kind.delete:
      removeFrom(log, 0, row);
      log.end = 0;
      partition.highWatermark.set(node, 0);
      return;
    default:
  }
}

function appendBatches(store: TraceStore, node: number, row: number, log: LiveLog): void {
  const { base, last, epoch, hash } = store.batches;
  const { stays, epochDrops } = log.partition;
  for (let batch = store.a.get(row); batch < store.b.get(row); batch += 1) {
    const before = log.live.length > log.head ? (log.live.at(-1) as number) : -1;
    const stay = stays.add(node, base.get(batch), last.get(batch), epoch.get(batch), hash.get(batch), row);
    if (before !== -1 && stays.epoch.get(before) > stays.epoch.get(stay)) epochDrops.push(stay);
    log.live.push(stay);
    log.end = last.get(batch) + 1;
  }
}

function ackAt(store: TraceStore, node: number, row: number, log: LiveLog): AckAt {
  const base = store.a.get(row);
  const { stays } = log.partition;
  let batchEpoch = -1;
  for (let at = log.live.length - 1; at >= log.head; at -= 1) {
    const stay = log.live[at] as number;
    if (stays.last.get(stay) < base) break;
    if (stays.base.get(stay) <= base) batchEpoch = stays.epoch.get(stay);
  }
  const isr = store.isrs[store.isr.get(row)] ?? [];
  return {
    row,
    node,
    base,
    last: store.b.get(row),
    acks: store.c.get(row),
    batchEpoch,
    epoch: store.epoch.get(row),
    isr,
  };
}

function commitBelow(log: LiveLog, highWatermark: number, row: number): void {
  const { stays } = log.partition;
  for (; log.committed < log.live.length; log.committed += 1) {
    const stay = log.live[log.committed] as number;
    if (stays.last.get(stay) >= highWatermark) return;
    stays.committed.set(stay, row);
  }
}

function removeFrom(log: LiveLog, end: number, row: number): void {
  const { stays } = log.partition;
  while (log.live.length > log.head) {
    const stay = log.live.at(-1) as number;
    if (stays.last.get(stay) < end) break;
    stays.removed.set(stay, row);
    log.live.pop();
  }
  log.committed = Math.min(log.committed, log.live.length);
}

function removeBelow(log: LiveLog, start: number, row: number): void {
  const { stays } = log.partition;
  while (log.head < log.live.length) {
    const stay = log.live[log.head] as number;
    if (stays.last.get(stay) >= start) return;
    stays.removed.set(stay, row);
    log.head += 1;
    log.committed = Math.max(log.committed, log.head);
  }
  log.end = Math.max(log.end, start);
}

function recover(store: TraceStore, node: number, row: number, log: LiveLog, damage: string[]): void {
  const line = store.recoveries.get(row);
  if (line === undefined) return;
  listIn(log.partition.recoveries, node).push(row);
  if (line.to > log.end && damage.length < 20) {
    damage.push(
      `${nodeName(node)} recovered ${log.partition.key} up to offset ${line.to}, but its trace shows appends only up to ${log.end}`,
    );
  }
  removeFrom(log, line.to, row);
  log.end = line.to;
  log.partition.highWatermark.set(node, line.hw);
}

function listIn<K, T>(map: Map<K, T[]>, key: K): T[] {
  let list = map.get(key);
  if (list === undefined) {
    list = [];
    map.set(key, list);
  }
  return list;
}

/** Names of brokers in a sentence: `broker 1`, `brokers 1 and 2`, `brokers 1, 2 and 3`. */
export function brokers(nodes: readonly TraceNode[]): string {
  const sorted = [...new Set(nodes)].sort((x, y) => Number(x) - Number(y));
  if (sorted.length === 0) return 'no broker';
  if (sorted.length === 1) return `broker ${sorted[0]}`;
  return `brokers ${sorted.slice(0, -1).join(', ')} and ${sorted.at(-1)}`;
}
