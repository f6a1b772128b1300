import { describe, expect, it } from 'vitest';
import { ErrorCode } from '../../../broker/protocol/index.ts';
import type { ErrorName } from '../../../broker/protocol/index.ts';
import type { Outcome } from '../../../harness/client/verdicts.ts';
import { pollVerdict, produceVerdicts, sendVerdict } from '../../../harness/client/verdicts.ts';

/** Written by hand, so that a change of the table is a change here too: code, acks=all, acks 1 and 0. */
const expected: readonly [number, ErrorName, Outcome, Outcome][] = [
  [0, 'NONE', 'ok', 'ok'],
  [46, 'DUPLICATE_SEQUENCE_NUMBER', 'ok', 'ok'],
  [6, 'NOT_LEADER_OR_FOLLOWER', 'info', 'fail'],
  [3, 'UNKNOWN_TOPIC_OR_PARTITION', 'info', 'fail'],
  [19, 'NOT_ENOUGH_REPLICAS', 'fail', 'fail'],
  [20, 'NOT_ENOUGH_REPLICAS_AFTER_APPEND', 'info', 'info'],
  [7, 'REQUEST_TIMED_OUT', 'info', 'info'],
  [-1, 'UNKNOWN_SERVER_ERROR', 'info', 'info'],
  [13, 'NETWORK_EXCEPTION', 'info', 'info'],
  [56, 'KAFKA_STORAGE_ERROR', 'info', 'info'],
  [2, 'CORRUPT_MESSAGE', 'fail', 'fail'],
  [10, 'MESSAGE_TOO_LARGE', 'fail', 'fail'],
  [18, 'RECORD_LIST_TOO_LARGE', 'fail', 'fail'],
  [21, 'INVALID_REQUIRED_ACKS', 'fail', 'fail'],
  [32, 'INVALID_TIMESTAMP', 'fail', 'fail'],
  [43, 'UNSUPPORTED_FOR_MESSAGE_FORMAT', 'fail', 'fail'],
  [44, 'POLICY_VIOLATION', 'fail', 'fail'],
  [76, 'UNSUPPORTED_COMPRESSION_TYPE', 'fail', 'fail'],
  [87, 'INVALID_RECORD', 'fail', 'fail'],
  [29, 'TOPIC_AUTHORIZATION_FAILED', 'fail', 'fail'],
  [31, 'CLUSTER_AUTHORIZATION_FAILED', 'fail', 'fail'],
  [53, 'TRANSACTIONAL_ID_AUTHORIZATION_FAILED', 'fail', 'fail'],
  [45, 'OUT_OF_ORDER_SEQUENCE_NUMBER', 'fail', 'fail'],
  [59, 'UNKNOWN_PRODUCER_ID', 'fail', 'fail'],
  [47, 'INVALID_PRODUCER_EPOCH', 'fail', 'fail'],
  [90, 'PRODUCER_FENCED', 'fail', 'fail'],
  [48, 'INVALID_TXN_STATE', 'fail', 'fail'],
  [51, 'CONCURRENT_TRANSACTIONS', 'fail', 'fail'],
  [120, 'TRANSACTION_ABORTABLE', 'fail', 'fail'],
  [5, 'LEADER_NOT_AVAILABLE', 'fail', 'fail'],
  [8, 'BROKER_NOT_AVAILABLE', 'fail', 'fail'],
  [9, 'REPLICA_NOT_AVAILABLE', 'fail', 'fail'],
  [14, 'COORDINATOR_LOAD_IN_PROGRESS', 'fail', 'fail'],
  [15, 'COORDINATOR_NOT_AVAILABLE', 'fail', 'fail'],
  [16, 'NOT_COORDINATOR', 'fail', 'fail'],
];

describe('the verdict on a send', () => {
  it.each(expected)('of error %i, %s, is %s at acks=all and %s at acks 1 and 0', (code, name, all, other) => {
    expect(ErrorCode[name]).toBe(code);
    expect(sendVerdict(code, 'all', true)).toBe(all);
    expect(sendVerdict(code, 1, true)).toBe(other);
    expect(sendVerdict(code, 0, true)).toBe(other);
  });

  it('has a row of the expectations above for every row of the table', () => {
    const names = produceVerdicts.flatMap((row) => row.errors);
    expect(names.toSorted()).toEqual(expected.map(([, name]) => name).toSorted());
  });

  it('is info for an error that is not in the table, because nobody knows what it means', () => {
    for (const code of [1, 11, 41, 74, 75, 78, 95, 107, 999]) expect(sendVerdict(code, 'all', true)).toBe('info');
  });

  it('is info when the request may have left and no answer came, whatever the reason', () => {
    for (const error of ['timeout', 'disconnect', 'malformed'] as const) {
      for (const acks of ['all', 1, 0] as const) expect(sendVerdict(error, acks, true)).toBe('info');
    }
  });

  it('is fail when the request was never written, whatever the reason', () => {
    for (const error of ['timeout', 'disconnect', 'connection-refused'] as const) {
      for (const acks of ['all', 1, 0] as const) expect(sendVerdict(error, acks, false)).toBe('fail');
    }
  });
});

describe('the verdict on a poll', () => {
  it('is fail for every error that a broker answers, because a read changes nothing', () => {
    for (const code of [-1, 1, 3, 6, 7, 56, 70, 71, 74, 75, 78]) expect(pollVerdict(code, true)).toBe('fail');
    expect(pollVerdict(ErrorCode.NONE, true)).toBe('ok');
  });

  it('is info when an answer was lost or could not be read, and fail when nothing was asked', () => {
    for (const error of ['timeout', 'disconnect', 'malformed', 'corrupt'] as const) {
      expect(pollVerdict(error, true)).toBe('info');
    }
    expect(pollVerdict('connection-refused', false)).toBe('fail');
  });
});
