/**
 * The verdict, as it is written to `results.json`.
 *
 * `results.json` is the truth; the report, the exit code and the one sentence are drawn from it.
 * `docs/results.schema.json` is its JSON Schema; a test holds both to real results.
 *
 * Invariant: nothing here is softened. `unknown` is a verdict of its own; unknown beats true, false beats unknown.
 */
import type { Key, Value } from './history.ts';

export type Verdict = true | false | 'unknown';
/** `not-checked`: this kind of source can hold no evidence for the guarantee; it stays out of the whole. */
export type GuaranteeVerdict = Verdict | 'not-checked';

export type Guarantee =
  | 'durability'
  | 'agreement'
  | 'offsets'
  | 'visibility'
  | 'order'
  | 'transactions'
  | 'convergence';

export type AnomalyKind =
  | 'lost-acked-write'
  | 'lost-write'
  | 'log-start-moved'
  | 'replica-divergence'
  | 'two-leaders-one-epoch'
  | 'committed-overwritten'
  | 'epoch-regression'
  | 'ack-below-min-isr'
  | 'offset-moved'
  | 'ack-conflict'
  | 'inconsistent-offsets'
  | 'duplicate'
  | 'hw-regression'
  | 'phantom'
  | 'G1a'
  | 'consumer-saw-uncommitted'
  | 'precommitted-read'
  | 'G1c'
  | 'G1c-process'
  | 'G1c-realtime'
  | 'realtime-order'
  | 'nonmonotonic-send'
  | 'int-nonmonotonic-send'
  | 'nonmonotonic-poll'
  | 'int-nonmonotonic-poll'
  | 'poll-skip'
  | 'int-poll-skip'
  | 'lost-on-replica'
  | 'broker-suicide'
  | 'failed-start'
  | 'no-convergence'
  | 'malformed';

/** Where a fact stands. Whoever doubts an anomaly can look each of these up. */
export type Reference =
  | { readonly source: 'history'; readonly index: number }
  | { readonly source: 'trace'; readonly node: number | 'controller'; readonly boot: number; readonly seq: number }
  /** A line of `observations.jsonl`: `seq` counts within one boot of one node, as in a trace. */
  | {
      readonly source: 'observation';
      readonly node: number | 'controller';
      readonly boot: number;
      readonly seq: number;
    }
  | { readonly source: 'log'; readonly node: number; readonly offset: number; readonly epoch: number | null };

/** One step of a causal chain, in plain words. */
export interface WhyStep {
  readonly text: string;
  /** Nanoseconds on the run's clock, where the step has a time. */
  readonly time?: number;
  readonly references: readonly Reference[];
}

export interface Anomaly {
  readonly kind: AnomalyKind;
  /** `expected`: the configuration allows it (see `docs/verdicts.md`); shown, and fails nothing. */
  readonly class: 'violation' | 'expected';
  readonly guarantee: Guarantee;
  /** The partition, where there is one. */
  readonly key: Key | null;
  readonly offset: number | null;
  readonly values: readonly Value[];
  /** One sentence. */
  readonly summary: string;
  /** Labels such as `lost-tail` or `last-replica-standing`. */
  readonly labels: readonly string[];
  /** Brokers concerned. */
  readonly nodes: readonly number[];
  readonly evidence: readonly Reference[];
  readonly why: readonly WhyStep[];
  /** What follows from this one cause: counts by kind, with the first reference of each. */
  readonly consequences: readonly {
    readonly kind: AnomalyKind;
    readonly count: number;
    readonly summary: string;
    readonly evidence: readonly Reference[];
  }[];
}

export interface Exposure {
  readonly key: Key;
  readonly node: number;
  readonly leaderEpoch: number;
  readonly highWatermark: number;
  readonly endOffset: number;
  /** Acknowledged offsets at risk, first and last. */
  readonly acknowledged: readonly [first: number, last: number];
  readonly reference: Reference;
}

export interface FaultSummary {
  readonly fault: string;
  readonly kind: string;
  readonly nodes: Readonly<Record<string, unknown>>;
  readonly startTime: number;
  readonly endTime: number | null;
  readonly effective: boolean;
}

/** A word for what can be done or known, or why not. */
export type Able = true | { readonly not: string };

/** The brokers that were tested, where others wrote them: watched from outside, and judged by what that can show. */
export interface TargetSummary {
  /** As its user named it: `kafka:0.10.2.2`. */
  readonly name: string;
  /** What each broker said of itself, by its id. */
  readonly versions?: Readonly<Record<string, string>>;
  /** What they can do and show, as the run noted it; null where it did not. */
  readonly capabilities: Capabilities | null;
}

/** By name of the fault, the guarantee, the condition that a plan can wait for. */
export interface Capabilities {
  readonly faults: Readonly<Record<string, Able>>;
  readonly guarantees: Readonly<Record<string, Able>>;
  readonly triggers: Readonly<Record<string, Able>>;
  readonly exposures: Able;
}

/** Of one run. */
export interface RunResults {
  readonly schemaVersion: 1;
  readonly type: 'run';
  readonly valid: Verdict;
  readonly run: {
    readonly name: string;
    readonly build: string;
    readonly runtime: string;
    readonly seed: number | null;
    readonly configuration: Readonly<Record<string, unknown>>;
    /** The command that shows it again. */
    readonly command: string | null;
    /** Of a run on brokers that tell no trace. */
    readonly target?: TargetSummary;
  };
  readonly guarantees: Readonly<Record<Guarantee, GuaranteeVerdict>>;
  /** Why a guarantee is unknown or not checked, and what else a reader should know. */
  readonly notes: readonly string[];
  readonly anomalies: readonly Anomaly[];
  /** Null when it cannot be known; then `exposuresUnknown` says why. */
  readonly exposures: readonly Exposure[] | null;
  readonly exposuresUnknown?: string;
  readonly faults: readonly FaultSummary[];
  /** Figures: operations by outcome, records acknowledged, read, elections, truncations, settle time … */
  readonly measures: Readonly<Record<string, number>>;
}

