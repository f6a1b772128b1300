/**
 * One try: a known schedule on one column, as a normal run that the checker judges.
 *
 * Invariant: a try counts only if the record of its script proves every step, and if the cluster came to rest with all
 * replicas in sync afterwards: elections as scripted, and nothing left to truncate.
 */
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { FaultRecord, Operation } from '../../checker/history.ts';
import type { RunResults } from '../../checker/results.ts';
import { InterruptedError } from '../errors.ts';
import type { RunConfig } from '../plan/config.ts';
import type { Progress } from '../progress.ts';
import { executeRun } from '../run/run.ts';
import type { RunFile } from '../run/run-file.ts';
import type { ChosenRuntime } from '../run/runtimes.ts';
import { shownPath } from '../shown-path.ts';
import { createStoreDirectory } from '../store.ts';
import { asksForLoss } from './columns.ts';
import { fidelityPlan } from './schedules.ts';
import type { ScheduleName } from './schedules.ts';
import type { Try } from './tries.ts';

export interface TryRequest extends Pick<RunConfig, 'build' | 'seed'> {
  readonly schedule: ScheduleName;
  readonly runtime: ChosenRuntime;
  /** The store in which the run gets its folder. */
  readonly store: string;
  /** Directories of tries are told relative to it. */
  readonly root: string;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** Plays it. Throws for interrupts only: an environment that failed makes a try that does not count. */
export async function playTry(request: TryRequest): Promise<Try> {
  const { build, seed, schedule, runtime, store, root, progress, signal } = request;
  const started = performance.now();
  const startedAt = new Date();
  const directory = createStoreDirectory(store, `${build.replaceAll(/[^a-z0-9.]+/g, '-')}-${schedule}`, startedAt);
  const plan = fidelityPlan(schedule, { build, seed, runtime: runtime.name, topic: `${schedule}-${seed}` });
  const { results, error } = await executeRun({
    ...plan,
    runtime,
    directory,
    name: `${schedule} on ${build}`,
    command: `npm run tidemark -- replay ${shownPath(directory)}`,
    progress,
    signal,
  });
  if (error instanceof InterruptedError) throw error;
  const violations = results?.anomalies.filter((anomaly) => anomaly.class === 'violation') ?? [];
  const kinds = new Set(violations.map(({ kind }) => kind));
  return {
    build,
    schedule,
    seed,
    startedAt: startedAt.toISOString(),
    directory: relative(root, directory),
    uncounted: error === null ? whyUncounted(directory, schedule, results) : error.message,
    lost: results?.anomalies.some(({ kind }) => kind === 'lost-acked-write') ?? false,
    diverged: kinds.has('replica-divergence'),
    others: [...kinds].filter((kind) => kind !== 'lost-acked-write' && kind !== 'replica-divergence'),
    seconds: Math.round((performance.now() - started) / 100) / 10,
  };
}

/** Null where everything went as scripted. */
function whyUncounted(directory: string, schedule: ScheduleName, results: RunResults | null): string | null {
  if (results === null) return 'there was nothing to check';
  const script = endOfScript(directory);
  if (script === null) return 'the script came to no end';
  if (script.effective !== true) return whyUnproven(script);
  const { healed, settled, residual } = JSON.parse(readFileSync(join(directory, 'run.json'), 'utf8')) as RunFile;
  if (healed !== true || settled !== true) return `it did not come to rest: ${residual[0] ?? 'nobody knows why'}`;
  const { agreement, durability } = results.guarantees;
  if (agreement === 'unknown') return results.notes[0] ?? 'the replicas could not be compared';
  // Whether the record was lost is asked: then not to know it is no answer.
  if (asksForLoss(schedule) && durability === 'unknown') return results.notes[0] ?? 'its loss could not be judged';
  return null;
}

function endOfScript(directory: string): FaultRecord | null {
  for (const line of readFileSync(join(directory, 'history.jsonl'), 'utf8').split('\n')) {
    if (!line.includes('"script"')) continue;
    const { f, value } = JSON.parse(line) as Operation & { readonly value: FaultRecord };
    if (f === 'script' && value.phase === 'end') return value;
  }
  return null;
}

/** The first step that did not go as scripted. */
function whyUnproven({ steps = [], evidence = [] }: FaultRecord): string {
  const failed = evidence.find(({ effective }) => effective !== true);
  if (failed !== undefined) {
    const why = failed['error'] ?? failed['refusal'] ?? failed['note'];
    const what = `${word(failed['action'])} ${word(failed['operation'] ?? failed['node'])}`.trimEnd();
    return `${what} had no effect${why === undefined ? '' : `: ${word(why)}`}`;
  }
  const late = steps.find(({ came }) => came === false);
  if (late !== undefined) return `it did not come: ${word(late['step'])}`;
  return `it ended after: ${word(steps.at(-2)?.['step'])}`;
}

function word(fact: unknown): string {
  return typeof fact === 'string' || typeof fact === 'number' ? `${fact}` : '';
}
