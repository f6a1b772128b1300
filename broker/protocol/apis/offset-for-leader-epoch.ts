/**
 * OffsetForLeaderEpoch (key 23): where does the leader's log of this epoch end? The question of KIP-101; version 1 adds
 * the epoch to the answer (KIP-279), 2 the leader epoch that fences (KIP-320), 3 the asker, 4 is flexible.
 */
import { api, array, field, int16, int32, int64, string, struct } from '../schema.ts';

export const offsetForLeaderEpoch = api({
  key: 23,
  minVersion: 0,
  maxVersion: 4,
  flexibleSince: 4,
  advertised: { minVersion: 0, maxVersion: 4 },
  request: struct({
    // −2 is a follower of a version that did not say who it is: it may see offsets above the high watermark.
    replicaId: field(int32, { since: 3, default: -2 }),
    topics: array(
      struct({
        topic: string,
        partitions: array(
          struct({
            partition: int32,
            currentLeaderEpoch: field(int32, { since: 2, default: -1 }),
            leaderEpoch: int32,
          }),
        ),
      }),
    ),
  }),
  response: struct({
    throttleTimeMs: field(int32, { since: 2 }),
    topics: array(
      struct({
        topic: string,
        partitions: array(
          struct({
            errorCode: int16,
            partition: int32,
            leaderEpoch: field(int32, { since: 1, default: -1 }),
            endOffset: field(int64, { default: -1 }),
          }),
        ),
      }),
    ),
  }),
});
