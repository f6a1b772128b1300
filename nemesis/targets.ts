/**
 * Targets: which nodes a role means at the moment when a fault fires.
 *
 * A plan says `the leader of tide-3` or `a minority`; the cluster decides who that is. Where several qualify, the draw
 * in the plan chooses, so that the same cluster state gives the same nodes. A minority of three is one, of five two.
 *
 * Invariant: a target is a set of nodes of this cluster, or nobody (null) when no node has the role just now.
 */
import type { NodeId, NodeName } from './ports.ts';
import type { Target } from './schedule.ts';
import type { ClusterView, PartitionView } from './view.ts';

/** The nodes that the target means now, or null when nobody has the role. */
export function resolveTarget(target: Target, view: ClusterView, brokers: readonly NodeId[]): NodeName[] | null {
  switch (target.role) {
    case 'one':
      return some(brokers, 1, target.draw);
    case 'minority':
      return some(brokers, minorityOf(brokers), target.draw);
    case 'majority':
      return some(brokers, brokers.length - minorityOf(brokers), target.draw);
    case 'all':
      return [...brokers];
    case 'controller':
      return ['controller'];
    case 'leader':
      return single(view.partitions.get(target.partition)?.leader);
    case 'isr-follower':
      return single(some(inSyncFollowers(view.partitions.get(target.partition)), 1, target.draw)[0]);
    case 'last-in-isr':
      return single(inElectionOrder(view.partitions.get(target.partition)).at(-1));
    case 'nodes': {
      const known = target.nodes.filter((node) => node === 'controller' || brokers.includes(node));
      return known.length > 0 ? known : null;
    }
  }
}

/** The target in a few words, for records and for people. */
export function describeTarget(target: Target): string {
  if (target.role === 'nodes') return `nodes ${target.nodes.join(', ')}`;
  return 'partition' in target ? `${target.role} of ${target.partition}` : target.role;
}

/** The largest number of brokers whose absence leaves a majority. */
export function minorityOf(brokers: readonly NodeId[]): number {
  return Math.max(1, Math.ceil(brokers.length / 2) - 1);
}

/** Members of the ISR in the order in which they would be elected: that of the assignment. */
export function inElectionOrder(partition: PartitionView | undefined): NodeId[] {
  return partition === undefined ? [] : partition.replicas.filter((node) => partition.isr.includes(node));
}

/** `count` neighbours on the ring of the nodes, from the one that the draw names. */
export function some(nodes: readonly NodeId[], count: number, draw: number): NodeId[] {
  return nodes.length === 0
    ? []
    : Array.from(
        { length: Math.min(count, nodes.length) },
        (_, index) => nodes[(draw + index) % nodes.length] as NodeId,
      );
}

function inSyncFollowers(partition: PartitionView | undefined): NodeId[] {
  return inElectionOrder(partition).filter((node) => node !== partition?.leader);
}

function single(node: NodeId | null | undefined): NodeName[] | null {
  return node === undefined || node === null ? null : [node];
}
