/** A layout as the runtime would hand it to a target. */
import type { Layout } from '../../../docker/targets/target.ts';

export const layout: Layout = {
  brokers: [1, 2, 3],
  addressOf: (node) => `10.0.0.${10 + (node === 'controller' ? 0 : node)}`,
  settings: {
    replicationFactor: 3,
    minInsyncReplicas: 2,
    uncleanElection: false,
    replicaLagTimeMaxMs: 3_000,
    brokerSessionTimeoutMs: 2_000,
    heartbeatIntervalMs: 300,
    fetchMaxWaitMs: 500,
    highWatermarkCheckpointIntervalMs: 5_000,
  },
};
