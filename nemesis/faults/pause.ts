/**
 * Pause: processes stop running for a while, and keep memory, connections and sockets.
 *
 * To the others a paused node is one that accepts bytes and never answers. When it goes on it still believes what it
 * believed before: a paused leader wakes as a leader. What proves it: the state of the process as the system tells it.
 */
import type { NodeId } from '../ports.ts';
import type { PauseFault } from '../schedule.ts';
import { describeTarget, resolveTarget } from '../targets.ts';
import type { ClusterView } from '../view.ts';
import { drawProcessTarget } from './process-target.ts';
import { provenBy } from './program.ts';
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
