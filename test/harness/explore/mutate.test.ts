/** Mutations of plans: always a schedule, never the parent, and the same for the same draws. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drawConfig } from '../../../harness/explore/draws.ts';
import { mutate } from '../../../harness/explore/mutate.ts';
import { faultKindsOf } from '../../../harness/plan/config.ts';
import { createRandom } from '../../../harness/plan/random.ts';
import { planOf } from '../../../harness/run/plan.ts';
import type { Schedule } from '../../../nemesis/schedule.ts';

const partitions = ['tide-0'];

function planFor(seed: number, count = 1): Schedule {
  return planOf(drawConfig('hw', seed, { partitions: count }, faultKindsOf.sim));
}

function child(seed: number, parent: Schedule, other: Schedule): Schedule {
  return mutate(parent, other, partitions, createRandom(seed).stream('test'));
}

describe('a mutated plan', () => {
  it('is a schedule: ids of its own, and no fault at a time that is none', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.nat(), (seed, one, two) => {
        const { faults, durationMs } = child(seed, planFor(one), planFor(two, 4));
        expect(new Set(faults.map(({ id }) => id)).size).toBe(faults.length);
        for (const { at, until } of faults) {
          expect('ms' in at ? at.ms : at.fromMs).toBeGreaterThanOrEqual(0);
          expect('ms' in until ? until.ms : until.deadlineMs).toBeGreaterThan(0);
        }
        expect(durationMs).toBe(planFor(one).durationMs);
      }),
      { numRuns: 200 },
    );
  });

  it('names only partitions that are there, whatever was spliced in', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (seed, other) => {
        expect(JSON.stringify(child(seed, planFor(1), planFor(other, 4)))).not.toMatch(/tide-[1-9]/);
      }),
      { numRuns: 200 },
    );
  });

  it('leaves its parents as they were, and is the same for the same draws', () => {
    const [parent, other] = [planFor(3), planFor(4)];
    const before = JSON.stringify([parent, other]);
    expect(child(9, parent, other)).toEqual(child(9, parent, other));
    expect(JSON.stringify([parent, other])).toBe(before);
  });

  it('differs from its parent, mostly', () => {
    const parent = planFor(3);
    const same = Array.from({ length: 100 }, (_, seed) => child(seed, parent, planFor(4))).filter(
      ({ faults }) => JSON.stringify(faults) === JSON.stringify(parent.faults),
    );
    expect(same.length).toBeLessThan(20);
  });
});
