/**
 * Partition: links between groups of nodes are cut for a while.
 *
 * What proves it: packets (or bytes) that the cuts swallowed. A partition during which nobody tried to send anything
 * across is not one. It heals when its cuts are taken out of the wanted network; what other faults cut stays cut.
 */
import type { NodeId } from '../ports.ts';
import type { End, PartitionFault, Reach, Topology } from '../schedule.ts';
import { describeTarget } from '../targets.ts';
import { resolveTopology } from '../topologies.ts';
import type { ClusterView } from '../view.ts';
import { drawChoice, provenBy } from './program.ts';
import type { DrawContext, Draws, Program } from './program.ts';

const shapes = [
  'halves',
  'isolated-node',
  'leader-with-minority',
  'one-way',
  'bridge',
  'majorities-ring',
  'chained',
  'quorum-loss',
  'constrained-election',
  'control-plane',
] as const;

export function partitionProgram(fault: PartitionFault, view: ClusterView, brokers: readonly NodeId[]): Program | null {
  const resolved = resolveTopology(fault.topology, view, brokers);
  return (
    resolved && {
      roles: { topology: describeTopology(fault.topology) },
      groups: resolved.groups,
      steps: [{ step: 'cut', links: resolved.links }],
      isProven: provenBy('cut'),
    }
  );
}

/** The topology in a few words. */
export function describeTopology(topology: Topology): string {
  switch (topology.shape) {
    case 'halves':
      return `halves${describeReach(topology)}`;
    case 'isolated-node':
      return `isolated node: ${describeTarget(topology.side)}${describeReach(topology)}`;
    case 'leader-with-minority':
      return `leader of ${topology.partition} with the minority${describeReach(topology)}`;
    case 'one-way':
      return `one way, ${topology.direction}: ${describeTarget(topology.side)}${describeReach(topology)}`;
    case 'bridge':
      return `bridge over ${describeTarget(topology.middle)}`;
    case 'majorities-ring':
      return 'majorities ring';
    case 'chained':
      return 'nodes in a row';
    case 'quorum-loss':
      return `quorum loss${describeReach(topology)}`;
    case 'constrained-election':
      return `constrained election: ${describeTarget(topology.leader)} gone, ${describeTarget(topology.candidate)} left`;
    case 'control-plane':
      return `links to the controller, ${topology.direction}: ${describeTarget(topology.side)}`;
  }
}

export function drawPartition(
  context: DrawContext,
  random: Draws,
): Pick<PartitionFault, 'kind' | 'topology' | 'until'> {
  const partition = random.pick(context.partitions);
  return { kind: 'partition', topology: drawTopology(partition, random), until: drawEnd(partition, context, random) };
}

/** Any shape; those that leave somebody to lead are as frequent as those that leave nobody. */
export function drawTopology(partition: string, random: Draws): Topology {
  const draw = drawChoice(random);
  const reach = { controller: random.chance(0.5), clients: random.chance(0.25) };
  const side = random.pick([
    { role: 'one', draw },
    { role: 'leader', partition },
    { role: 'isr-follower', partition, draw },
    { role: 'last-in-isr', partition },
  ] as const);
  switch (random.pick(shapes)) {
    case 'halves':
      return { shape: 'halves', draw, ...reach };
    case 'isolated-node':
      return { shape: 'isolated-node', side, ...reach };
    case 'leader-with-minority':
      return { shape: 'leader-with-minority', partition, draw, ...reach };
    case 'one-way':
      return { shape: 'one-way', side, direction: random.pick(['outward', 'inward'] as const), ...reach };
    case 'bridge':
      return { shape: 'bridge', middle: side };
    case 'majorities-ring':
      return { shape: 'majorities-ring', draw };
    case 'chained':
      return { shape: 'chained', draw };
    case 'quorum-loss':
      return { shape: 'quorum-loss', draw, ...reach };
    case 'constrained-election':
      return {
        shape: 'constrained-election',
        leader: { role: 'leader', partition },
        candidate: { role: 'isr-follower', partition, draw },
      };
    case 'control-plane':
      return { shape: 'control-plane', side, direction: random.pick(['outward', 'inward', 'both'] as const) };
  }
}

/** Some partitions last until the ISR has shrunk: long enough to matter, and no longer. */
function drawEnd(partition: string, context: DrawContext, random: Draws): End {
  if (random.chance(0.25)) {
    const what = { seen: 'isr-size', partition, atMost: Math.max(1, context.brokers.length - 1) } as const;
    return { await: what, deadlineMs: 2 * context.lagTimeMs };
  }
  return { ms: random.int(600, 2_500) };
}

function describeReach(reach: Reach): string {
  const also = [...(reach.controller ? ['the controller'] : []), ...(reach.clients ? ['the clients'] : [])];
  return also.length > 0 ? `, cut from ${also.join(' and ')} too` : '';
}
