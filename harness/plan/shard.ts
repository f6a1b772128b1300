/**
 * Shards: one comparison or one night on several machines, each of which runs the seeds of its own shard.
 *
 * A seed's shard follows from the seed alone, never from its place among the others: a night that is resumed, or declared
 * longer, puts each seed where it was. The hash is Fibonacci's (Knuth, The Art of Computer Programming, 6.4): neighbours
 * land far apart, so that seeds that count up, as ours do, fill all shards evenly, however few there are.
 *
 * Invariant: each seed is in exactly one shard of each count.
 */

/** One shard of several: the second of three is `{ index: 2, count: 3 }`. */
export interface Shard {
  /** From 1 to `count`. */
  readonly index: number;
  readonly count: number;
}

export const mostShards = 1_000;

/** 2^32 over the golden ratio, made odd. */
const GOLDEN = 0x9e3779b1;

/** In which of `count` shards a seed is: a number from 1 to `count`. */
export function shardOf(seed: number, count: number): number {
  const hash = Math.imul(seed, GOLDEN) >>> 0;
  return 1 + Math.floor((hash * count) / 2 ** 32);
}

/** The seeds of one shard, in their order; all of them where there are no shards. */
export function seedsOfShard(seeds: readonly number[], shard: Shard | undefined): readonly number[] {
  return shard === undefined ? seeds : seeds.filter((seed) => shardOf(seed, shard.count) === shard.index);
}

/** As ours are declared: `count` of them, from the first one up. */
export function seedsFrom(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}

/** Parses `2/3`. Returns the shard, or a clause that says what would be right. */
export function parseShard(text: string): Shard | string {
  const match = /^(\d{1,9})\/(\d{1,9})$/.exec(text);
  const [index, count] = [Number(match?.[1] ?? 0), Number(match?.[2] ?? 0)];
  if (match === null || count < 1 || count > mostShards || index < 1 || index > count) {
    return `write which shard of how many, such as 2/3: from 1/1 to ${mostShards}/${mostShards}`;
  }
  return { index, count };
}
