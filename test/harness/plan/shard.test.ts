import { assert, integer, property } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { greatestSeed } from '../../../harness/plan/limits.ts';
import { mostShards, parseShard, shardOf } from '../../../harness/plan/shard.ts';

const seeds = integer({ min: 0, max: greatestSeed });
const counts = integer({ min: 1, max: mostShards });

describe('shardOf', () => {
  test('puts every seed into one of the shards', () => {
    assert(
      property(seeds, counts, (seed, count) => {
        const shard = shardOf(seed, count);
        expect(Number.isInteger(shard) && shard >= 1 && shard <= count).toBe(true);
      }),
    );
  });

  test('puts every seed into the only shard there is', () => {
    assert(property(seeds, (seed) => shardOf(seed, 1) === 1));
  });

  test('never moves a seed from one version of Tidemark to the next', () => {
    const known = [0, 1, 2, 3, 4, 5, 42, 1000, 2 ** 32, 2 ** 32 + 1, greatestSeed];
    expect(known.map((seed) => shardOf(seed, 3))).toEqual([1, 2, 1, 3, 2, 1, 3, 1, 1, 2, 1]);
  });

  test('fills all shards evenly with seeds that count up, wherever they begin', () => {
    assert(
      property(seeds, integer({ min: 2, max: 12 }), integer({ min: 24, max: 400 }), (first, count, pairs) => {
        const sizes = Array.from({ length: count }, () => 0);
        for (let seed = first; seed < first + pairs; seed += 1) sizes[shardOf(seed, count) - 1]! += 1;
        const fair = pairs / count;
        for (const size of sizes) expect(Math.abs(size - fair)).toBeLessThanOrEqual(4);
      }),
    );
  });
});

describe('parseShard', () => {
  test('reads which shard of how many', () => {
    expect(parseShard('2/3')).toEqual({ index: 2, count: 3 });
    expect(parseShard('1/1')).toEqual({ index: 1, count: 1 });
    expect(parseShard(`${mostShards}/${mostShards}`)).toEqual({ index: mostShards, count: mostShards });
  });

  test.each(['', '2', '0/3', '4/3', '2/0', '1/1001', '-1/3', '1/3/5', '1.5/3', ' 1/3', '1 / 3', 'one/three', '1/1e3'])(
    'says what would be right in place of "%s"',
    (text) => {
      expect(parseShard(text)).toMatch(/^write which shard of how many, such as 2\/3/);
    },
  );
});
