/**
 * The folders of shards, and the one that they become.
 *
 * A merged comparison looks like one that was never divided: the same `results.json`, and the runs' files under the same
 * names, copied (cloned, where the file system can), since the shards' folders are mostly downloads that will be
 * gone tomorrow. The verdict is written before the copies are made: a disk that is full takes the pictures, not the verdict.
 *
 * Invariant: the shards' folders are only read; and what their results say leads nowhere out of them.
 */
import { constants, cpSync, existsSync, lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { ComparisonResults, NightResults } from '../../checker/results.ts';
import { UsageError, environmentErrorFrom, type EnvironmentError } from '../errors.ts';
import { demandFile, mostTextBytes } from '../regular-file.ts';
import { readComparisonResults, readResults } from '../report/read-results.ts';
import { writeJson } from '../store.ts';
import { isWithin } from '../within.ts';
import { REALISM_FOLDER, joinComparisons, partsOf, secondAlone } from './two-parts.ts';

export interface ShardFolder<Results = ComparisonResults> {
  /** As it was typed. */
  readonly name: string;
  readonly directory: string;
  readonly results: Results;
}

/** Reads what one shard left, of a comparison or of a night. */
export function readShard(name: string): ShardFolder<ComparisonResults | NightResults> {
  const path = join(name, 'results.json');
  if (!existsSync(path)) {
    throw new UsageError(
      `${name} holds no results.json: name the folder that a shard has left; if it was killed too early to leave one, leave it out, and its seeds count as not run`,
    );
  }
  demandFile(path, mostTextBytes);
  const results = readResults(path);
  if (results.type === 'run') {
    throw new UsageError(`${name} is the folder of one run: name the folder that compare --shard i/n has left`);
  }
  const directory = realpathSync(name);
  return { name, directory, results: results.type === 'comparison' ? withSecondPart(directory, results) : results };
}

/** A comparison that was killed in the midst of its second part has left that in a folder of its own. */
function withSecondPart(directory: string, results: ComparisonResults): ComparisonResults {
  const second = join(directory, REALISM_FOLDER, 'results.json');
  if (results.realism !== undefined || !existsSync(second)) return results;
  return joinComparisons(results, readComparisonResults(second), results.command);
}

/** Where the files of a run are, and where they go in the merged folder. */
export interface RunCopy {
  readonly from: string;
  readonly folder: string;
}

/** The runs of which a shard kept the files, each once. */
export function copiesOf(shards: readonly ShardFolder[]): readonly RunCopy[] {
  const copies = new Map<string, RunCopy & { readonly seed: number; readonly shard: string }>();
  for (const { name, directory, results } of shards) {
    for (const { seed, control, candidate } of partsOf(results).flatMap(({ pairs }) => pairs)) {
      for (const { directory: folder, kept } of [control, candidate]) {
        const before = copies.get(folder);
        if (!/^(realism\/)?runs\/\w[\w.-]*$/.test(folder) || (before !== undefined && before.seed !== seed)) {
          throw new UsageError(`${name} does not hold together: seed ${seed} has no folder of its own ("${folder}")`);
        }
        if (before === undefined && kept !== false)
          copies.set(folder, { from: join(directory, folder), folder, seed, shard: directory });
      }
    }
  }
  return [...copies.values()].filter(({ from, shard }) => existsSync(from) && isWithin(shard, realpathSync(from)));
}

/** Writes the results of a merged comparison into its folder, as one machine would have left them. */
export function writeMergedResults(directory: string, results: ComparisonResults): void {
  writeJson(join(directory, 'results.json'), results);
  if (results.realism === undefined) return;
  const second = join(directory, REALISM_FOLDER);
  try {
    mkdirSync(second);
  } catch (error) {
    throw environmentErrorFrom(error, `cannot make ${second}`);
  }
  writeJson(join(second, 'results.json'), secondAlone(results.realism));
}

/** Copies the runs' files. Returns what kept it from copying all of them, if something did. */
export function copyRuns(copies: readonly RunCopy[], directory: string): EnvironmentError | null {
  for (const { from, folder } of copies) {
    try {
      cpSync(from, join(directory, folder), {
        recursive: true,
        mode: constants.COPYFILE_FICLONE,
        // Whatever else may lie there is nothing that a run has left.
        filter: (path) => lstatSync(path).isFile() || lstatSync(path).isDirectory(),
      });
    } catch (error) {
      return environmentErrorFrom(error, `cannot copy ${from}`);
    }
  }
  return null;
}
