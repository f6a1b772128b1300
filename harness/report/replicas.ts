/**
 * The replicas of one partition, replayed from the trace: what each held, how far it counted as committed, who it was.
 *
 * Events are applied one by one; between two of them the state can be looked at. A record is known by its offset and
 * the checksum of its batch: the same offset with another checksum is another record.
 *
 * Left out: order between nodes by messages. Events are taken in the order of the run's clock, which is good enough to
 * look at; the checker, which judges, is stricter.
 */
import type { EventOf, TraceEvent, TracedBatch } from './trace-events.ts';

export type Role = 'leader' | 'follower' | 'starting' | 'stopped';

export interface ReplicaState {
  readonly node: number;
  role: Role;
  /** Epoch of the role; −1 before the first. */
  leaderEpoch: number;
  leo: number;
  /** Null where nobody saw it. */
  hw: number | null;
  /** In the order of their offsets. */
  readonly batches: TracedBatch[];
  /** What was removed, the newest last; bounded. */
  readonly removed: TracedBatch[];
}

/** A record that was acknowledged, under acks=all. */
export interface Acknowledged {
  readonly batch: TracedBatch;
  readonly time: number;
  readonly node: number;
}

/** Removed batches remembered of one replica. */
const REMOVED_MAX = 2_000;

export class Replicas {
  readonly byNode = new Map<number, ReplicaState>();
  readonly acknowledged: Acknowledged[] = [];
  readonly #acknowledged = new Set<string>();
  /** As the controller last said it. */
  isr: readonly number[] = [];
  leader: number | null = null;

  /** Replays one event; those of other partitions must not be given. */
  apply(event: TraceEvent): void {
    if (event.event === 'election' || event.event === 'isr') {
      this.isr = event.isr;
      if (event.event === 'election') this.leader = event.leader;
    }
    if (event.node === 'controller') return;
    if (event.event === 'start' || event.event === 'stop') {
      const known = this.byNode.get(event.node);
      if (known !== undefined) known.role = event.event === 'start' ? 'starting' : 'stopped';
      return;
    }
    if (event.partition === null) return;
    const replica = this.#replica(event.node);
    if (event.event === 'ack') this.#acknowledge(replica, event);
    else applyTo(replica, event);
  }

  isAcknowledged(batch: TracedBatch): boolean {
    return this.#acknowledged.has(batchName(batch));
  }

  /** In the order of their brokers. */
  sorted(): ReplicaState[] {
    return [...this.byNode.values()].sort((a, b) => a.node - b.node);
  }

  #replica(node: number): ReplicaState {
    let replica = this.byNode.get(node);
    if (replica === undefined) {
      replica = { node, role: 'starting', leaderEpoch: -1, leo: 0, hw: null, batches: [], removed: [] };
      this.byNode.set(node, replica);
    }
    return replica;
  }

  #acknowledge(replica: ReplicaState, ack: EventOf<'ack'>): void {
    if (ack.acks !== -1) return;
    // A request's batches are the newest but few, so the search from the end is short.
    for (let at = replica.batches.length - 1; at >= 0; at -= 1) {
      const batch = replica.batches[at] as TracedBatch;
      if (batch.last < ack.base) break;
      if (batch.base > ack.last) continue;
      this.#acknowledged.add(batchName(batch));
      this.acknowledged.push({ batch, time: ack.time, node: replica.node });
    }
  }
}

/** The batch of a log that covers an offset. */
export function batchAt(batches: readonly TracedBatch[], offset: number): TracedBatch | null {
  let low = 0;
  let high = batches.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((batches[middle] as TracedBatch).last < offset) low = middle + 1;
    else high = middle;
  }
  const batch = batches[low];
  return batch !== undefined && batch.base <= offset ? batch : null;
}

/** Two batches that hold the same records at the same offsets. */
export function sameBatch(a: TracedBatch, b: TracedBatch): boolean {
  return a.base === b.base && a.hash === b.hash;
}

export function batchName(batch: TracedBatch): string {
  return `${batch.base} ${batch.hash}`;
}

function applyTo(replica: ReplicaState, event: TraceEvent): void {
  switch (event.event) {
    case 'append':
      for (const batch of event.batches) {
        cutTo(replica, batch.base);
        replica.batches.push(batch);
        replica.leo = batch.last + 1;
      }
      return;
    case 'hw':
      replica.hw = event.to;
      return;
    case 'role':
      replica.role = event.role;
      replica.leaderEpoch = event.leaderEpoch;
      replica.leo = event.leo;
      replica.hw = event.hw;
      return;
    case 'recover':
      replica.role = 'starting';
      replica.hw = event.hw;
      cutTo(replica, event.to);
      return;
    case 'truncation':
      cutTo(replica, event.to);
      if (replica.hw !== null) replica.hw = Math.min(replica.hw, replica.leo);
      return;
    case 'log-start': {
      const kept = replica.batches.findIndex((batch) => batch.last >= event.to);
      replica.batches.splice(0, kept === -1 ? replica.batches.length : kept);
      replica.leo = Math.max(replica.leo, event.to);
      return;
    }
    case 'delete':
      cutTo(replica, 0);
      return;
    // Whole clusters, and what changes no log, are not about one replica.
    case 'ack':
    case 'election':
    case 'isr':
    case 'fence':
    case 'unfence':
    case 'start':
    case 'stop':
  }
}

/** The log ends at `end`; what was beyond is remembered as removed. */
function cutTo(replica: ReplicaState, end: number): void {
  for (let batch = replica.batches.at(-1); batch !== undefined && batch.last >= end; batch = replica.batches.at(-1)) {
    replica.batches.pop();
    if (replica.removed.length < REMOVED_MAX) replica.removed.push(batch);
  }
  replica.leo = end;
}
