/**
 * Metadata (key 3). All topics are asked for with null; in version 0, which knows no null, with an empty list. Version 7
 * adds leader epochs (KIP-320), 8 authorized operations (KIP-430), 9 is flexible. Topic ids begin with 10.
 */
import { api, array, bool, field, int16, int32, string, struct } from '../schema.ts';

/** Says that authorized operations were not asked for. */
const operationsOmitted = -0x8000_0000;

export const metadata = api({
  key: 3,
  minVersion: 0,
  maxVersion: 9,
  flexibleSince: 9,
  advertised: { minVersion: 0, maxVersion: 9 },
  request: struct({
    topics: field(array(struct({ name: string })), { nullableSince: 1 }),
    allowAutoTopicCreation: field(bool, { since: 4, default: true }),
    includeClusterAuthorizedOperations: field(bool, { since: 8 }),
    includeTopicAuthorizedOperations: field(bool, { since: 8 }),
  }),
  response: struct({
    throttleTimeMs: field(int32, { since: 3 }),
    brokers: array(
      struct({
        nodeId: int32,
        host: string,
        port: int32,
        rack: field(string, { since: 1, nullableSince: 1, default: null }),
      }),
    ),
    clusterId: field(string, { since: 2, nullableSince: 2, default: null }),
    controllerId: field(int32, { since: 1, default: -1 }),
    topics: array(
      struct({
        errorCode: int16,
        name: string,
        isInternal: field(bool, { since: 1 }),
        partitions: array(
          struct({
            errorCode: int16,
            partitionIndex: int32,
            leaderId: int32,
            leaderEpoch: field(int32, { since: 7, default: -1 }),
            replicaNodes: array(int32),
            isrNodes: array(int32),
            offlineReplicas: field(array(int32), { since: 5 }),
          }),
        ),
        topicAuthorizedOperations: field(int32, { since: 8, default: operationsOmitted }),
      }),
    ),
    clusterAuthorizedOperations: field(int32, { since: 8, default: operationsOmitted }),
  }),
});
