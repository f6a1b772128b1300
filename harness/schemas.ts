/**
 * The shape of every `results.json`, of a run, a comparison and a night, as a schema: what is read back from disk is
 * checked here before anything relies on it, since a store may be old, damaged, or somebody else's.
 *
 * `docs/results.schema.json`, which other programs rely on, is generated from this file (`npm run golden`), and a test
 * holds it, the types of `checker/results.ts` and real results together. Unknown fields are allowed everywhere: a newer
 * version may add some.
 */
import { z } from 'zod';
import type { ComparisonResults, NightResults, RunResults } from '../checker/results.ts';

export const count = z.number().int().nonnegative();
const rate = z.number().min(0).max(1);
const verdict = z
  .union([z.boolean(), z.literal('unknown')])
  .describe(
    'true: kept. false: broken. "unknown": the evidence does not suffice. Unknown beats true, false beats unknown.',
  );
const guaranteeVerdict = z
  .union([verdict, z.literal('not-checked')])
  .describe('As `valid`; "not-checked" where this kind of source can hold no evidence: it stays out of the whole.');
const guaranteeNames = [
  'durability',
  'agreement',
  'offsets',
  'visibility',
  'order',
  'transactions',
  'convergence',
] as const;
const time = z.number().describe('Nanoseconds since the start of the run.');
const anomalyKind = z
  .enum([
    'lost-acked-write',
    'lost-write',
    'log-start-moved',
    'replica-divergence',
    'two-leaders-one-epoch',
    'committed-overwritten',
    'epoch-regression',
    'ack-below-min-isr',
    'offset-moved',
    'ack-conflict',
    'inconsistent-offsets',
    'duplicate',
    'hw-regression',
    'phantom',
    'G1a',
    'consumer-saw-uncommitted',
    'precommitted-read',
    'G1c',
    'G1c-process',
    'G1c-realtime',
    'realtime-order',
    'nonmonotonic-send',
    'int-nonmonotonic-send',
    'nonmonotonic-poll',
    'int-nonmonotonic-poll',
    'poll-skip',
    'int-poll-skip',
    'lost-on-replica',
    'broker-suicide',
    'failed-start',
    'no-convergence',
    'malformed',
  ])
  .describe('What kind of anomaly; Jepsen’s name where Jepsen has one.');
const key = z.string().describe('A partition: topic-partition, split at its last dash.');

const reference = z
  .union([
    z.looseObject({
      source: z.literal('history'),
      index: z.number().int().describe('The line’s `index` in history.jsonl.'),
    }),
    z.looseObject({
      source: z.literal('trace'),
      node: z.union([z.number().int(), z.literal('controller')]),
      boot: z.number().int(),
      seq: z.number().int(),
    }),
    z.looseObject({
      source: z.literal('observation'),
      node: z.union([z.number().int(), z.literal('controller')]),
      boot: z.number().int(),
      seq: z.number().int(),
    }),
    z.looseObject({
      source: z.literal('log'),
      node: z.number().int(),
      offset: z.number().int(),
      epoch: z.number().int().nullable(),
    }),
  ])
  .describe(
    'Where a fact stands: a line of the history, of the trace or of the observations, or a record in a replica’s final log.',
  );

const whyStep = z.looseObject({ text: z.string(), time: time.exactOptional(), references: z.array(reference) });

const anomaly = z.looseObject({
  kind: anomalyKind,
  class: z
    .enum(['violation', 'expected'])
    .describe('`expected`: the configuration allows it; it is shown, and fails nothing.'),
  guarantee: z.enum(guaranteeNames).describe('Which of the guarantees it breaks.'),
  key: key.nullable(),
  offset: z.number().int().nullable().describe('The first offset concerned.'),
  values: z.array(z.union([z.number(), z.string()])).describe('The values concerned, at most 100 of them.'),
  summary: z.string().describe('One sentence.'),
  labels: z.array(z.string()),
  nodes: z.array(z.number().int()).describe('Brokers concerned.'),
  evidence: z.array(reference),
  why: z.array(whyStep).describe('The causal chain, step by step.'),
  consequences: z
    .array(z.looseObject({ kind: anomalyKind, count, summary: z.string(), evidence: z.array(reference) }))
    .describe('What follows from this one cause.'),
});

const exposure = z
  .looseObject({
    key,
    node: z.number().int(),
    leaderEpoch: z.number().int(),
    highWatermark: z.number().int(),
    endOffset: z.number().int(),
    acknowledged: z
      .tuple([z.number().int(), z.number().int()])
      .describe('Acknowledged offsets at risk, first and last.'),
    reference,
  })
  .describe(
    'A moment at which the flaw could bite: a member of the ISR became follower while it held, at or above its own high watermark, a record that was acknowledged in an earlier epoch.',
  );

