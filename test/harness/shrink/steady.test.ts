/** A failure is moved to the middle of the widest stretch in which it fails. */
import { expect, test } from 'vitest';
import type { Case } from '../../../harness/shrink/case.ts';
import { startMsOf, withFaults } from '../../../harness/shrink/case.ts';
import { steadiest } from '../../../harness/shrink/steady.ts';
import { caseOf } from './failing.ts';

const crash = { id: 'f1', kind: 'crash', at: { ms: 1_000 }, until: { ms: 500 }, targets: { role: 'all' } } as const;
const small = withFaults(caseOf({ timeLimitMs: 2_000 }), [crash]);
const startOf = ({ schedule }: Case): number => startMsOf(schedule.faults[0] ?? crash);

test('of several seeds the one that fails most widely is taken, in the middle of its times', () => {
  const windows = new Map([
    [5, [1_000, 1_010]],
    [6, [960, 1_040]],
    [7, [1_090, 1_100]],
  ]);
  const steady = steadiest(small, [5, 6, 7], (candidate) => {
    const [from = 0, to = 0] = windows.get(candidate.config.seed) ?? [];
    return startOf(candidate) >= from && startOf(candidate) <= to;
  });
  expect([steady.config.seed, startOf(steady)]).toEqual([6, 1_000]);
});

test('a failure that hangs by one moment stays as it is', () => {
  const only = (candidate: Case): boolean => candidate.config.seed === 5 && startOf(candidate) === 1_000;
  expect(steadiest(small, [5, 6], only)).toBe(small);
});
