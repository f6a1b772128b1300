/**
 * A comparison in the simulator: hundreds of pairs, on all cores, in seconds.
 *
 * The same seeds, the same order within a pair, the same statistics as on machines. Of most runs no files are kept, since
 * each can be made again from its command to the byte: kept are runs that are unknown, those in which the candidate broke a
 * promise, or the control in the first pairs, and the pair that the report tells, whole.
 *
 * Invariant: what is counted does not depend on how many threads there are.
 */
import { join } from 'node:path';
import { EnvironmentError, InterruptedError, environmentErrorFrom } from '../errors.ts';
import { defaultThreads, runJobs, usefulThreads } from '../explore/pool.ts';
import { seedsOfShard, type Shard } from '../plan/shard.ts';
import { paint, type Progress } from '../progress.ts';
import { counted } from '../report/words.ts';
import { writeJson } from '../store.ts';
import { concludeComparison, type ComparisonOutcome } from './compare.ts';
import { freshRunFolder, orderOf, type PairsRequest, type Side } from './pairs.ts';
import { runJob, type ComparedOutcome, type ComparedRun } from './simulated-job.ts';
import { failureIn, isAnomalous, type PairOutcome, type RunOutcome } from './verdict.ts';

export interface SimulatedComparisonRequest extends PairsRequest {
  /** All that are declared. */
  readonly seeds: readonly number[];
  /** Where others run the other seeds. */
  readonly shard?: Shard | undefined;
  readonly command: string;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** In so many pairs a control that broke keeps its files: it is expected to break, and a run takes a megabyte. */
const CONTROL_KEPT_MAX = 20;
const PROGRESS_EVERY_MS = 500;
/** What takes longer is worth more than one line. */
const LONG_MS = 2_000;

/** Runs all pairs and writes `results.json`. */
export async function runSimulatedComparison(request: SimulatedComparisonRequest): Promise<ComparisonOutcome> {
  const { signal, progress, directory } = request;
  const seeds = seedsOfShard(request.seeds, request.shard);
  const planned = seeds.flatMap((seed, index) =>
    orderOf(seed).map((side) =>
      plannedRun(request, seed, side, side === 'candidate' || index < CONTROL_KEPT_MAX ? 'not-valid' : 'unknown'),
    ),
  );
  const outcomes: RunOutcome[] = [];
  let failure: ComparisonOutcome['failure'] = null;
  const tell = teller(request, seeds.length, planned);
  const startMs = performance.now();
  try {
    const jobs = planned.map(({ job }) => job);
    const options = {
      module: new URL('simulated-job.ts', import.meta.url),
      load: () => import('./simulated-job.ts'),
      threads: usefulThreads(defaultThreads(), jobs.length),
      signal,
    };
    for await (const outcome of runJobs<ComparedRun, ComparedOutcome>(jobs, options)) {
      const run = planned[outcomes.length]!;
      outcomes.push(outcomeOf(run, outcome));
      tell(outcomes);
    }
  } catch (error) {
    if (!(error instanceof EnvironmentError || error instanceof InterruptedError)) throw error;
    failure = error;
  }
  let pairs = pairsOf(seeds, planned, outcomes);
  if (failure === null) pairs = keepTold(request, pairs);
  const results = concludeComparison({ ...request, runtime: 'sim' }, pairs);
  try {
    writeJson(join(directory, 'results.json'), results);
  } catch (error) {
    // What was found is still told, if not by a file.
    failure ??= environmentErrorFrom(error, 'cannot write the results');
  }
  const failed = failureIn(results);
  if (failed !== null) failure ??= new EnvironmentError(failed);
  if (seeds.length > 0)
    progress.line(`${summaryLine(request, pairs)} (${((performance.now() - startMs) / 1000).toFixed(1)} s)`);
  return { results, failure };
}

export interface PlannedRun {
  readonly seed: number;
  readonly side: Side;
  readonly folder: string;
  readonly job: ComparedRun;
}

/** One run of a pair; `keep`: whether it leaves its files. */
export function plannedRun(request: PairsRequest, seed: number, side: Side, keep: ComparedRun['keep']): PlannedRun {
  const config = request.configure(request[side], seed, side);
  const folder = freshRunFolder(request.directory, side, seed);
  const job: ComparedRun = {
    config,
    name: `${side}-${seed}`,
    command: request.commandOfRun(config),
    directory: join(request.directory, folder),
    keep,
  };
  return { seed, side, folder, job };
}

export function outcomeOf({ folder, job }: PlannedRun, { results, error, kept }: ComparedOutcome): RunOutcome {
  return {
    directory: folder,
    results,
    ...(error === null ? {} : { error }),
    ...(kept ? {} : { command: job.command }),
  };
}

/** Whole pairs; half a pair at the end of an interrupted comparison still counts. */
function pairsOf(
  seeds: readonly number[],
  planned: readonly PlannedRun[],
  outcomes: readonly RunOutcome[],
): PairOutcome[] {
  const begun = seeds.slice(0, Math.ceil(outcomes.length / 2));
  return begun.map((seed, index) => {
    const [first, second] = [planned[2 * index]!, planned[2 * index + 1]!];
    const missing: RunOutcome = {
      directory: second.folder,
      results: null,
      error: 'the comparison ended before this run',
      command: second.job.command,
    };
    const [one, other] = [outcomes[2 * index]!, outcomes[2 * index + 1] ?? missing];
    const [control, candidate] = first.side === 'control' ? [one, other] : [other, one];
    return { seed, order: [first.side, second.side], control, candidate };
  });
}

/** Keeps both runs of the pair that a report would tell: its healthy side has left no files yet. */
function keepTold(request: SimulatedComparisonRequest, pairs: readonly PairOutcome[]): PairOutcome[] {
  const telling = pairs.map(tellingOf);
  const told = pairs[telling.indexOf(Math.max(...telling))];
  return pairs.map((pair) => (pair === told ? { ...pair, ...keepBoth(request, pair) } : pair));
}

function keepBoth(request: SimulatedComparisonRequest, pair: PairOutcome): Pick<PairOutcome, Side> {
  const keep = (side: Side): RunOutcome =>
    pair[side].command === undefined ? pair[side] : runAndKeep(request, pair.seed, side);
  return { control: keep('control'), candidate: keep('candidate') };
}

/** Makes a run again, whose files were not kept, and keeps them. */
export function runAndKeep(request: PairsRequest, seed: number, side: Side): RunOutcome {
  const run = plannedRun(request, seed, side, 'all');
  return outcomeOf(run, runJob(run.job));
}

/**
 * How much a report has to tell of a pair. Most where the candidate broke; then where the control lost records and the
 * candidate met the same danger.
 */
export function tellingOf({ control, candidate }: PairOutcome): number {
  if (isAnomalous(candidate)) return 4;
  if (!isAnomalous(control)) return 0;
  const violations = control.results?.anomalies.filter((anomaly) => anomaly.class === 'violation') ?? [];
  const kinds = new Set(violations.map(({ kind }) => kind));
  const sameDanger =
    candidate.results?.anomalies.length === 0 &&
    violations.some(({ key }) => candidate.results?.exposures?.some((exposure) => exposure.key === key));
  if (!sameDanger || !kinds.has('lost-acked-write')) return 1;
  return kinds.has('replica-divergence') ? 3 : 2;
}

/** Tells how far it is, now and then, and at once when the candidate breaks. */
function teller(
  { control, candidate, progress }: SimulatedComparisonRequest,
  pairs: number,
  planned: readonly PlannedRun[],
): (outcomes: readonly RunOutcome[]) => void {
  const startMs = performance.now();
  let toldMs = startMs;
  let toldQuarter = 0;
  const broken: Record<Side, number> = { control: 0, candidate: 0 };
  if (pairs > 0) progress.step(`simulator · ${counted(pairs, 'pair')}`);
  return (outcomes) => {
    const [outcome, run] = [outcomes.at(-1)!, planned[outcomes.length - 1]!];
    if (isAnomalous(outcome)) {
      broken[run.side] += 1;
      if (run.side === 'candidate') {
        const kinds = new Set(
          outcome.results?.anomalies.filter((each) => each.class === 'violation').map(({ kind }) => kind),
        );
        progress.line(`simulator · ${candidate} seed ${run.seed}: ${paint('bad', [...kinds].join(', '))}`);
      }
    }
    const nowMs = performance.now();
    if (nowMs - toldMs < PROGRESS_EVERY_MS) return;
    toldMs = nowMs;
    const rate = Math.round((1000 * outcomes.length) / (nowMs - startMs));
    const done = Math.floor(outcomes.length / 2);
    // A log file gets a line for each quarter of what takes its time; a terminal shows every step.
    const quarter = Math.floor((4 * done) / pairs);
    if (quarter > toldQuarter && nowMs - startMs > LONG_MS)
      progress.step(`simulator · ${done} of ${counted(pairs, 'pair')}`);
    toldQuarter = Math.max(toldQuarter, quarter);
    progress.detail(
      `${done} done, ${rate} runs/s · ${control} broke in ${broken.control}, ${candidate} in ${broken.candidate}`,
    );
  };
}

function summaryLine({ control, candidate }: SimulatedComparisonRequest, pairs: readonly PairOutcome[]): string {
  const broken = (side: Side): string =>
    `${pairs.filter((pair) => isAnomalous(pair[side])).length} of ${counted(pairs.length, 'run')}`;
  const ofCandidate = broken('candidate');
  const mood = ofCandidate.startsWith('0 ') ? 'good' : 'bad';
  return `simulator · ${control} ${paint('bad', `broke a promise in ${broken('control')}`)}, ${candidate} ${paint(mood, `in ${ofCandidate}`)}`;
}
