/**
 * What an error means for the history: did the operation happen (`ok`), certainly not (`fail`), or does nobody know
 * (`info`)?
 *
 * Everything that a checker concludes rests on this table, so it stands here as data, and each row has a test. The
 * question is never "did it work" but "can the record be in a log now, or appear in one later". An error that was
 * decided before the append is a `fail`; one that may come after the append is an `info`; and whatever we do not know
 * is an `info` too, because a wrong `fail` is a false alarm (G1a) and a wrong `info` costs only evidence.
 *
 * Sources: the classification of Kafka's error codes for a single attempt without retries; DelayedProduce, which
 * answers NOT_LEADER_OR_FOLLOWER for records that it has appended (KAFKA-13574, "surprisingly, not a definite failure").
 */
import { ErrorCode } from '../../broker/protocol/index.ts';
import type { ErrorName } from '../../broker/protocol/index.ts';

export type Acks = 'all' | 0 | 1;
export type Outcome = 'ok' | 'fail' | 'info';

/** What the client itself sees go wrong, beside the errors that a broker answers. Written as such in the history. */
export type LocalError =
  /** The deadline of the operation passed. */
  | 'timeout'
  /** The connection ended while the request was under way. */
  | 'disconnect'
  /** No connection could be opened. */
  | 'connection-refused'
  /** The answer could not be understood: no frame, no response of this API, an offset above 2^53−1. */
  | 'malformed'
  /** The answer held record batches that are not whole or whose checksum is wrong. */
  | 'corrupt';

interface Row {
  readonly errors: readonly ErrorName[];
  readonly acksAll: Outcome;
  readonly acksOneOrZero: Outcome;
  readonly because: string;
}

/** The verdict on one produce request, by the error that a broker answered. A code in no row is `info`. */
export const produceVerdicts: readonly Row[] = [
  { errors: ['NONE'], acksAll: 'ok', acksOneOrZero: 'ok', because: 'acknowledged' },
  {
    errors: ['DUPLICATE_SEQUENCE_NUMBER'],
    acksAll: 'ok',
    acksOneOrZero: 'ok',
    because: 'already in the log, at an offset that is not told',
  },
  {
    errors: ['NOT_LEADER_OR_FOLLOWER'],
    acksAll: 'info',
    acksOneOrZero: 'fail',
    because: 'before the append, or after it when the leadership is lost while the request waits for the ISR',
  },
  {
    errors: ['UNKNOWN_TOPIC_OR_PARTITION'],
    acksAll: 'info',
    acksOneOrZero: 'fail',
    because: 'before the append, or the replica was stopped while the request waited',
  },
  {
    errors: ['NOT_ENOUGH_REPLICAS_AFTER_APPEND', 'REQUEST_TIMED_OUT'],
    acksAll: 'info',
    acksOneOrZero: 'info',
    because: 'appended, and perhaps committed',
  },
  {
    errors: ['UNKNOWN_SERVER_ERROR', 'NETWORK_EXCEPTION', 'KAFKA_STORAGE_ERROR'],
    acksAll: 'info',
    acksOneOrZero: 'info',
    because: 'perhaps written in part',
  },
  {
    errors: ['NOT_ENOUGH_REPLICAS'],
    acksAll: 'fail',
    acksOneOrZero: 'fail',
    because: 'refused before the append',
  },
  {
    errors: [
      'CORRUPT_MESSAGE',
      'MESSAGE_TOO_LARGE',
      'RECORD_LIST_TOO_LARGE',
      'INVALID_REQUIRED_ACKS',
      'INVALID_TIMESTAMP',
      'UNSUPPORTED_FOR_MESSAGE_FORMAT',
      'POLICY_VIOLATION',
      'UNSUPPORTED_COMPRESSION_TYPE',
      'INVALID_RECORD',
    ],
    acksAll: 'fail',
    acksOneOrZero: 'fail',
    because: 'the records were looked at and refused',
  },
  {
    errors: ['TOPIC_AUTHORIZATION_FAILED', 'CLUSTER_AUTHORIZATION_FAILED', 'TRANSACTIONAL_ID_AUTHORIZATION_FAILED'],
    acksAll: 'fail',
    acksOneOrZero: 'fail',
    because: 'not allowed',
  },
  {
    errors: [
      'OUT_OF_ORDER_SEQUENCE_NUMBER',
      'UNKNOWN_PRODUCER_ID',
      'INVALID_PRODUCER_EPOCH',
      'PRODUCER_FENCED',
      'INVALID_TXN_STATE',
      'CONCURRENT_TRANSACTIONS',
      'TRANSACTION_ABORTABLE',
    ],
    acksAll: 'fail',
    acksOneOrZero: 'fail',
    because: 'this attempt was not appended, and there is no other',
  },
  {
    errors: [
      'LEADER_NOT_AVAILABLE',
      'BROKER_NOT_AVAILABLE',
      'REPLICA_NOT_AVAILABLE',
      'COORDINATOR_LOAD_IN_PROGRESS',
      'COORDINATOR_NOT_AVAILABLE',
      'NOT_COORDINATOR',
    ],
    acksAll: 'fail',
    acksOneOrZero: 'fail',
    because: 'nobody was there to write anything',
  },
];

const rowOf = new Map(produceVerdicts.flatMap((row) => row.errors.map((name) => [ErrorCode[name] as number, row])));

/** The verdict on a send: by the error code of the answer, or by what the client saw instead of one. */
export function sendVerdict(error: number | LocalError, acks: Acks, written: boolean): Outcome {
  if (!written) return 'fail';
  if (typeof error !== 'number') return 'info';
  const row = rowOf.get(error);
  if (row === undefined) return 'info';
  return acks === 'all' ? row.acksAll : row.acksOneOrZero;
}

/** The verdict on a poll. A read changes nothing, so a broker's refusal is a `fail`; silence and nonsense are `info`. */
export function pollVerdict(error: number | LocalError, written: boolean): Outcome {
  if (typeof error === 'number') return error === ErrorCode.NONE ? 'ok' : 'fail';
  return written ? 'info' : 'fail';
}
