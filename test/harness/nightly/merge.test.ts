import { describe, expect, it } from 'vitest';
import type { PairResults } from '../../../checker/results.ts';
import { UsageError } from '../../../harness/errors.ts';
import { concludeNight, type NightFacts } from '../../../harness/nightly/conclude.ts';
import { mergeNights, type NightPart } from '../../../harness/nightly/merge.ts';
import { seedsOfShard, type Shard } from '../../../harness/plan/shard.ts';
import { cellOf, pairOf } from './pairs.ts';

const SEEDS = Array.from({ length: 20 }, (_, index) => index + 1);
const facts: NightFacts = {
  runtime: 'sim',
  seeds: { from: 1, count: 20 },
  command: 'npm run tidemark -- nightly n.json',
  budgetMs: 60_000,
  usedMs: 5_000,
  ended: 'all-run',
};

/** What came out, by cell: in `b` the candidate breaks on seed 13. */
const outcome = (name: string, seed: number): PairResults =>
  pairOf(seed, seed % 3 > 0, !(name === 'x.y.b' && seed === 13));

function part(
  shard: Shard | undefined,
  run: (seed: number) => boolean = () => true,
  changes: Partial<NightFacts> = {},
): NightPart {
  const cells = ['x.y.a', 'x.y.b'].map((name) =>
    cellOf(
      name,
      seedsOfShard(SEEDS, shard)
        .filter(run)
        .map((seed) => outcome(name, seed)),
      { declared: SEEDS.length, ...(shard === undefined ? {} : { shard }) },
    ),
  );
  const results = concludeNight({ ...facts, ...(shard === undefined ? {} : { shard }), ...changes }, cells);
  return { results, comparisons: new Map(cells.map(({ cell, comparison }) => [cell.name, comparison])) };
}

describe('the nights of shards', () => {
  it('make the night that one machine would have made', () => {
    const merged = mergeNights(
      [1, 2, 3].map((index) => part({ index, count: 3 })),
      facts.command,
    );
    const whole = part(undefined);
    expect(merged.results).toEqual(whole.results);
    expect(merged.comparisons).toEqual(whole.comparisons);
    expect(merged.results.valid).toBe(false);
  });

  it('make a smaller night where a budget ended: what was not run is no run', () => {
    const cut = part({ index: 1, count: 2 }, (seed) => seed < 10, { ended: 'budget', usedMs: 59_000 });
    const { results } = mergeNights([cut, part({ index: 2, count: 2 })], facts.command);
    const [cell] = results.cells;
    expect(cell?.declared).toBe(20);
    expect(cell?.done).toBe(
      seedsOfShard(SEEDS, { index: 1, count: 2 }).filter((seed) => seed < 10).length +
        seedsOfShard(SEEDS, { index: 2, count: 2 }).length,
    );
    expect(cell?.candidate).toMatchObject({ runs: cell?.done, unknown: 0 });
    expect(results).toMatchObject({ ended: 'budget', usedMs: 59_000 });
    expect(results.verdict).toContain('pairs were run, since the budget of 1 min ended');
  });

  it('make a night without a verdict where a shard is missing, whatever ended the others', () => {
    const lone = (run: (seed: number) => boolean) =>
      mergeNights([part({ index: 1, count: 2 }, run, { ended: 'budget' })], facts.command).results;
    const clean = lone((seed) => seed !== 13);
    expect(clean).toMatchObject({ valid: 'unknown', ended: 'shard-missing' });
    expect(clean.verdict).toMatch(
      /^No candidate broke a promise .*, but the verdict is unknown without the shard that is missing; only \d+ of 40 pairs were run/,
    );
    expect(lone(() => true)).toMatchObject({ valid: false, ended: 'shard-missing' });
  });

  it('are refused where they are not of one night', () => {
    const first = part({ index: 1, count: 2 });
    const merging = (other: NightPart) => (): unknown => mergeNights([first, other], facts.command);
    expect(merging(part(undefined))).toThrow('is not a shard, but a whole night');
    expect(merging(part({ index: 2, count: 2 }, () => true, { seeds: { from: 2, count: 20 } }))).toThrow(
      'are of different nights (seeds differ)',
    );
    expect(merging(part({ index: 2, count: 3 }))).toThrow(UsageError);
    expect(merging({ ...part({ index: 2, count: 2 }), comparisons: new Map() })).toThrow('shard 2/2 has no cell x.y.a');
    expect(() => mergeNights([], '')).toThrow('there is nothing to merge');
  });
});
