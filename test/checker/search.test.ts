/** Binary search and the heap, against what a plain look at everything finds. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstNotBefore, Heap } from '../../checker/search.ts';

describe('a binary search', () => {
  it('finds the first that is not before, and looks at few and at none twice', () => {
    for (let length = 0; length < 40; length += 1) {
      for (let first = 0; first <= length; first += 1) {
        const looked: number[] = [];
        const isBefore = (index: number): boolean => {
          looked.push(index);
          return index < first;
        };
        expect(firstNotBefore(length, isBefore)).toBe(first);
        expect(new Set(looked).size).toBe(looked.length);
        expect(looked.length).toBeLessThanOrEqual(Math.ceil(Math.log2(length + 1)));
        for (const index of looked) expect(index >= 0 && index < length).toBe(true);
      }
    }
  });
});

describe('a heap', () => {
  it('has nothing at its top while it is empty', () => {
    const heap = new Heap((row) => row);
    heap.pop();
    expect(heap.top).toBe(-1);
    heap.push(3);
    heap.pop();
    heap.pop();
    expect(heap.top).toBe(-1);
  });

  it('has the heaviest row at its top, whatever was put in and taken out', () => {
    const step = fc.oneof(fc.constant(null), fc.nat(20));
    fc.assert(
      fc.property(fc.array(fc.nat(9), { minLength: 21, maxLength: 21 }), fc.array(step), (weights, steps) => {
        const weigh = (row: number): number => weights[row] as number;
        const heap = new Heap(weigh);
        const rows: number[] = [];
        for (const row of steps) {
          if (row === null) {
            const at = rows.indexOf(heap.top);
            heap.pop();
            if (at !== -1) rows.splice(at, 1);
          } else {
            heap.push(row);
            rows.push(row);
          }
          if (rows.length === 0) expect(heap.top).toBe(-1);
          else {
            expect(rows).toContain(heap.top);
            expect(weigh(heap.top)).toBe(Math.max(...rows.map(weigh)));
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it('asks for few weights: it is a heap, and no list', () => {
    let asked = 0;
    const heap = new Heap((row) => {
      asked += 1;
      return (row * 7919) % 1024;
    });
    for (let row = 0; row < 1024; row += 1) heap.push(row);
    for (let row = 0; row < 1024; row += 1) heap.pop();
    expect(heap.top).toBe(-1);
    expect(asked).toBeLessThan(1024 * 10 * 6);
  });
});
