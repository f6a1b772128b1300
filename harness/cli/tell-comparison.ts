/**
 * How a comparison ends on the screen, whoever made it: the verdict as one sentence, and where its report is.
 */
import { join } from 'node:path';
import type { ComparisonResults } from '../../checker/results.ts';
import { controlShowed } from '../compare/verdict.ts';
import { paint, type Progress } from '../progress.ts';
import { shownPath } from '../shown-path.ts';

export function tellVerdict(progress: Progress, results: ComparisonResults): void {
  progress.line('');
  const mood = results.valid === true && controlShowed(results) ? 'good' : results.valid === false ? 'bad' : 'unsure';
  progress.line(paint(mood, results.verdict));
}

/** Writes the report and says where it is; what kept it from being written, if something did. */
export async function tellReport(directory: string, progress: Progress): Promise<Unwritten | null> {
  const { writeComparisonReport } = await import('../report/comparison.ts');
  return tellFiles(progress, () => writeComparisonReport(directory));
}

/** What kept a report from being written. */
export interface Unwritten {
  readonly error: unknown;
}

/** Lets a report be written, and says where it and the results beside it are. */
export function tellFiles(progress: Progress, write: () => string): Unwritten | null {
  try {
    const report = shownPath(write());
    progress.line(`report  ${report}`);
    progress.line(`results ${join(report, '..', 'results.json')}`);
    return null;
  } catch (error) {
    return { error };
  }
}
