/**
 * The producing half of a client: one record, the Produce request that carries it, and what an answer says of it.
 *
 * It stands for a producer whose every send is one request with one record and without a key, so that what a broker says
 * of the request is what it says of the record. The format follows the version that is spoken, for brokers of any age.
 *
 * Invariant: what an error code means stands in `verdicts.ts` alone; an answer that does not speak of the record leaves
 * open what became of it. Left out: batching, compression, idempotence, and every second attempt.
 */
import {
  ErrorCode,
  encodeMessageSet,
  encodeRecordSet,
  errorName,
  isMetadataStale,
} from '../../broker/protocol/index.ts';
import type { RecordSet, RequestBody, ResponseBody } from '../../broker/protocol/index.ts';
import type { ClientConfig } from './contract.ts';
import { sendCompletion, splitKey } from './operations.ts';
import type { ClientOperation, Completion } from './operations.ts';
import { sendVerdict } from './verdicts.ts';

type SendOperation = Extract<ClientOperation, { readonly f: 'send' }>;

export interface ProduceReading {
  readonly completion: Completion;
  readonly staleMetadata: boolean;
}

/** `timestampMs` is the record's wall clock time; after `timeoutMs` the broker need not wait for replicas any more. */
export function produceRequest(
  { key, value }: SendOperation,
  { acks, versions }: ClientConfig,
  timestampMs: number,
  timeoutMs: number,
): RequestBody<'Produce'> {
  const { topic, partition } = splitKey(key);
  const records = recordsOf({ key: null, value: String(value), timestampMs }, versions.Produce);
  return {
    transactionalId: null,
    acks: acks === 'all' ? -1 : acks,
    timeoutMs,
    topicData: [{ name: topic, partitionData: [{ index: partition, records }] }],
  };
}

/** How a send ended, by the answer to its request. */
export function readProduce(
  operation: SendOperation,
  { responses }: ResponseBody<'Produce'>,
  { acks }: ClientConfig,
): ProduceReading {
  const { topic, partition } = splitKey(operation.key);
  const answer = responses
    .find(({ name }) => name === topic)
    ?.partitionResponses.find(({ index }) => index === partition);
  if (answer === undefined) {
    const completion = { ...sendCompletion(operation, 'info', acks), error: 'malformed' };
    return { completion, staleMetadata: false };
  }
  const { errorCode, baseOffset } = answer;
  const outcome = sendVerdict(errorCode, acks, true);
  const ended = sendCompletion(operation, outcome, acks, baseOffset >= 0 ? baseOffset : null);
  const completion = errorCode === ErrorCode.NONE ? ended : { ...ended, error: errorName(errorCode) };
  return { completion, staleMetadata: isMetadataStale(errorCode) };
}

/** One record in the format that the version carries: record batches from 3 on (KIP-98), message sets before. */
function recordsOf(record: { key: null; value: string; timestampMs: number }, version: number): RecordSet {
  if (version >= 3) return encodeRecordSet({ records: [record] });
  return { batches: [], bytes: encodeMessageSet([record]) };
}
