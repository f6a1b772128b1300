/**
 * The results as a short Markdown page, for the summary of a CI job: the sentence, the figures in a small table, the
 * worst anomalies with their causes, and the commands that show it all again.
 *
 * Pure, from the results alone. Invariant: whatever a name, a value or an error holds, it can neither become markup nor
 * leave its place (GitHub's flavour and GitLab's); and the page is bounded, far below what a job may show, however
 * many runs there were.
 */
import type {
  Anomaly,
  BuildResults,
  ComparisonResults,
  ComparisonTest,
  NightResults,
  PairedRun,
  RunResults,
} from '../../checker/results.ts';
import { partsOf } from '../compare/two-parts.ts';
import { SIGNIFICANCE } from '../compare/statistics.ts';
import { placeOf } from '../compare/verdict.ts';
import { wordOfCell } from '../nightly/conclude.ts';
import { headline } from './headline.ts';
import { byGravity } from './story.ts';
import {
  buildInWords,
  capital,
  counted,
  defectsOf,
  exercisedInWords,
  intervalInWords,
  kindsInWords,
  pValue,
  rateInWords,
  seedsInWords,
  shortened,
  span,
} from './words.ts';

/** What has a `report.html`, and so a page like this. */
export type Reported = RunResults | ComparisonResults | NightResults;

/** Runs of a comparison, as far as they are at hand, by their folders. */
export type RunsByFolder = ReadonlyMap<string, RunResults>;

const ANOMALIES_MAX = 5;
const STEPS_MAX = 8;
const NOTES_MAX = 5;
const TESTS_MAX = 6;
const BROKEN_RUNS_MAX = 5;
const FAILED_RUNS_MAX = 3;
const CELLS_MAX = 100;
const CHARACTERS_MAX = 300;

/** The page as text. `runs`: of a comparison, those of which it can be told why they broke a promise. */
export function renderMarkdown(results: Reported, runs: RunsByFolder = new Map()): string {
  const blocks =
    results.type === 'run'
      ? runBlocks(results)
      : results.type === 'comparison'
        ? comparisonBlocks(results, runs)
        : nightBlocks(results);
  return `${blocks.flat().join('\n\n')}\n`;
}

function runBlocks(results: RunResults): string[] {
  const { run, anomalies, notes } = results;
  const worst = byGravity(anomalies);
  return [
    title(headline(results)),
    `Build ${text(buildInWords(run.build, defectsOf(run)))} · ${text(run.runtime)}${run.seed === null ? '' : ` · seed ${run.seed}`}`,
    runTable(results),
    ...worst.slice(0, ANOMALIES_MAX).map((anomaly) => anomalyBlock(anomaly, '###')),
    ...more(worst.length - ANOMALIES_MAX, 'anomaly', 'anomalies'),
    ...(notes.length === 0
      ? []
      : [
          notes
            .slice(0, NOTES_MAX)
            .map((note) => `- ${text(note)}`)
            .join('\n'),
        ]),
    ...more(notes.length - NOTES_MAX, 'note'),
    ...again(run.command),
  ];
}

const verdictWords: Readonly<Record<string, string>> = {
  true: 'kept',
  false: '**broken**',
  unknown: 'unknown',
  'not-checked': 'not checked',
};

function runTable({ guarantees, anomalies, faults, exposures, exposuresUnknown }: RunResults): string {
  const violations = anomalies.filter((anomaly) => anomaly.class === 'violation').length;
  const effective = faults.filter((fault) => fault.effective).length;
  const danger = exposures === null ? `unknown: ${exposuresUnknown ?? 'there is no trace'}` : String(exposures.length);
  return table(
    ['', ''],
    [
      ...Object.entries(guarantees).map(([name, verdict]) => [text(name), verdictWords[String(verdict)] ?? 'unknown']),
      ['anomalies', `${counted(violations, 'violation')}, ${anomalies.length - violations} expected`],
      ['faults that went as planned', `${effective} of ${faults.length}`],
      ['moments at which the flaw could bite', text(danger)],
    ],
  );
}

