/**
 * The results as JUnit XML, which every CI system shows: a suite for each run, for each part of a comparison,
 * for each cell of a night.
 *
 * A guarantee of a run is a test case, and so is each seed of a comparison; of very many seeds, each batch. A violation
 * is a failure, what is unknown or could not be run is an error, what no evidence can show is skipped. What the control
 * broke is no failure: it is there to break, and fails only where it did not.
 *
 * Pure, from the results alone. Invariant: the suites are green exactly where these results mean exit code 0, every pair
 * was begun, and none of their runs is known to have failed. The file is bounded, however many runs there were.
 */
import type { Anomaly, ComparisonResults, GuaranteeVerdict, PairResults, RunResults } from '../../checker/results.ts';
import { partsOf } from '../compare/two-parts.ts';
import { exitCodeOfComparison, placeOf } from '../compare/verdict.ts';
import { exitCodeOfVerdict, exitCodes } from '../errors.ts';
import { exitCodeOfNight } from '../nightly/conclude.ts';
import { headline } from './headline.ts';
import { nightSuites } from './junit-night.ts';
import {
  classOf,
  controlCase,
  isRed,
  short,
  suitesDocument,
  withCommand,
  type Case,
  type Outcome,
  type Suite,
} from './junit-suite.ts';
import { whyNoVerdict, type Reported, type RunsByFolder } from './markdown.ts';
import { byGravity } from './story.ts';
import { buildInWords, counted, defectsOf, seedsInWords, span } from './words.ts';

/** So many seeds have a case each; of more, so many batches have. */
const SEEDS_MAX = 500;
const BATCHES_MAX = 200;
const ANOMALIES_MAX = 5;
const STEPS_MAX = 12;
const SEEDS_TOLD_MAX = 10;
const NOTES_MAX = 10;

/** The document. `runs`: of a comparison, those of which it can be told why they broke a promise. */
export function renderJunit(results: Reported, runs: RunsByFolder = new Map()): string {
  return suitesDocument(withVerdict(suitesOf(results, runs), results));
}

function suitesOf(results: Reported, runs: RunsByFolder): Suite[] {
  switch (results.type) {
    case 'run':
      return [runSuite(results)];
    case 'comparison':
      return partsOf(results).map((part, index) => comparisonSuite(part, index === 0, runs));
    case 'night':
      return nightSuites(results);
  }
}

function runSuite(results: RunResults): Suite {
  const { run, guarantees, anomalies } = results;
  const build = buildInWords(run.build, defectsOf(run));
  const className = classOf(run.runtime, build);
  return {
    name: `${build}, ${run.runtime}${run.seed === null ? '' : `, seed ${run.seed}`}`,
    properties: {
      ...(run.seed === null ? {} : { seed: String(run.seed) }),
      build,
      runtime: run.runtime,
      ...(run.command === null ? {} : { command: run.command }),
    },
    cases: Object.entries(guarantees).map(([name, verdict]) => {
      const own = byGravity(anomalies.filter(({ guarantee }) => guarantee === name));
      const expected = own.filter((anomaly) => anomaly.class === 'expected');
      return {
        name,
        className,
        outcome: outcomeOfGuarantee(verdict, own, results),
        ...(expected.length === 0 ? {} : { output: anomaliesText(expected, null) }),
      };
    }),
  };
}

function outcomeOfGuarantee(
  verdict: GuaranteeVerdict,
  own: readonly Anomaly[],
  { anomalies, notes, run: { command } }: RunResults,
): Outcome {
  const violations = own.filter((anomaly) => anomaly.class === 'violation');
  if (violations.length > 0) return failureOf(violations, command);
  switch (verdict) {
    case true:
      return null;
    case false: {
      // By what follows from an anomaly that another guarantee names.
      const causes = anomalies.filter((each) => each.class === 'violation' && each.consequences.length > 0);
      const message = 'broken, by what follows from another anomaly';
      return { is: 'failure', type: 'consequence', message, details: anomaliesText(causes, command) };
    }
    case 'unknown': {
      const told = notes.slice(0, NOTES_MAX).map(short).join('\n');
      const message = 'unknown: the evidence does not suffice for a verdict';
      return { is: 'error', type: 'unknown', message, details: withCommand(told, command) };
    }
    case 'not-checked':
      return { is: 'skipped', message: 'not checked: there can be no evidence for it here' };
  }
}

/** The worst of them gives its kind and its summary; the others follow in the text. */
function failureOf(violations: readonly Anomaly[], command: string | null): Outcome {
  const [worst] = violations;
  const besides = violations.length > 1 ? ` (and ${violations.length - 1} more)` : '';
  return {
    is: 'failure',
    type: worst?.kind ?? 'violation',
    message: `${short(worst?.summary ?? 'a promise was broken')}${besides}`,
    details: anomaliesText(violations, command),
  };
}

function anomaliesText(anomalies: readonly Anomaly[], command: string | null): string {
  const told = anomalies.slice(0, ANOMALIES_MAX).map(({ kind, key, offset, summary, why }) => {
    const where = [...(key === null ? [] : [key]), ...(offset === null ? [] : [`offset ${offset}`])].join(', ');
    const steps = why.slice(0, STEPS_MAX).map((step, index) => `  ${index + 1}. ${short(step.text)}`);
    const left = why.length - steps.length;
    return [
      `${kind}${where === '' ? '' : ` at ${short(where)}`}: ${short(summary)}`,
      ...steps,
      ...(left > 0 ? [`  and ${counted(left, 'more step')}`] : []),
    ].join('\n');
  });
  const left = anomalies.length - told.length;
  return withCommand([...told, ...(left > 0 ? [`and ${left} more, in results.json`] : [])].join('\n\n'), command);
}

