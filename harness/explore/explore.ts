/**
 * One search from its request to its report: which jobs, on how many threads, with what on the screen, and what is kept.
 *
 * Whatever ends it (the budget, the first find, Ctrl-C, a thread that died) the report of what came before is made; the
 * reason is returned beside it.
 */
import { InterruptedError } from '../errors.ts';
import type { FaultKind } from '../../nemesis/schedule.ts';
import type { Progress } from '../progress.ts';
import { counted } from '../report/words.ts';
import { shownPath } from '../shown-path.ts';
import { GENERATION, GuidedSearch } from './guided.ts';
import type { Pins } from './draws.ts';
import type { SearchJob, SearchResult } from './one-run.ts';
import { defaultThreads, usefulThreads } from './pool.ts';
import { keep, writeSearchReport } from './finds.ts';
import { reportOf, sayReport, type ExploreReport } from './report.ts';
import { createTally, search, seedOf, type Tally } from './search.ts';

export interface ExploreRequest {
  readonly build: string;
  readonly seed: number;
  readonly pins: Pins;
  readonly kinds: readonly FaultKind[];
  /** Infinity where time ends it. */
  readonly runs: number;
  readonly budgetMs: number;
  readonly untilFail: boolean;
  readonly guided: boolean;
  /** Whether finds are to be shrunk. */
  readonly shrink: boolean;
  readonly threads?: number;
  /** Finds are kept here. */
  readonly store: string;
  /** The command that searches the same again. */
  readonly command: string;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

export interface Exploration {
  readonly report: ExploreReport;
  /** Why it ended before its time. */
  readonly failure: Error | null;
}

/** Searches, keeps what was found, tells it, and shrinks it where that is wanted. */
export async function exploreSeeds(request: ExploreRequest): Promise<Exploration> {
  const { build, seed, pins, kinds, store, progress, signal } = request;
  const tally = createTally();
  const guided = request.guided ? new GuidedSearch({ build, seed, pins, kinds }) : null;
  const startMs = elapsedMs();
  let failure = await searchUntilItEnds(request, tally, guided);
  const seconds = Math.round(elapsedMs() - startMs) / 1000;
  const finds = [...tally.finds, ...tally.unknowns];
  const kept = keep(store, failure instanceof InterruptedError ? finds.slice(0, MOST_AFTER_INTERRUPT) : finds);
  failure ??= kept.failure;
  const unclean = pins.uncleanElection === true;
  const facts = { build, seed, command: request.command, seconds, kept: kept.finds, unclean };
  let report = reportOf(tally, { ...facts, guided: guided?.report() ?? null });
  sayReport(report, progress.line);
  if (request.shrink && failure === null && tally.finds.length > 0) {
    const { shrinkFinds } = await import('./shrink-finds.ts');
    const shrunk = await shrinkFinds(tally.finds, store, progress, signal);
    report = { ...report, shrunk: shrunk.summaries };
    failure = shrunk.failure;
  }
  const unwritten = kept.directory === null ? null : writeSearchReport(kept.directory, report);
  if (kept.directory !== null && unwritten === null) progress.line(`search  ${shownPath(kept.directory)}/explore.json`);
  return { report, failure: failure ?? unwritten };
}

/** What ended it, if that was neither the budget nor a find. */
async function searchUntilItEnds(
  request: ExploreRequest,
  tally: Tally,
  guided: GuidedSearch | null,
): Promise<Error | null> {
  const { runs, budgetMs, untilFail, signal } = request;
  const threads = usefulThreads(request.threads ?? defaultThreads(), runs);
  const ahead = guided === null ? {} : { ahead: GENERATION };
  const tell = teller(request.progress, tally);
  try {
    await search(
      guided === null ? seedJobs(request) : guided.jobs(),
      tally,
      { runs, budgetMs, untilFail, threads, signal, elapsedMs, ...ahead },
      (result, job) => {
        guided?.hear(result, job);
        tell(result, job);
      },
    );
    return null;
  } catch (error) {
    // Of what kind it is, whoever asked for the search will see; what was found before it is told first.
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Whoever interrupts does not want to wait for all of them. */
const MOST_AFTER_INTERRUPT = 3;

function* seedJobs({ build, seed, pins, kinds }: ExploreRequest): Generator<SearchJob, void, undefined> {
  for (let next = seed; next <= Number.MAX_SAFE_INTEGER; next += 1) yield { build, seed: next, pins, kinds };
}

/** Milliseconds since this process began. */
function elapsedMs(): number {
  return performance.now();
}

const TERMINAL_STEP_MS = 200;
const PLAIN_STEP_MS = 10_000;

/** Says how it goes: often on a terminal, which overwrites, and now and then elsewhere; and each new signature once. */
function teller(progress: Progress, tally: Tally): (result: SearchResult, job: SearchJob) => void {
  const everyMs = process.stderr.isTTY ? TERMINAL_STEP_MS : PLAIN_STEP_MS;
  const startMs = elapsedMs();
  let toldMs = startMs;
  return (result, job) => {
    for (const { signature } of result.violations) {
      if (tally.signatures.get(signature) === 1) progress.line(`run ${tally.runs}, seed ${seedOf(job)}: ${signature}`);
    }
    const nowMs = elapsedMs();
    if (nowMs - toldMs < everyMs) return;
    toldMs = nowMs;
    const perSecond = ((1000 * tally.runs) / (nowMs - startMs)).toFixed(1);
    const hit = [...tally.marks.values()].filter((runs) => runs > 0).length;
    progress.step(
      `${tally.runs} runs, ${perSecond} a second · ${tally.anomalous} anomalous, ${tally.unknown} unknown · ${counted(hit, 'mark')}`,
    );
  };
}