/** What is wrong, where, and the first steps of why. */
function anomalyBlock(anomaly: Anomaly, level: '###' | '####'): string {
  const { kind, key, offset, summary, why, consequences } = anomaly;
  const where = [...(key === null ? [] : [key]), ...(offset === null ? [] : [`offset ${offset}`])].join(', ');
  const expected = anomaly.class === 'expected' ? ' (expected: fails nothing)' : '';
  const steps = why.slice(0, STEPS_MAX).map((step, index) => `${index + 1}. ${text(step.text)}`);
  const left = why.length - steps.length;
  const follows = consequences.map((each) => `${each.kind}${each.count > 1 ? ` (${each.count} times)` : ''}`);
  return [
    `${level} ${text(kind)}${where === '' ? '' : `: ${text(where)}`}${expected}`,
    `${text(summary)}.`,
    ...(steps.length === 0 ? [] : [steps.join('\n')]),
    ...(left > 0 ? [`and ${counted(left, 'more step', 'more steps')}, in the report.`] : []),
    ...(follows.length === 0 ? [] : [`What follows from it: ${text(follows.join(', '))}.`]),
  ].join('\n\n');
}

function comparisonBlocks(results: ComparisonResults, runs: RunsByFolder): string[] {
  const parts = partsOf(results);
  return [
    title(results.verdict),
    ...parts.flatMap((part) => [
      `${capital(placeOf(part))}: ${part.pairs.length} of ${counted(part.seeds.length, 'pair')}, seeds ${seedsInWords(part)}`,
      ratesTable(part),
      testsTable(part, part.tests),
      ...brokenRuns(part, runs),
      ...failedRuns(part),
    ]),
    ...again(results.command),
  ];
}

/** The builds side by side, with the same words as in the report. */
function ratesTable({ control, candidate }: Pick<ComparisonResults, 'control' | 'candidate'>): string {
  const row = (name: string, of: (build: BuildResults) => string): string[] => [name, of(control), of(candidate)];
  return table(
    ['', `${text(control.build)} (control)`, `${text(candidate.build)} (candidate)`],
    [
      row('runs', ({ runs }) => String(runs)),
      row('broke a promise', ({ anomalous }) => String(anomalous)),
      row('rate', rateInWords),
      row('95 % interval', intervalInWords),
      row('exercised', exercisedInWords),
      row('unknown', ({ unknown }) => String(unknown)),
      row('violations, in so many runs', (build) => text(kindsInWords(build))),
    ],
  );
}

function testsTable(
  { control, candidate }: Pick<ComparisonResults, 'control' | 'candidate'>,
  tests: readonly ComparisonTest[],
): string {
  return table(
    ['endpoint', 'test', `only ${text(control.build)} broke`, `only ${text(candidate.build)} broke`, 'p'],
    tests
      .slice(0, TESTS_MAX)
      .map((test) => [
        `${text(test.endpoint)}${test.primary ? ' (primary)' : ''}`,
        test.test === 'mcnemar-exact' ? 'exact McNemar' : 'Fisher’s exact',
        counted(test.controlOnly, 'pair'),
        counted(test.candidateOnly, 'pair'),
        `${pValue(test.adjustedP)}${test.smallestP > SIGNIFICANCE ? ' (not significant at this n)' : ''}`,
      ]),
  );
}

/** The runs in which the candidate broke a promise: those of the control are what it is there for. */
function brokenRuns({ pairs, candidate }: ComparisonResults, runs: RunsByFolder): string[] {
  const broken = pairs.filter((pair) => pair.candidate.violations > 0);
  const told = broken.slice(0, BROKEN_RUNS_MAX).flatMap(({ seed, candidate: run }) => {
    const results = runs.get(run.directory);
    const kinds = run.kinds?.join(', ') ?? counted(run.violations, 'violation');
    const [worst] = byGravity(results?.anomalies ?? []);
    return [
      `### ${text(candidate.build)}, seed ${seed}: ${text(kinds)}`,
      ...(worst === undefined ? [] : [anomalyBlock(worst, '####')]),
      ...commandOf(results?.run.command ?? run.command ?? null),
    ];
  });
  return [...told, ...more(broken.length - BROKEN_RUNS_MAX, 'run in which it broke a promise', 'runs in which it did')];
}

