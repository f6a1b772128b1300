/**
 * The replicas of one partition as the trace of a simulated run shows them, line by line: what each holds, which role and
 * epoch it knows, and what the controller decided. Marks and abstract states are both drawn from it.
 *
 * A picture follows the order of the lines, which in a simulated run is the order of virtual time.
 */
import type { NodeId, TraceLine } from '../../nemesis/ports.ts';

export interface BatchPicture {
  readonly base: number;
  readonly last: number;
  readonly epoch: number;
}

export interface ReplicaPicture {
  /** Null while it has none since its last start. */
  role: 'leader' | 'follower' | null;
  /** Of its role; −1 without one. */
  epoch: number;
  leo: number;
  hw: number;
  readonly log: BatchPicture[];
}

export interface PartitionPicture {
  /** Assigned replicas, in order. */
  assigned: readonly NodeId[];
  /** As the controller decided last. */
  leader: NodeId | null;
  epoch: number;
  isr: readonly NodeId[];
  /** Whether the leader has taken its role. */
  leaderKnows: boolean;
  readonly replicas: Map<NodeId, ReplicaPicture>;
  /** Epoch of the batch that was acknowledged, by its base offset. */
  readonly acknowledged: Map<number, number>;
}

export function createPartitionPicture(): PartitionPicture {
  return {
    assigned: [],
    leader: null,
    epoch: -1,
    isr: [],
    leaderKnows: false,
    replicas: new Map(),
    acknowledged: new Map(),
  };
}

/** Takes one line about the partition into the picture. */
export function foldTraceLine(picture: PartitionPicture, line: TraceLine): void {
  if (line.node === 'controller') foldController(picture, line);
  else foldBroker(picture, line.node, replicaOf(picture, line.node), line);
}

/** Epoch of the batch at an offset. */
export function epochAt(replica: ReplicaPicture, offset: number): number | undefined {
  return replica.log.findLast((batch) => batch.base <= offset)?.epoch;
}

function foldController(picture: PartitionPicture, line: TraceLine): void {
  switch (line.event) {
    case 'create':
      picture.assigned = line['replicas'] as readonly NodeId[];
      return;
    case 'election':
      picture.leader = line['leader'] as NodeId | null;
      picture.epoch = line.leaderEpoch ?? -1;
      picture.isr = line['isr'] as readonly NodeId[];
      picture.leaderKnows = false;
      return;
    case 'isr':
      picture.isr = line['to'] as readonly NodeId[];
      picture.epoch = line.leaderEpoch ?? picture.epoch;
      return;
    default:
  }
}

function foldBroker(picture: PartitionPicture, node: NodeId, replica: ReplicaPicture, line: TraceLine): void {
  switch (line.event) {
    case 'recover':
      replica.role = null;
      replica.epoch = -1;
      cut(replica, line['to'] as number);
      replica.hw = line['hw'] as number;
      return;
    case 'role':
      replica.role = line['role'] as 'leader' | 'follower';
      replica.epoch = line.leaderEpoch ?? -1;
      replica.hw = line['hw'] as number;
      if (node === picture.leader && replica.role === 'leader' && replica.epoch >= picture.epoch)
        picture.leaderKnows = true;
      return;
    case 'append':
      for (const batch of line['batches'] as readonly BatchPicture[]) {
        replica.log.push(batch);
        replica.leo = batch.last + 1;
      }
      return;
    case 'hw':
      replica.hw = line['to'] as number;
      return;
    case 'truncation':
      cut(replica, line['to'] as number);
      return;
    case 'ack': {
      const base = line['base'] as number;
      const batch = replica.log.findLast((held) => held.base <= base);
      if (batch !== undefined && line['acks'] !== 0) picture.acknowledged.set(batch.base, batch.epoch);
      return;
    }
    default:
  }
}

function replicaOf(picture: PartitionPicture, node: NodeId): ReplicaPicture {
  let replica = picture.replicas.get(node);
  if (replica === undefined) {
    replica = { role: null, epoch: -1, leo: 0, hw: 0, log: [] };
    picture.replicas.set(node, replica);
  }
  return replica;
}

function cut(replica: ReplicaPicture, end: number): void {
  while ((replica.log.at(-1)?.last ?? -1) >= end) replica.log.pop();
  replica.leo = end;
}
