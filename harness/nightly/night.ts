/**
 * One night: the pairs that are left, in their order, until the budget ends; each in the ledger before the next counts.
 *
 * In the simulator pairs run on all cores, and their results are taken in the order of the pairs whoever was first; real
 * processes run one pair after the other. Either way what has been found by then stands in the results, whatever ends the
 * night; of a pair that was under way, a resumed night runs what had not come to its end, in folders of its own.
 *
 * Invariant: a failure of the environment is a run without a verdict, never an anomaly; two in a row end the night, and
 * the pair in which it ended is not over.
 */
import { join } from 'node:path';
import type { NightResults, PairResults, PairedRun } from '../../checker/results.ts';
import { runPair, type RealPairsRequest } from '../compare/compare.ts';
import { orderOf, type Side } from '../compare/pairs.ts';
import { outcomeOf, plannedRun, runAndKeep, tellingOf, type PlannedRun } from '../compare/simulated.ts';
import { pairResults, type PairOutcome } from '../compare/verdict.ts';
import { EnvironmentError, InterruptedError, environmentErrorFrom } from '../errors.ts';
import { defaultThreads, runJobs, usefulThreads } from '../explore/pool.ts';
import { paint, type Progress } from '../progress.ts';
import type { ChosenRuntime } from '../run/runtimes.ts';
import type { Cell } from './cells.ts';
import { earlierRun } from './earlier.ts';
import { orderOfPairs, type Turn } from './order.ts';
import type { PairJob, PairJobOutcome } from './pair-job.ts';
import { NightRecord, type NightRequest } from './record.ts';

