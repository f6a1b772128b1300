/**
 * AlterPartitionReassignments (key 45): other replicas for a partition, or the same in another order, of which the
 * first is the preferred leader (KIP-455). Null replicas cancel what is under way. Our own brokers do not serve it: it
 * is how leaders of other people's brokers are moved.
 */
import { api, array, bool, field, int16, int32, string, struct } from '../schema.ts';

export const alterPartitionReassignments = api({
  key: 45,
  minVersion: 0,
  maxVersion: 1,
  flexibleSince: 0,
  advertised: null,
  request: struct({
    timeoutMs: field(int32, { default: 60_000 }),
    allowReplicationFactorChange: field(bool, { since: 1, default: true }),
    topics: array(
      struct({
        name: string,
        partitions: array(
          struct({ partitionIndex: int32, replicas: field(array(int32), { nullableSince: 0, default: null }) }),
        ),
      }),
    ),
  }),
  response: struct({
    throttleTimeMs: int32,
    allowReplicationFactorChange: field(bool, { since: 1, default: true }),
    errorCode: int16,
    errorMessage: field(string, { nullableSince: 0 }),
    responses: array(
      struct({
        name: string,
        partitions: array(
          struct({ partitionIndex: int32, errorCode: int16, errorMessage: field(string, { nullableSince: 0 }) }),
        ),
      }),
    ),
  }),
});
