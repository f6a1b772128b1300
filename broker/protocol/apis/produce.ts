/**
 * Produce (key 0). Version 3 is the first that carries record batches v2 (KIP-98); the bodies of 0 to 2 hold message
 * sets, which our client writes for brokers that know nothing else (up to 0.10.2), and which our own broker refuses. It
 * advertises them all the same: librdkafka before 2.11 sends uncompressed otherwise (KAFKA-18659), as Kafka 4 does.
 *
 * A request with acks=0 gets no answer.
 */
import { api, array, field, int16, int32, int64, records, string, struct } from '../schema.ts';

export const produce = api({
  key: 0,
  minVersion: 2,
  maxVersion: 7,
  flexibleSince: 9,
  served: { minVersion: 3, maxVersion: 7 },
  advertised: { minVersion: 0, maxVersion: 7 },
  request: struct({
    transactionalId: field(string, { since: 3, nullableSince: 3, default: null }),
    acks: int16,
    timeoutMs: int32,
    topicData: array(
      struct({
        name: string,
        partitionData: array(struct({ index: int32, records: field(records, { nullableSince: 0, default: null }) })),
      }),
    ),
  }),
  response: struct({
    responses: array(
      struct({
        name: string,
        partitionResponses: array(
          struct({
            index: int32,
            errorCode: int16,
            baseOffset: int64,
            logAppendTimeMs: field(int64, { since: 2, default: -1 }),
            logStartOffset: field(int64, { since: 5, default: -1 }),
          }),
        ),
      }),
    ),
    throttleTimeMs: field(int32, { since: 1 }),
  }),
});
