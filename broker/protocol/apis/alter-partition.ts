/**
 * AlterPartition (key 56), from a leader to the controller: the ISR that it wants (KIP-497). The answer holds the state
 * that the controller committed. Version 1 adds the recovery state (KIP-704); topic ids begin with 2.
 */
import { api, array, field, int16, int32, int64, int8, string, struct } from '../schema.ts';

export const alterPartition = api({
  key: 56,
  minVersion: 0,
  maxVersion: 1,
  flexibleSince: 0,
  advertised: null,
  request: struct({
    brokerId: int32,
    brokerEpoch: field(int64, { default: -1 }),
    topics: array(
      struct({
        topicName: string,
        partitions: array(
          struct({
            partitionIndex: int32,
            leaderEpoch: int32,
            newIsr: array(int32),
            leaderRecoveryState: field(int8, { since: 1 }),
            partitionEpoch: int32,
          }),
        ),
      }),
    ),
  }),
  response: struct({
    throttleTimeMs: int32,
    errorCode: int16,
    topics: array(
      struct({
        topicName: string,
        partitions: array(
          struct({
            partitionIndex: int32,
            errorCode: int16,
            leaderId: int32,
            leaderEpoch: int32,
            isr: array(int32),
            leaderRecoveryState: field(int8, { since: 1 }),
            partitionEpoch: int32,
          }),
        ),
      }),
    ),
  }),
});
