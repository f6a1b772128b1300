import { array, assert, constantFrom, integer, property, record, shuffledSubarray } from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AnomalyKind, ComparisonResults, PairedRun } from '../../../checker/results.ts';
import { mergeComparisons, wholeCommand } from '../../../harness/compare/merge.ts';
import { orderOf, runFolder, type Side } from '../../../harness/compare/pairs.ts';
import { joinComparisons } from '../../../harness/compare/two-parts.ts';
import {
  compareOutcomes,
  exitCodeOfComparison,
  failureIn,
  type ComparisonInput,
  type RunOutcome,
} from '../../../harness/compare/verdict.ts';
import { seedsOfShard, shardOf, type Shard } from '../../../harness/plan/shard.ts';

type Kind = 'clean' | 'lost' | 'diverged' | 'both' | 'dark' | 'unknown' | 'failed';
const kinds: readonly Kind[] = ['clean', 'lost', 'diverged', 'both', 'dark', 'unknown', 'failed'];
const declared = { control: 'hw', candidate: 'epoch', runtime: 'local', configuration: { rate: 100 } };

function run(side: Side, seed: number, kind: Kind): RunOutcome {
  const directory = runFolder(side, seed);
  if (kind === 'failed') return { directory, results: null, error: 'no engine' };
  const broken = brokenIn[kind] ?? [];
  const anomalies = broken.map((each) => ({ kind: each, class: 'violation', key: 'tide-0' }) as const);
  const valid = kind === 'unknown' ? 'unknown' : broken.length === 0;
  return {
    directory,
    results: { valid, notes: [], anomalies, exposures: kind === 'dark' ? null : [{ key: 'tide-0' }] },
  };
}

const brokenIn: Readonly<Partial<Record<Kind, readonly AnomalyKind[]>>> = {
  lost: ['lost-acked-write'],
  diverged: ['replica-divergence'],
  both: ['replica-divergence', 'lost-acked-write', 'lost-acked-write'],
};

interface Seen {
  readonly control: Kind;
  readonly candidate: Kind;
}

const lossy: Seen = { control: 'lost', candidate: 'clean' };

/** A comparison, or one shard of it, under seeds that count up from 10. */
function comparison(seen: readonly Seen[], shard?: Shard, more: Partial<ComparisonInput> = {}): ComparisonResults {
  const seeds = seen.map((_, index) => 10 + index);
  return compareOutcomes({
    ...declared,
    seeds,
    shard,
    command: `npm start -- --seed 10${shard === undefined ? '' : ` --shard ${shard.index}/${shard.count}`}`,
    pairs: seedsOfShard(seeds, shard).map((seed) => ({
      seed,
      order: orderOf(seed),
      control: run('control', seed, seen[seed - 10]!.control),
      candidate: run('candidate', seed, seen[seed - 10]!.candidate),
    })),
    ...more,
  });
}

function shardsOf(count: number, make: (shard: Shard) => ComparisonResults): ComparisonResults[] {
  return Array.from({ length: count }, (_, at) => make({ index: at + 1, count }));
}

const twelve = Array.from({ length: 12 }, () => lossy);
const merged = (parts: readonly ComparisonResults[]): ComparisonResults =>
  mergeComparisons(parts, 'npm start -- --seed 10');

