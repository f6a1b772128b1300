/**
 * What a CI job reads of a run or comparison: `summary.md` and `junit.xml`, beside `report.html` and from the same
 * results.
 */
import { join } from 'node:path';
import type { ComparisonResults, RunResults } from '../../checker/results.ts';
import { partsOf } from '../compare/two-parts.ts';
import { writeWhole } from '../store.ts';
import { renderJunit } from './junit.ts';
import { renderMarkdown, type Reported, type RunsByFolder } from './markdown.ts';
import { readRunResults } from './read-results.ts';

/** Runs of a candidate that broke a promise, of which it is told why. */
const BROKEN_READ_MAX = 20;

/** Writes both, into the folder of these results. */
export function writeForCi(directory: string, results: Reported): void {
  const broken = results.type === 'comparison' ? readBroken(directory, results) : undefined;
  writeWhole(join(directory, 'summary.md'), renderMarkdown(results, broken));
  writeWhole(join(directory, 'junit.xml'), renderJunit(results, broken));
}

/** The first runs in which the candidate broke a promise: a comparison itself says that they did, and not why. */
function readBroken(directory: string, results: ComparisonResults): RunsByFolder {
  const broken = partsOf(results).flatMap(({ pairs }) =>
    pairs.map(({ candidate }) => candidate).filter(({ violations, kept }) => violations > 0 && kept !== false),
  );
  const read = new Map<string, RunResults>();
  for (const run of broken.slice(0, BROKEN_READ_MAX)) {
    try {
      read.set(run.directory, readRunResults(join(directory, run.directory, 'results.json')));
    } catch {
      // Its folder is gone, or damaged: then its verdict is told without the cause.
    }
  }
  return read;
}
