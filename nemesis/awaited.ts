/**
 * What a schedule waits for, and what is left of it where some of that can never be seen.
 *
 * Brokers that others wrote may not show all that a plan can wait for. A fault that waits for such a thing would wait for
 * nothing until its deadline. So faults that make no sense without it are not drawn ({@link awaitedByKind}), and for the
 * others the time counts: a start that would be awaited comes when the wait would have begun, an end at its deadline.
 */
import type { Condition, Fault, FaultKind, Schedule, Step } from './schedule.ts';

/** What can be waited for, by name. */
export type Awaited = Condition['seen'];

/** What a plan can wait for, in words. */
export const awaitedWords = {
  'full-isr': 'all replicas are in sync',
  'leader-change': 'a leader is elected',
  'isr-size': 'the ISR has shrunk',
  hw: 'the leader’s high watermark rises',
  truncation: 'a replica truncates',
  ack: 'a broker acknowledges',
  leads: 'a broker leads',
  follows: 'a broker follows another',
  'in-sync': 'a broker is in sync',
  'out-of-sync': 'a broker has left the ISR',
  'steps-done': 'the steps of a fault are done',
} as const satisfies Record<Awaited, string>;

export const awaitedNames = Object.keys(awaitedWords) as readonly Awaited[] as readonly [Awaited, ...Awaited[]];

/** What a drawn fault of that kind cannot do without: its steps wait for it, or it begins only then. */
export const awaitedByKind: Readonly<Partial<Record<FaultKind, readonly Awaited[]>>> = {
  'rolling-restart': ['full-isr'],
  'handover-crash': ['full-isr', 'ack', 'leads', 'follows'],
  'rejoin-crash': ['full-isr', 'leads', 'in-sync', 'out-of-sync'],
};

/** The same faults, where these conditions are never seen. What the steps of a fault wait for stays. */
export function withoutAwaiting(schedule: Schedule, unseen: readonly Awaited[]): Schedule {
  if (unseen.length === 0) return schedule;
  const faults = schedule.faults.map((fault): Fault => {
    const { at, until } = fault;
    return {
      ...fault,
      at: 'await' in at && unseen.includes(at.await.seen) ? { ms: at.fromMs } : at,
      until: 'await' in until && unseen.includes(until.await.seen) ? { ms: until.deadlineMs } : until,
    };
  });
  return { ...schedule, faults };
}

/** Everything that the fault waits for, at its start, in its steps and for its end. That its own steps are done it knows. */
export function awaitedBy(fault: Fault): Awaited[] {
  const { kind, at, until } = fault;
  const awaited = [
    ...('await' in at ? [at.await.seen] : []),
    ...(kind === 'rolling-restart' ? (awaitedByKind[kind] ?? []) : []),
    ...stepsOf(fault).flatMap((step) => (step.step === 'await' ? [step.what.seen] : [])),
    ...('await' in until ? [until.await.seen] : []),
  ];
  return [...new Set(awaited)].filter((seen) => seen !== 'steps-done');
}

/** Whether it has a leader moved. */
export function movesLeaders(fault: Fault): boolean {
  return fault.kind === 'leader-move' || stepsOf(fault).some(({ step }) => step === 'move');
}

function stepsOf(fault: Fault): readonly Step[] {
  return 'steps' in fault ? fault.steps : [];
}
