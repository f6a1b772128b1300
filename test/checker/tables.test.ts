import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Doubles, Ints, NumberTable } from '../../checker/tables.ts';

/** Patterns of keys that a history may hold: one after the other, with steps, near the ends of what is exact. */
const patterns: readonly (readonly [name: string, key: (at: number) => number])[] = [
  ['one after the other', (at) => at],
  ['below zero', (at) => -at],
  ['in steps of a block', (at) => at * 16],
  ['in steps of 2^20', (at) => at * 2 ** 20],
  ['in steps of 2^32', (at) => at * 2 ** 32],
  ['down from 2^53', (at) => Number.MAX_SAFE_INTEGER - at],
  ['around 2^31 and 2^32', (at) => (at % 2 === 0 ? 2 ** 31 : 2 ** 32) - 2500 + at],
];

describe('a table of numbers', () => {
  it.each(patterns)('finds the rows of keys that lie %s, and of no others', (_, key) => {
    const table = new NumberTable();
    for (let at = 0; at < 5000; at += 1) table.set(key(at), at);
    expect(table.size).toBe(5000);
    for (let at = 0; at < 5000; at += 1) expect(table.get(key(at))).toBe(at);
    for (let at = 5000; at < 5100; at += 1) expect(table.get(key(at))).toBe(-1);
    expect([...table.keys()].sort((x, y) => x - y)).toEqual(
      Array.from({ length: 5000 }, (__, at) => key(at)).sort((x, y) => x - y),
    );
  });

  it('holds what a map holds, whatever is put in', () => {
    const key = fc.oneof(fc.integer({ min: -50, max: 50 }), fc.maxSafeInteger(), fc.nat(2 ** 31 - 1));
    const property = fc.property(fc.array(fc.tuple(key, fc.nat()), { maxLength: 200 }), (entries) => {
      const table = new NumberTable();
      const map = new Map(entries);
      for (const [name, row] of entries) table.set(name, row);
      expect(table.size).toBe(map.size);
      for (const [name, row] of map) expect(table.get(name)).toBe(row);
      expect(new Set(table.keys())).toEqual(new Set(map.keys()));
    });
    fc.assert(property, { seed: 3, numRuns: 300 });
  });
});

describe.each([
  ['whole numbers', () => new Ints(), (at: number) => at * 3 - 100],
  ['numbers', () => new Doubles(), (at: number) => at * 2 ** 40 - 1],
])('a column of %s', (_, make, value) => {
  it('keeps what was put in while it grows', () => {
    const column = make();
    for (let at = 0; at < 1000; at += 1) expect(column.push(value(at))).toBe(at);
    expect(column.length).toBe(1000);
    column.set(500, 7);
    for (let at = 0; at < 1000; at += 1) expect(column.get(at)).toBe(at === 500 ? 7 : value(at));
  });
});
