import { describe, expect, it } from 'vitest';
import type { NightCell, NightResults, PairResults, Verdict } from '../../../checker/results.ts';
import {
  canBeSignificant,
  exitCodeOfNight,
  type ConcludedCell,
  type NightFacts,
} from '../../../harness/nightly/conclude.ts';
import { parseResults } from '../../../harness/schemas.ts';
import { cellOf, nightOf, pairOf } from './pairs.ts';

function night(cells: readonly ConcludedCell[], facts: Partial<NightFacts> = {}): NightResults {
  const results = nightOf(cells, { budgetMs: 3 * 3_600_000, ...facts });
  expect(parseResults(JSON.parse(JSON.stringify(results)))).toEqual({ results });
  return results;
}

/** Six pairs in which the control breaks, and the candidate as told. */
function pairs(candidate: Verdict = true, control: Verdict = false, exposures = 1): PairResults[] {
  return [1, 2, 3, 4, 5, 6].map((seed) => pairOf(seed, control, candidate, exposures));
}

describe('the verdict of a night', () => {
  it('is true where no candidate broke a promise, and each control did', () => {
    const results = night([cellOf('x.y.a', pairs())]);
    expect([results.valid, exitCodeOfNight(results)]).toEqual([true, 0]);
    expect(results.verdict).toBe(
      'No candidate broke a promise in 1 cell and 6 pairs, and every control did, significantly in 1 of 1 cell.',
    );
  });

  it('is false where one candidate broke one promise in one cell, whatever is unknown elsewhere', () => {
    const broken = [...pairs().slice(0, 5), pairOf(6, true, false)];
    const results = night([cellOf('x.y.a', pairs('unknown')), cellOf('x.y.b', broken)]);
    expect([results.valid, exitCodeOfNight(results)]).toEqual([false, 1]);
    expect(results.verdict).toBe('A promise was broken in 1 of 2 cells: epoch in 1 of 6 runs (x.y.b).');
  });

  it('is unknown where runs of a candidate are', () => {
    const results = night([cellOf('x.y.a', pairs()), cellOf('x.y.b', pairs('unknown'))]);
    expect([results.valid, exitCodeOfNight(results)]).toEqual(['unknown', 2]);
    expect(results.verdict).toBe(
      'No candidate broke a promise in 2 cells and 12 pairs, but the verdict is unknown in 1 of 2 cells (x.y.b).',
    );
  });

  it('proves nothing where a control that differs from its candidate showed nothing', () => {
    const results = night([cellOf('x.y.a', pairs()), cellOf('x.y.b', pairs(true, true))]);
    expect([results.valid, exitCodeOfNight(results)]).toEqual([true, 3]);
    expect(results.verdict).toContain(
      'The control showed nothing in 1 of 2 cells (x.y.b), so nothing is proved there;',
    );
  });

  it('asks nothing of a control that is the same as its candidate, and holds a violation of it against the night', () => {
    const clean = night([cellOf('aa.y.a', pairs(true, true), { sameBuilds: true })]);
    expect([clean.valid, exitCodeOfNight(clean)]).toEqual([true, 0]);
    expect(clean.verdict).toBe('No candidate broke a promise in 1 cell and 6 pairs.');
    const alarm = night([cellOf('aa.y.a', pairs(true, false), { sameBuilds: true })], { runtime: 'local' });
    expect([alarm.valid, exitCodeOfNight(alarm)]).toEqual([false, 1]);
    expect(alarm.verdict).toBe('A promise was broken in 1 of 1 cell: epoch in 6 of 12 runs (aa.y.a).');
    const simulated = night([cellOf('aa.y.a', pairs(false, false), { sameBuilds: true })]);
    expect(simulated.verdict).toBe('A promise was broken in 1 of 1 cell: epoch in 6 of 6 runs (aa.y.a).');
  });

  it('names cells in which no candidate met the dangerous moment', () => {
    const results = night([cellOf('x.y.a', pairs()), cellOf('x.y.b', pairs(true, false, 0))]);
    expect(results.verdict).toMatch(/; x\.y\.b never met the dangerous moment\.$/);
  });

  it('counts pairs that the budget had no time for as no runs, and says so', () => {
    const results = night([cellOf('x.y.a', pairs().slice(0, 2), { declared: 6 })], { ended: 'budget' });
    expect(results.cells[0]).toMatchObject({ declared: 6, done: 2, candidate: { runs: 2, unknown: 0 } });
    expect(results.verdict).toBe(
      'No candidate broke a promise in 1 cell and 2 pairs, and every control did, not significant at this n; only 2 of 6 pairs were run, since the budget of 3 h ended.',
    );
  });

  it('says that it is not finished, also where its last pair is half a one, and nothing of significance', () => {
    const results = night([cellOf('x.y.a', [...pairs().slice(0, 5), pairOf(6, 'unknown', 'unknown')])], {
      ended: 'unfinished',
    });
    expect(results.verdict).toMatch(/; the night is not finished\.$/);
    const early = night([cellOf('x.y.a', pairs(), { declared: 8 })], { ended: 'unfinished' });
    expect(early.verdict).toBe(
      'No candidate broke a promise in 1 cell and 6 pairs, and every control did; only 6 of 8 pairs were run so far.',
    );
  });

  it('tells which cell had runs that failed', () => {
    const { control, ...failing } = pairOf(6, 'unknown', true);
    const last = { ...failing, control: { ...control, completed: false, error: 'the disk is full' } };
    const results = night([cellOf('x.y.a', pairs()), cellOf('x.y.b', [...pairs().slice(0, 5), last])]);
    expect(results.cells.map(({ failed }) => failed)).toEqual([undefined, '1 of 12 runs failed: the disk is full']);
  });

  it('says nothing for a night in which no pair was run', () => {
    const results = night([cellOf('x.y.a', [], { declared: 6 })], { ended: 'budget', budgetMs: 45_000 });
    expect([results.valid, exitCodeOfNight(results)]).toEqual(['unknown', 2]);
    expect(results.verdict).toBe(
      'No pair was run, so nothing was compared; only 0 of 6 pairs were run, since the budget of 45 s ended.',
    );
  });

  it('leaves to all shards together what only they can say', () => {
    const shard = { index: 1, count: 2 };
    const own = pairs(true, true).slice(0, 3);
    const results = night([cellOf('x.y.a', own, { declared: 6, shard })], { shard });
    expect(exitCodeOfNight(results)).toBe(0);
    expect(results.verdict).toMatch(
      /^Shard 1 of 2: no candidate broke a promise in 1 cell and 3 pairs, and all shards together give the verdict/,
    );
  });
});

describe('the p-values of the cells', () => {
  it('are corrected by Holm over all of them', () => {
    const results = night(['a', 'b', 'c', 'd'].map((name) => cellOf(`x.y.${name}`, pairs())));
    for (const { tests, adjustedP } of results.cells) {
      expect(tests[0]?.p).toBeCloseTo(0.03125, 12);
      expect(adjustedP).toBeCloseTo(0.125, 12);
    }
    expect(results.verdict).toContain('not significant at this n');
  });

  it('can be significant at a smaller n than the first step of Holm asks for', () => {
    const [{ tests, adjustedP }, large] = night([
      cellOf('x.y.a', pairs()),
      cellOf('x.y.b', [...pairs(), pairOf(7, false, true)]),
    ]).cells as [NightCell, NightCell];
    expect((tests[0]?.smallestP ?? 0) * 2).toBeGreaterThan(0.05);
    expect(adjustedP).toBeCloseTo(0.03125, 12);
    expect([canBeSignificant({ tests, adjustedP }, 2), canBeSignificant(large, 2)]).toEqual([true, true]);
    expect(canBeSignificant({ tests, adjustedP: 0.0625 }, 2)).toBe(false);
  });
});
