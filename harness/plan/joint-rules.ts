/**
 * The rules that bind several numbers of a configuration, wherever it comes from: flags, a stored plan, the scenario of a
 * run, the draws of a search.
 *
 * A cluster that breaks one of them fails without a fault: nothing is ever acknowledged, healthy brokers are fenced, or
 * settling ends before a healthy cluster can rest, and a build would be blamed for it. Each rule is one clause with its
 * remedy, in the names that whoever wrote the configuration knows.
 */
import type { FaultKind } from '../../nemesis/schedule.ts';
import type { RunConfig } from './config.ts';

/** What the rules bind. */
type JointlyBound = Pick<
  RunConfig,
  | 'brokers'
  | 'replicationFactor'
  | 'minInsyncReplicas'
  | 'settleTimeoutMs'
  | 'replicaLagTimeMaxMs'
  | 'brokerSessionTimeoutMs'
  | 'heartbeatIntervalMs'
  | 'fetchMaxWaitMs'
>;

/** What each of them is called where it was written. */
export type JointNames = Readonly<Record<keyof JointlyBound, string>>;

/** The first rule that is broken; null where none is. Without names each field is called as it is. */
export function jointFlawOf(config: JointlyBound, names?: JointNames): string | null {
  const { brokers, replicationFactor, minInsyncReplicas } = config;
  const called = (field: keyof JointlyBound): string => names?.[field] ?? field;
  const ms = (field: keyof JointlyBound): string => `${called(field)} ${config[field]}ms`;
  if (replicationFactor > brokers) {
    return `${called('replicationFactor')} ${replicationFactor} needs as many brokers: lower it, or raise ${called('brokers')} (now ${brokers})`;
  }
  if (minInsyncReplicas > replicationFactor) {
    return `${called('minInsyncReplicas')} ${minInsyncReplicas} exceeds ${called('replicationFactor')} ${replicationFactor}: no write could ever be acknowledged`;
  }
  if (config.brokerSessionTimeoutMs < 2 * config.heartbeatIntervalMs) {
    return `${ms('brokerSessionTimeoutMs')} must be at least twice ${ms('heartbeatIntervalMs')}`;
  }
  const shortest = shortestSettlingMs(config);
  if (config.settleTimeoutMs < shortest) {
    return `${ms('settleTimeoutMs')} is less than a healthy cluster may need after a fault: give it ${shortest}ms at least`;
  }
  if (config.replicaLagTimeMaxMs < 2 * config.fetchMaxWaitMs) {
    return `${ms('replicaLagTimeMaxMs')} must be at least twice ${ms('fetchMaxWaitMs')}, or healthy followers leave the ISR`;
  }
  return null;
}

/** What a healthy cluster may need after a fault, until followers are back in the ISR and everything rests. */
export function shortestSettlingMs(
  config: Pick<RunConfig, 'brokerSessionTimeoutMs' | 'replicaLagTimeMaxMs' | 'fetchMaxWaitMs'>,
): number {
  return config.brokerSessionTimeoutMs + config.replicaLagTimeMaxMs + 4 * config.fetchMaxWaitMs;
}

/** The replicas that the roles of a kind of fault take, where that is a rule. */
export function leastReplicasFor(kinds: readonly FaultKind[]): number {
  return kinds.includes('rejoin-crash') ? 3 : 1;
}
