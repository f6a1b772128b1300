/**
 * Rejoin-crash: a follower that comes back is made to look as good as a leader that knows less than it holds.
 *
 * A follower that lags leaves the ISR, and may come back when it holds all that is committed. A leader that was just
 * elected may know of a high watermark that is one fetch late, so it has to ask for more: all that it held when its epoch
 * began (KAFKA-7128). The fault brings about the one moment in which that matters. The follower is cut from the leader,
 * and records pile up that are not committed while it is in the ISR; then the next leader, which holds some of them, is
 * cut off as well, so that what it knows of the high watermark stands still. The ISR shrinks, the records are acknowledged,
 * and the leadership moves. Now the follower asks the next leader, on a link on which answers are slow; as soon as it is
 * in the ISR nothing reaches it any more, the next leader is ended, and the follower is elected, cleanly, with whatever
 * it got.
 *
 * Roles, all members of a full ISR: who stands last in the assignment leads, so that the follower, which stands first, is
 * elected before it. A build that makes the follower wait keeps everything: then it has fetched by the time that it joins.
 *
 * What proves it: the move took effect, and so did the end. Simulator only: it needs slow links.
 */
import type { NodeId } from '../ports.ts';
import type { RejoinCrashFault, Step } from '../schedule.ts';
import { inElectionOrder } from '../targets.ts';
import type { ClusterView, PartitionView } from '../view.ts';
import { awaits, bothWays, electionMsOf, groupsOf, type DrawContext, type Draws, type Program } from './program.ts';

/** Longest time that one is given, from its start until everything is back. */
export function rejoinBudgetMs(context: DrawContext): number {
  return 3 * context.lagTimeMs + electionMsOf(context) + 2_500;
}

export function rejoinCrashProgram(
  fault: RejoinCrashFault,
  view: ClusterView,
  brokers: readonly NodeId[],
): Program | null {
  const groups = groupsOf(fault, view, brokers, rolesOf);
  return (
    groups && {
      roles: { leader: fault.partition, 'next-leader': fault.partition, follower: fault.partition },
      groups,
      steps: fault.steps,
      isProven: (evidence, gaveUp) =>
        !gaveUp &&
        (['move', 'kill'] as const).every((wanted) =>
          evidence.some(({ action, effective }) => action === wanted && effective),
        ),
    }
  );
}

function rolesOf(partition: PartitionView | undefined): Record<string, NodeId[]> | null {
  const order = inElectionOrder(partition);
  const [follower, next] = order;
  const leader = order.at(-1);
  if (follower === undefined || next === undefined || leader === undefined || order.length < 3) return null;
  return { leader: [leader], 'next-leader': [next], follower: [follower] };
}

export function drawRejoinCrash(
  context: DrawContext,
  random: Draws,
): Pick<RejoinCrashFault, 'kind' | 'partition' | 'steps' | 'until' | 'exclusive'> {
  const partition = random.pick(context.partitions);
  const { lagTimeMs } = context;
  const steps: Step[] = [
    { step: 'move', partition, to: 'leader' },
    awaits({ seen: 'leads', partition, node: 'leader' }, 1_000, 'go-on'),
    awaits({ seen: 'full-isr' }, 500, 'go-on'),
    { step: 'cut', links: bothWays('leader', 'follower') },
    { step: 'wait', ms: random.int(Math.floor(lagTimeMs / 8), lagTimeMs) },
    { step: 'cut', links: bothWays('leader', 'next-leader') },
    {
      step: 'slow',
      links: [{ from: 'next-leader', to: 'follower' }],
      delayMs: random.int(50, Math.max(50, Math.floor(lagTimeMs / 4))),
      jitterMs: 0,
      loss: 0,
    },
    awaits({ seen: 'out-of-sync', partition, node: 'follower' }, 2 * lagTimeMs, 'give-up'),
    { step: 'move', partition, to: 'next-leader' },
    awaits({ seen: 'leads', partition, node: 'next-leader' }, 1_000, 'give-up'),
    awaits({ seen: 'in-sync', partition, node: 'follower' }, lagTimeMs, 'go-on'),
    { step: 'cut', links: [{ from: 'next-leader', to: 'follower' }] },
    { step: 'kill', node: 'next-leader' },
    awaits({ seen: 'leads', partition, node: 'follower' }, electionMsOf(context), 'go-on'),
    { step: 'wait', ms: random.int(100, 500) },
    { step: 'mend' },
    { step: 'restore', node: 'next-leader' },
  ];
  return {
    kind: 'rejoin-crash',
    partition,
    steps,
    until: { await: { seen: 'steps-done' }, deadlineMs: rejoinBudgetMs(context) },
    exclusive: true,
  };
}
