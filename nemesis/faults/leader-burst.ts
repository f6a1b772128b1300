/**
 * Leader burst: the leadership of one partition goes to and fro between two replicas, as fast as the controller lets it.
 *
 * The controller pushes only its newest state. So a broker that it does not reach for a moment, the `deaf` one, misses
 * epochs altogether: it wakes as follower of a leader whose log has turned corners that nobody told it of. Sometimes the
 * one that is deaf is a party to the burst itself: then it may be elected without ever hearing of it.
 *
 * What proves it: an answer to a move that was made.
 */
import type { NodeId } from '../ports.ts';
import type { LeaderBurstFault, Step } from '../schedule.ts';
import { inElectionOrder } from '../targets.ts';
import type { ClusterView, PartitionView } from '../view.ts';
import { groupsOf, provenBy } from './program.ts';
import type { DrawContext, Draws, Program } from './program.ts';

export function leaderBurstProgram(
  fault: LeaderBurstFault,
  view: ClusterView,
  brokers: readonly NodeId[],
): Program | null {
  const groups = groupsOf(fault, view, brokers, rolesOf);
  return (
    groups && {
      roles: { leader: fault.partition, other: fault.partition, deaf: fault.partition },
      groups: { ...groups, controller: ['controller'] },
      steps: fault.steps,
      isProven: provenBy('move'),
    }
  );
}

function rolesOf(partition: PartitionView | undefined): Record<string, NodeId[]> | null {
  const leader = partition?.leader ?? null;
  const [other, deaf] = inElectionOrder(partition).filter((node) => node !== leader);
  return leader === null || other === undefined ? null : { leader: [leader], other: [other], deaf: [deaf ?? other] };
}

export function drawLeaderBurst(
  context: DrawContext,
  random: Draws,
): Pick<LeaderBurstFault, 'kind' | 'partition' | 'steps' | 'until'> {
  const partition = random.pick(context.partitions);
  const deaf = random.pick(['deaf', 'deaf', 'other', null] as const);
  const moves = Array.from({ length: random.int(2, 6) }, (_, index): Step[] => [
    { step: 'move', partition, to: index % 2 === 0 ? 'other' : 'leader' },
    { step: 'wait', ms: random.int(0, Math.floor(context.sessionTimeoutMs / 8)) },
  ]);
  const steps: Step[] = [
    /* Its own heartbeats still arrive for a moment; it is not fenced before its session runs out. */
    ...(deaf === null ? [] : [{ step: 'cut', links: [{ from: 'controller', to: deaf }] } as const]),
    ...moves.flat(),
    ...(deaf === null ? [] : [{ step: 'mend' } as const]),
  ];
  return {
    kind: 'leader-burst',
    partition,
    steps,
    until: { await: { seen: 'steps-done' }, deadlineMs: 2 * context.sessionTimeoutMs },
  };
}
