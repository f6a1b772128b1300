/**
 * A schedule as it was resolved: the nodes that each role was in one run, in place of the roles.
 *
 * A replay that follows roles asks the same question of another cluster; one that follows nodes breaks the same machines,
 * whoever leads now. Faults that never fired keep their roles, since nobody ever had them.
 */
import type { Operation } from '../../checker/history.ts';
import type { NodeName } from '../../nemesis/ports.ts';
import type { Fault, Schedule, Target, Topology } from '../../nemesis/schedule.ts';

type Nodes = Readonly<Record<string, NodeName | readonly NodeName[]>>;

/** The schedule, with the nodes that the history's fault lines name. Whether those are nodes is for the caller to check. */
export function resolveSchedule(schedule: Schedule, history: Iterable<Pick<Operation, 'process' | 'value'>>): Schedule {
  const nodesOf = new Map<string, Nodes>();
  for (const { process, value } of history) {
    if (process !== 'nemesis' || typeof value !== 'object' || value === null || Array.isArray(value)) continue;
    const { fault, nodes } = value as { readonly fault: string; readonly nodes?: Nodes | null };
    if (typeof nodes === 'object' && nodes !== null && Object.keys(nodes).length > 0) nodesOf.set(fault, nodes);
  }
  const faults = schedule.faults.map((fault) => {
    const nodes = nodesOf.get(fault.id);
    return nodes === undefined ? fault : resolveFault(fault, nodes);
  });
  return { ...schedule, faults };
}

function resolveFault(fault: Fault, nodes: Nodes): Fault {
  switch (fault.kind) {
    case 'pause':
    case 'crash':
    case 'power-loss':
    case 'leader-move':
      return { ...fault, targets: named(nodes['targets'], fault.targets) };
    case 'partition':
    case 'slow-links':
      return { ...fault, topology: resolveTopology(fault.topology, nodes) };
    case 'leader-burst':
    case 'handover-crash':
    case 'rejoin-crash':
    case 'script': {
      const single = Object.entries(nodes).filter(([role, node]) => role !== 'controller' && !Array.isArray(node));
      return { ...fault, nodes: Object.fromEntries(single) as Readonly<Record<string, NodeName>> };
    }
    case 'rolling-restart':
      /* Its order is drawn: it has no roles. */
      return fault;
  }
}

function resolveTopology(topology: Topology, nodes: Nodes): Topology {
  switch (topology.shape) {
    case 'halves':
    case 'leader-with-minority': {
      const { controller, clients } = topology;
      return { shape: 'isolated-node', side: named(nodes['side'], { role: 'all' }), controller, clients };
    }
    case 'isolated-node':
    case 'one-way':
    case 'control-plane':
      return { ...topology, side: named(nodes['side'], topology.side) };
    case 'bridge':
      return { ...topology, middle: named(nodes['middle'], topology.middle) };
    case 'constrained-election':
      return {
        ...topology,
        leader: named(nodes['leader'], topology.leader),
        candidate: named(nodes['candidate'], topology.candidate),
      };
    case 'majorities-ring':
    case 'chained':
    case 'quorum-loss':
      /* Drawn among the brokers by number: nodes already. */
      return topology;
  }
}

function named(nodes: Nodes[string] | undefined, otherwise: Target): Target {
  if (nodes === undefined) return otherwise;
  return { role: 'nodes', nodes: typeof nodes === 'object' ? nodes : [nodes] };
}
