/**
 * Keeps what a search found: each find as a run's folder, made by running it once more, since a run is a function.
 *
 * `<store>/explore/<time>/explore.json` is the report; beside it one folder for each find that is kept, with everything
 * that any other run leaves. Their number is bounded: a few of each signature.
 */
import { join, relative } from 'node:path';
import { executeSimulatedRun } from '../run/simulated-run.ts';
import { createStoreDirectory, pointLatest, writeJson } from '../store.ts';
import type { ExploreReport, Kept } from './report.ts';
import { commandOfFind } from './report.ts';
import { planOfJob } from './one-run.ts';
import type { Find } from './search.ts';

/** Makes a folder for a search in the store; null where there is nothing to keep. */
export function createSearchDirectory(store: string, finds: readonly Find[]): string | null {
  if (finds.length === 0) return null;
  const directory = createStoreDirectory(store, 'explore', new Date());
  pointLatest(store, directory);
  return directory;
}

/** Runs each find again and keeps its files. Throws an EnvironmentError where they cannot be written. */
export function keepFinds(directory: string, finds: readonly Find[]): Kept {
  const kept = new Map<number, { directory: string; plan: string }>();
  for (const { run, seed, job } of finds) {
    const request = planOfJob(job);
    const folder = join(directory, `run-${run}-seed-${seed}`);
    const { error } = executeSimulatedRun({
      request,
      directory: folder,
      keep: 'all',
      name: `${request.config.build}-${seed}`,
      command:
        'schedule' in job ? `npm run tidemark -- replay ${relative('.', folder)}` : commandOfFind(request.config),
    });
    if (error !== null) throw error;
    kept.set(run, { directory: relative('.', folder), plan: relative('.', join(folder, 'schedule.json')) });
  }
  return kept;
}

export function writeSearchReport(directory: string, report: ExploreReport): void {
  writeJson(join(directory, 'explore.json'), report);
}
