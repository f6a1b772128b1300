/**
 * What the nemesis knows of the cluster: folded from the trace, line by line, and from nothing else.
 *
 * The controller's lines say who leads and who is in sync; a replica's own lines say what role it has taken and where
 * its log ends. The two differ for a moment after every election, and that moment is what some faults aim at, so both
 * are kept apart. Lines of different nodes arrive in any order: leadership is taken from the newest epoch seen.
 *
 * Of brokers that tell no trace the lines are observations (`docs/observations.md`), which hold less.
 *
 * Invariant: a view only ever repeats what a line said. It leaves out what no fault asks for.
 */
import type { NodeId, NodeName, TraceLine } from './ports.ts';

/** The role that a replica last took, by its own word. */
interface RoleTaken {
  readonly role: 'leader' | 'follower';
  readonly leader: NodeId | null;
  readonly leaderEpoch: number;
}

export interface ReplicaView {
  /** Undefined since its process started, until it takes one. */
  role: RoleTaken | undefined;
  leo: number;
  hw: number;
  /** Whether its high watermark was told since it took its role: brokers that tell no trace may never tell it. */
  hwTold: boolean;
}

export interface PartitionView {
  /** In assignment order, which is the order of elections. Empty until the controller has said so. */
  replicas: readonly NodeId[];
  leader: NodeId | null;
  leaderEpoch: number;
  isr: readonly NodeId[];
  readonly replica: Map<NodeId, ReplicaView>;
  /** Counters, so that a wait can tell what came after it began. */
  elections: number;
  truncations: number;
  /** Acknowledgements at acks=all, by the node that gave them. */
  readonly acks: Map<NodeId, number>;
}

export interface ClusterView {
  readonly partitions: Map<string, PartitionView>;
  /** Brokers that the controller counts as gone. */
  readonly fenced: Set<NodeId>;
}

/** A view of a cluster of which nothing has been heard. */
export function createView(partitions: readonly string[]): ClusterView {
  const view: ClusterView = { partitions: new Map(), fenced: new Set() };
  for (const partition of partitions) view.partitions.set(partition, emptyPartition());
  return view;
}

/** Takes one line of the trace. Lines about partitions that the plan does not know are ignored. */
export function foldLine(view: ClusterView, line: TraceLine): void {
  const isEnd = line.event === 'start' || line.event === 'ended';
  if (isEnd && line.node !== 'controller') forgetRoles(view, line.node);
  if (line.event === 'fence') view.fenced.add(line['broker'] as NodeId);
  if (line.event === 'unfence') view.fenced.delete(line['broker'] as NodeId);
  const partition = line.partition === undefined ? undefined : view.partitions.get(line.partition);
  if (partition === undefined) return;
  if (line.node === 'controller') foldControllerLine(partition, line);
  else foldReplicaLine(partition, line.node, line);
}

/** Whether every partition has all of its replicas in sync, and each of them knows the leader. */
export function isFullySynced(view: ClusterView): boolean {
  return [...view.partitions.values()].every(
    ({ leader, isr, replicas, replica }) =>
      leader !== null &&
      replicas.length > 0 &&
      isr.length === replicas.length &&
      replicas.every((node) => replica.get(node)?.role?.leader === leader),
  );
}

/** Whether the node was elected and has taken the leader's role in that epoch. */
export function leads(partition: PartitionView, node: NodeName): boolean {
  if (node === 'controller' || partition.leader !== node) return false;
  const taken = partition.replica.get(node)?.role;
  return taken?.role === 'leader' && taken.leaderEpoch === partition.leaderEpoch;
}

/** Whether the node has taken the role of a follower of that leader, which still leads. */
export function follows(partition: PartitionView, node: NodeName, leader: NodeName): boolean {
  if (node === 'controller' || partition.leader !== leader) return false;
  const taken = partition.replica.get(node)?.role;
  return taken?.role === 'follower' && taken.leader === leader && taken.leaderEpoch === partition.leaderEpoch;
}

function foldControllerLine(partition: PartitionView, line: TraceLine): void {
  switch (line.event) {
    case 'create':
      partition.replicas = line['replicas'] as readonly NodeId[];
      return;
    case 'election':
      partition.elections += 1;
      if ((line.leaderEpoch ?? -1) <= partition.leaderEpoch) return;
      partition.leader = line['leader'] as NodeId | null;
      partition.leaderEpoch = line.leaderEpoch ?? -1;
      partition.isr = line['isr'] as readonly NodeId[];
      return;
    case 'isr':
      // A broker that leaves the ISR counts the epoch up, though the leader stays.
      if ((line.leaderEpoch ?? -1) < partition.leaderEpoch) return;
      partition.leaderEpoch = line.leaderEpoch ?? -1;
      partition.isr = line['to'] as readonly NodeId[];
      return;
    default:
  }
}

function foldReplicaLine(partition: PartitionView, node: NodeId, line: TraceLine): void {
  const replica = replicaOf(partition, node);
  switch (line.event) {
    case 'recover':
      replica.leo = line['to'] as number;
      tellHighWatermark(replica, line['hw']);
      return;
    case 'truncation':
      // A broker's own log line may say no more than that it truncates; where the log ends then, its segments show.
      if (line['from'] !== undefined) replica.leo = line['to'] as number;
      partition.truncations += 1;
      return;
    case 'append':
      replica.leo = ((line['batches'] as readonly { readonly last: number }[]).at(-1)?.last ?? replica.leo - 1) + 1;
      return;
    case 'hw':
      tellHighWatermark(replica, line['to']);
      // A leader that tells no trace may print its own at its start, and never again.
      if (line['source'] !== undefined && replica.role?.role === 'leader') replica.hwTold = false;
      return;
    case 'ack':
      if (line['acks'] === -1) partition.acks.set(node, (partition.acks.get(node) ?? 0) + 1);
      return;
    case 'role':
      replica.leo = (line['leo'] as number | undefined) ?? replica.leo;
      tellHighWatermark(replica, line['hw']);
      replica.role = {
        role: line['role'] as RoleTaken['role'],
        leader: line['leader'] as NodeId | null,
        leaderEpoch: line.leaderEpoch ?? -1,
      };
      return;
    default:
  }
}

/** Undefined where a line does not say it. */
function tellHighWatermark(replica: ReplicaView, told: unknown): void {
  replica.hwTold = typeof told === 'number';
  if (typeof told === 'number') replica.hw = told;
}

/** A process that was killed has no role, whatever was last heard of it, until it has started and taken one. */
export function forgetRoles(view: ClusterView, node: NodeId): void {
  for (const partition of view.partitions.values()) replicaOf(partition, node).role = undefined;
}

function replicaOf(partition: PartitionView, node: NodeId): ReplicaView {
  let replica = partition.replica.get(node);
  if (replica === undefined) {
    replica = { role: undefined, leo: 0, hw: 0, hwTold: false };
    partition.replica.set(node, replica);
  }
  return replica;
}

function emptyPartition(): PartitionView {
  return {
    replicas: [],
    leader: null,
    leaderEpoch: -1,
    isr: [],
    replica: new Map(),
    elections: 0,
    truncations: 0,
    acks: new Map(),
  };
}