export interface NightRun extends NightRequest {
  /** Null: the simulator. */
  readonly runtime: ChosenRuntime | null;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

export interface NightOutcome {
  readonly results: NightResults;
  /** Why the night ended early, if it did, or what ended some of its runs. */
  readonly failure: EnvironmentError | InterruptedError | null;
}

type Failure = NightOutcome['failure'];

/** So many pairs for each thread are under way, or wait for an earlier one. */
const PAIRS_AHEAD = 4;
/** In so many pairs of each cell a control that broke keeps its files: a run takes a megabyte or two. */
const CONTROLS_KEPT = 3;
/** So many broken runs of each cell's candidate keep theirs, and then some: where a build is broken, a night finds thousands. */
const BROKEN_KEPT_MAX = 20;

/** Runs what is left of the night, and writes its results and those of its cells. */
export async function runNight(run: NightRun): Promise<NightOutcome> {
  const record = new NightRecord(run);
  try {
    record.writeNowAndThen();
    let waitingMs = 0;
    const order = orderOfPairs(
      run.cells.length,
      record.seeds,
      (turn) => record.isDone(turn),
      (cell) => record.usedMs + waitingMs + record.estimates.of(cell) <= record.budgetMs,
    );
    let failure = await (run.runtime === null
      ? simulatePairs(run, record, order.turns, (ms) => (waitingMs = ms))
      : runRealPairs(run, run.runtime, record, order.turns));
    const ended = failure !== null ? 'unfinished' : order.isCut() ? 'budget' : 'all-run';
    if (failure === null && run.runtime === null) keepTold(run, record);
    let results: NightResults;
    try {
      results = record.write(ended);
    } catch (error) {
      // What was found is still told, if not by a file.
      failure ??= environmentErrorFrom(error, 'cannot write the results');
      results = record.resultsOf(record.conclude(), 'unfinished');
    }
    return { results, failure: failure ?? failedRunsIn(results) };
  } finally {
    record.close();
  }
}

async function runRealPairs(
  { cells, directory, progress, signal }: NightRun,
  runtime: ChosenRuntime,
  record: NightRecord,
  turns: Iterable<Turn>,
): Promise<Failure> {
  let failuresInARow = 0;
  for (const turn of turns) {
    if (signal.aborted) return new InterruptedError();
    const cell = cells[turn.cell]!;
    const where = `pair ${record.done + 1} of ${record.declared} · ${cell.name}`;
    const folder = join(directory, cell.folder);
    const request: RealPairsRequest = {
      ...cell,
      directory: folder,
      runtime,
      earlier: (side, seed) => earlierRun(folder, side, seed),
      // A pair is one line; what it is doing shows on a terminal.
      progress: { step: process.stderr.isTTY ? progress.step : () => {}, detail: progress.detail, line: () => {} },
      signal,
    };
    const startMs = performance.now();
    const report = await runPair(request, turn.seed, where, failuresInARow);
    ({ failuresInARow } = report);
    let { failure } = report;
    if (report.pair !== null) {
      const taken = takePair(cell, turn, report.pair, performance.now() - startMs, failure, record, progress);
      failure = taken ?? failure;
    }
    if (failure !== null) return failure;
  }
  return null;
}

async function simulatePairs(
  { cells, directory, progress, signal }: NightRun,
  record: NightRecord,
  turns: Iterable<Turn>,
  waits: (ms: number) => void,
): Promise<Failure> {
  const underWay: { readonly turn: Turn; readonly planned: readonly [PlannedRun, PlannedRun]; readonly ms: number }[] =
    [];
  const threads = usefulThreads(defaultThreads(), record.declared - record.done);
  const tellWait = (): void => waits(underWay.reduce((sum, { ms }) => sum + ms, 0) / threads);
  const index = new Map(record.seeds.map((seed, at) => [seed, at]));
  function* jobs(): Generator<PairJob, void, undefined> {
    for (const turn of turns) {
      const cell = cells[turn.cell]!;
      const request = { ...cell, directory: join(directory, cell.folder) };
      const [first, second] = orderOf(turn.seed);
      const early = (index.get(turn.seed) ?? 0) < CONTROLS_KEPT;
      const keeps = (side: Side): boolean =>
        side === 'candidate' || cell.sameBuilds ? record.keptOf(turn.cell) < BROKEN_KEPT_MAX : early;
      const plan = (side: Side): PlannedRun =>
        plannedRun(request, turn.seed, side, keeps(side) ? 'not-valid' : 'unknown');
      const planned = [plan(first), plan(second)] as const;
      underWay.push({ turn, planned, ms: record.estimates.of(turn.cell) });
      tellWait();
      yield { runs: [planned[0].job, planned[1].job] };
    }
  }
  let failuresInARow = 0;
  const options = {
    module: new URL('pair-job.ts', import.meta.url),
    load: () => import('./pair-job.ts'),
    threads,
    block: 1,
    ahead: PAIRS_AHEAD * threads,
    signal,
  };
  try {
    for await (const { outcomes, tookMs } of runJobs<PairJob, PairJobOutcome>(jobs(), options)) {
      const { turn, planned } = underWay.shift()!;
      tellWait();
      const pair = pairOf(turn.seed, planned, outcomes);
      for (const { error } of outcomes) failuresInARow = error === null ? 0 : failuresInARow + 1;
      const [, last] = outcomes;
      const ends = failuresInARow >= 2 ? new EnvironmentError(last.error ?? 'two runs in a row failed') : null;
      const failure = takePair(cells[turn.cell]!, turn, pair, tookMs, ends, record, progress) ?? ends;
      if (failure !== null) return failure;
    }
  } catch (error) {
    if (error instanceof EnvironmentError || error instanceof InterruptedError) return error;
    throw error;
  }
  return null;
}

function pairOf(
  seed: number,
  planned: readonly [PlannedRun, PlannedRun],
  [first, second]: PairJobOutcome['outcomes'],
): PairOutcome {
  const [one, other] = [outcomeOf(planned[0], first), outcomeOf(planned[1], second)];
  const order = [planned[0].side, planned[1].side] as const;
  return order[0] === 'control'
    ? { seed, order, control: one, candidate: other }
    : { seed, order, control: other, candidate: one };
}

/** Counts a pair and tells of it. Returns what kept it from being written down, if something did. */
function takePair(
  cell: Cell,
  turn: Turn,
  outcome: PairOutcome,
  tookMs: number,
  failure: Failure,
  record: NightRecord,
  progress: Progress,
): Failure {
  const found = { pair: pairResults(outcome), telling: tellingOf(outcome) };
  const { control, candidate } = found.pair;
  const isOver = failure === null || (control.completed && candidate.completed);
  let unwritten: Failure = null;
  try {
    if (isOver) record.add(turn, found, tookMs);
    else record.note(turn, found);
    record.writeNowAndThen();
  } catch (error) {
    unwritten = environmentErrorFrom(error, 'cannot write what was found');
  }
  const counts = candidate.violations > 0 || (cell.sameBuilds && control.violations > 0);
  const isWorthALine = counts || candidate.valid === 'unknown' || control.valid === 'unknown';
  const tell = isWorthALine ? progress.line : progress.step;
  tell(
    `pair ${isOver ? record.done : record.done + 1} of ${record.declared} · ${cell.name} seed ${turn.seed} · ${cell.labels.control}: ${cameOut(control, cell.sameBuilds)}; ${cell.labels.candidate}: ${cameOut(candidate, true)} (${(tookMs / 1000).toFixed(1)} s)`,
  );
  return unwritten;
}

function cameOut({ valid, violations, kinds, completed, error }: PairedRun, isBad: boolean): string {
  if (violations > 0) {
    const told = kinds?.join(', ') ?? 'broken';
    return isBad ? paint('bad', told) : told;
  }
  if (!completed) return paint('unsure', `no verdict: ${error ?? 'nothing was recorded'}`);
  return valid === true ? 'nothing broken' : paint('unsure', 'unknown');
}

/** Keeps both runs of the pair that the report of each cell would tell, as `compare` does. */
function keepTold({ cells, directory }: NightRun, record: NightRecord): void {
  for (const [index, cell] of cells.entries()) {
    const pair = record.mostTelling(index);
    if (pair === null) continue;
    const request = { ...cell, directory: join(directory, cell.folder) };
    const keep = (side: Side): PairedRun => {
      const { kept, command: _command, ...run } = pair[side];
      if (kept !== false) return pair[side];
      const again = runAndKeep(request, pair.seed, side);
      return again.command === undefined ? { ...run, directory: again.directory } : pair[side];
    };
    record.replace(index, { ...pair, control: keep('control'), candidate: keep('candidate') } satisfies PairResults);
  }
}

/** Single runs that failed: told in the end. */
function failedRunsIn({ cells }: NightResults): EnvironmentError | null {
  const cell = cells.find(({ failed }) => failed !== undefined);
  return cell === undefined ? null : new EnvironmentError(`${cell.name}: ${cell.failed}`);
}