const fault = z.looseObject({
  fault: z.string().describe('Its id in schedule.json.'),
  kind: z.string(),
  nodes: z.record(z.string(), z.unknown()).describe('Which node each role was when the fault fired.'),
  startTime: time,
  endTime: time.nullable(),
  effective: z.boolean().describe('Whether anything proves that it took effect; if not, it counts for nothing.'),
});

const able = z
  .union([z.literal(true), z.looseObject({ not: z.string() })])
  .describe('true, or why it cannot be done or known.');

export const capabilities = z.looseObject({
  faults: z.record(z.string(), able),
  guarantees: z.record(z.string(), able),
  triggers: z.record(z.string(), able),
  exposures: able,
});

const runResultsSchema = z
  .looseObject({
    schemaVersion: z.literal(1),
    type: z.literal('run'),
    valid: verdict,
    run: z.looseObject({
      name: z.string(),
      build: z.string(),
      runtime: z.string(),
      seed: z.number().nullable(),
      configuration: z.record(z.string(), z.unknown()),
      command: z.string().nullable().describe('The command that shows it again.'),
      target: z
        .looseObject({
          name: z.string(),
          versions: z.record(z.string(), z.string()).exactOptional(),
          capabilities: capabilities.nullable(),
        })
        .exactOptional()
        .describe('Of brokers that others wrote: watched from outside, and judged by what that can show.'),
    }),
    guarantees: z
      .looseObject({
        durability: guaranteeVerdict,
        agreement: guaranteeVerdict,
        offsets: guaranteeVerdict,
        visibility: guaranteeVerdict,
        order: guaranteeVerdict,
        transactions: guaranteeVerdict,
        convergence: guaranteeVerdict,
      })
      .describe('The verdict on each guarantee.'),
    notes: z
      .array(z.string())
      .describe('Why a guarantee is unknown or not checked, and what else a reader should know.'),
    anomalies: z.array(anomaly),
    exposures: z.array(exposure).nullable().describe('Null when it cannot be known: `exposuresUnknown` says why.'),
    exposuresUnknown: z.string().exactOptional(),
    faults: z.array(fault),
    measures: z.record(z.string(), z.number()).describe('Figures. None of them is a verdict.'),
  })
  .describe('The results of one run.');

const build = z.looseObject({
  build: z.string(),
  runs: count,
  anomalous: count.describe('Runs with at least one violation.'),
  unknown: count,
  exercised: count.describe('Runs with at least one exposure.'),
  exercisedUnknown: count.exactOptional().describe('Runs of which nobody knows whether they had one; absent for none.'),
  rate: rate.describe('anomalous / runs'),
  interval: z
    .looseObject({ method: z.enum(['wilson', 'one-sided-zero']), low: rate, high: rate })
    .describe('95 %; at a rate of zero the one-sided bound 1 − 0.05^(1/n).'),
  bounds: z
    .looseObject({ allGood: rate, allBad: rate })
    .describe('The rate if every unknown run was clean, or anomalous.'),
  kinds: z.record(z.string(), count).describe('Violations by kind, in how many runs.'),
});

const pairedRun = z.looseObject({
  directory: z.string().describe('Folder of the run, relative to the comparison’s.'),
  valid: verdict,
  violations: count,
  kinds: z.array(anomalyKind).exactOptional().describe('Of its violations, each once.'),
  exposures: count.nullable(),
  completed: z.boolean().describe('False when the harness or its environment failed.'),
  error: z.string().exactOptional(),
  kept: z.literal(false).exactOptional().describe('The folder is not there: `command` makes it again, to the byte.'),
  command: z.string().exactOptional().describe('Of a run whose folder was not kept.'),
});
const side = z.enum(['control', 'candidate']);

/** One pair of a comparison. */
export const pairSchema = z.looseObject({
  seed: z.number(),
  order: z.tuple([side, side]).describe('Which ran first.'),
  control: pairedRun,
  candidate: pairedRun,
});