describe('the comparison of merged shards', () => {
  const seen = record({ control: constantFrom(...kinds), candidate: constantFrom(...kinds) });

  it('equals the whole, field by field, whatever came out and in whichever order the shards come', () => {
    assert(
      property(
        array(seen, { minLength: 1, maxLength: 40 }),
        integer({ min: 1, max: 6 }).chain((count) => {
          const indexes = Array.from({ length: count }, (_, at) => at + 1);
          return shuffledSubarray(indexes, { minLength: count, maxLength: count });
        }),
        (pairs, indexes) => {
          const parts = indexes.map((index) => comparison(pairs, { index, count: indexes.length }));
          expect(merged(parts)).toEqual(comparison(pairs));
        },
      ),
    );
  });

  it('equals the whole in both of two parts, which are never pooled', () => {
    assert(
      property(
        array(seen, { minLength: 1, maxLength: 12 }),
        array(seen, { minLength: 1, maxLength: 6 }),
        integer({ min: 1, max: 4 }),
        (one, two, count) => {
          const both = (shard?: Shard): ComparisonResults => {
            const primary = comparison(one, shard, { runtime: 'sim' });
            return joinComparisons(primary, comparison(two, shard), primary.command);
          };
          expect(merged(shardsOf(count, both))).toEqual(both());
        },
      ),
    );
  });

  it('holds a run without a verdict for each that a missing shard did not make, and says so', () => {
    const parts = shardsOf(3, (shard) => comparison(twelve, shard));
    const without = parts.filter(({ shard }) => shard?.index !== 2);
    const lacking = seedsOfShard(merged(parts).seeds, { index: 2, count: 3 });
    const results = merged(without);
    expect(results.notRun).toEqual(lacking);
    expect(results).toMatchObject({
      valid: 'unknown',
      void: true,
      seeds: merged(parts).seeds,
      control: { runs: 12, unknown: lacking.length, exercisedUnknown: lacking.length },
      candidate: {
        runs: 12,
        anomalous: 0,
        unknown: lacking.length,
        bounds: { allGood: 0, allBad: lacking.length / 12 },
      },
    });
    expect(results.verdict).toBe(
      `Void: hw broke a promise in 8 of 12 runs (95 % interval 39 % to 86 %), epoch in 0 of 12 runs (4 unknown); nobody ran 4 of 12 pairs; 8 of 24 runs are unknown, too many to prove anything.`,
    );
    expect(failureIn(results)).toBe('8 of 24 runs failed: shard 2/3 is missing');
  });

  it('tells an anomaly of the candidate although a shard is missing', () => {
    const broken = twelve.map((pair, at) =>
      shardOf(10 + at, 2) === 1 ? { ...pair, candidate: 'lost' as const } : pair,
    );
    const results = merged([comparison(broken, { index: 1, count: 2 })]);
    expect(results.valid).toBe(false);
    expect(results.verdict).toMatch(/^epoch does not keep its word: .*; nobody ran 6 of 12 pairs; /);
  });

  it('counts what an interrupted shard did not come to as unknown', () => {
    const [one, two] = shardsOf(2, (shard) => comparison(twelve, shard)) as [ComparisonResults, ComparisonResults];
    const early = { ...two, pairs: two.pairs.slice(0, 2) };
    const results = merged([one, early]);
    expect(results.notRun).toEqual(two.seeds.slice(2));
    expect(results.pairs.map(({ seed }) => seed)).toEqual(results.seeds);
    expect(results.pairs.find(({ seed }) => seed === two.seeds[2])?.control).toMatchObject({
      valid: 'unknown',
      completed: false,
      error: 'shard 2/2 ended before this run',
    });
  });

  it('counts what a shard without its second part did not come to as unknown there, and nowhere else', () => {
    const [one, two] = shardsOf(2, (shard) => {
      const primary = comparison(twelve, shard, { runtime: 'sim' });
      return joinComparisons(primary, comparison(twelve.slice(0, 6), shard), primary.command);
    }) as [ComparisonResults, ComparisonResults];
    const { realism: _none, ...simulatedOnly } = two;
    const results = merged([one, simulatedOnly]);
    expect(results).not.toHaveProperty('notRun');
    expect(results.realism?.notRun).toEqual(two.realism?.seeds);
    expect(results.realism?.pairs.find(({ seed }) => seed === two.realism?.seeds[0])?.candidate.directory).toBe(
      `realism/${runFolder('candidate', two.realism?.seeds[0] ?? 0)}`,
    );
    expect(results.valid).toBe('unknown');
  });

  it('counts a shard once that stands there twice with the same outcomes', () => {
    const [one, two] = shardsOf(2, (shard) => comparison(twelve, shard)) as [ComparisonResults, ComparisonResults];
    expect(merged([one, two, one])).toEqual(comparison(twelve));
  });

  it('names the command that repeats all shards, of each part', () => {
    const both = shardsOf(2, (shard) => {
      const primary = comparison(twelve, shard, { runtime: 'sim' });
      return joinComparisons(primary, comparison(twelve, shard), primary.command);
    });
    const results = mergeComparisons(both, wholeCommand(both[0]?.command ?? ''));
    expect(results.command).toBe('npm start -- --seed 10');
    expect(results.realism?.command).toBe('npm start -- --seed 10');
  });
});

