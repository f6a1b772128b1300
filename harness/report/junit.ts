/**
 * The results as JUnit XML, which every CI system shows: a suite for each run, or for each part of a comparison.
 *
 * A guarantee of a run is a test case, and so is each seed of a comparison; of very many seeds, each batch. A violation
 * is a failure, what is unknown or could not be run is an error, what no evidence can show is skipped. What the control
 * broke is no failure: it is there to break, and fails only where it did not.
 *
 * Pure, from the results alone. Invariant: a suite is green exactly where the command ended with exit code 0. The file
 * is bounded, however many runs there were.
 */
import type {
  Anomaly,
  ComparisonResults,
  GuaranteeVerdict,
  NightCell,
  NightResults,
  PairResults,
  RunResults,
  Verdict,
} from '../../checker/results.ts';
import { partsOf } from '../compare/two-parts.ts';
import { exitCodeOfComparison, placeOf } from '../compare/verdict.ts';
import { exitCodes } from '../errors.ts';
import { headline } from './headline.ts';
import { whyNoVerdict, type Reported, type RunsByFolder } from './markdown.ts';
import { byGravity } from './story.ts';
import { buildInWords, counted, defectsOf, kindsInWords, seedsInWords, shortened, span } from './words.ts';
import { element, xmlDocument, type Xml } from './xml.ts';

/** So many seeds have a case each; of more, so many batches have. */
const SEEDS_MAX = 500;
const BATCHES_MAX = 200;
const ANOMALIES_MAX = 5;
const STEPS_MAX = 12;
const SEEDS_TOLD_MAX = 10;
const CELLS_MAX = 1_000;
const NOTES_MAX = 10;
const CHARACTERS_MAX = 500;

/** The document. `runs`: of a comparison, those of which it can be told why they broke a promise. */
export function renderJunit(results: Reported, runs: RunsByFolder = new Map()): string {
  const suites = withVerdict(
    results.type === 'run'
      ? [runSuite(results)]
      : results.type === 'comparison'
        ? partsOf(results).map((part, index) => comparisonSuite(part, index === 0, runs))
        : results.cells.slice(0, CELLS_MAX).map((cell) => cellSuite(cell, results)),
    results,
  );
  const cases = suites.flatMap((suite) => suite.cases);
  return xmlDocument(element('testsuites', { name: 'tidemark', ...countsOf(cases) }, ...suites.map(suiteElement)));
}

interface Suite {
  readonly name: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly cases: readonly Case[];
}

interface Case {
  readonly name: string;
  readonly className: string;
  readonly outcome: Outcome;
  /** What is worth knowing of a case that passed. */
  readonly output?: string;
}

/** Null: passed. */
type Outcome = null | {
  readonly is: 'failure' | 'error' | 'skipped';
  readonly type?: string;
  readonly message: string;
  readonly details?: string;
};

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

