/**
 * CreateTopics (key 19). A topic has either numbers of partitions and replicas or an assignment, and −1 in both numbers
 * then; from version 4 on −1 without an assignment means the defaults of the cluster (KIP-464).
 */
import { api, array, bool, field, int16, int32, string, struct } from '../schema.ts';

export const createTopics = api({
  key: 19,
  minVersion: 0,
  maxVersion: 4,
  flexibleSince: 5,
  advertised: { minVersion: 0, maxVersion: 4 },
  request: struct({
    topics: array(
      struct({
        name: string,
        numPartitions: int32,
        replicationFactor: int16,
        assignments: array(struct({ partitionIndex: int32, brokerIds: array(int32) })),
        configs: array(struct({ name: string, value: field(string, { nullableSince: 0 }) })),
      }),
    ),
    timeoutMs: field(int32, { default: 60_000 }),
    validateOnly: field(bool, { since: 1 }),
  }),
  response: struct({
    throttleTimeMs: field(int32, { since: 2 }),
    topics: array(
      struct({
        name: string,
        errorCode: int16,
        errorMessage: field(string, { since: 1, nullableSince: 0, default: null }),
      }),
    ),
  }),
});
