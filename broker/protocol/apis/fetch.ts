/**
 * Fetch (key 1), for consumers (replica −1) and followers alike. Version 4 is the first with record batches v2, 5 adds
 * the log start offset, 7 fetch sessions (KIP-227), 9 the leader epoch that fences (KIP-320), 10 allows zstd (KIP-110),
 * 11 reads from followers (KIP-392). Versions 2 and 3 are answered with message sets, by brokers up to 0.10.2; our own
 * broker serves from 4 on, and advertises the older ones only for clients that look at the minimum.
 */
import { api, array, field, int16, int32, int64, int8, records, string, struct } from '../schema.ts';

export const fetch = api({
  key: 1,
  minVersion: 2,
  maxVersion: 11,
  flexibleSince: 12,
  served: { minVersion: 4, maxVersion: 11 },
  advertised: { minVersion: 0, maxVersion: 11 },
  request: struct({
    replicaId: field(int32, { default: -1 }),
    maxWaitMs: int32,
    minBytes: int32,
    maxBytes: field(int32, { since: 3, default: 0x7fff_ffff }),
    isolationLevel: field(int8, { since: 4 }),
    sessionId: field(int32, { since: 7 }),
    sessionEpoch: field(int32, { since: 7, default: -1 }),
    topics: array(
      struct({
        topic: string,
        partitions: array(
          struct({
            partition: int32,
            currentLeaderEpoch: field(int32, { since: 9, default: -1 }),
            fetchOffset: int64,
            logStartOffset: field(int64, { since: 5, default: -1 }),
            partitionMaxBytes: int32,
          }),
        ),
      }),
    ),
    forgottenTopicsData: field(array(struct({ topic: string, partitions: array(int32) })), { since: 7 }),
    rackId: field(string, { since: 11 }),
  }),
  response: struct({
    throttleTimeMs: field(int32, { since: 1 }),
    errorCode: field(int16, { since: 7 }),
    sessionId: field(int32, { since: 7 }),
    responses: array(
      struct({
        topic: string,
        partitions: array(
          struct({
            partitionIndex: int32,
            errorCode: int16,
            highWatermark: int64,
            lastStableOffset: field(int64, { since: 4, default: -1 }),
            logStartOffset: field(int64, { since: 5, default: -1 }),
            abortedTransactions: field(array(struct({ producerId: int64, firstOffset: int64 })), {
              since: 4,
              nullableSince: 4,
              default: null,
            }),
            preferredReadReplica: field(int32, { since: 11, default: -1 }),
            records: field(records, { nullableSince: 0, default: null }),
          }),
        ),
      }),
    ),
  }),
});