/** One build's side of a comparison. */
export interface BuildResults {
  readonly build: string;
  readonly runs: number;
  readonly anomalous: number;
  readonly unknown: number;
  /** Runs with at least one exposure. */
  readonly exercised: number;
  /** Runs of which nobody knows whether they had one; absent for none. */
  readonly exercisedUnknown?: number;
  /** `anomalous / runs`. */
  readonly rate: number;
  readonly interval: { readonly method: 'wilson' | 'one-sided-zero'; readonly low: number; readonly high: number };
  /** Bounds of the rate if every unknown run was clean, or anomalous. */
  readonly bounds: { readonly allGood: number; readonly allBad: number };
  /** Violations by kind, in how many runs. */
  readonly kinds: Readonly<Record<string, number>>;
}

export interface PairResults {
  readonly seed: number;
  readonly order: readonly ['control' | 'candidate', 'control' | 'candidate'];
  readonly control: PairedRun;
  readonly candidate: PairedRun;
}

export interface PairedRun {
  /** Folder of the run, relative to the comparison's. */
  readonly directory: string;
  readonly valid: Verdict;
  readonly violations: number;
  /** Of its violations, each once, in the order of the alphabet. */
  readonly kinds?: readonly AnomalyKind[];
  readonly exposures: number | null;
  /** `false` with a reason when the harness or its environment failed. */
  readonly completed: boolean;
  readonly error?: string;
  /** The folder is not there: a simulated run can be made again, by `command`, to the byte. */
  readonly kept?: false;
  readonly command?: string;
}

export interface ComparisonTest {
  readonly endpoint: string;
  readonly test: 'mcnemar-exact' | 'fisher-exact';
  /** Discordant pairs: only the control anomalous, only the candidate anomalous. */
  readonly controlOnly: number;
  readonly candidateOnly: number;
  readonly p: number;
  /** After Holm's correction; the primary endpoint is not corrected. */
  readonly adjustedP: number;
  readonly primary: boolean;
  /** Smallest p that this number of pairs could have shown. */
  readonly smallestP: number;
}

/** Of a comparison. */
export interface ComparisonResults {
  readonly schemaVersion: 1;
  readonly type: 'comparison';
  /** `true`: the candidate kept its word. */
  readonly valid: Verdict;
  /** The sentence. */
  readonly verdict: string;
  /** True when so many runs are unknown that the comparison proves nothing. */
  readonly void: boolean;
  readonly runtime: string;
  readonly seeds: readonly number[];
  /** One shard of a comparison on several machines. `seeds` are then its own, and here are all that were declared. */
  readonly shard?: { readonly index: number; readonly count: number; readonly seeds: readonly number[] };
  /** Of shards that were merged: declared seeds that nobody ran. Their runs are unknown. */
  readonly notRun?: readonly number[];
  readonly configuration: Readonly<Record<string, unknown>>;
  readonly command: string;
  readonly control: BuildResults;
  readonly candidate: BuildResults;
  readonly tests: readonly ComparisonTest[];
  readonly pairs: readonly PairResults[];
  /**
   * The same builds and plans on real processes, where the comparison itself was simulated: never pooled with it. Its
   * folders are relative to the outer comparison's. `valid` and `verdict` of the outer one speak of both.
   */
  readonly realism?: ComparisonResults;
}

/** One cell of a night: a pair of builds under one workload and one set of faults, which is a comparison of its own. */
export interface NightCell extends Pick<
  ComparisonResults,
  'verdict' | 'void' | 'configuration' | 'command' | 'control' | 'candidate' | 'tests'
> {
  /** `builds.workload.faults`, by their names in the config file. */
  readonly name: string;
  readonly builds: string;
  readonly workload: string;
  readonly faults: string;
  /** Folder of its comparison, relative to the night's. */
  readonly folder: string;
  /** Both sides are the same: a violation on either counts against the night. */
  readonly sameBuilds: boolean;
  /** `true`: nothing that counts against the night was broken. */
  readonly valid: Verdict;
  /** Pairs declared, and pairs that were run: what was not run is no run. */
  readonly declared: number;
  readonly done: number;
  /** Of the primary endpoint, after Holm's correction over the cells. */
  readonly adjustedP: number;
  /** How many of its runs their harness or environment ended, and how the first of them; absent where none. */
  readonly failed?: string;
}

/** Of a night: a matrix of comparisons within one budget of time. */
export interface NightResults {
  readonly schemaVersion: 1;
  readonly type: 'night';
  /** False if a candidate broke a promise in any cell. */
  readonly valid: Verdict;
  /** The sentence. */
  readonly verdict: string;
  readonly runtime: string;
  /** Declared before the first pair; the same for all cells. */
  readonly seeds: { readonly from: number; readonly count: number };
  /** Which part of the seeds this was, of how many parts; absent for all. */
  readonly shard?: { readonly index: number; readonly count: number };
  readonly command: string;
  readonly budgetMs: number;
  readonly usedMs: number;
  /**
   * `all-run`: every pair that was declared; `budget`: what was left did not fit into it; `unfinished`: interrupted, or
   * still going on; `shard-missing`: put together from shards that are not all there.
   */
  readonly ended: 'all-run' | 'budget' | 'unfinished' | 'shard-missing';
  readonly cells: readonly NightCell[];
}
