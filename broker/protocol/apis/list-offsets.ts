/**
 * ListOffsets (key 2). Timestamp −1 asks for the latest offset (the high watermark, or the last stable offset under
 * read_committed), −2 for the earliest. Version 4 adds the leader epoch (KIP-320), 5 the error OFFSET_NOT_AVAILABLE
 * (KIP-207). Version 0, which answers with a list of segment starts, is advertised but not spoken.
 */
import { api, array, field, int16, int32, int64, int8, string, struct } from '../schema.ts';

export const listOffsets = api({
  key: 2,
  minVersion: 1,
  maxVersion: 6,
  flexibleSince: 6,
  advertised: { minVersion: 0, maxVersion: 5 },
  request: struct({
    replicaId: field(int32, { default: -1 }),
    isolationLevel: field(int8, { since: 2 }),
    topics: array(
      struct({
        name: string,
        partitions: array(
          struct({
            partitionIndex: int32,
            currentLeaderEpoch: field(int32, { since: 4, default: -1 }),
            timestamp: int64,
          }),
        ),
      }),
    ),
  }),
  response: struct({
    throttleTimeMs: field(int32, { since: 2 }),
    topics: array(
      struct({
        name: string,
        partitions: array(
          struct({
            partitionIndex: int32,
            errorCode: int16,
            timestamp: field(int64, { since: 1, default: -1 }),
            offset: field(int64, { since: 1, default: -1 }),
            leaderEpoch: field(int32, { since: 4, default: -1 }),
          }),
        ),
      }),
    ),
  }),
});
