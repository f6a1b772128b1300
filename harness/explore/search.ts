/**
 * A search: runs over seeds or plans, one after the other as far as anybody can see, until the budget is spent or something was
 * found.
 *
 * Results come in the order of the runs, whichever thread did them, so that the first find is the one with the lowest
 * number, on every machine. What is kept is bounded: counts, and a few finds of each signature. The unit is the run;
 * a search chooses what it runs, so its counts are never a rate.
 *
 * Invariant: the same jobs and number of runs give the same tally, however many threads work.
 */
import { allMarks, type Mark } from './marks.ts';
import type { SearchJob, SearchResult, Violation } from './one-run.ts';
import { runJobs } from './pool.ts';

export interface SearchLimits {
  /** Infinity where only time ends it. */
  readonly runs: number;
  /** On the clock of `elapsedMs`. */
  readonly budgetMs: number;
  readonly untilFail: boolean;
  readonly threads: number;
  /** How far runs may be ahead of the first one without a result. */
  readonly ahead?: number;
  readonly signal: AbortSignal;
  /** Wall time since the process began. */
  readonly elapsedMs: () => number;
}

/** A run that broke a promise, or of which nobody knows. */
export interface Find {
  /** Counted from 1. */
  readonly run: number;
  readonly seed: number;
  /** Wall time since the process began. */
  readonly seconds: number;
  readonly violations: readonly Violation[];
  /** The job, so that it can be done again. */
  readonly job: SearchJob;
}

export interface Tally {
  runs: number;
  anomalous: number;
  unknown: number;
  first: Find | null;
  /** The first few of each signature, in order. */
  readonly finds: Find[];
  /** How many runs showed each signature. */
  readonly signatures: Map<string, number>;
  /** How many runs hit each mark. */
  readonly marks: Map<Mark, number>;
  events: number;
  virtualNs: number;
  /** The first few runs whose evidence did not suffice. */
  readonly unknowns: Find[];
}

/** So many finds of one signature, and so many in all, are kept. */
const MOST_OF_SIGNATURE = 2;
const MOST_FINDS = 20;
const MOST_UNKNOWN = 5;

export function createTally(): Tally {
  return {
    runs: 0,
    anomalous: 0,
    unknown: 0,
    first: null,
    finds: [],
    signatures: new Map(),
    marks: new Map(allMarks.map((mark) => [mark, 0])),
    events: 0,
    virtualNs: 0,
    unknowns: [],
  };
}

/**
 * Does the jobs within the limits and counts into `tally`, telling `heard` of each result. Rejects as {@link runJobs}
 * does; the tally then holds what came before.
 */
export async function search(
  jobs: Iterable<SearchJob>,
  tally: Tally,
  limits: SearchLimits,
  heard: (result: SearchResult, job: SearchJob) => void,
): Promise<void> {
  const underWay: SearchJob[] = [];
  const results = runJobs<SearchJob, SearchResult>(withinLimits(jobs, tally, limits, underWay), {
    module: new URL('./one-run.ts', import.meta.url),
    load: () => import('./one-run.ts'),
    threads: limits.threads,
    signal: limits.signal,
    ...(limits.ahead === undefined ? {} : { ahead: limits.ahead }),
  });
  for await (const result of results) {
    const job = underWay.shift();
    if (job === undefined) throw new Error('a result without its job');
    count(tally, result, job, limits);
    heard(result, job);
    if (limits.untilFail && tally.first !== null) return;
  }
}

/** A job is handed out while all that are under way, and one more, are likely to end within the budget. */
function* withinLimits(
  jobs: Iterable<SearchJob>,
  tally: Tally,
  { runs, budgetMs, elapsedMs }: SearchLimits,
  underWay: SearchJob[],
): Generator<SearchJob, void, undefined> {
  const pace = createPace();
  let run = tally.runs;
  for (const job of jobs) {
    const nowMs = elapsedMs();
    const leastMs = pace(tally.runs, nowMs) * (underWay.length + 1);
    /* One run at least: a budget of nothing would show nothing. */
    if (run >= runs || (run > 0 && nowMs + leastMs >= budgetMs)) return;
    run += 1;
    underWay.push(job);
    yield job;
  }
}

/** So many runs are no measure: the first ones load the code and warm it up. */
const FIRST_RUNS = 8;

/** Of so many runs at so much time: how long one takes, all threads together; 0 as long as nobody knows. */
function createPace(): (runs: number, nowMs: number) => number {
  let since: { readonly runs: number; readonly ms: number } | null = null;
  return (runs, nowMs) => {
    if (since === null && runs >= FIRST_RUNS) since = { runs, ms: nowMs };
    if (since === null || runs < since.runs + FIRST_RUNS) return 0;
    return (nowMs - since.ms) / (runs - since.runs);
  };
}

function count(tally: Tally, result: SearchResult, job: SearchJob, { elapsedMs }: SearchLimits): void {
  tally.runs += 1;
  tally.events += result.events;
  tally.virtualNs += result.virtualNs;
  for (const mark of result.marks) tally.marks.set(mark, (tally.marks.get(mark) ?? 0) + 1);
  const find: Find = {
    run: tally.runs,
    seed: seedOf(job),
    seconds: Math.round(elapsedMs()) / 1000,
    violations: result.violations,
    job,
  };
  if (result.valid === 'unknown') {
    tally.unknown += 1;
    if (tally.unknowns.length < MOST_UNKNOWN) tally.unknowns.push(find);
  }
  if (result.violations.length === 0) return;
  tally.anomalous += 1;
  tally.first ??= find;
  let isNew = false;
  for (const { signature } of result.violations) {
    const before = tally.signatures.get(signature) ?? 0;
    tally.signatures.set(signature, before + 1);
    if (before < MOST_OF_SIGNATURE) isNew = true;
  }
  if (isNew && tally.finds.length < MOST_FINDS) tally.finds.push(find);
}

export function seedOf(job: SearchJob): number {
  return 'schedule' in job ? job.config.seed : job.seed;
}
