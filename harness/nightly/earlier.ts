/**
 * Of a pair of real processes that was under way when its night was ended: the run of it that has something to say.
 *
 * Such a run cannot be made again: the same plan on real processes may come out differently. So one that came to its end, or
 * that broke a promise before it was ended, counts as it stands, in its own folder, and only the other one is run.
 *
 * Invariant: nobody gets rid of what a run has shown by ending the night and resuming it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runFolders, type Side } from '../compare/pairs.ts';
import { isAnomalous, type RunOutcome } from '../compare/verdict.ts';
import { demandFile, mostTextBytes } from '../regular-file.ts';
import { readRunResults } from '../report/read-results.ts';
import { parseRunFile } from '../run-file-schema.ts';

/** The first that counts of the attempts at one run; null where there is none. */
export function earlierRun(directory: string, side: Side, seed: number): RunOutcome | null {
  for (const folder of runFolders(side, seed)) {
    if (!existsSync(join(directory, folder))) return null;
    const outcome = outcomeIn(directory, folder);
    if (outcome !== null && (outcome.error === undefined || isAnomalous(outcome))) return outcome;
  }
  return null;
}

/** What a run has left; null where that is too little, or damaged. */
function outcomeIn(directory: string, folder: string): RunOutcome | null {
  try {
    const results = readRunResults(join(directory, folder, 'results.json'));
    const path = join(directory, folder, 'run.json');
    demandFile(path, mostTextBytes);
    const run = parseRunFile(JSON.parse(readFileSync(path, 'utf8')));
    if ('flaw' in run) return null;
    const { completed, error } = run.file;
    return { directory: folder, results, ...(completed === true ? {} : { error: error ?? 'it was ended' }) };
  } catch {
    return null;
  }
}
