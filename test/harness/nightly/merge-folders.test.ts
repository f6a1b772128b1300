/** Folders of a night's shards: what is refused. The commands around it are tested in `merge-reports.live.test.ts`. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { NightResults } from '../../../checker/results.ts';
import { concludeNight } from '../../../harness/nightly/conclude.ts';
import { nightCopiesOf, readNightFolder } from '../../../harness/nightly/merge-folders.ts';
import { cellOf, pairOf } from './pairs.ts';

let root: string;
let night: NightResults;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tidemark-merge-night-'));
  const shard = { index: 1, count: 1 };
  const cell = cellOf('x.y.a', [pairOf(1, true, true), pairOf(2, true, true)], { declared: 2, shard });
  const facts = { runtime: 'sim', seeds: { from: 1, count: 2 }, budgetMs: 60_000, usedMs: 5_000 };
  night = concludeNight({ ...facts, shard, command: 'tidemark nightly', ended: 'all-run' }, [cell]);
  mkdirSync(join(root, cell.cell.folder));
  writeFileSync(join(root, cell.cell.folder, 'results.json'), JSON.stringify(cell.comparison));
});

afterEach(() => rmSync(root, { recursive: true }));

describe('the folder of a shard of a night', () => {
  it('is read with the comparison of each cell', () => {
    const { comparisons } = readNightFolder('a', root, night);
    expect([...comparisons.keys()]).toEqual(['x.y.a']);
    expect(comparisons.get('x.y.a')?.pairs).toHaveLength(2);
  });

  it('gives the runs of a cell whose files are there a place in the folder of that cell', () => {
    const shard = readNightFolder('a', root, night);
    const [pair] = shard.comparisons.get('x.y.a')?.pairs ?? [];
    const folder = pair?.control.directory ?? '';
    mkdirSync(join(root, 'x.y.a', folder), { recursive: true });
    expect(nightCopiesOf([shard])).toEqual([{ from: join(root, 'x.y.a', folder), folder: `x.y.a/${folder}` }]);
  });

  it.each(['..', '../x', '/etc', 'x/../../y', ''])('is refused where a cell lies in "%s"', (folder) => {
    const cells = night.cells.map((cell) => ({ ...cell, folder }));
    expect(() => readNightFolder('a', root, { ...night, cells })).toThrow(
      /^a does not hold together: cell x\.y\.a has no folder of its own$/,
    );
  });

  it('is refused where it has no cell, or the results of one are gone', () => {
    expect(() => readNightFolder('a', root, { ...night, cells: [] })).toThrow(
      'a does not hold together: it has no cell',
    );
    rmSync(join(root, 'x.y.a'), { recursive: true });
    expect(() => readNightFolder('a', root, night)).toThrow(/^there is no .*x\.y\.a\/results\.json/);
  });
});
