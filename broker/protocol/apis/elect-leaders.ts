/**
 * ElectLeaders (key 43): type 0 elects the preferred replica (KIP-183), type 1 an unclean leader where no member of the
 * ISR is left (KIP-460). Null stands for all partitions.
 */
import { api, array, field, int16, int32, int8, string, struct } from '../schema.ts';

export const electLeaders = api({
  key: 43,
  minVersion: 0,
  maxVersion: 2,
  flexibleSince: 2,
  advertised: { minVersion: 0, maxVersion: 2 },
  request: struct({
    electionType: field(int8, { since: 1 }),
    topicPartitions: field(array(struct({ topic: string, partitions: array(int32) })), { nullableSince: 0 }),
    timeoutMs: field(int32, { default: 60_000 }),
  }),
  response: struct({
    throttleTimeMs: int32,
    errorCode: field(int16, { since: 1 }),
    replicaElectionResults: array(
      struct({
        topic: string,
        partitionResult: array(
          struct({
            partitionId: int32,
            errorCode: int16,
            errorMessage: field(string, { nullableSince: 0 }),
          }),
        ),
      }),
    ),
  }),
});
