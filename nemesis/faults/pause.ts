/**
 * Pause: processes stop running for a while, and keep memory, connections and sockets.
 *
 * To the others a paused node is one that accepts bytes and never answers. When it goes on it still believes what it
 * believed before: a paused leader wakes as a leader. What proves it: the state of the process as the system tells it.
 */
import type { NodeId } from '../ports.ts';
import type { PauseFault, Target } from '../schedule.ts';
import { describeTarget, resolveTarget } from '../targets.ts';
import type { ClusterView } from '../view.ts';
import { drawChoice, provenBy } from './program.ts';
import type { DrawContext, Draws, Program } from './program.ts';

export function pauseProgram(fault: PauseFault, view: ClusterView, brokers: readonly NodeId[]): Program | null {
  const targets = resolveTarget(fault.targets, view, brokers);
  return (
    targets && {
      roles: { targets: describeTarget(fault.targets) },
      groups: { targets },
      steps: [{ step: 'pause', node: 'targets' }],
      isProven: provenBy('pause'),
    }
  );
}

export function drawPause(context: DrawContext, random: Draws): Pick<PauseFault, 'kind' | 'targets' | 'until'> {
  return {
    kind: 'pause',
    targets: drawProcessTarget(random.pick(context.partitions), random),
    until: { ms: random.int(500, context.sessionTimeoutMs + 1_000) },
  };
}

/** Mostly one node with a role that matters; now and then more, or the controller. */
export function drawProcessTarget(partition: string, random: Draws): Target {
  const draw = drawChoice(random);
  if (random.chance(0.1)) return { role: 'controller' };
  if (random.chance(0.15)) return random.pick([{ role: 'majority', draw }, { role: 'all' }] as const);
  return random.pick([
    { role: 'one', draw },
    { role: 'minority', draw },
    { role: 'leader', partition },
    { role: 'leader', partition },
    { role: 'isr-follower', partition, draw },
    { role: 'last-in-isr', partition },
  ] as const);
}
