/** Delta debugging on lists whose failure is known. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ddmin } from '../../../harness/shrink/ddmin.ts';

/** Drives it with a predicate; counts the tries. */
function reduce<T>(
  items: readonly T[],
  fails: (items: readonly T[]) => boolean,
  mostChunks?: number,
): { kept: readonly T[]; tries: number } {
  const search = ddmin(items, mostChunks);
  let tries = 0;
  for (let turn = search.next(); ; turn = search.next(fails(turn.value))) {
    if (turn.done === true) return { kept: turn.value, tries };
    tries += 1;
  }
}

const numbers = (length: number): number[] => Array.from({ length }, (_, index) => index);

describe('delta debugging', () => {
  it('finds exactly the items that the failure needs', () => {
    const sets = fc.uniqueArray(fc.nat({ max: 99 }), { maxLength: 8 });
    fc.assert(
      fc.property(sets, (needed) => {
        const { kept } = reduce(numbers(100), (items) => needed.every((item) => items.includes(item)));
        expect(kept).toEqual(needed.toSorted((a, b) => a - b));
      }),
    );
  });

  it('keeps a list of which no item can be left out, whatever the failure is', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 40 }), fc.integer({ min: 1, max: 20 }), (length, weight) => {
        const fails = (items: readonly number[]): boolean => items.reduce((sum, item) => sum + item, 0) >= weight;
        fc.pre(fails(numbers(length)));
        const { kept } = reduce(numbers(length), fails);
        expect(fails(kept)).toBe(true);
        for (const item of kept) expect(fails(kept.filter((other) => other !== item))).toBe(false);
      }),
    );
  });

  it('needs few tries for a few items among many', () => {
    const needed = [3, 57, 120, 181];
    const { kept, tries } = reduce(numbers(200), (items) => needed.every((item) => items.includes(item)));
    expect(kept).toEqual(needed);
    expect(tries).toBeLessThan(80);
  });

  it('gives up early where it is to stay rough and every large part is needed', () => {
    const needed = [0, 9, 18, 27, 36, 45, 54, 63];
    const fails = (items: readonly number[]): boolean => needed.every((item) => items.includes(item));
    expect(reduce(numbers(64), fails, 4)).toEqual({ kept: numbers(64), tries: 7 });
    expect(reduce(numbers(64), fails).kept).toEqual(needed);
  });

  it('asks nothing about an empty list, and empties one that nothing is needed of', () => {
    expect(reduce([], () => true)).toEqual({ kept: [], tries: 0 });
    expect(reduce(numbers(50), () => true)).toEqual({ kept: [], tries: 1 });
  });
});
