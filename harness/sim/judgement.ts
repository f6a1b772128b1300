/**
 * What a play or a simulated run is judged by, and how the judgement looks from here.
 *
 * The simulator may not know the checker, so whoever plays hands a judge in: `harness/check/judge.ts` has them. The
 * shapes below are as much of the checker's results as a scenario speaks of.
 */
import type { Operation } from '../../checker/history.ts';
import type { TraceLine } from '../../broker/core/trace.ts';
import type { SimulatedReplica } from './simulation.ts';
import type { ScenarioSettings } from './scenario-settings.ts';

/** What a play leaves for the checker. */
export interface PlayEvidence {
  readonly name: string;
  readonly build: string;
  readonly defects: readonly string[];
  readonly brokers: number;
  readonly settings: ScenarioSettings;
  readonly history: readonly Operation[];
  /** Its messages are named by the processes of the history. */
  readonly trace: readonly TraceLine[];
  readonly replicas: readonly SimulatedReplica[];
  /** Null: the scenario ends before the cluster is at rest. False: it had its time, and did not come to rest. */
  readonly settled: boolean | null;
  readonly finalLeaders: Readonly<Record<string, number>>;
}

/** One anomaly, as `checker/results.ts` defines it. */
export interface JudgedAnomaly {
  readonly kind: string;
  readonly class: 'violation' | 'expected';
  readonly key: string | null;
  readonly offset: number | null;
  readonly values: readonly (number | string)[];
  readonly labels: readonly string[];
  readonly summary: string;
  readonly consequences: readonly { readonly kind: string }[];
}

export interface Judgement {
  readonly valid: true | false | 'unknown';
  readonly anomalies: readonly JudgedAnomaly[];
  readonly notes: readonly string[];
}

export type PlayJudge = (evidence: PlayEvidence) => Judgement;
