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
import { seedsOfShard, type Shard } from '../plan/shard.ts';
import { paint, type Progress } from '../progress.ts';
import { counted } from '../report/words.ts';
import { executeRun } from '../run/run.ts';
import type { ChosenRuntime } from '../run/runtimes.ts';
import { writeJson } from '../store.ts';
import { freshRunFolder, orderOf, runFolder, type PairsRequest, type Side } from './pairs.ts';
import { compareOutcomes, failureIn, type PairOutcome, type RunOutcome } from './verdict.ts';

export interface ComparisonRequest extends RealPairsRequest {
  /** All that are declared. */
  readonly seeds: readonly number[];
  /** Where others run the other seeds. */
  readonly shard?: Shard | undefined;
  /** As typed, complete: it repeats this comparison. */
  readonly command: string;
}

/** What it takes to run pairs of real processes. */
export interface RealPairsRequest extends PairsRequest {
  readonly runtime: ChosenRuntime;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  /** A run of an earlier attempt at this pair that counts, and is not made again. */
  readonly earlier?: (side: Side, seed: number) => RunOutcome | null;
}

export interface ComparisonOutcome {
  readonly results: ComparisonResults;
  /** Why the comparison ended early, if it did, or what ended some of its runs. */
  readonly failure: EnvironmentError | InterruptedError | null;
}

/** Runs all pairs, and writes `results.json` after each. */
export async function runComparison(request: ComparisonRequest): Promise<ComparisonOutcome> {
  const pairs: PairOutcome[] = [];
  let failure: ComparisonOutcome['failure'] = null;
  let results = conclude(request, pairs);
  writeJson(join(request.directory, 'results.json'), results);
  let failuresInARow = 0;
  const seeds = seedsOfShard(request.seeds, request.shard);
  for (const [index, seed] of seeds.entries()) {
    const where = `pair ${index + 1} of ${seeds.length}`;
    const report = await runPair(request, seed, where, failuresInARow);
    ({ failure, failuresInARow } = report);
    if (report.pair !== null) pairs.push(report.pair);
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

export interface PairReport {
  /** Null when not even one of its runs was begun. */
  readonly pair: PairOutcome | null;
  /** Runs that failed, counted back from the last. */
  readonly failuresInARow: number;
  /** Why no other pair may follow. */
  readonly failure: ComparisonOutcome['failure'];
}

/** Runs one seed on both builds. */
export async function runPair(
  request: RealPairsRequest,
  seed: number,
  where: string,
  failuresBefore: number,
): Promise<PairReport> {
  const order = orderOf(seed);
  const outcomes: Partial<Record<Side, RunOutcome>> = {};
  let failure: PairReport['failure'] = null;
  let failuresInARow = failuresBefore;
  for (const side of order) {
    if (request.signal.aborted) failure = new InterruptedError();
    if (failure !== null) break;
    const outcome = request.earlier?.(side, seed) ?? (await runOne(request, side, seed, where));
    outcomes[side] = outcome;
    if (request.signal.aborted) continue;
    failuresInARow = outcome.error === undefined ? 0 : failuresInARow + 1;
    if (failuresInARow >= 2) failure = new EnvironmentError(outcome.error ?? 'two runs in a row failed');
  }
  // The interrupt may have come in the very last run.
  if (request.signal.aborted) failure ??= new InterruptedError();
  const { control, candidate } = outcomes;
  if (control === undefined && candidate === undefined) return { pair: null, failuresInARow, failure };
  // Half a pair still counts: an anomaly that was found is never dropped. Its twin is a run without a verdict.
  const missing = (side: Side): RunOutcome => ({
    directory: runFolder(side, seed),
    results: null,
    error: 'the comparison ended before this run',
  });
  const pair = { seed, order, control: control ?? missing('control'), candidate: candidate ?? missing('candidate') };
  return { pair, failuresInARow, failure };
}

async function runOne(request: RealPairsRequest, side: Side, seed: number, where: string): Promise<RunOutcome> {
  const folder = freshRunFolder(request.directory, side, seed);
  const directory = join(request.directory, folder);
  try {
    mkdirSync(directory, { recursive: true });
  } catch (error) {
    return { directory: folder, results: null, error: environmentErrorFrom(error, `cannot make ${directory}`).message };
  }
  const config = request.configure(request[side], seed, side);
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
  request: Pick<ComparisonRequest, 'control' | 'candidate' | 'seeds' | 'shard' | 'configure' | 'command'> & {
    readonly runtime: RunConfig['runtime'];
  },
  pairs: readonly PairOutcome[],
): ComparisonResults {
  const { control, candidate, runtime, seeds, shard, command } = request;
  const { build: _build, seed: _seed, ...configuration } = request.configure(control, seeds[0] ?? 0, 'control');
  return compareOutcomes({ control, candidate, runtime, seeds, shard, configuration, command, pairs });
}
