/**
 * What a scenario may set, under Kafka's names.
 *
 * The defaults are the product's, but for two: the high watermark file is written only when a step says so, and nobody
 * is called lagging before ten seconds. So a schedule is disturbed by no timer that it does not mention.
 */
import type { ClusterSettings } from '../../broker/core/settings.ts';

export type ScenarioSettings = ClusterSettings;

export const scenarioDefaults: ScenarioSettings = {
  replicaLagTimeMaxMs: 10_000,
  brokerSessionTimeoutMs: 1_500,
  heartbeatIntervalMs: 300,
  fetchMaxWaitMs: 500,
  highWatermarkCheckpointIntervalMs: 3_600_000,
  minInsyncReplicas: 2,
  uncleanElection: false,
};

const numbers: Readonly<Record<string, keyof ClusterSettings>> = {
  'replica.lag.time.max.ms': 'replicaLagTimeMaxMs',
  'broker.session.timeout.ms': 'brokerSessionTimeoutMs',
  'broker.heartbeat.interval.ms': 'heartbeatIntervalMs',
  'replica.fetch.wait.max.ms': 'fetchMaxWaitMs',
  'replica.high.watermark.checkpoint.interval.ms': 'highWatermarkCheckpointIntervalMs',
  'min.insync.replicas': 'minInsyncReplicas',
};
const UNCLEAN_ELECTION = 'unclean.leader.election.enable';

export const settingUsages: readonly string[] = [...Object.keys(numbers), UNCLEAN_ELECTION];

/** The settings with one changed, or null where there is no such setting or value. */
export function parseSetting(settings: ScenarioSettings, name: string, value: string): ScenarioSettings | null {
  if (name === UNCLEAN_ELECTION) {
    return value === 'true' || value === 'false' ? { ...settings, uncleanElection: value === 'true' } : null;
  }
  const key = Object.hasOwn(numbers, name) ? numbers[name] : undefined;
  if (key === undefined || !/^[1-9]\d{0,8}$/.test(value)) return null;
  return { ...settings, [key]: Number(value) };
}