function controlCase(control: ComparisonResults['control'], className: string): Case {
  const { build, anomalous, runs } = control;
  return {
    name: 'the control shows the flaw',
    className,
    outcome:
      anomalous > 0
        ? null
        : {
            is: 'failure',
            type: 'control-silent',
            message: `the control ${short(build)} broke no promise in ${counted(runs, 'run')}, so this comparison proves nothing`,
          },
    output: `${short(build)} broke a promise in ${anomalous} of ${counted(runs, 'run')}, as it is expected to: ${kindsInWords(control)}`,
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
  return {
    is: 'failure',
    type: kinds[0] ?? 'violation',
    message: of === 1 ? summary : `${counted(broken.length, 'seed')} of ${of}: ${summary}`,
    details: limited(lines).join('\n\n'),
  };
}

function cellSuite(cell: NightCell, night: NightResults): Suite {
  const { name, control, candidate, command, done, declared, sameBuilds } = cell;
  const className = classOf(night.runtime, name);
  const { from, count } = night.seeds;
  return {
    name: `${name}: ${control.build} against ${candidate.build}`,
    properties: {
      seed: span(from, from + count - 1),
      build: candidate.build,
      control: control.build,
      runtime: night.runtime,
      command,
    },
    cases: [
      { name: 'every declared pair was run', className, outcome: notRun(done, declared, night.ended) },
      ...(sameBuilds || done === 0 ? [] : [controlCase(control, className)]),
      { name: 'the candidate keeps its word', className, outcome: outcomeOfCell(cell) },
    ],
  };
}

/** What did not fit into the budget was not to be run; what was interrupted was. */
function notRun(done: number, declared: number, ended: NightResults['ended']): Outcome {
  if (done >= declared) return null;
  const message = `${done} of ${counted(declared, 'pair')} were run`;
  return ended === 'budget'
    ? { is: 'skipped', message: `${message}: the others did not fit into the budget` }
    : { is: 'error', type: 'unfinished', message };
}

function outcomeOfCell(cell: NightCell): Outcome {
  const { valid, verdict, candidate, command } = cell;
  if (valid === true) return null;
  const message = short(verdict);
  const details = withCommand(`${candidate.build}: ${kindsInWords(candidate)}`, command);
  return valid === false
    ? { is: 'failure', type: Object.keys(candidate.kinds)[0] ?? 'violation', message, details }
    : { is: 'error', type: 'unknown', message, details };
}

/** A verdict that no case shows has a case of its own: nothing that is not valid may look green. */
function withVerdict(suites: readonly Suite[], results: Reported): readonly Suite[] {
  const isRed = suites.some(({ cases }) => cases.some(({ outcome }) => outcome !== null && outcome.is !== 'skipped'));
  if (results.valid === true || isRed) return suites;
  // Of a shard that alone proves nothing: that is for all shards together to say.
  if (results.type === 'comparison' && exitCodeOfComparison(results) === exitCodes.valid) return suites;
  const message = short(results.type === 'run' ? headline(results) : results.verdict);
  const outcome: Outcome = { ...wholeOutcome(results.valid), message };
  return [
    ...suites,
    { name: 'the whole', properties: {}, cases: [{ name: 'the verdict', className: 'tidemark', outcome }] },
  ];
}

function wholeOutcome(valid: Verdict): { readonly is: 'failure' | 'error'; readonly type: string } {
  return valid === false ? { is: 'failure', type: 'violation' } : { is: 'error', type: 'unknown' };
}

function suiteElement({ name, properties, cases }: Suite): Xml {
  return element(
    'testsuite',
    { name: short(name), ...countsOf(cases) },
    element(
      'properties',
      {},
      ...Object.entries(properties).map(([key, value]) =>
        element('property', { name: key, value: shortened(value, 4 * CHARACTERS_MAX) }),
      ),
    ),
    ...cases.map(caseElement),
  );
}

function caseElement({ name, className, outcome, output }: Case): Xml {
  const children = [
    ...(outcome === null
      ? []
      : [
          element(
            outcome.is,
            { message: outcome.message, type: outcome.type },
            ...(outcome.details === undefined ? [] : [outcome.details]),
          ),
        ]),
    ...(output === undefined ? [] : [element('system-out', {}, output)]),
  ];
  return element('testcase', { classname: short(className), name: short(name) }, ...children);
}

function countsOf(cases: readonly Case[]): Readonly<Record<string, number>> {
  const count = (is: 'failure' | 'error' | 'skipped'): number =>
    cases.filter(({ outcome }) => outcome?.is === is).length;
  return { tests: cases.length, failures: count('failure'), errors: count('error'), skipped: count('skipped') };
}

/** Jenkins takes dots in it for packages, of which a version has too many. */
function classOf(runtime: string, name: string): string {
  return `tidemark.${runtime}.${name}`.replaceAll(/(?<=\..*\..*)\./g, '_');
}

function limited(lines: readonly string[]): string[] {
  const left = lines.length - SEEDS_TOLD_MAX;
  return [...lines.slice(0, SEEDS_TOLD_MAX), ...(left > 0 ? [`and ${left} more, in results.json`] : [])];
}

function withCommand(text: string, command: string | null): string {
  const again = command === null ? [] : [`again: ${shortened(command, 4 * CHARACTERS_MAX)}`];
  return [...(text === '' ? [] : [text]), ...again].join('\n');
}

function short(text: string): string {
  return shortened(text, CHARACTERS_MAX);
}
