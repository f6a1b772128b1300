/**
 * Keeps what a search found: each find as a run's folder, made by running it once more, since a run is a function.
 *
 * `<store>/explore/<time>/explore.json` is the report, of a search that found nothing, too: where it has been is what it
 * shows. Beside it stands one folder for each find that is kept, with everything that any other run leaves. Their number
 * is bounded: a few of each signature.
 */
import { join } from 'node:path';
import { EnvironmentError, environmentErrorFrom } from '../errors.ts';
import { executeSimulatedRun } from '../run/simulated-run.ts';
import { shownPath } from '../shown-path.ts';
import { createStoreDirectory, pointLatest, writeJson } from '../store.ts';
import type { ExploreReport, Kept } from './report.ts';
import { commandOfFind } from './report.ts';
import { planOfJob } from './one-run.ts';
import type { Find } from './search.ts';

export interface Keeping {
  /** Of the search; null where there was no place for it. */
  readonly directory: string | null;
  readonly finds: Kept;
  /** Why not all of them are kept. What was found stays found. */
  readonly failure: EnvironmentError | null;
}

/** Makes a folder in the store for the search, runs each find again and keeps its files. */
export function keep(store: string, finds: readonly Find[]): Keeping {
  const kept = new Map<number, { directory: string; plan: string }>();
  let directory: string | null = null;
  try {
    directory = createStoreDirectory(store, 'explore', new Date());
    for (const find of finds) {
      const folder = keepFind(directory, find);
      /* At the first find, since that is what check, report, replay and shrink want. */
      if (kept.size === 0) pointLatest(store, folder);
      kept.set(find.run, { directory: shownPath(folder), plan: shownPath(join(folder, 'schedule.json')) });
    }
    return { directory, finds: kept, failure: null };
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    return { directory, finds: kept, failure: error };
  }
}

function keepFind(directory: string, { run, seed, job }: Find): string {
  const request = planOfJob(job);
  const folder = join(directory, `run-${run}-seed-${seed}`);
  const { error, kept } = executeSimulatedRun({
    request,
    directory: folder,
    keep: () => true,
    name: `${request.config.build}-${seed}`,
    command: 'schedule' in job ? `npm run tidemark -- replay ${shownPath(folder)}` : commandOfFind(request.config),
  });
  /* A cluster that did not get ready is an error of the run, which has its files all the same. */
  if (!kept) throw error ?? new EnvironmentError(`cannot keep the run ${folder}`);
  return folder;
}

/** Writes `explore.json`. */
export function writeSearchReport(directory: string, report: ExploreReport): EnvironmentError | null {
  try {
    writeJson(join(directory, 'explore.json'), report);
    return null;
  } catch (error) {
    return environmentErrorFrom(error, 'cannot write the report of the search');
  }
}