describe('comparisons that do not belong together', () => {
  const [one, two] = shardsOf(2, (shard) => comparison(twelve, shard)) as [ComparisonResults, ComparisonResults];
  const second = { index: 2, count: 2 };
  const changed = (run_: Partial<PairedRun>): ComparisonResults => ({
    ...two,
    pairs: two.pairs.map((pair, at) => (at === 0 ? { ...pair, candidate: { ...pair.candidate, ...run_ } } : pair)),
  });
  const cases: readonly (readonly [what: string, parts: readonly ComparisonResults[], line: RegExp])[] = [
    ['nothing', [], /^there is nothing to merge/],
    ['a whole comparison', [one, comparison(twelve)], /^b is not a shard, but a whole comparison: /],
    [
      'another candidate',
      [one, comparison(twelve, second, { candidate: 'kip101' })],
      /candidate kip101 and epoch; merge/,
    ],
    ['another control', [one, comparison(twelve, second, { control: 'kip101' })], /control kip101 and hw; merge/],
    ['another runtime', [one, comparison(twelve, second, { runtime: 'docker' })], /runtime docker and local; merge/],
    [
      'another configuration',
      [one, comparison(twelve, second, { configuration: { rate: 50, acks: 'all' } })],
      /^b and a are of different comparisons: rate 50 and 100; acks all and not given; merge shards of one command$/,
    ],
    [
      'other declared seeds',
      [one, comparison(twelve.slice(0, 11), second)],
      /seeds 10 to 20 \(11\) and 10 to 21 \(12\); merge/,
    ],
    ['another number of shards', [one, comparison(twelve, { index: 2, count: 3 })], /number of shards 3 and 2; merge/],
    [
      'one seed with two outcomes',
      [one, two, changed({ valid: false, violations: 1, kinds: ['lost-acked-write'] })],
      /^seed \d+ came out differently in b and in c: name the one that was meant to count, and leave the other out$/,
    ],
    ['seeds of another shard', [one, { ...two, seeds: one.seeds }], /^b does not hold together: /],
    ['pairs of another shard', [one, { ...two, pairs: one.pairs }], /^b does not hold together: /],
    ['a pair twice', [one, { ...two, pairs: [...two.pairs, ...two.pairs] }], /^b does not hold together: /],
    ['violations that the verdict denies', [one, changed({ violations: 3 })], /^b does not hold together: /],
  ];

  it.each(cases)('are refused in one line: %s', (_, parts, line) => {
    expect(() => mergeComparisons(parts, 'npm start', ['a', 'b', 'c'])).toThrow(line);
  });
});

describe('one shard alone', () => {
  const shard = { index: 1, count: 2 };
  const all = (seen: Seen): Seen[] => Array.from({ length: 6 }, () => seen);

  it.each([
    ['nothing broken', lossy, 0],
    ['a control that showed nothing', { control: 'clean', candidate: 'clean' }, 0],
    ['a control without verdicts', { control: 'unknown', candidate: 'clean' }, 0],
    ['a candidate without verdicts', { control: 'lost', candidate: 'unknown' }, 2],
    ['a candidate that broke a promise', { control: 'unknown', candidate: 'lost' }, 1],
  ] as const)('exits by what no other shard can change: %s', (_, seen, code) => {
    expect(exitCodeOfComparison(comparison(all(seen), shard))).toBe(code);
  });

  it('leaves the verdict to all shards together', () => {
    expect(comparison(all({ control: 'clean', candidate: 'clean' }), shard).verdict).toMatch(
      /^Shard 1 of 2 found no broken promise of epoch: hw broke a promise in 0 of 4 runs .*; the verdict is that of all shards together\.$/,
    );
    expect(comparison(all({ control: 'clean', candidate: 'lost' }), shard).verdict).toMatch(
      /^epoch does not keep its word: hw broke a promise in 0 of 4 runs /,
    );
  });

  it('says that it holds no seed, and fails for nothing', () => {
    const empty = comparison([lossy], { index: shardOf(10, 2) === 1 ? 2 : 1, count: 2 });
    expect(empty.verdict).toMatch(/^Shard \d of 2 holds none of the declared seeds, so there was nothing to run\.$/);
    expect(empty).toMatchObject({ seeds: [], shard: { count: 2, seeds: [10] } });
    expect(exitCodeOfComparison(empty)).toBe(0);
  });

  it('exits for the whole as a comparison does once it is merged', () => {
    const silent = all({ control: 'clean', candidate: 'clean' });
    expect(exitCodeOfComparison(merged(shardsOf(2, (each) => comparison(silent, each))))).toBe(3);
  });
});
