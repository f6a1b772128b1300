/**
 * Slow links: packets between groups of nodes take longer, by a varying time, and some get lost on the way.
 *
 * Connections stay, and everything arrives in the end, in its order: TCP sends again what was lost, so a loss is a long
 * delay. A follower on such a link lags, a broker hears late of an election, an answer outlives the deadline of its
 * request. What proves it: packets that were delayed.
 */
import type { NodeId } from '../ports.ts';
import type { SlowLinksFault, Slowness } from '../schedule.ts';
import type { ClusterView } from '../view.ts';
import { resolveTopology } from '../topologies.ts';
import { describeTopology, drawTopology } from './partition.ts';
import { provenBy } from './program.ts';
import type { DrawContext, Draws, Program } from './program.ts';

export function slowLinksProgram(fault: SlowLinksFault, view: ClusterView, brokers: readonly NodeId[]): Program | null {
  const resolved = resolveTopology(fault.topology, view, brokers);
  const { delayMs, jitterMs, loss } = fault;
  return (
    resolved && {
      roles: { topology: describeTopology(fault.topology), slowness: describeSlowness(fault) },
      groups: resolved.groups,
      steps: [{ step: 'slow', links: resolved.links, delayMs, jitterMs, loss }],
      isProven: provenBy('slow'),
    }
  );
}

/** How slow links are, in a few words. */
export function describeSlowness({ delayMs, jitterMs, loss }: Slowness): string {
  const late = jitterMs > 0 ? `${delayMs} to ${delayMs + jitterMs} ms` : `${delayMs} ms`;
  return loss > 0 ? `${late}, ${Math.round(loss * 100)} % lost` : late;
}

export function drawSlowLinks(
  context: DrawContext,
  random: Draws,
): Pick<SlowLinksFault, 'kind' | 'topology' | 'delayMs' | 'jitterMs' | 'loss' | 'until'> {
  const partition = random.pick(context.partitions);
  /* From a busy network to one on which a request hardly makes its deadline. */
  const mostMs = random.pick([20, 100, 500, context.sessionTimeoutMs]);
  return {
    kind: 'slow-links',
    topology: drawTopology(partition, random),
    delayMs: random.int(1, mostMs),
    jitterMs: random.chance(0.5) ? random.int(0, mostMs) : 0,
    loss: random.chance(0.3) ? random.int(1, 20) / 100 : 0,
    until: { ms: random.int(500, 3_000) },
  };
}
