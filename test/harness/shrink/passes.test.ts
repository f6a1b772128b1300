/** Single passes of shrinking, driven by a judge who accepts everything that it is told to. */
import { expect, it } from 'vitest';
import type { HandoverCrashFault, Step } from '../../../nemesis/schedule.ts';
import { roundNumbers } from '../../../harness/shrink/passes.ts';
import type { Case } from '../../../harness/shrink/case.ts';
import { requestOf } from './failing.ts';

const waits = (...ms: number[]): Step[] => ms.map((each) => ({ step: 'wait', ms: each }));

function caseWith(steps: readonly Step[]): Case {
  const fault: HandoverCrashFault = {
    id: 'f1',
    kind: 'handover-crash',
    at: { ms: 1_000 },
    until: { ms: 2_000 },
    partition: 'tide-0',
    roles: 'election-order',
    steps,
  };
  const request = requestOf({});
  return {
    ...request,
    schedule: { ...request.schedule, faults: [fault] },
    load: { schemaVersion: 1, operations: [] },
  };
}

/** Drives the pass to its end; accepts a candidate if `accepts` says so. */
function shrunkSteps(from: Case, accepts: (steps: readonly Step[]) => boolean): readonly Step[] {
  const stepsOf = ({ schedule }: Case): readonly Step[] => (schedule.faults[0] as HandoverCrashFault).steps;
  const pass = roundNumbers(from);
  let turn = pass.next();
  while (turn.done !== true) turn = pass.next(accepts(stepsOf(turn.value)) ? turn.value : null);
  return stepsOf(turn.value ?? from);
}

it('waits that came to stand side by side become one', () => {
  const pause: Step = { step: 'pause', node: 'leader' };
  const from = caseWith([...waits(30, 7), pause, ...waits(5)]);
  const sum = (steps: readonly Step[]): number =>
    steps.reduce((total, step) => total + (step.step === 'wait' ? step.ms : 0), 0);
  expect(shrunkSteps(from, (steps) => sum(steps) === 42)).toEqual([...waits(37), pause, ...waits(5)]);
});
