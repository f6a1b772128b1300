/**
 * `compare`: the same seeds and fault schedules on a control build and a candidate build.
 *
 * Seeds and their number are fixed before the first run. Each seed is run on both builds, in an order drawn for the
 * pair, so that a machine that slows down during the night favours neither. Every run is a normal run in a folder of
 * its own. The comparison's `results.json` is written anew after every pair: whatever happens later, what was found
 * stays found.
 *
 * Invariant: a failure of the environment is a run without a verdict, never an anomaly; two in a row end the comparison,
 * and a single one is told in the end.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ComparisonResults } from '../../checker/results.ts';
import { EnvironmentError, InterruptedError, environmentErrorFrom } from '../errors.ts';
import type { RunConfig } from '../plan/config.ts';
import { createRandom } from '../plan/random.ts';
import { paint, type Progress } from '../progress.ts';
import { counted } from '../report/words.ts';
import { executeRun } from '../run/run.ts';
import type { ChosenRuntime } from '../run/runtimes.ts';
import { writeJson } from '../store.ts';
import { compareOutcomes, failureIn, type PairOutcome, type RunOutcome } from './verdict.ts';

export interface ComparisonRequest {
  readonly control: string;
  readonly candidate: string;
  readonly seeds: readonly number[];
  /** The configuration of one run, but for its build and seed. */
  readonly configure: (build: string, seed: number) => RunConfig;
  readonly runtime: ChosenRuntime;
  readonly directory: string;
  /** As typed, complete: it repeats this comparison. */
  readonly command: string;
  /** The command of one of its runs. */
  readonly commandOfRun: (config: RunConfig) => string;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

export interface ComparisonOutcome {
  readonly results: ComparisonResults;
  /** Why the comparison ended early, if it did, or what ended some of its runs. */
  readonly failure: EnvironmentError | InterruptedError | null;
}

export type Side = 'control' | 'candidate';

/** Runs all pairs, and writes `results.json` after each. */
export async function runComparison(request: ComparisonRequest): Promise<ComparisonOutcome> {
  const pairs: PairOutcome[] = [];
  let failure: ComparisonOutcome['failure'] = null;
  let results = conclude(request, pairs);
  writeJson(join(request.directory, 'results.json'), results);
  let failuresInARow = 0;
  for (const [index, seed] of request.seeds.entries()) {
    const order = orderOf(seed);
    const outcomes: Partial<Record<Side, RunOutcome>> = {};
    for (const side of order) {
      if (request.signal.aborted) failure = new InterruptedError();
      if (failure !== null) break;
      const outcome = await runOne(request, side, seed, `pair ${index + 1} of ${request.seeds.length}`);
      outcomes[side] = outcome;
      if (request.signal.aborted) continue;
      failuresInARow = outcome.error === undefined ? 0 : failuresInARow + 1;
      if (failuresInARow >= 2) failure = new EnvironmentError(outcome.error ?? 'two runs in a row failed');
    }
    // The interrupt may have come in the very last run.
    if (request.signal.aborted) failure ??= new InterruptedError();
    const { control, candidate } = outcomes;
    if (control !== undefined && candidate !== undefined) {
      pairs.push({ seed, order, control, candidate });
    } else if (control !== undefined || candidate !== undefined) {
      // Half a pair still counts: an anomaly that was found is never dropped. Its twin is a run without a verdict.
      const missing = (side: Side): RunOutcome => ({
        directory: runFolder(side, seed),
        results: null,
        error: 'the comparison ended before this run',
      });
      pairs.push({ seed, order, control: control ?? missing('control'), candidate: candidate ?? missing('candidate') });
    }
    results = conclude(request, pairs);
    try {
      writeJson(join(request.directory, 'results.json'), results);
    } catch (error) {
      // What was found is still told, if not by a file.
      failure ??= environmentErrorFrom(error, 'cannot write the results');
    }
    if (failure !== null) break;
  }
  const failed = failureIn(results);
  if (failed !== null) failure ??= new EnvironmentError(failed);
  return { results, failure };
}

/** Which side of a pair runs first. */
export function orderOf(seed: number): PairOutcome['order'] {
  return createRandom(seed).stream('order').chance(0.5) ? ['control', 'candidate'] : ['candidate', 'control'];
}

/** Where a run's files go, in the folder of its comparison. */
export function runFolder(side: Side, seed: number): string {
  return `runs/${side}-${seed}`;
}

async function runOne(request: ComparisonRequest, side: Side, seed: number, where: string): Promise<RunOutcome> {
  const folder = runFolder(side, seed);
  const directory = join(request.directory, folder);
  try {
    mkdirSync(directory, { recursive: true });
  } catch (error) {
    return { directory: folder, results: null, error: environmentErrorFrom(error, `cannot make ${directory}`).message };
  }
  const config = request.configure(request[side], seed);
  const started = process.hrtime.bigint();
  const report = await executeRun({
    config,
    runtime: request.runtime,
    directory,
    name: `${side}-${seed}`,
    command: request.commandOfRun(config),
    progress: {
      ...request.progress,
      step: (text) => request.progress.step(`${where} · ${config.build} seed ${seed} · ${text}`),
    },
    signal: request.signal,
  });
  const seconds = Number((process.hrtime.bigint() - started) / 1_000_000n) / 1000;
  request.progress.line(`${where} · ${describe(config.build, seed, report)} (${seconds.toFixed(1)} s)`);
  return {
    directory: folder,
    results: report.results,
    ...(report.error === null ? {} : { error: report.error.message }),
  };
}

/** One line about a finished run. */
function describe(build: string, seed: number, report: Awaited<ReturnType<typeof executeRun>>): string {
  const { results, error } = report;
  const head = `${build.padEnd(8)} seed ${seed}: `;
  if (results === null) return head + paint('unsure', `no verdict: ${error?.message ?? 'nothing was recorded'}`);
  const violations = results.anomalies.filter((anomaly) => anomaly.class === 'violation');
  const kinds = [...new Set(violations.map((anomaly) => anomaly.kind))].map(
    (kind) => `${violations.filter((anomaly) => anomaly.kind === kind).length} ${kind}`,
  );
  const exposures = results.exposures === null ? 'exposures unknown' : counted(results.exposures.length, 'exposure');
  if (kinds.length > 0) return head + paint('bad', kinds.join(', ')) + ` · ${exposures}`;
  if (error !== null) return head + paint('unsure', `no verdict: ${error.message}`);
  if (results.valid === 'unknown')
    return head + paint('unsure', `unknown: ${reasonIn(results.notes)}`) + ` · ${exposures}`;
  return head + paint('good', 'nothing broken') + ` · ${exposures}`;
}

/** Of all that a run notes, what makes its verdict unknown. */
function reasonIn(notes: readonly string[]): string {
  return notes.find((note) => / unknown: /.test(note)) ?? notes[0] ?? '';
}

function conclude(request: ComparisonRequest, pairs: readonly PairOutcome[]): ComparisonResults {
  return concludeComparison({ ...request, runtime: request.runtime.name }, pairs);
}

/** The results of a comparison as far as it got. */
export function concludeComparison(
  request: Pick<ComparisonRequest, 'control' | 'candidate' | 'seeds' | 'configure' | 'command'> & {
    readonly runtime: RunConfig['runtime'];
  },
  pairs: readonly PairOutcome[],
): ComparisonResults {
  const { control, candidate, runtime, seeds, command } = request;
  const { build: _build, seed: _seed, ...configuration } = request.configure(control, seeds[0] ?? 0);
  return compareOutcomes({ control, candidate, runtime, seeds, configuration, command, pairs });
}
