/**
 * How a night ends on the screen, whoever made it: each cell, the verdict as one sentence, and where the reports are.
 */
import { join } from 'node:path';
import type { NightResults } from '../../checker/results.ts';
import { exitCodes } from '../errors.ts';
import { exitCodeOfNight } from '../nightly/conclude.ts';
import { paint, type Progress } from '../progress.ts';
import { counted } from '../report/words.ts';
import { tellFiles, type Unwritten } from './tell-comparison.ts';

export function tellNight(progress: Progress, results: NightResults): void {
  const { valid, verdict, cells } = results;
  progress.line('');
  const width = Math.max(...cells.map(({ name }) => name.length));
  for (const { name, control, candidate, done, declared } of cells) {
    const sides = [control, candidate].map(({ build, anomalous, runs }) => `${build} broke in ${anomalous} of ${runs}`);
    progress.line(`${name.padEnd(width)}  ${done} of ${counted(declared, 'pair')} · ${sides.join(', ')}`);
  }
  const isGood = valid === true && exitCodeOfNight(results) === exitCodes.valid;
  progress.line(paint(isGood ? 'good' : valid === false ? 'bad' : 'unsure', verdict));
}

/** Writes the reports and says where that of the night is; what kept them from being written, if something did. */
export async function tellNightReports(
  directory: string,
  { cells }: NightResults,
  progress: Progress,
): Promise<Unwritten | null> {
  const { writeComparisonReport } = await import('../report/comparison.ts');
  const { writeNightReport } = await import('../report/night.ts');
  return tellFiles(progress, () => {
    for (const { folder } of cells) writeComparisonReport(join(directory, folder));
    return writeNightReport(directory);
  });
}
