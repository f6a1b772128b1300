/**
 * From the results of paired runs to the verdict of a comparison: rates, tests, and the one sentence.
 *
 * The primary endpoint is "any violation", declared before the first run; each kind of violation is a secondary
 * endpoint, corrected by Holm. Nothing is excluded after the fact: a run that is unknown, or whose harness failed,
 * stays in the denominator and is bounded from both sides. Above 5 % unknown the comparison is void.
 *
 * Invariant: the sentence never claims more than the numbers; where n cannot reach significance it says so.
 */
import type {
  Anomaly,
  AnomalyKind,
  BuildResults,
  ComparisonResults,
  ComparisonTest,
  Exposure,
  PairedRun,
  PairResults,
  RunResults,
  Verdict,
} from '../../checker/results.ts';
import { exitCodeOfVerdict, exitCodes } from '../errors.ts';
import { seedsOfShard, type Shard } from '../plan/shard.ts';
import { counted, pValue, percent } from '../report/words.ts';
import { SIGNIFICANCE, holm, mcnemarExact, rateInterval, smallestMcnemar } from './statistics.ts';

/** What of a run's results a comparison counts. */
export interface RunSummary extends Pick<RunResults, 'valid' | 'notes'> {
  readonly anomalies: readonly Pick<Anomaly, 'kind' | 'class' | 'key'>[];
  readonly exposures: readonly Pick<Exposure, 'key'>[] | null;
}

/** One side of a pair as it came out; `results` is null when the harness failed before there was anything to check. */
export interface RunOutcome {
  readonly directory: string;
  readonly results: RunSummary | null;
  readonly error?: string;
  /** The run's files were not kept: this makes them again. */
  readonly command?: string;
}

export interface PairOutcome {
  readonly seed: number;
  readonly order: PairResults['order'];
  readonly control: RunOutcome;
  readonly candidate: RunOutcome;
}

/** What is fixed before the first run of a comparison. */
export interface Declaration {
  readonly control: string;
  readonly candidate: string;
  readonly runtime: string;
  /** All of them, also where this is one shard of several. */
  readonly seeds: readonly number[];
  readonly shard?: Shard | undefined;
  readonly configuration: Readonly<Record<string, unknown>>;
  readonly command: string;
}

export interface ComparisonInput extends Declaration {
  readonly pairs: readonly PairOutcome[];
}

/** Share of unknown runs above which a comparison proves nothing. */
const UNKNOWN_LIMIT = 0.05;

/** Everything that a comparison's `results.json` says. */
export function compareOutcomes(input: ComparisonInput): ComparisonResults {
  return comparePairs(input, input.pairs.map(pairResults));
}

/** The same from the pairs as results know them. `notRun`: the seeds of those pairs that nobody ran. */
export function comparePairs(
  input: Declaration,
  pairs: readonly PairResults[],
  notRun: readonly number[] = [],
): ComparisonResults {
  const control = summarize(
    input.control,
    pairs.map((pair) => pair.control),
  );
  const candidate = summarize(
    input.candidate,
    pairs.map((pair) => pair.candidate),
  );
  const runs = control.runs + candidate.runs;
  const isVoid = runs === 0 || (control.unknown + candidate.unknown) / runs > UNKNOWN_LIMIT;
  const tests = testsOver(pairs);
  const valid: Verdict = candidate.anomalous > 0 ? false : candidate.unknown > 0 || isVoid ? 'unknown' : true;
  const results = {
    schemaVersion: 1,
    type: 'comparison',
    valid,
    verdict: '',
    void: isVoid,
    runtime: input.runtime,
    seeds: seedsOfShard(input.seeds, input.shard),
    ...(input.shard === undefined ? {} : { shard: { ...input.shard, seeds: input.seeds } }),
    ...(notRun.length === 0 ? {} : { notRun }),
    configuration: input.configuration,
    command: input.command,
    control,
    candidate,
    tests,
    pairs,
  } as const;
  return { ...results, verdict: sentenceOf([results]) };
}

/** Whether the run broke a promise. */
export function isAnomalous(outcome: RunOutcome): boolean {
  return violationsOf(outcome).length > 0;
}

/** True when the positive control did its work. */
export function controlShowed(results: ComparisonResults): boolean {
  return results.control.anomalous > 0;
}

/**
 * The exit code of a comparison. Of one shard it says only what no other shard can change: that the candidate broke a
 * promise, or that some of its runs are unknown. Whether the control showed anything is for all shards together.
 */
export function exitCodeOfComparison(results: ComparisonResults): number {
  const { valid, shard, realism } = results;
  if (shard !== undefined && valid === 'unknown') {
    const unknown = results.candidate.unknown + (realism?.candidate.unknown ?? 0);
    return unknown > 0 ? exitCodes.unknown : exitCodes.valid;
  }
  if (shard === undefined && valid === true && !controlShowed(results)) return exitCodes.controlSilent;
  return exitCodeOfVerdict(valid);
}

