/** Results for tests of what a CI job reads: runs and comparisons, told by hand or made of any text. */
import * as fc from 'fast-check';
import type { ComparisonResults, NightResults, PairedRun, RunResults } from '../../../checker/results.ts';
import { compareOutcomes, type PairOutcome, type RunOutcome } from '../../../harness/compare/verdict.ts';
import type { Shard } from '../../../harness/plan/shard.ts';
import { concludeNight } from '../../../harness/nightly/conclude.ts';
import { s1aPrime } from '../../checker/schedules.ts';

const snippets = [
  '<script>alert(1)</script>',
  '"><img src=x>',
  '</failure>',
  '<!--',
  ']]>',
  '&lt;',
  '\u0000',
  '\u001b[31m',
  '\uD800',
  '\uFFFE',
  '\r\n',
  '\n\n# title\n\n',
  '| a | b |',
  '```',
  '`',
  '[a](javascript:b)',
  '![a](http://b/c.png)',
  'http://somewhere.example',
  'www.somewhere.example',
  '@somebody',
  '- item',
  '1. item',
  '**',
  '\\',
  '$x$',
];

/** Text as nobody wishes for: marks of HTML, XML and Markdown, control characters, anything. */
export const hostile = fc
  .array(fc.oneof(fc.constantFrom(...snippets), fc.string({ unit: 'binary', maxLength: 8 })), {
    minLength: 1,
    maxLength: 5,
  })
  .map((parts) => parts.join(''));

/** What the checker says of S1a′ on that build. */
export function runOf(build: 'hw' | 'epoch', seed = 1): RunResults {
  const results = s1aPrime(build).check();
  const command = `npm run tidemark -- run --build ${build} --seed ${seed}`;
  return { ...results, run: { ...results.run, seed, command } };
}

/** A run that lost a record, with this text in every place that comes from outside. */
export function runWith(text: string): RunResults {
  const results = runOf('hw');
  return {
    ...results,
    run: { ...results.run, name: text, build: text, runtime: text, command: text },
    notes: [text],
    anomalies: results.anomalies.map((anomaly) => ({
      ...anomaly,
      key: text,
      summary: text,
      why: anomaly.why.map((step) => ({ ...step, text })),
    })),
    exposures: null,
    exposuresUnknown: text,
  };
}

/** How one side of a pair came out. */
export type Side = 'valid' | 'broken' | 'unknown' | 'failed';

function outcomeOf(side: Side, directory: string): RunOutcome {
  const results = { valid: true, notes: [], anomalies: [], exposures: [] } as const;
  switch (side) {
    case 'valid':
      return { directory, results };
    case 'broken': {
      const anomalies = [{ kind: 'lost-acked-write', class: 'violation', key: 'tide-0' }] as const;
      return { directory, results: { ...results, valid: false, anomalies } };
    }
    case 'unknown':
      return { directory, results: { ...results, valid: 'unknown' } };
    case 'failed':
      return { directory, results: null, error: 'the disk is full' };
  }
}

/** A comparison of hw with epoch: `[control, candidate]` of each pair, and how many were declared. */
export function comparisonOf(
  sides: readonly (readonly [Side, Side])[],
  {
    declared = sides.length,
    runtime = 'sim',
    shard,
  }: { readonly declared?: number; readonly runtime?: string; readonly shard?: Shard } = {},
): ComparisonResults {
  return compareOutcomes({
    control: 'hw',
    candidate: 'epoch',
    runtime,
    seeds: Array.from({ length: declared }, (_, index) => index + 1),
    shard,
    configuration: {},
    command: 'npm start -- --seed 1',
    pairs: sides.map(([control, candidate], index): PairOutcome => ({
      seed: index + 1,
      order: ['control', 'candidate'],
      control: outcomeOf(control, `runs/control-${index + 1}`),
      candidate: outcomeOf(candidate, `runs/candidate-${index + 1}`),
    })),
  });
}

/** A comparison with this text in every place that comes from outside. */
export function comparisonWith(text: string): ComparisonResults {
  const results = comparisonOf([
    ['broken', 'broken'],
    ['failed', 'failed'],
  ]);
  const side = (run: PairedRun): PairedRun =>
    run.error === undefined ? { ...run, directory: text, kept: false, command: text } : { ...run, error: text };
  return {
    ...results,
    verdict: text,
    command: text,
    runtime: text,
    control: { ...results.control, build: text, kinds: { [text]: 1 } },
    candidate: { ...results.candidate, build: text },
    tests: results.tests.map((test) => ({ ...test, endpoint: text })),
    pairs: results.pairs.map((pair) => ({ ...pair, control: side(pair.control), candidate: side(pair.candidate) })),
  };
}

/** A night of cells, each a comparison; `same`: both sides are the same build. */
export function nightOf(
  cells: readonly { readonly comparison: ComparisonResults; readonly same?: boolean }[],
  { ended = 'all-run', shard }: Partial<Pick<NightResults, 'ended' | 'shard'>> = {},
): NightResults {
  const facts = {
    runtime: 'sim',
    seeds: { from: 1, count: Math.max(1, ...cells.map(({ comparison }) => comparison.seeds.length)) },
    command: 'npm run tidemark -- nightly night.json --seed 1',
    budgetMs: 60_000,
    usedMs: 30_000,
    ended,
    ...(shard === undefined ? {} : { shard }),
  };
  return concludeNight(
    facts,
    cells.map(({ comparison, same = false }, index) => {
      const name = `builds${index}.load.faults`;
      const cell = { name, builds: `builds${index}`, workload: 'load', faults: 'faults', folder: `cells/${name}` };
      return { cell: { ...cell, sameBuilds: same }, comparison };
    }),
  );
}
