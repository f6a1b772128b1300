/**
 * What a search has found, as the one JSON document that `--json` prints and as lines for people.
 */
import type { RunConfig } from '../plan/config.ts';
import { commandOfRun } from '../cli/compare.ts';
import { paint } from '../progress.ts';
import { counted } from '../report/words.ts';
import type { ShrinkSummary } from '../shrink/keep.ts';
import type { GuidedReport } from './guided.ts';
import { marks, type Mark } from './marks.ts';
import { planOfJob, type Violation } from './one-run.ts';
import type { Find, Tally } from './search.ts';

export interface ExploreReport {
  readonly schemaVersion: 1;
  readonly type: 'exploration';
  readonly build: string;
  /** Of the first run. */
  readonly seed: number;
  /** The command that searches the same again. */
  readonly command: string;
  readonly runs: number;
  /** Runs in which a promise was broken. A search chooses what it runs: this is no rate. */
  readonly anomalous: number;
  readonly unknown: number;
  readonly first: FindReport | null;
  /** A few of each signature. */
  readonly finds: readonly FindReport[];
  /** In how many runs each was found. */
  readonly signatures: Readonly<Record<string, number>>;
  /** In how many runs each situation was met. */
  readonly marks: Readonly<Record<Mark, number>>;
  readonly missedMarks: readonly Mark[];
  /** The first few. */
  readonly unknownRuns: readonly FindReport[];
  readonly seconds: number;
  readonly runsPerSecond: number;
  readonly events: number;
  readonly virtualSeconds: number;
  /** Of a guided search. */
  readonly guided: GuidedReport | null;
  /** What was made of finds that were shrunk. */
  readonly shrunk: readonly ShrinkSummary[];
}

export interface FindReport {
  /** Counted from 1. */
  readonly run: number;
  /** Repeats the run by itself; null where the search was guided. */
  readonly seed: number | null;
  /** Since the process began. */
  readonly seconds: number;
  readonly violations: readonly Violation[];
  /** The command that shows it again. */
  readonly command: string;
  /** Where the run is kept, if it is. */
  readonly directory: string | null;
  /** Its plan, of a guided search: the seed alone does not repeat it. */
  readonly plan: string | null;
}

/** Where finds are kept, by the number of their run. */
export type Kept = ReadonlyMap<number, { readonly directory: string; readonly plan: string }>;

export interface ReportFacts {
  readonly build: string;
  readonly seed: number;
  readonly command: string;
  readonly seconds: number;
  readonly kept: Kept;
  readonly guided: GuidedReport | null;
  /** Whether unclean elections are allowed: without, nobody can meet one. */
  readonly unclean: boolean;
}

export function reportOf(tally: Tally, facts: ReportFacts): ExploreReport {
  const { build, seed, command, seconds, kept, guided, unclean } = facts;
  const described = (find: Find): FindReport => describeFind(find, kept, guided !== null);
  return {
    schemaVersion: 1,
    type: 'exploration',
    build,
    seed,
    command,
    runs: tally.runs,
    anomalous: tally.anomalous,
    unknown: tally.unknown,
    first: tally.first === null ? null : described(tally.first),
    finds: tally.finds.map(described),
    signatures: Object.fromEntries([...tally.signatures].sort(([, one], [, other]) => other - one)),
    marks: Object.fromEntries(tally.marks) as Record<Mark, number>,
    missedMarks: [...tally.marks]
      .filter(([mark, runs]) => runs === 0 && (unclean || mark !== 'unclean-election'))
      .map(([mark]) => mark),
    unknownRuns: tally.unknowns.map(described),
    seconds,
    runsPerSecond: seconds === 0 ? 0 : Math.round((10 * tally.runs) / seconds) / 10,
    events: tally.events,
    virtualSeconds: Math.round(tally.virtualNs / 1e9),
    guided,
    shrunk: [],
  };
}

function describeFind({ run, seed, seconds, violations, job }: Find, kept: Kept, guided: boolean): FindReport {
  const place = kept.get(run);
  const { config } = planOfJob(job);
  return {
    run,
    seed: guided ? null : seed,
    seconds,
    violations,
    command: guided && place !== undefined ? `npm run tidemark -- replay ${place.directory}` : commandOfFind(config),
    directory: place?.directory ?? null,
    plan: guided ? (place?.plan ?? null) : null,
  };
}

/** The command that does one run again, whose seed is all that it needs. */
export function commandOfFind(config: RunConfig): string {
  return commandOfRun(config);
}

/** Too few runs to blame a search for what it did not meet. */
const FEW_RUNS = 100;

/** The whole of it, for people. */
export function sayReport(report: ExploreReport, line: (text: string) => void): void {
  const { runs, anomalous, unknown, seconds, runsPerSecond, virtualSeconds, first } = report;
  const speed = `${counted(runs, 'run')} in ${seconds.toFixed(1)} s (${runsPerSecond} a second, ${virtualSeconds} virtual seconds)`;
  line(`${speed}: ${anomalous} anomalous, ${unknown} unknown`);
  for (const [signature, count] of Object.entries(report.signatures)) {
    line(`${String(count).padStart(6)}  ${paint('bad', signature)}`);
  }
  sayMarks(report, line);
  if (report.guided !== null) sayStates(report.guided, line);
  const [doubtful] = report.unknownRuns;
  if (doubtful !== undefined) line(paint('unsure', `unknown run ${doubtful.run}: ${doubtful.command}`));
  if (first === null) {
    line(paint(unknown === 0 ? 'good' : 'unsure', 'no promise was broken'));
    return;
  }
  line(
    paint('bad', `first   run ${first.run} after ${first.seconds.toFixed(2)} s: ${first.violations[0]?.summary ?? ''}`),
  );
  if (first.directory !== null) line(`kept    ${first.directory}`);
  line(`again   ${first.command}`);
}

function sayMarks(report: ExploreReport, line: (text: string) => void): void {
  const all = Object.entries(report.marks);
  const hit = all.filter(([, count]) => count > 0).sort(([, one], [, other]) => other - one);
  line(
    `marks   ${hit.length} of ${hit.length + report.missedMarks.length}: ${hit.map(([mark, count]) => `${mark} ${count}`).join(', ')}`,
  );
  if (report.runs < FEW_RUNS) return;
  for (const mark of report.missedMarks) line(paint('unsure', `never hit: ${mark} (${marks[mark]})`));
}

function sayStates({ states, newPerThousand, goodTuring, kept }: GuidedReport, line: (text: string) => void): void {
  line(
    `states  ${states} abstract states from ${counted(kept, 'plan')} kept; new in each 1,000 runs: ${newPerThousand.join(', ')}`,
  );
  line(`        the next state met is a new one with probability ${(100 * goodTuring).toFixed(2)} % (Good–Turing)`);
}
