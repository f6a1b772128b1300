import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ComparisonResults, NightResults, RunResults } from '../../../checker/results.ts';
import { mergeComparisons } from '../../../harness/compare/merge.ts';
import { joinComparisons } from '../../../harness/compare/two-parts.ts';
import { controlShowed, failureIn } from '../../../harness/compare/verdict.ts';
import { exitCodeOfNight } from '../../../harness/nightly/conclude.ts';
import { renderJunit } from '../../../harness/report/junit.ts';
import { expectGolden } from '../../golden.ts';
import { comparisonOf, comparisonWith, hostile, nightOf, runOf, runWith, type Side } from './reported.ts';
import { all, parseXml, type Element } from './well-formed.ts';

const golden = (name: string): string => `test/harness/report/golden/${name}.txt`;

/** Names of the cases that are not green, with what they are. */
function red(root: Element): string[] {
  return all(root, 'testcase').flatMap(({ attributes, children }) =>
    children
      .filter(({ name }) => name === 'failure' || name === 'error')
      .map((outcome) => `${attributes['name']}: ${outcome.name} ${outcome.attributes['type']}`),
  );
}

const suiteOf = (results: RunResults | ComparisonResults | NightResults): Element => parseXml(renderJunit(results));

describe('the suite of a run', () => {
  it('has a case for each guarantee, and says what broke it and why', () => {
    expectGolden(golden('junit-run'), renderJunit(runOf('hw')));
  });

  it('is green where all promises were kept', () => {
    expect(red(suiteOf(runOf('epoch')))).toEqual([]);
  });

  it('has an error where a guarantee is unknown, with the notes, and skips what is not checked', () => {
    const results = runOf('epoch');
    const root = suiteOf({
      ...results,
      valid: 'unknown',
      notes: ['the trace is missing'],
      guarantees: { ...results.guarantees, durability: 'unknown', agreement: 'not-checked' },
    });
    expect(red(root)).toEqual(['durability: error unknown']);
    expect(all(root, 'error')[0]?.text).toContain('the trace is missing');
    expect(all(root, 'testcase').find(({ attributes }) => attributes['name'] === 'agreement')?.children[0]?.name).toBe(
      'skipped',
    );
  });

  it('fails nothing for what the configuration allows, and shows it', () => {
    const { anomalies, guarantees, ...results } = runOf('hw');
    const allowed = anomalies.map((anomaly) => ({ ...anomaly, class: 'expected' as const }));
    const kept = Object.fromEntries(Object.keys(guarantees).map((name) => [name, true])) as RunResults['guarantees'];
    const root = suiteOf({ ...results, valid: true, guarantees: kept, anomalies: allowed });
    expect(red(root)).toEqual([]);
    expect(all(root, 'system-out')[0]?.text).toContain('lost-acked-write');
  });

  it('is never green where the verdict is not', () => {
    for (const valid of [false, 'unknown'] as const) {
      expect(red(suiteOf({ ...runOf('epoch'), valid }))).toEqual([
        `the verdict: ${valid === false ? 'failure violation' : 'error unknown'}`,
      ]);
    }
  });
});

describe('the suite of a comparison', () => {
  it('fails for the candidate, and never for what the control broke', () => {
    const results = comparisonOf([
      ['broken', 'valid'],
      ['broken', 'broken'],
    ]);
    const runs = new Map([['runs/candidate-2', runOf('hw', 2)]]);
    expectGolden(golden('junit-comparison'), renderJunit(results, runs));
  });

  it('fails where the control showed nothing', () => {
    expect(red(suiteOf(comparisonOf([['valid', 'valid']])))).toEqual([
      'the control shows the flaw: failure control-silent',
    ]);
  });

  it('is green exactly where the command ends with 0', () => {
    const side = fc.constantFrom<Side>('valid', 'valid', 'broken', 'broken', 'unknown', 'failed');
    const part = fc.record({
      // Often so many that one unknown run does not void it.
      sides: fc.oneof(
        fc.array(fc.tuple(side, side), { maxLength: 4 }),
        fc
          .tuple(side, side)
          .map((pair) => [...Array.from({ length: 30 }, () => ['broken', 'valid'] as [Side, Side]), pair]),
      ),
      missing: fc.constantFrom(0, 0, 0, 1),
    });
    fc.assert(
      fc.property(part, fc.option(part), (one, two) => {
        const [first, second] = [one, two].map(
          (each) => each && comparisonOf(each.sides, { declared: each.sides.length + each.missing }),
        );
        const results = second ? joinComparisons(first!, second, 'npm start') : first!;
        const parts = [results, ...(results.realism === undefined ? [] : [results.realism])];
        const whole = parts.every((each) => each.pairs.length === each.seeds.length && failureIn(each) === null);
        expect(red(suiteOf(results)).length === 0).toBe(results.valid === true && controlShowed(results) && whole);
      }),
      { numRuns: 300 },
    );
  });

  it('is red for one shard only for what no other shard can change', () => {
    const shard = { index: 2, count: 2 };
    expect(red(suiteOf(comparisonOf([], { shard })))).toEqual([]);
    expect(red(suiteOf(comparisonOf([['valid', 'valid']], { shard })))).toEqual([]);
    expect(red(suiteOf(comparisonOf([['unknown', 'valid']], { shard })))).toEqual([]);
    expect(red(suiteOf(comparisonOf([['valid', 'unknown']], { shard })))).toEqual(['seed 1: error no-verdict']);
    expect(red(suiteOf(comparisonOf([['valid', 'broken']], { shard })))).toEqual(['seed 1: failure lost-acked-write']);
    expect(red(suiteOf(comparisonOf([['failed', 'valid']], { shard })))).toEqual(['seed 1: error no-verdict']);
  });

  it('is red for merged shards of which one is missing', () => {
    const root = suiteOf(
      mergeComparisons(
        [comparisonOf([['broken', 'valid']], { declared: 2, shard: { index: 2, count: 2 } })],
        'npm start',
      ),
    );
    expect(red(root)[0]).toBe('every declared pair was run: error not-run');
    expect(all(root, 'property')[0]?.attributes).toEqual({ name: 'seed', value: '1 to 2, of which nobody ran 1' });
  });

  it('puts the seeds into batches where they are many', () => {
    const pairs = Array.from(
      { length: 10_000 },
      (_, index) => ['broken', index === 4_242 ? 'broken' : 'valid'] as const,
    );
    const text = renderJunit(comparisonOf(pairs));
    const root = parseXml(text);
    expect(all(root, 'testcase')).toHaveLength(203);
    expect(red(root)).toEqual(['seeds 4201 to 4250: failure lost-acked-write']);
    expect(all(root, 'failure')[0]?.text).toContain('seed 4243: lost-acked-write');
    const worst = comparisonOf(pairs.map(() => ['broken', 'broken'] as const));
    expect(renderJunit(worst).length).toBeLessThan(500_000);
  });
});