function comparisonSuite(part: ComparisonResults, primary: boolean, runs: RunsByFolder): Suite {
  const { control, candidate, seeds, pairs, command, runtime, shard, notRun = [] } = part;
  const className = classOf(runtime, candidate.build);
  const begun: Outcome =
    notRun.length > 0
      ? { is: 'error', type: 'not-run', message: `nobody ran ${notRun.length} of ${seeds.length} pairs` }
      : pairs.length < seeds.length
        ? { is: 'error', type: 'unfinished', message: `only ${pairs.length} of ${seeds.length} pairs were begun` }
        : null;
  const enough: Outcome = part.void
    ? {
        is: 'error',
        type: 'void',
        message: `${control.unknown + candidate.unknown} of ${control.runs + candidate.runs} runs have no verdict: too many to prove anything`,
      }
    : null;
  return {
    name: `${control.build} against ${candidate.build}, ${placeOf(part)}`,
    properties: {
      seed: seedsInWords(part),
      build: candidate.build,
      control: control.build,
      runtime,
      command,
    },
    cases: [
      { name: 'every declared pair was run', className, outcome: begun },
      // Neither is for one shard to say, nor the second for any but the primary comparison.
      ...(shard === undefined ? [{ name: 'enough runs have a verdict', className, outcome: enough }] : []),
      ...(primary && shard === undefined ? [controlCase(control, className)] : []),
      ...batchesOf(pairs).map((batch) => pairsCase(batch, part, className, runs)),
    ],
  };
}

/** Pairs that share a test case. */
function batchesOf(pairs: readonly PairResults[]): (readonly PairResults[])[] {
  const size = pairs.length <= SEEDS_MAX ? 1 : Math.ceil(pairs.length / BATCHES_MAX);
  return Array.from({ length: Math.ceil(pairs.length / size) }, (_, index) =>
    pairs.slice(index * size, (index + 1) * size),
  );
}

function pairsCase(
  batch: readonly PairResults[],
  { control, candidate, command }: ComparisonResults,
  className: string,
  runs: RunsByFolder,
): Case {
  const seeds = batch.map(({ seed }) => seed);
  const name = seeds.length === 1 ? `seed ${seeds[0]}` : `seeds ${span(seeds[0] ?? 0, seeds.at(-1) ?? 0)}`;
  const broken = batch.filter((pair) => pair.candidate.violations > 0);
  if (broken.length > 0) return { name, className, outcome: brokenPairs(broken, batch.length, command, runs) };
  const silent = batch.flatMap(({ seed, ...pair }) => [
    ...(pair.candidate.valid === 'unknown' || !pair.candidate.completed
      ? [`${short(candidate.build)}, seed ${seed}: ${short(whyNoVerdict(pair.candidate))}`]
      : []),
    ...(pair.control.completed ? [] : [`${short(control.build)}, seed ${seed}: ${short(whyNoVerdict(pair.control))}`]),
  ]);
  if (silent.length === 0) return { name, className, outcome: null };
  const details = withCommand(limited(silent).join('\n'), command);
  return { name, className, outcome: { is: 'error', type: 'no-verdict', message: silent[0] ?? '', details } };
}

/** In one pair, or in some of a batch: the kinds, and of runs that are at hand why. */
function brokenPairs(broken: readonly PairResults[], of: number, command: string, runs: RunsByFolder): Outcome {
  const kinds = [...new Set(broken.flatMap(({ candidate }) => candidate.kinds ?? []))];
  const lines = broken.map(({ seed, candidate: run }) => {
    const results = runs.get(run.directory);
    const again = results?.run.command ?? run.command ?? command;
    const violations = byGravity(results?.anomalies.filter((anomaly) => anomaly.class === 'violation') ?? []);
    const told = violations.length === 0 ? (run.kinds?.join(', ') ?? '') : anomaliesText(violations, null);
    return withCommand(`seed ${seed}: ${told}`, again);
  });
  const summary = kinds.join(', ') || 'a promise was broken';
  const [first] = broken;
  const [worst] = byGravity((first && runs.get(first.candidate.directory)?.anomalies) ?? []);
  return {
    is: 'failure',
    type: kinds[0] ?? 'violation',
    message: of === 1 ? short(worst?.summary ?? summary) : `${counted(broken.length, 'seed')} of ${of}: ${summary}`,
    details: limited(lines).join('\n\n'),
  };
}

/** A verdict that no case shows has a case of its own: nothing that does not end with 0 may look green. */
function withVerdict(suites: readonly Suite[], results: Reported): readonly Suite[] {
  const code = exitCodeOf(results);
  if (code === exitCodes.valid || suites.some(({ cases }) => cases.some(isRed))) return suites;
  const outcome: Outcome = {
    ...(code === exitCodes.anomaly ? { is: 'failure', type: 'violation' } : { is: 'error', type: 'unknown' }),
    message: short(results.type === 'run' ? headline(results) : results.verdict),
  };
  const verdict = { name: 'the verdict', className: 'tidemark', outcome };
  return [...suites, { name: 'the whole', properties: {}, cases: [verdict] }];
}

function exitCodeOf(results: Reported): number {
  switch (results.type) {
    case 'run':
      return exitCodeOfVerdict(results.valid);
    case 'comparison':
      return exitCodeOfComparison(results);
    case 'night':
      return exitCodeOfNight(results);
  }
}

function limited(lines: readonly string[]): string[] {
  const left = lines.length - SEEDS_TOLD_MAX;
  return [...lines.slice(0, SEEDS_TOLD_MAX), ...(left > 0 ? [`and ${left} more, in results.json`] : [])];
}
