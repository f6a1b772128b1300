/** A load that is written out, as the threads of a run ask for it. */
import { expect, test } from 'vitest';
import type { PlannedOperation } from '../../../harness/sim/simulation.ts';
import { writtenLoad } from '../../../harness/workload/written.ts';

const send = (thread: number, atMs: number, value: number): PlannedOperation => ({
  atMs,
  thread,
  operation: { f: 'send', key: 'tide-0', value },
});
const plan = { schemaVersion: 1, operations: [send(0, 1, 1), send(1, 2, 2), send(0, 3, 3)] } as const;

test('each thread gets its own operations at their times, and then there is nothing left', () => {
  const source = writtenLoad(plan, 2, 1_000)(0);
  expect([source.next(0), source.next(0), source.next(0)]).toEqual([
    { operation: plan.operations[0].operation, dueNs: 1_001_000 },
    { operation: plan.operations[2].operation, dueNs: 3_001_000 },
    null,
  ]);
});

test('what was due while another operation was under way begins as soon as that is over', () => {
  const source = writtenLoad(plan, 2, 0)(1);
  expect(source.next(9_000_000)).toMatchObject({ dueNs: 9_000_000 });
});

test('a fresh process goes on where the one before it on its thread ended', () => {
  const sourceOf = writtenLoad(plan, 2, 0);
  expect(sourceOf(0).next(0)).toMatchObject({ operation: { value: 1 } });
  expect(sourceOf(2).next(0)).toMatchObject({ operation: { value: 3 } });
});
