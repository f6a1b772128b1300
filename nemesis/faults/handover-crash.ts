/**
 * Handover-crash: the one schedule that shows in real time what truncating to the own high watermark costs.
 *
 * A follower learns that a record is committed one fetch after the leader has acknowledged it. If it becomes the
 * follower of somebody else in between, the high-watermark rule removes the record, and a refetch brings it back within
 * a millisecond. So the refetch has to be kept away: the next leader is cut from that follower, the leader is ended
 * while records are being acknowledged, and the next leader is ended as soon as the follower has taken its new role
 * (before the follower's lag throws it out of the ISR). Then the follower itself is elected, cleanly, without the record
 * (KIP-101, scenario 1, as S1a with three replicas). A build that asks for the end offset of its last epoch keeps it.
 *
 * Roles, all members of the ISR. The controller elects in assignment order, so with a first leader that dies
 * (`election-order`) the next leader is the first of the others and the follower the one after. With a planned move
 * (`reverse-election-order`) the old leader stays alive and in sync, so the follower must stand before it: follower
 * first, next leader second, leader last, which a move at the beginning brings about.
 *
 * What proves it: both ends took effect, and both elections came. Nothing here waits for what only one build would do.
 */
import type { NodeId } from '../ports.ts';
import type { HandoverCrashFault, RoleLink, Step } from '../schedule.ts';
import { inElectionOrder } from '../targets.ts';
import type { ClusterView, PartitionView } from '../view.ts';
import { awaits, bothWays, electionMsOf, groupsOf } from './program.ts';
import type { DrawContext, Draws, EvidenceEntry, Program } from './program.ts';

/** Longest time that one is given, from its start until everything is back. */
export function handoverBudgetMs(context: DrawContext): number {
  return 2 * electionMsOf(context) + 1_500;
}

export function handoverCrashProgram(
  fault: HandoverCrashFault,
  view: ClusterView,
  brokers: readonly NodeId[],
): Program | null {
  const groups = groupsOf(fault, view, brokers, (partition) => rolesOf(fault, partition));
  return (
    groups && {
      roles: { leader: fault.partition, 'next-leader': fault.partition, follower: fault.partition },
      groups,
      steps: fault.steps,
      isProven: (evidence, gaveUp) => !gaveUp && areProven(endsOf(evidence)),
    }
  );
}

type Ending = 'pause' | 'kill';

export function drawHandoverCrash(
  context: DrawContext,
  random: Draws,
): Pick<HandoverCrashFault, 'kind' | 'partition' | 'roles' | 'steps' | 'until' | 'exclusive'> {
  const partition = random.pick(context.partitions);
  // A planned move is the rarest: it hands over one partition, where the end of a broker hands over all that it leads.
  // Where moves are slow the follower knows everything before one comes about, so there a leader is always ended.
  const rarest = context.slowMoves === true ? 'pause' : 'move';
  const first = random.pick(['pause', 'kill', 'pause', 'kill', rarest] as const);
  const second = random.pick(['pause', 'kill'] as const);
  const electionMs = electionMsOf(context);
  const links = random.chance(0.5) ? bothWays('next-leader', 'follower') : [{ from: 'next-leader', to: 'follower' }];
  const moves = first === 'move';
  const ended = moves ? ['next-leader'] : random.shuffle(['leader', 'next-leader']);
  const steps: Step[] = [
    ...(first === 'move'
      ? plannedOnset(partition, links)
      : deadlyOnset(partition, links, { step: first, node: 'leader' }, random.int(20, 150))),
    awaits({ seen: 'leads', partition, node: 'next-leader' }, moves ? 1_000 : electionMs, 'give-up'),
    awaits({ seen: 'follows', partition, node: 'follower', leader: 'next-leader' }, 500, 'go-on'),
    { step: 'wait', ms: random.int(0, Math.floor(context.lagTimeMs / 8)) },
    { step: second satisfies Ending, node: 'next-leader' },
    awaits({ seen: 'leads', partition, node: 'follower' }, electionMs, 'give-up'),
    { step: 'wait', ms: random.int(100, 500) },
    { step: 'mend' },
    ...returns(ended, random.int(300, 1_000)),
  ];
  return {
    kind: 'handover-crash',
    partition,
    roles: moves ? 'reverse-election-order' : 'election-order',
    steps,
    until: { await: { seen: 'steps-done' }, deadlineMs: handoverBudgetMs(context) + 1_500 },
    exclusive: true,
  };
}

/**
 * A leader that dies: after a sign of traffic the follower is cut from it too, so that what it knows of high watermarks
 * stands still, while the leader, which has its last fetch, still acknowledges what is under way. Whenever the leader
 * ends after that, there is a partition on which the follower does not know the last acknowledgement.
 */
function deadlyOnset(partition: string, links: readonly RoleLink[], ending: Step, delayMs: number): Step[] {
  return [
    awaits({ seen: 'ack', partition, by: 'leader' }, 1_000, 'go-on'),
    { step: 'cut', links: [...links, { from: 'leader', to: 'follower' }] },
    { step: 'wait', ms: delayMs },
    ending,
  ];
}

/**
 * A planned move concerns one partition, and the acknowledgement that the follower must not know of has to be of that
 * one: the move comes right after it. The cut holds up writes elsewhere, and with them the clients, one after the other;
 * so the sign may have to wait until those are through.
 */
function plannedOnset(partition: string, links: readonly RoleLink[]): Step[] {
  return [
    { step: 'move', partition, to: 'leader' },
    awaits({ seen: 'leads', partition, node: 'leader' }, 1_000, 'go-on'),
    awaits({ seen: 'full-isr' }, 500, 'go-on'),
    { step: 'cut', links },
    awaits({ seen: 'ack', partition, by: 'leader' }, 3_000, 'go-on'),
    { step: 'move', partition, to: 'next-leader' },
  ];
}

/** The ended leaders come back one after the other. */
function returns(nodes: readonly string[], gapMs: number): Step[] {
  return nodes.flatMap((node, index): Step[] =>
    index === 0
      ? [{ step: 'restore', node }]
      : [
          { step: 'wait', ms: gapMs },
          { step: 'restore', node },
        ],
  );
}

function rolesOf(fault: HandoverCrashFault, partition: PartitionView | undefined): Record<string, NodeId[]> | null {
  const order = inElectionOrder(partition);
  const leader = fault.roles === 'election-order' ? partition?.leader : order.at(-1);
  const others = order.filter((node) => node !== leader);
  const [next, follower] = fault.roles === 'election-order' ? others : [others[1], others[0]];
  if (typeof leader !== 'number' || next === undefined || follower === undefined) return null;
  return { leader: [leader], 'next-leader': [next], follower: [follower] };
}

function endsOf(evidence: readonly EvidenceEntry[]): readonly EvidenceEntry[] {
  return evidence.filter(({ action }) => action === 'pause' || action === 'kill' || action === 'move');
}

function areProven(ends: readonly EvidenceEntry[]): boolean {
  return ends.length >= 2 && ends.every(({ effective }) => effective);
}
