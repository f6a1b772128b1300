import { describe, expect, it } from 'vitest';
import type { Completion } from '../../../harness/client/operations.ts';
import {
  completeness,
  createFinalRead,
  nextFinalOperation,
  observeFinalRead,
} from '../../../harness/workload/final-read.ts';

const ends = new Map([
  ['tide-0', 3],
  ['tide-1', 0],
]);
const polled: Completion = { type: 'ok', f: 'poll', value: [['poll', {}]] };

describe('the final read', () => {
  it('assigns every key from its beginning, then polls until it has reached each end', () => {
    const reader = createFinalRead(ends);
    expect(nextFinalOperation(reader, 5)).toEqual({
      operation: { f: 'assign', keys: ['tide-0', 'tide-1'], seek: 'earliest' },
      dueNs: 5,
    });
    expect(nextFinalOperation(reader, 6)).toEqual({ operation: { f: 'poll' }, dueNs: 6 });
    observeFinalRead(reader, polled, new Map([['tide-0', 2]]), 7);
    expect(nextFinalOperation(reader, 7)).toEqual({ operation: { f: 'poll' }, dueNs: 7 });
    observeFinalRead(reader, polled, new Map([['tide-0', 3]]), 8);
    expect(nextFinalOperation(reader, 8)).toBeNull();
    expect(completeness([reader], ends)).toEqual(
      new Map([
        ['tide-0', { complete: true, reached: 3, end: 3 }],
        ['tide-1', { complete: true, reached: 0, end: 0 }],
      ]),
    );
  });

  it('waits a little after a poll that failed or brought nothing', () => {
    const reader = createFinalRead(ends, 100);
    nextFinalOperation(reader, 0);
    observeFinalRead(reader, { ...polled, type: 'fail' }, new Map([['tide-0', 'earliest']]), 1e6);
    expect(nextFinalOperation(reader, 2e6)?.dueNs).toBe(101e6);
    observeFinalRead(reader, polled, new Map([['tide-0', 'earliest']]), 200e6);
    expect(nextFinalOperation(reader, 200e6)?.dueNs).toBe(300e6);
  });

  it('counts a key as complete only if one reader alone got to its end', () => {
    const [half, other] = [createFinalRead(ends), createFinalRead(ends)];
    observeFinalRead(half, polled, new Map([['tide-0', 1]]), 0);
    observeFinalRead(other, polled, new Map([['tide-0', 2]]), 0);
    expect(completeness([half, other], ends).get('tide-0')).toEqual({ complete: false, reached: 2, end: 3 });
  });
});
