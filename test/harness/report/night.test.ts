import { describe, expect, it } from 'vitest';
import { renderNight } from '../../../harness/report/night.ts';
import { cellOf, nightOf, pairOf } from '../nightly/pairs.ts';

const seeds = [1, 2, 3, 4, 5, 6];
const kept = seeds.map((seed) => pairOf(seed, false, true));

/** A page as it reads. */
function textOf(page: string): string {
  return page
    .replaceAll(/<style>[^]*?<\/style>|<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ([.,;:])/g, '$1');
}

describe('the report of a night', () => {
  const results = nightOf([
    cellOf(
      'x.y.calm',
      seeds.map((seed) => pairOf(seed, true, true)),
    ),
    cellOf('x.y.rough', kept),
    cellOf(
      'x.z.calm',
      seeds.map((seed) => pairOf(seed, false, true, 0)),
    ),
    cellOf('x.z.rough', [...kept.slice(1), pairOf(1, false, false)]),
    cellOf('same.y.calm', [], { sameBuilds: true, declared: 6 }),
    cellOf('same.y.rough', kept.slice(0, 2), { sameBuilds: true, declared: 6 }),
  ]);
  const page = renderNight('store/nightly/1', results);

  it('shows the sentence first, and a matrix of what came out in each cell', () => {
    const text = textOf(page);
    expect(text).toContain('a night of 6 cells · sim · seeds 1 to 6 · 26 pairs in 61 s of 1 h');
    expect(text).toContain(results.verdict);
    expect(text).toContain('builds workload calm rough x y control silent 6 pairs hw 0 of 6 at most 39 % (one-sided)');
    expect(text).toContain('x z not exercised 6 pairs hw 6 of 6');
    expect(text).toContain('broken 6 pairs hw 6 of 6 61 % to 100 % (Wilson) epoch 1 of 6 3.0 % to 56 % (Wilson)');
    expect(text).toContain('same y not run 0 of 6 pairs');
    expect(text).toContain('broken 2 of 6 pairs epoch 2 of 2');
  });

  it('leads to the report of each cell, and never out of the folder', () => {
    expect(page).toContain('href="./x.y.rough/report.html"');
    const [cell] = results.cells;
    const hostile = { ...results, cells: [{ ...cell!, name: '<b>', builds: '<i>', folder: '../../etc' }] };
    const other = renderNight('store/nightly/1', hostile);
    expect(other).toContain('href="./etc/report.html"');
    expect(other).not.toContain('<i>');
  });

  it('says where so few pairs can show nothing, with so many cells', () => {
    expect(textOf(page)).toContain('(not significant at this n)');
  });

  it('says what its figures are worth where it ended early, and leaves a silent control to all shards together', () => {
    const calm = [cellOf('x.y.calm', [pairOf(1, true, true)], { declared: 6 })];
    const told = (facts: Parameters<typeof nightOf>[1]): string => textOf(renderNight('n', nightOf(calm, facts)));
    expect(told({ ended: 'all-run' })).not.toMatch(/The clock|not to be read/);
    expect(told({ ended: 'budget' })).toContain('The clock, not the outcome, has set the number of runs');
    expect(told({ ended: 'unfinished' })).toContain('its p-values are not to be read yet');
    expect(told({})).toContain('control silent 1 of 6 pairs');
    expect(told({ shard: { index: 1, count: 2 } })).toContain('kept 1 of 6 pairs');
  });

  it('ends with the commands, also of a cell that counts against the night', () => {
    expect(page).toContain('npm run tidemark -- nightly n.json');
    expect(textOf(page)).toContain('x.z.rough alone npm start -- --seed 1');
    expect(page).toContain('npm run tidemark -- report store/nightly/1');
  });
});
