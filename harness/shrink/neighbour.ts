/**
 * The nearest plan that passes: the smallest change of a failing case after which nothing is broken.
 *
 * One fault moved, retimed, made to wait before one of its steps, or left out, or one operation moved: the smallest moves
 * are tried first, so that what comes out is as near as a plan can be. The failing case and this one differ in a single
 * line, and that is the explanation.
 */
import { describeStep } from '../../nemesis/fault-run.ts';
import type { Fault } from '../../nemesis/schedule.ts';
import { startMsOf, withFault, withFaults, withOperations } from './case.ts';
import type { Case } from './case.ts';
import { judge } from './trial.ts';

export interface Neighbour {
  /** What was changed: `f2 begins 20 ms later`. */
  readonly change: string;
  readonly passing: Case;
  readonly runs: number;
}

const MOVES_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000];
const MOST_RUNS = 600;
/** So many operations are moved; more would say little. */
const MOST_OPERATIONS = 20;

/** Null when no single change within bounds makes it pass. Deterministic: the seed stays that of the case. */
export function nearestPassing(failing: Case, mayGoOn: () => boolean): Neighbour | null {
  let runs = 0;
  for (const { change, candidate } of changesOf(failing)) {
    if (runs >= MOST_RUNS || !mayGoOn()) return null;
    runs += 1;
    if (judge(candidate).results.valid === true) return { change, passing: candidate, runs };
  }
  return null;
}

interface Change {
  readonly change: string;
  readonly candidate: Case;
}

function* changesOf(failing: Case): Generator<Change> {
  const { faults } = failing.schedule;
  const operations = failing.load.operations.slice(0, MOST_OPERATIONS);
  for (const byMs of MOVES_MS) {
    for (const [index, fault] of faults.entries()) {
      for (const [change, changed] of retimed(fault, byMs)) {
        yield { change: `${fault.id} ${change}`, candidate: withFault(failing, index, changed) };
      }
    }
    for (const [index, operation] of operations.entries()) {
      for (const ms of [byMs, -byMs]) {
        if (operation.atMs + ms < 0) continue;
        const moved = { ...operation, atMs: operation.atMs + ms };
        const candidate = withOperations(failing, failing.load.operations.with(index, moved));
        yield { change: `the operation at ${operation.atMs} ms begins ${earlierOrLater(ms)}`, candidate };
      }
    }
  }
  for (const [index, fault] of faults.entries()) {
    yield { change: `without ${fault.id}`, candidate: withFaults(failing, faults.toSpliced(index, 1)) };
  }
}

function retimed(fault: Fault, byMs: number): (readonly [change: string, fault: Fault])[] {
  const changes: (readonly [string, Fault])[] = [];
  for (const ms of [byMs, -byMs]) {
    const { at, until } = fault;
    if (startMsOf(fault) + ms >= 0) {
      const moved = 'ms' in at ? { ms: at.ms + ms } : { ...at, fromMs: at.fromMs + ms, deadlineMs: at.deadlineMs + ms };
      changes.push([`begins ${earlierOrLater(ms)}`, { ...fault, at: moved }]);
    }
    if ('ms' in until && until.ms + ms > 0) {
      const length = ms > 0 ? `lasts ${ms} ms longer` : `lasts ${-ms} ms less`;
      changes.push([length, { ...fault, until: { ms: until.ms + ms } }]);
    }
    if ('steps' in fault) {
      for (const [index, step] of fault.steps.entries()) {
        if (step.step !== 'wait' || step.ms + ms < 0) continue;
        const steps = fault.steps.with(index, { ...step, ms: step.ms + ms });
        changes.push([`waits ${step.ms + ms} instead of ${step.ms} ms`, { ...fault, steps }]);
      }
    }
  }
  if ('steps' in fault) {
    for (const [index, step] of fault.steps.entries()) {
      if (index === 0 || step.step === 'wait' || fault.steps[index - 1]?.step === 'wait') continue;
      const steps = fault.steps.toSpliced(index, 0, { step: 'wait', ms: byMs });
      changes.push([`waits ${byMs} ms before its step "${describeStep(step)}"`, { ...fault, steps }]);
    }
  }
  return changes;
}

function earlierOrLater(ms: number): string {
  return ms > 0 ? `${ms} ms later` : `${-ms} ms earlier`;
}
