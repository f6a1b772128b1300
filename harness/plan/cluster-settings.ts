/**
 * What brokers and controller are told, out of a run's configuration: the same in every runtime.
 */
import type { ClusterSettings } from '../../broker/core/settings.ts';
import type { RunConfig } from './config.ts';

export function clusterSettingsOf(config: Pick<RunConfig, keyof ClusterSettings>): ClusterSettings {
  return {
    replicaLagTimeMaxMs: config.replicaLagTimeMaxMs,
    brokerSessionTimeoutMs: config.brokerSessionTimeoutMs,
    heartbeatIntervalMs: config.heartbeatIntervalMs,
    fetchMaxWaitMs: config.fetchMaxWaitMs,
    highWatermarkCheckpointIntervalMs: config.highWatermarkCheckpointIntervalMs,
    minInsyncReplicas: config.minInsyncReplicas,
    uncleanElection: config.uncleanElection,
  };
}