/** What ended some of the runs, if their harness or environment failed; null when none did. */
export function failureIn(results: ComparisonResults): string | null {
  const runs = runsOf(results.pairs);
  const failed = runs.filter((run) => !run.completed);
  if (failed.length === 0) return null;
  return `${failed.length} of ${runs.length} runs failed: ${failed[0]?.error ?? 'nothing was recorded'}`;
}

function summarize(build: string, pairedRuns: readonly PairedRun[]): BuildResults {
  const runs = pairedRuns.length;
  const anomalous = pairedRuns.filter(brokeAPromise).length;
  const unknown = pairedRuns.filter(({ valid }) => valid === 'unknown').length;
  // Of a run that was not made, and not always of brokers that tell no trace.
  const dark = pairedRuns.filter(({ exposures }) => exposures === null).length;
  const kinds: Record<string, number> = {};
  for (const kind of pairedRuns.flatMap((run) => run.kinds ?? [])) kinds[kind] = (kinds[kind] ?? 0) + 1;
  return {
    build,
    runs,
    anomalous,
    unknown,
    exercised: pairedRuns.filter(({ exposures }) => (exposures ?? 0) > 0).length,
    ...(dark === 0 ? {} : { exercisedUnknown: dark }),
    rate: runs === 0 ? 0 : anomalous / runs,
    interval: rateInterval(anomalous, runs),
    bounds: {
      allGood: runs === 0 ? 0 : anomalous / runs,
      allBad: runs === 0 ? 1 : (anomalous + unknown) / runs,
    },
    kinds,
  };
}

/** The kinds of the violations of one run, as often as they occur. */
function violationsOf(outcome: RunOutcome): AnomalyKind[] {
  return (outcome.results?.anomalies ?? [])
    .filter((anomaly) => anomaly.class === 'violation')
    .map((anomaly) => anomaly.kind);
}

function verdictOf(outcome: RunOutcome): Verdict {
  // An anomaly that was found stays found, even if the harness failed afterwards.
  if (violationsOf(outcome).length > 0) return false;
  if (outcome.results === null || outcome.error !== undefined) return 'unknown';
  return outcome.results.valid;
}

function testsOver(pairs: readonly PairResults[]): ComparisonTest[] {
  const endpointTest = (endpoint: string, hit: (run: PairedRun) => boolean, primary: boolean): ComparisonTest => {
    const controlOnly = pairs.filter((pair) => hit(pair.control) && !hit(pair.candidate)).length;
    const candidateOnly = pairs.filter((pair) => !hit(pair.control) && hit(pair.candidate)).length;
    const p = mcnemarExact(controlOnly, candidateOnly);
    return {
      endpoint,
      test: 'mcnemar-exact',
      controlOnly,
      candidateOnly,
      p,
      adjustedP: p,
      primary,
      smallestP: smallestMcnemar(pairs.length),
    };
  };
  const primary = endpointTest('any violation', brokeAPromise, true);
  const kinds = [...new Set(runsOf(pairs).flatMap((run) => run.kinds ?? []))].sort();
  const secondary = kinds.map((kind) => endpointTest(kind, (run) => run.kinds?.includes(kind) === true, false));
  const adjusted = holm(secondary.map((test) => test.p));
  return [primary, ...secondary.map((test, index) => ({ ...test, adjustedP: adjusted[index] ?? 1 }))];
}

function brokeAPromise({ violations }: PairedRun): boolean {
  return violations > 0;
}

function runsOf(pairs: readonly PairResults[]): PairedRun[] {
  return pairs.flatMap(({ control, candidate }) => [control, candidate]);
}

/** What results say of a pair. */
export function pairResults(pair: PairOutcome): PairResults {
  const side = (outcome: RunOutcome): PairResults['control'] => ({
    directory: outcome.directory,
    valid: verdictOf(outcome),
    violations: violationsOf(outcome).length,
    kinds: [...new Set(violationsOf(outcome))].toSorted(),
    exposures: outcome.results?.exposures?.length ?? null,
    completed: outcome.results !== null && outcome.error === undefined,
    ...(outcome.error === undefined ? {} : { error: outcome.error }),
    ...(outcome.command === undefined ? {} : { kept: false, command: outcome.command }),
  });
  return { seed: pair.seed, order: pair.order, control: side(pair.control), candidate: side(pair.candidate) };
}

/** False beats unknown, unknown beats true. */
export function worstOf(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.includes(false)) return false;
  return verdicts.includes('unknown') ? 'unknown' : true;
}

type Part = Omit<ComparisonResults, 'verdict'>;

/**
 * One sentence that a manager can read and an engineer cannot fault, over one comparison or several that are not pooled.
 * The first is the primary one: whether the control showed anything, and whether anything was compared, is for it to say.
 */
