/**
 * Topologies: which links a partition cuts, as a list of cuts between groups of nodes.
 *
 * Every shape is a small set of groups and the links between them; the links to the controller and to the clients are a
 * choice of their own, since a leader that still reaches the controller behaves quite unlike one that does not.
 * Cutting A from B here means both directions; `one-way` is the shape that means one.
 *
 * Invariant: a cut never names a node twice, and the list never holds the same cut twice.
 */
import type { Cut, NodeId, NodeName } from './ports.ts';
import type { Reach, RoleLink, Topology } from './schedule.ts';
import { minorityOf, resolveTarget, some } from './targets.ts';
import type { ClusterView } from './view.ts';

type Place = Cut['from'];

/** The groups of a topology, by name, and the links that it cuts between them. */
export interface Groups {
  readonly groups: Readonly<Record<string, readonly Place[]>>;
  readonly links: readonly RoleLink[];
}

/** Who stands on which side now, or null when nobody has the role that the topology turns on. */
export function resolveTopology(topology: Topology, view: ClusterView, brokers: readonly NodeId[]): Groups | null {
  switch (topology.shape) {
    case 'halves':
      return apart(some(brokers, minorityOf(brokers), topology.draw), brokers, topology);
    case 'isolated-node':
      return apart(resolveTarget(topology.side, view, brokers), brokers, topology);
    case 'leader-with-minority': {
      const leader = view.partitions.get(topology.partition)?.leader ?? null;
      if (leader === null) return null;
      const others = brokers.filter((node) => node !== leader);
      return apart([leader, ...some(others, minorityOf(brokers) - 1, topology.draw)], brokers, topology);
    }
    case 'one-way': {
      const split = apart(resolveTarget(topology.side, view, brokers), brokers, topology);
      const silenced = topology.direction === 'outward';
      return split && { groups: split.groups, links: split.links.filter(({ from }) => (from === 'side') === silenced) };
    }
    case 'bridge': {
      const middle = resolveTarget(topology.middle, view, brokers);
      const others = brokers.filter((node) => !middle?.includes(node));
      if (middle === null || others.length < 2) return null;
      const left = others.slice(0, Math.floor(others.length / 2));
      return {
        groups: { middle, left, right: others.slice(left.length) },
        links: bothWays('left', 'right'),
      };
    }
  }
}

/** The cuts between groups: every node of `from` to every node of `to`. */
export function cutsBetween(groups: Groups['groups'], links: readonly RoleLink[]): Cut[] {
  const cuts = links.flatMap(({ from, to }) =>
    (groups[from] ?? []).flatMap((source) => (groups[to] ?? []).map((sink): Cut => ({ from: source, to: sink }))),
  );
  return uniteCuts([cuts]);
}

/** Several faults cut links at once: the network that all of them want together. Sorted, without doubles. */
export function uniteCuts(lists: Iterable<readonly Cut[]>): Cut[] {
  const united = new Map<string, Cut>();
  for (const cuts of lists) for (const cut of cuts) if (cut.from !== cut.to) united.set(nameOfCut(cut), cut);
  return [...united].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, cut]) => cut);
}

/** `1→2`, as in the evidence of a runtime. */
export function nameOfCut({ from, to }: Cut): string {
  return `${from}→${to}`;
}

function apart(side: readonly NodeName[] | null, brokers: readonly NodeId[], reach: Reach): Groups | null {
  if (side === null) return null;
  const rest = brokers.filter((node) => !side.includes(node));
  return {
    groups: { side, rest, controller: ['controller'], clients: ['clients'] },
    links: [
      ...bothWays('side', 'rest'),
      ...(reach.controller ? bothWays('side', 'controller') : []),
      ...(reach.clients ? bothWays('side', 'clients') : []),
    ],
  };
}

function bothWays(one: string, other: string): RoleLink[] {
  return [
    { from: one, to: other },
    { from: other, to: one },
  ];
}