describe('the suites of a night', () => {
  const clean = comparisonOf([['broken', 'valid']]);

  it('are one for each cell, red for the candidate, a silent control, or either of two equal sides', () => {
    const night = nightOf([
      { comparison: clean },
      { comparison: comparisonOf([['broken', 'broken']]) },
      { comparison: comparisonOf([['valid', 'valid']]) },
      { comparison: comparisonOf([['valid', 'valid']]), same: true },
      { comparison: comparisonOf([['broken', 'valid']]), same: true },
    ]);
    const root = suiteOf(night);
    expect(all(root, 'testsuite').map(red)).toEqual([
      [],
      ['the candidate keeps its word: failure lost-acked-write'],
      ['the control shows the flaw: failure control-silent'],
      [],
      ['both sides keep their word: failure lost-acked-write'],
    ]);
  });

  it('skip what the budget had no time for, and are red for what an interrupt left', () => {
    const half = comparisonOf([['broken', 'valid']], { declared: 2 });
    const skipped = suiteOf(nightOf([{ comparison: half }], { ended: 'budget' }));
    expect([red(skipped), all(skipped, 'skipped').length]).toEqual([[], 1]);
    expect(red(suiteOf(nightOf([{ comparison: half }], { ended: 'unfinished' })))).toEqual([
      'every declared pair was run: error unfinished',
    ]);
  });

  it('are green exactly where the night ends with 0 and none of its runs failed', () => {
    const side = fc.constantFrom<Side>('valid', 'broken', 'unknown', 'failed');
    // The last pair of many is too little to make them void.
    const many = fc
      .tuple(side, side, side, side)
      .map(([a, b, c, d]) => [...Array.from({ length: 30 }, () => [a, b] as const), [c, d] as const]);
    const cell = fc.record({
      comparison: fc.oneof(many, fc.array(fc.tuple(side, side), { maxLength: 3 })).map((sides) => comparisonOf(sides)),
      same: fc.boolean(),
    });
    const shard = fc.constantFrom(undefined, { index: 1, count: 2 });
    fc.assert(
      fc.property(fc.array(cell, { minLength: 1, maxLength: 3 }), shard, (cells, part) => {
        const night = nightOf(cells, part === undefined ? {} : { shard: part });
        expect(red(suiteOf(night)).length === 0).toBe(
          exitCodeOfNight(night) === 0 && night.cells.every(({ failed }) => failed === undefined),
        );
      }),
      { numRuns: 300 },
    );
  });
});

describe('any text', () => {
  it('leaves the document well-formed, with the same elements and true counts', () => {
    const shape = (root: Element): unknown => [root.name, Object.keys(root.attributes), root.children.map(shape)];
    fc.assert(
      fc.property(hostile, (text) => {
        for (const make of [runWith, comparisonWith]) {
          const root = parseXml(renderJunit(make(text)));
          expect(shape(root)).toEqual(shape(parseXml(renderJunit(make('plain')))));
          for (const suite of [root, ...all(root, 'testsuite')]) {
            expect(suite.attributes).toMatchObject({
              tests: String(all(suite, 'testcase').length),
              failures: String(all(suite, 'failure').length),
              errors: String(all(suite, 'error').length),
              skipped: String(all(suite, 'skipped').length),
            });
          }
        }
      }),
    );
  });
});
