import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { RollingHash } from '../../../harness/sim/rolling-hash.ts';

const hashOf = (...values: readonly unknown[]) => {
  const hash = new RollingHash();
  for (const value of values) hash.value(value);
  return hash.hex;
};

test('the same values in the same order give the same hash, on every machine', () => {
  expect(hashOf(1, 'tide-0', [true, null], { hw: 4 })).toBe(hashOf(1, 'tide-0', [true, null], { hw: 4 }));
  expect(hashOf('tide', 2 ** 40 + 1, 0.5)).toBe('5659dabe5f250b45');
});

test('another value or another order gives another hash', () => {
  const values = [[1, 2], [2, 1], [12], ['12'], [[1, 2]], [[1], 2], [null], [true], [false]];
  const more = [[2 ** 32], [0], [2 ** 33], [-1], [0.5], [0.25], ['', ''], [''], ['a\0'], ['a'], []];
  const hashes = [...values, ...more].map((each) => hashOf(...each));
  expect(new Set(hashes).size).toBe(hashes.length);
});

test('texts that differ in one character have different hashes', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.nat(), (text, place) => {
      const at = place % text.length;
      const other = text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1);
      expect(hashOf(other)).not.toBe(hashOf(text));
    }),
  );
});
