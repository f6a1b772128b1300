/** Named streams: what makes two builds meet the same plan. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../harness/plan/random.ts';

const sorted = (items: readonly number[]) => [...items].sort((a, b) => a - b);

describe('random streams', () => {
  it('are told apart by name and seed, and by nothing else', () => {
    const draws = (seed: number, name: string) => {
      const stream = createRandom(seed).stream(name);
      return Array.from({ length: 5 }, () => stream.int(0, 1_000_000));
    };
    expect(draws(7, 'faults')).toEqual(draws(7, 'faults'));
    expect(draws(7, 'faults')).not.toEqual(draws(8, 'faults'));
    expect(draws(7, 'workload:1')).not.toEqual(draws(7, 'workload:2'));
    expect(draws(7, '1')).not.toEqual(draws(71, ''));
  });

  it('do not shift one another by an extra draw', () => {
    const random = createRandom(7);
    const first = random.stream('faults');
    const before = createRandom(7).stream('workload:1').int(0, 1_000_000);
    first.int(0, 9);
    expect(random.stream('workload:1').int(0, 1_000_000)).toBe(before);
  });

  it('give these numbers for ever', () => {
    const stream = createRandom(42).stream('faults');
    expect(Array.from({ length: 6 }, () => stream.int(0, 99))).toMatchInlineSnapshot(`
      [
        52,
        81,
        27,
        77,
        87,
        94,
      ]
    `);
  });

  it('keep whole numbers within their bounds, and reach both', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: -50, max: 50 }), fc.nat(5), (seed, from, width) => {
        const stream = createRandom(seed).stream('x');
        const seen = new Set(Array.from({ length: 300 }, () => stream.int(from, from + width)));
        expect([...seen].sort((a, b) => a - b)).toEqual(Array.from({ length: width + 1 }, (_, index) => from + index));
      }),
      { numRuns: 50 },
    );
  });

  it('shuffle without losing anything, and leave the original alone', () => {
    fc.assert(
      fc.property(fc.integer(), fc.array(fc.nat()), (seed, items) => {
        const copy = [...items];
        const shuffled = createRandom(seed).stream('x').shuffle(items);
        expect(sorted(shuffled)).toEqual(sorted(items));
        expect(items).toEqual(copy);
      }),
    );
  });

  it('refuse to pick from nothing, and bounds that hold nothing', () => {
    const stream = createRandom(1).stream('x');
    expect(() => stream.pick([])).toThrow('nothing to pick from');
    expect(() => stream.int(2, 1)).toThrow('no whole number lies between 2 and 1');
  });

  it('are true about as often as asked', () => {
    const stream = createRandom(1).stream('x');
    const trues = Array.from({ length: 10_000 }, () => stream.chance(0.3)).filter(Boolean).length;
    expect(trues).toBeGreaterThan(2_800);
    expect(trues).toBeLessThan(3_200);
  });
});