const oneComparison = {
  schemaVersion: z.literal(1),
  type: z.literal('comparison'),
  valid: verdict.describe('true: the candidate kept its word. false: it did not. "unknown": unknown runs, or void.'),
  verdict: z.string().describe('The sentence.'),
  void: z.boolean().describe('So many runs are unknown that the comparison proves nothing.'),
  runtime: z.string(),
  seeds: z.array(z.number()).describe('Declared before the first run.'),
  shard: z
    .looseObject({ index: count, count, seeds: z.array(z.number()).describe('Of all shards together.') })
    .exactOptional()
    .describe('One shard of a comparison on several machines: `seeds` outside of it are its own.'),
  notRun: z
    .array(z.number())
    .exactOptional()
    .describe('Of shards that were merged: declared seeds that nobody ran. Their runs are unknown.'),
  configuration: z.record(z.string(), z.unknown()),
  command: z.string().describe('The command that repeats it.'),
  control: build,
  candidate: build,
  tests: z.array(
    z.looseObject({
      endpoint: z.string(),
      test: z.enum(['mcnemar-exact', 'fisher-exact']),
      controlOnly: count.describe('Discordant pairs in which only the control was anomalous.'),
      candidateOnly: count.describe('Discordant pairs in which only the candidate was anomalous.'),
      p: rate,
      adjustedP: rate.describe('After Holm’s correction; the primary endpoint is not corrected.'),
      primary: z.boolean(),
      smallestP: rate.describe('The smallest p that this number of pairs could have shown.'),
    }),
  ),
  pairs: z.array(pairSchema),
};

const comparisonResultsSchema = z
  .looseObject({
    ...oneComparison,
    realism: z
      .looseObject(oneComparison)
      .exactOptional()
      .describe(
        'The same builds and plans on real processes, where the comparison itself was simulated: never pooled with it. `valid` and `verdict` of the outer one speak of both.',
      ),
  })
  .describe('The results of a comparison of two builds.');

const nightResultsSchema = z
  .looseObject({
    schemaVersion: z.literal(1),
    type: z.literal('night'),
    valid: verdict.describe('false: a candidate broke a promise in some cell. true: in none. Else "unknown".'),
    verdict: z.string().describe('The sentence.'),
    runtime: z.string(),
    seeds: z.looseObject({ from: count, count }).describe('Declared before the first pair; the same for all cells.'),
    shard: z.looseObject({ index: count, count }).exactOptional().describe('Which part of the seeds, of how many.'),
    command: z.string().describe('The command that repeats it.'),
    budgetMs: z.number().nonnegative(),
    usedMs: z.number().nonnegative(),
    ended: z
      .enum(['all-run', 'budget', 'unfinished', 'shard-missing'])
      .describe(
        'Whether every pair was run, the budget ended before that, the night can still be resumed, or a shard of it is missing.',
      ),
    cells: z.array(
      z.looseObject({
        name: z.string().describe('builds.workload.faults, by their names in the config file.'),
        builds: z.string(),
        workload: z.string(),
        faults: z.string(),
        folder: z.string().describe('Folder of its comparison, relative to the night’s.'),
        sameBuilds: z.boolean().describe('Both sides are the same: a violation on either counts against the night.'),
        valid: verdict,
        verdict: oneComparison.verdict,
        void: oneComparison.void,
        declared: count.describe('Pairs that were declared.'),
        done: count.describe('Pairs that were run. What was not run is no run, and never counted as clean.'),
        configuration: oneComparison.configuration,
        command: oneComparison.command,
        control: build,
        candidate: build,
        tests: oneComparison.tests,
        adjustedP: rate.describe('Of the primary endpoint, after Holm’s correction over the cells.'),
        failed: z.string().exactOptional().describe('How many of its runs failed, and the first error.'),
      }),
    ),
  })
  .describe('The results of a night: a matrix of comparisons within one budget of time.');

const resultsSchema = z.discriminatedUnion('type', [runResultsSchema, comparisonResultsSchema, nightResultsSchema]);

export type AnyResults = RunResults | ComparisonResults | NightResults;

/** Checks a parsed `results.json`: the results, or in one clause what is wrong with it. */
export function parseResults(value: unknown): { readonly results: AnyResults } | { readonly flaw: string } {
  const checked = resultsSchema.safeParse(value);
  return checked.success ? { results: checked.data } : { flaw: flawOf(checked.error) };
}

/** The published JSON Schema (draft 2020-12) of `results.json`. */
export function resultsJsonSchema(): Readonly<Record<string, unknown>> {
  const { $schema, ...schema } = z.toJSONSchema(resultsSchema, { target: 'draft-2020-12', reused: 'ref' });
  return {
    $schema,
    title: 'results.json of Tidemark: of a run, of a comparison, or of a night',
    ...schema,
  };
}

/** The first thing that is wrong, in one clause: where and what. */
export function flawOf(error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue === undefined) return 'it has another shape';
  const where = issue.path.length === 0 ? 'the whole' : issue.path.map(String).join('.');
  return `${where}: ${issue.message}`;
}
