/**
 * DescribeQuorum (key 55): who leads the quorum of KRaft controllers, and how far its members are (KIP-595, KIP-836,
 * KIP-853). Our own brokers have no such quorum and do not serve it.
 */
import { api, array, field, int16, int32, int64, string, struct, uint16, uuid } from '../schema.ts';

const replicaStates = array(
  struct({
    replicaId: int32,
    replicaDirectoryId: field(uuid, { since: 2 }),
    logEndOffset: int64,
    lastFetchTimestamp: field(int64, { since: 1, default: -1 }),
    lastCaughtUpTimestamp: field(int64, { since: 1, default: -1 }),
  }),
);

export const describeQuorum = api({
  key: 55,
  minVersion: 0,
  maxVersion: 2,
  flexibleSince: 0,
  advertised: null,
  request: struct({
    topics: array(struct({ topicName: string, partitions: array(struct({ partitionIndex: int32 })) })),
  }),
  response: struct({
    errorCode: int16,
    errorMessage: field(string, { since: 2, nullableSince: 2, default: null }),
    topics: array(
      struct({
        topicName: string,
        partitions: array(
          struct({
            partitionIndex: int32,
            errorCode: int16,
            errorMessage: field(string, { since: 2, nullableSince: 2, default: null }),
            leaderId: int32,
            leaderEpoch: int32,
            highWatermark: int64,
            currentVoters: replicaStates,
            observers: replicaStates,
          }),
        ),
      }),
    ),
    nodes: field(
      array(struct({ nodeId: int32, listeners: array(struct({ name: string, host: string, port: uint16 })) })),
      { since: 2 },
    ),
  }),
});