function failedRuns({ pairs, control, candidate }: ComparisonResults): string[] {
  const sides = pairs.flatMap(({ seed, ...pair }) => [
    [seed, control.build, pair.control] as const,
    [seed, candidate.build, pair.candidate] as const,
  ]);
  const silent = sides.filter(([, , { valid, completed }]) => valid === 'unknown' || !completed);
  if (silent.length === 0) return [];
  const lines = silent
    .slice(0, FAILED_RUNS_MAX)
    .map(([seed, build, run]) => `- ${text(build)}, seed ${seed}: ${text(whyNoVerdict(run))}`);
  return [`Runs without a verdict: ${silent.length}`, lines.join('\n')];
}

/** Why a run has no verdict, in short. */
export function whyNoVerdict({ error, completed }: PairedRun): string {
  return error ?? (completed ? 'the evidence does not suffice for a verdict' : 'its harness or environment failed');
}

function nightBlocks(results: NightResults): string[] {
  const { cells, seeds, shard, runtime } = results;
  const part = shard === undefined ? '' : ` · shard ${shard.index} of ${shard.count}`;
  // What failed is not to be cut off.
  const worstFirst = [...cells].sort((a, b) => gravityOf[String(a.valid)]! - gravityOf[String(b.valid)]!);
  return [
    title(results.verdict),
    `${text(runtime)} · seeds ${span(seeds.from, seeds.from + seeds.count - 1)}${part}`,
    table(
      [
        'cell',
        'verdict',
        'pairs',
        'control broke',
        'candidate broke',
        '95 % interval of the candidate',
        'exercised',
        'p',
      ],
      worstFirst
        .slice(0, CELLS_MAX)
        .map((cell) => [
          text(cell.name),
          wordOfCell(cell, shard !== undefined).replace('broken', '**broken**'),
          `${cell.done} of ${cell.declared}`,
          `${text(cell.control.build)}: ${cell.control.anomalous}`,
          `${text(cell.candidate.build)}: ${cell.candidate.anomalous}`,
          intervalInWords(cell.candidate),
          exercisedInWords(cell.candidate),
          pValue(cell.adjustedP),
        ]),
    ),
    ...more(cells.length - CELLS_MAX, 'cell'),
    ...worstFirst
      .filter(({ failed }) => failed !== undefined)
      .slice(0, FAILED_RUNS_MAX)
      .map(({ name, failed = '' }) => `${text(name)}: ${text(failed)}`),
    ...worstFirst
      .filter(({ valid }) => valid === false)
      .slice(0, BROKEN_RUNS_MAX)
      .flatMap((cell) => [`### ${text(cell.name)}`, text(cell.verdict), ...commandOf(cell.command)]),
    ...again(results.command),
  ];
}

const gravityOf: Readonly<Record<string, number>> = { false: 0, unknown: 1, true: 2 };

function more(count: number, one: string, many = `${one}s`): string[] {
  return count > 0 ? [`${counted(count, `more ${one}`, `more ${many}`)} in \`results.json\`.`] : [];
}

function again(command: string | null): string[] {
  return command === null ? [] : ['### Again', ...commandOf(command)];
}

/** A command to paste, on one line, in a fence that nothing in it can close. */
function commandOf(command: string | null): string[] {
  if (command === null) return [];
  const longest = Math.max(0, ...[...command.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(Math.max(3, longest + 1));
  return [`${fence}sh\n${shortened(onOneLine(command), 4 * CHARACTERS_MAX)}\n${fence}`];
}

function title(sentence: string): string {
  return `## ${text(sentence, 4 * CHARACTERS_MAX)}`;
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Foreign text: bounded, on one line, and with everything escaped that could begin a mark, a link or a cell. */
function text(foreign: string, charactersMax = CHARACTERS_MAX): string {
  return onOneLine(shortened(foreign, charactersMax))
    .replaceAll(/[\\`*_{}[\]<>|~$#!@&]/g, '\\$&')
    .replaceAll('://', '\\://')
    .replaceAll(/\bwww\./gi, 'www\\.')
    .replace(/^([-+=]|\d+(?=[.)]))/, leading);
}

/** What begins a list or a rule where a line begins with it. */
function leading(mark: string): string {
  return /\d/.test(mark) ? `${mark}\\` : `\\${mark}`;
}

function onOneLine(foreign: string): string {
  return foreign.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
}
