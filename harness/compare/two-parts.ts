/**
 * `npm start`: the simulator for statistics, then real processes for realism. Two comparisons in one document, never
 * pooled, and one sentence that names both.
 *
 * The simulated one is the primary comparison, declared as such before the first run: it has the numbers, and it alone
 * decides whether the control showed anything. The other shows that the same happens to real processes on a real
 * network; an anomaly of the candidate counts wherever it is found.
 */
import type { ComparisonResults, PairedRun } from '../../checker/results.ts';
import { sentenceOf, worstOf } from './verdict.ts';

/** Folder of the second comparison, in that of the first. */
export const REALISM_FOLDER = 'realism';

/** Joins them: the fields are those of the primary comparison, and the other stands in `realism`. */
export function joinComparisons(
  primary: ComparisonResults,
  realism: ComparisonResults,
  command: string,
): ComparisonResults {
  return tellAsOne(primary, fromOutside(realism), command);
}

/** The same where the folders of the second stand in the first already. */
export function tellAsOne(primary: ComparisonResults, realism: ComparisonResults, command: string): ComparisonResults {
  return {
    ...primary,
    valid: worstOf([primary.valid, realism.valid]),
    verdict: sentenceOf([primary, realism]),
    command,
    realism,
  };
}

/** The second comparison as it stands in its own folder. */
export function secondAlone(realism: ComparisonResults): ComparisonResults {
  return withFolders(realism, (folder) => folder.replace(`${REALISM_FOLDER}/`, ''));
}

/** The comparison, and the one for realism beside it if there is one. */
export function partsOf(results: ComparisonResults): readonly ComparisonResults[] {
  return results.realism === undefined ? [results] : [results, results.realism];
}

/** The second comparison with its folders as they are seen from that of the first. */
function fromOutside(realism: ComparisonResults): ComparisonResults {
  return withFolders(realism, (folder) => `${REALISM_FOLDER}/${folder}`);
}

function withFolders(results: ComparisonResults, rename: (folder: string) => string): ComparisonResults {
  const side = (run: PairedRun): PairedRun => ({ ...run, directory: rename(run.directory) });
  const pairs = results.pairs.map((pair) => ({
    ...pair,
    control: side(pair.control),
    candidate: side(pair.candidate),
  }));
  return { ...results, pairs };
}
