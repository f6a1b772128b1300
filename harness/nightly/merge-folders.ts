/**
 * The folders of a night's shards, and the one that they become: each cell is joined as a comparison is.
 *
 * Invariant: the shards' folders are only read; and what their results say leads nowhere out of them.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { NightResults } from '../../checker/results.ts';
import { copiesOf, type RunCopy } from '../compare/merge-folders.ts';
import { UsageError, environmentErrorFrom } from '../errors.ts';
import { readComparisonResults } from '../report/read-results.ts';
import { writeJson } from '../store.ts';
import type { NightPart } from './merge.ts';

export interface NightFolder extends NightPart {
  /** As it was typed. */
  readonly name: string;
  readonly directory: string;
}

/** Reads the cells of a night whose own results have been read. */
export function readNightFolder(name: string, directory: string, results: NightResults): NightFolder {
  if (results.cells.length === 0) throw new UsageError(`${name} does not hold together: it has no cell`);
  const stray = results.cells.find(({ folder }) => !/^\w[\w.-]*$/.test(folder));
  if (stray !== undefined) {
    throw new UsageError(`${name} does not hold together: cell ${stray.name} has no folder of its own`);
  }
  const comparisons = results.cells.map(
    (cell) => [cell.name, readComparisonResults(join(directory, cell.folder, 'results.json'))] as const,
  );
  return { name, directory, results, comparisons: new Map(comparisons) };
}

/** The runs of which a shard kept the files, of all cells. */
export function nightCopiesOf(shards: readonly NightFolder[]): readonly RunCopy[] {
  return (shards[0]?.results.cells ?? []).flatMap(({ name: cell, folder }) =>
    copiesOf(
      shards.flatMap(({ name, directory, comparisons }) => {
        const results = comparisons.get(cell);
        return results === undefined ? [] : [{ name, directory: join(directory, folder), results }];
      }),
    ).map((copy) => ({ from: copy.from, folder: `${folder}/${copy.folder}` })),
  );
}

/** Writes the results of a merged night into its folder, and those of its cells, as one machine would have left them. */
export function writeMergedNight(directory: string, { results, comparisons }: NightPart): void {
  for (const { name, folder } of results.cells) {
    try {
      mkdirSync(join(directory, folder));
    } catch (error) {
      throw environmentErrorFrom(error, `cannot make ${join(directory, folder)}`);
    }
    writeJson(join(directory, folder, 'results.json'), comparisons.get(name));
  }
  writeJson(join(directory, 'results.json'), results);
}
