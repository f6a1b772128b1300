/**
 * The configuration of one run, resolved: every default filled in, nothing left to the environment.
 *
 * It is stored in `run.json`, so that a run can be repeated and a checker knows what was promised. Flags are parsed
 * and checked in `harness/cli`; here stand only the shape and the defaults.
 */

import { faultKinds } from '../../nemesis/faults/index.ts';
import type { Awaited } from '../../nemesis/awaited.ts';
import type { PlanPatience } from '../../nemesis/plan.ts';
import type { FaultKind } from '../../nemesis/schedule.ts';

export interface RunConfig {
  /** A build for all brokers (`hw`), or one for each (`1=hw,2-3=epoch`). */
  readonly build: string;
  readonly defects: readonly string[];
  /** The file that describes the brokers of an `image:<ref>`. */
  readonly description?: string;
  readonly runtime: 'sim' | 'local' | 'docker';
  readonly seed: number;
  readonly brokers: number;
  readonly replicationFactor: number;
  readonly minInsyncReplicas: number;
  readonly uncleanElection: boolean;
  readonly acks: 'all' | 0 | 1;
  readonly topic: string;
  readonly partitions: number;
  /** Operations per second, over all processes. */
  readonly rate: number;
  /** Processes: each has one operation under way at a time. */
  readonly concurrency: number;
  /** How long load and faults last. */
  readonly timeLimitMs: number;
  readonly settleTimeoutMs: number;
  /** Deadline of a client's operation; it closes the connection. */
  readonly clientTimeoutMs: number;
  readonly nemesis: readonly FaultKind[];
  /** How often each kind is drawn beside the others; without them all alike. */
  readonly nemesisWeights?: Readonly<Partial<Record<FaultKind, number>>>;
  /** What no fault waits for, since brokers that take part do not show it; without it a fault may wait for anything. */
  readonly notAwaited?: readonly Awaited[];
  /** Mean time between the starts of two faults. */
  readonly nemesisIntervalMs: number;
  readonly replicaLagTimeMaxMs: number;
  readonly brokerSessionTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
  readonly fetchMaxWaitMs: number;
  readonly highWatermarkCheckpointIntervalMs: number;
  readonly leaveRunning: boolean;
  /** How much time plan and harness leave brokers that are slower than ours; without it, what ours need. */
  readonly patience?: PlanPatience;
}

export const defaultRunConfig: Omit<RunConfig, 'build' | 'runtime' | 'seed'> = {
  defects: [],
  brokers: 3,
  replicationFactor: 3,
  minInsyncReplicas: 2,
  uncleanElection: false,
  acks: 'all',
  topic: 'tide',
  partitions: 8,
  rate: 100,
  concurrency: 8,
  timeLimitMs: 12_000,
  settleTimeoutMs: 30_000,
  clientTimeoutMs: 1_000,
  nemesis: ['partition', 'pause', 'crash', 'power-loss', 'leader-move', 'handover-crash'],
  nemesisIntervalMs: 3_000,
  replicaLagTimeMaxMs: 2_000,
  brokerSessionTimeoutMs: 1_500,
  heartbeatIntervalMs: 300,
  fetchMaxWaitMs: 500,
  highWatermarkCheckpointIntervalMs: 5_000,
  leaveRunning: false,
};

/**
 * What is different where brokers that others wrote take part, on either side of a comparison: times that suit them, and
 * no loss of power, which nobody can bring about without knowing what a broker has flushed.
 */
export const foreignRunConfig: typeof defaultRunConfig = {
  ...defaultRunConfig,
  timeLimitMs: 24_000,
  settleTimeoutMs: 60_000,
  nemesis: defaultRunConfig.nemesis.filter((kind) => kind !== 'power-loss'),
  nemesisIntervalMs: 6_000,
  replicaLagTimeMaxMs: 3_000,
  brokerSessionTimeoutMs: 2_000,
  // A Java process starts in three seconds on a quiet machine, and what is in sync is told up to six seconds late.
  // A leader of theirs moves by a new order of its replicas and an election, which takes half a second.
  patience: { recoveryMs: 8_000, electionMs: 3_000, slowMoves: true },
};

/** The topic of a run: a cluster of foreign brokers serves several, so there it is named after the seed. */
export function topicOf(seed: number, besideForeign: boolean): string {
  return besideForeign ? `${defaultRunConfig.topic}-${seed}` : defaultRunConfig.topic;
}

/** Which kinds of fault each runtime can bring about. A plan of the default kinds is the same for all of them. */
export const faultKindsOf: Readonly<Record<RunConfig['runtime'], readonly FaultKind[]>> = {
  sim: faultKinds,
  local: faultKinds.filter((kind) => !needsSlowLinks(kind)),
  docker: faultKinds.filter((kind) => !needsSlowLinks(kind)),
};

function needsSlowLinks(kind: FaultKind): boolean {
  return kind === 'slow-links' || kind === 'rejoin-crash';
}

/** Which kinds of fault any cluster of foreign brokers can be given, as far as its target does not say otherwise. */
export const foreignFaultKinds: readonly FaultKind[] = faultKindsOf.docker.filter((kind) => kind !== 'power-loss');
