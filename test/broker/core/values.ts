/**
 * What tests of the broker core put in: batches, a fetch, the configuration of a broker.
 *
 * Everything is one partition, `t-0`, and times are those of the design's defaults. A batch has no bytes: its checksum is
 * its value, by which a test knows it again wherever it turns up.
 */
import type { BrokerConfig } from '../../../broker/core/settings.ts';
import type { BatchInfo, RecordSet, RequestBody } from '../../../broker/protocol/index.ts';

export const nsPerMs = 1_000_000;

/** What a broker is started with, beside its number and its build. */
export interface BrokerOptions {
  readonly defects?: readonly string[];
  readonly minInsyncReplicas?: number;
}

/** A batch of `count` records whose first value is `value`; its checksum is the value, so that it can be told apart. */
export function batch(of: {
  value: number;
  base?: number;
  count?: number;
  epoch?: number;
  sizeBytes?: number;
}): BatchInfo {
  const { value, base = 0, count = 1, epoch = -1, sizeBytes = 100 } = of;
  return {
    baseOffset: base,
    lastOffset: base + count - 1,
    leaderEpoch: epoch,
    recordCount: count,
    sizeBytes,
    crc: value,
    attributes: 0,
    maxTimestampMs: 0,
    producerId: -1,
    producerEpoch: -1,
    baseSequence: -1,
  };
}

export function recordSet(batches: readonly BatchInfo[]): RecordSet {
  return { batches, bytes: new Uint8Array(batches.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)) };
}

export function fetchBody(replicaId: number, fetchOffset: number, maxWaitMs: number, epoch = -1): RequestBody<'Fetch'> {
  const partitionMaxBytes = 1_000_000;
  return {
    replicaId,
    maxWaitMs,
    minBytes: 1,
    maxBytes: 10_000_000,
    isolationLevel: 0,
    sessionId: 0,
    sessionEpoch: -1,
    topics: [
      {
        topic: 't',
        partitions: [{ partition: 0, currentLeaderEpoch: epoch, fetchOffset, logStartOffset: 0, partitionMaxBytes }],
      },
    ],
    forgottenTopicsData: [],
    rackId: '',
  };
}

export function configOf(node: number, build: string, options: BrokerOptions = {}): BrokerConfig {
  return {
    node,
    boot: 1,
    build,
    defects: options.defects ?? [],
    clusterId: 'test',
    advertised: { host: `host-${node}`, port: 9092 },
    controller: { host: 'controller', port: 9093 },
    replicaLagTimeMaxMs: 2_000,
    brokerSessionTimeoutMs: 1_500,
    heartbeatIntervalMs: 300,
    fetchMaxWaitMs: 500,
    highWatermarkCheckpointIntervalMs: 5_000,
    minInsyncReplicas: options.minInsyncReplicas ?? 2,
    uncleanElection: false,
  };
}
