/**
 * The night: whatever tries are missing, played one after the other, each noted when it is over.
 *
 * Invariant: bounded. A cell gives up after so many tries that do not count, and the next one has its turn.
 */
import { onInterrupt } from '../cli/interrupt.ts';
import { isForeignBuild } from '../foreign-build.ts';
import type { Progress } from '../progress.ts';
import { chooseRuntime, releaseRuntime } from '../run/runtimes.ts';
import type { ChosenRuntime } from '../run/runtimes.ts';
import type { Column } from './columns.ts';
import { playTry } from './play.ts';
import type { ScheduleName } from './schedules.ts';
import { cellOf } from './table.ts';
import { addTry } from './tries.ts';
import type { Try } from './tries.ts';

export interface Wishes {
  readonly columns: readonly Column[];
  readonly schedules: readonly ScheduleName[];
  /** That count, for each schedule on each column. */
  readonly tries: number;
  readonly runtime: 'docker' | 'local' | undefined;
  readonly store: string;
}

/** Of any schedule. */
const mostBrokers = 3;
/** A schedule may go otherwise, and a machine be slow: for every try that counts so many may not. */
const attemptsPerTry = 3;

/** Column by column: one needs clusters of its own, which serve as many of its tries as they can. */
export async function playAll(wishes: Wishes, path: string, tries: Try[], progress: Progress): Promise<void> {
  const signal = onInterrupt(progress);
  const choose = (...wanted: readonly Column[]): Promise<ChosenRuntime> =>
    chooseRuntime(wishes.runtime, { builds: wanted.map(({ build }) => build), brokers: mostBrokers });
  // Whatever cannot be played is told before anything is.
  progress.line((await choose(...wishes.columns)).reason);
  for (const column of wishes.columns) {
    const runtime = await choose(column);
    let failure: Error | null;
    try {
      for (const schedule of wishes.schedules) {
        await playCell(column, schedule, { wishes, path, tries, progress, signal, runtime });
      }
    } finally {
      failure = await releaseRuntime(runtime);
    }
    if (failure !== null) throw failure;
  }
}

interface Playing {
  readonly wishes: Wishes;
  readonly path: string;
  readonly tries: Try[];
  readonly progress: Progress;
  readonly signal: AbortSignal;
  readonly runtime: ChosenRuntime;
}

async function playCell(column: Column, schedule: ScheduleName, playing: Playing): Promise<void> {
  const { wishes, path, tries, progress, signal, runtime } = playing;
  const { build } = column;
  for (let attempt = 0; attempt < attemptsPerTry * wishes.tries; attempt += 1) {
    if (cellOf(schedule, column, tries).tries >= wishes.tries) return;
    const seed = 1 + tries.filter((made) => made.build === build && made.schedule === schedule).length;
    const made = await playTry({
      build,
      schedule,
      seed,
      runtime,
      store: wishes.store,
      root: wishes.store,
      progress: isForeignBuild(build) ? progress : quiet(progress),
      signal,
    });
    addTry(path, made);
    tries.push(made);
    progress.line(inWords(made));
  }
}

function inWords({ build, schedule, seed, uncounted, lost, diverged, others, seconds, directory }: Try): string {
  const found = [...(lost ? ['lost'] : []), ...(diverged ? ['diverged'] : []), ...others];
  const answer = uncounted === null ? found.join(', ') || 'clean' : `does not count: ${uncounted}`;
  return `${build} ${schedule} ${seed}: ${answer} (${seconds} s, ${directory})`;
}

/** Steps of a run that always go the same way are no news. */
function quiet(progress: Progress): Progress {
  return { ...progress, step: progress.detail };
}