export function sentenceOf(parts: readonly [Part, ...Part[]]): string {
  const [primary] = parts;
  const { control, candidate, shard } = primary;
  const ofShard = shard === undefined ? '' : `Shard ${shard.index} of ${shard.count}`;
  if (parts.every((part) => part.control.runs === 0)) {
    const isEmpty = shard !== undefined && parts.every(({ seeds }) => seeds.length === 0);
    return isEmpty
      ? `${ofShard} holds none of the declared seeds, so there was nothing to run.`
      : 'No run was made, so nothing was compared.';
  }
  // Of several the intervals stand in the report: a sentence that holds them all is read by nobody.
  const clauses = parts.map((part) =>
    parts.length === 1 ? clauseOf(part, ofRuns) : `${placeOf(part)} ${clauseOf(part, ofRunsInShort)}`,
  );
  const told = clauses.join('; ');
  if (parts.some((part) => part.candidate.anomalous > 0)) return `${candidate.build} does not keep its word: ${told}.`;
  // The rest is not for a part to say.
  if (shard !== undefined)
    return `${ofShard} found no broken promise of ${candidate.build}: ${told}; the verdict is that of all shards together.`;
  if (primary.void) return `Void: ${told}, too many to prove anything.`;
  if (control.anomalous === 0) return `The control showed nothing, so this comparison proves nothing: ${told}.`;
  if (parts.some((part) => part.void || part.candidate.unknown > 0))
    return `Unknown whether ${candidate.build} keeps its word: ${told}.`;
  return `${candidate.build} kept every acknowledged write that ${control.build} puts at risk: ${told}.`;
}

/** Where the runs of a comparison took place, in words. */
export function placeOf({ runtime }: Pick<ComparisonResults, 'runtime'>): string {
  return runtime === 'sim' ? 'in the simulator' : runtime === 'docker' ? 'in containers' : 'in local processes';
}

/** The figures of one comparison, without a verdict. */
function clauseOf(results: Part, ofRunsOf: (build: BuildResults) => string): string {
  const { control, candidate, tests } = results;
  if (control.runs === 0) return 'no run was made';
  const counts = `${control.build} broke a promise in ${ofRunsOf(control)}, ${candidate.build} in ${ofRunsOf(candidate)}`;
  const caveats = begunIn(results) + unknownIn(results);
  if (results.shard !== undefined) return `${counts}${caveats}`;
  if (candidate.anomalous > 0 && results.void) return `${counts}${caveats}, too many to compare the rates`;
  const nothingBroke = control.anomalous === 0 && candidate.anomalous === 0;
  if (results.void || nothingBroke) return `${counts}${caveats}`;
  const isTold = candidate.anomalous === 0 && candidate.unknown === 0;
  return `${counts}${test(tests[0])}${isTold ? exerciseOf(candidate) : ''}${caveats}`;
}

/** How many runs of a build never met the dangerous moment, and of how many nobody knows. */
function exerciseOf(build: BuildResults): string {
  const { idle, dark } = unexercised(build);
  const never = `; ${counted(idle, 'run')} of ${build.build} never met the dangerous moment`;
  const unseen = `; whether ${counted(dark, 'run')} of ${build.build} met the dangerous moment is not known`;
  return `${idle > 0 ? never : ''}${dark > 0 ? unseen : ''}`;
}

/** Runs that are known to have met no exposure, and those of which that is not known. */
export function unexercised({ runs, exercised, exercisedUnknown: dark = 0 }: BuildResults): {
  readonly idle: number;
  readonly dark: number;
} {
  return { idle: runs - exercised - dark, dark };
}

function begunIn({ pairs, seeds, notRun = [] }: Part): string {
  if (notRun.length > 0) return `; nobody ran ${notRun.length} of ${seeds.length} pairs`;
  if (pairs.length === seeds.length) return '';
  return `; only ${pairs.length} of ${seeds.length} pairs ${pairs.length === 1 ? 'was' : 'were'} begun`;
}

function unknownIn({ control, candidate }: Part): string {
  const unknown = control.unknown + candidate.unknown;
  if (unknown === 0) return '';
  return `; ${unknown} of ${control.runs + candidate.runs} runs ${unknown === 1 ? 'is' : 'are'} unknown`;
}

function ofRunsInShort({ anomalous, runs }: BuildResults): string {
  return `${anomalous} of ${runs} runs`;
}

function ofRuns(build: BuildResults): string {
  const interval = build.interval;
  // No bound may be claimed on the strength of runs that showed nothing.
  if (build.anomalous === 0 && build.unknown > 0) {
    return `${build.anomalous} of ${build.runs} runs (${build.unknown} unknown)`;
  }
  const bound =
    interval.method === 'one-sided-zero'
      ? `at most ${percent(interval.high)} with 95 % confidence`
      : `95 % interval ${percent(interval.low)} to ${percent(interval.high)}`;
  return `${build.anomalous} of ${build.runs} runs (${bound})`;
}

function test(primary: ComparisonTest | undefined): string {
  if (primary === undefined) return '';
  if (primary.smallestP > SIGNIFICANCE) return ', not significant at this n';
  const p = pValue(primary.p);
  return primary.p <= SIGNIFICANCE ? `, exact McNemar p = ${p}` : `, not significant (exact McNemar p = ${p})`;
}
