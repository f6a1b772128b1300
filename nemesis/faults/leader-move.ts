/**
 * Leader move: the controller is asked to make another member of the ISR the leader, while all are well.
 *
 * What proves it: the answer to the request. It ends when the target knows that it leads; nothing has to be healed.
 */
import type { NodeId } from '../ports.ts';
import type { LeaderMoveFault } from '../schedule.ts';
import { describeTarget, resolveTarget } from '../targets.ts';
import type { ClusterView } from '../view.ts';
import { drawChoice, provenBy } from './program.ts';
import type { DrawContext, Draws, Program } from './program.ts';

export function leaderMoveProgram(
  fault: LeaderMoveFault,
  view: ClusterView,
  brokers: readonly NodeId[],
): Program | null {
  const targets = resolveTarget(fault.targets, view, brokers);
  return (
    targets && {
      roles: { targets: describeTarget(fault.targets) },
      groups: { targets },
      steps: [{ step: 'move', partition: fault.partition, to: 'targets' }],
      isProven: provenBy('move'),
    }
  );
}

export function drawLeaderMove(
  context: DrawContext,
  random: Draws,
): Pick<LeaderMoveFault, 'kind' | 'partition' | 'targets' | 'until'> {
  const partition = random.pick(context.partitions);
  return {
    kind: 'leader-move',
    partition,
    targets: { role: 'isr-follower', partition, draw: drawChoice(random) },
    until: { await: { seen: 'leads', partition, node: 'targets' }, deadlineMs: 1_000 },
  };
}
