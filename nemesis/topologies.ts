/**
 * Topologies: which links a partition cuts, as a list of cuts between groups of nodes.
 *
 * Every shape is a small set of groups and the links between them; the links to the controller and to the clients are a
 * choice of their own, since a leader that still reaches the controller behaves quite unlike one that does not.
 * Cutting A from B here means both directions; `one-way` is the shape that means one.
 *
 * Invariant: a cut never names a node twice, and the list never holds the same cut twice.
 */
import type { Cut, NodeId, NodeName, SlowLink } from './ports.ts';
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
    case 'majorities-ring':
      return majoritiesRing(some(brokers, brokers.length, topology.draw));
    case 'chained': {
      const row = some(brokers, brokers.length, topology.draw);
      return row.length < 3 ? null : places('place', row, (one, other) => Math.abs(one - other) > 1);
    }
    case 'quorum-loss': {
      const lost = apart(some(brokers, brokers.length - minorityOf(brokers), topology.draw), brokers, topology);
      return lost && { ...lost, links: [...lost.links, { from: 'side', to: 'side' }] };
    }
    case 'constrained-election':
      return constrainedElection(topology, view, brokers);
    case 'control-plane': {
      const side = resolveTarget(topology.side, view, brokers);
      const silenced = topology.direction === 'outward';
      const links = bothWays('side', 'controller').filter(
        ({ from }) => topology.direction === 'both' || (from === 'side') === silenced,
      );
      return side === null || side.includes('controller')
        ? null
        : { groups: { side, controller: ['controller'] }, links };
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

/** The slow links that several faults want together: each as slow as the slowest of them. Sorted. */
export function uniteSlowLinks(lists: Iterable<readonly SlowLink[]>): SlowLink[] {
  const united = new Map<string, SlowLink>();
  for (const links of lists) {
    for (const link of links) {
      if (link.from === link.to) continue;
      const { delayMs, jitterMs, loss } = united.get(nameOfCut(link)) ?? link;
      united.set(nameOfCut(link), {
        from: link.from,
        to: link.to,
        delayMs: Math.max(delayMs, link.delayMs),
        jitterMs: Math.max(jitterMs, link.jitterMs),
        loss: Math.max(loss, link.loss),
      });
    }
  }
  return [...united].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, link]) => link);
}

/** `1→2`, as in the evidence of a runtime. */
export function nameOfCut({ from, to }: Pick<Cut, 'from' | 'to'>): string {
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

/**
 * As Jepsen's majorities ring: from the ring of all nodes every run of a majority is taken, and the node in the middle
 * of it hears those and nobody else. With three brokers each hears one other, in a circle.
 */
function majoritiesRing(ring: readonly NodeId[]): Groups | null {
  if (ring.length < 3) return null;
  const majority = Math.floor(ring.length / 2) + 1;
  const before = Math.floor(majority / 2);
  return places('place', ring, (from, to) => {
    const ahead = (from - to + before + ring.length) % ring.length;
    return ahead >= majority;
  });
}

/** Each node a group of its own, with the links that `isCut` says, by position. */
function places(name: string, nodes: readonly NodeId[], isCut: (from: number, to: number) => boolean): Groups {
  const nameOf = (index: number): string => `${name}-${index + 1}`;
  const links = nodes.flatMap((_, from) =>
    nodes.flatMap((__, to) => (from !== to && isCut(from, to) ? [{ from: nameOf(from), to: nameOf(to) }] : [])),
  );
  return { groups: Object.fromEntries(nodes.map((node, index) => [nameOf(index), [node]])), links };
}

/** The leader is cut from everybody, the others from each other and the controller; but not from the candidate. */
function constrainedElection(
  topology: Topology & { readonly shape: 'constrained-election' },
  view: ClusterView,
  brokers: readonly NodeId[],
): Groups | null {
  const [leader] = resolveTarget(topology.leader, view, brokers) ?? [];
  const [candidate] = resolveTarget(topology.candidate, view, brokers) ?? [];
  if (leader === undefined || candidate === undefined || leader === candidate) return null;
  const others = brokers.filter((node) => node !== leader && node !== candidate);
  return {
    groups: { leader: [leader], candidate: [candidate], others, controller: ['controller'] },
    links: [
      ...bothWays('leader', 'candidate'),
      ...bothWays('leader', 'others'),
      ...bothWays('leader', 'controller'),
      ...bothWays('others', 'controller'),
      { from: 'others', to: 'others' },
    ],
  };
}

function bothWays(one: string, other: string): RoleLink[] {
  return [
    { from: one, to: other },
    { from: other, to: one },
  ];
}
