import { expect, test } from 'vitest';
import { carriedRequest, carriedResponse, encodeBatch, parseRecordSet } from '../../../broker/protocol/index.ts';
import { decodeRequest, decodeResponse, encodeRequest, encodeResponse } from '../../../broker/protocol/index.ts';
import type { RequestBody, ResponseBody } from '../../../broker/protocol/index.ts';

const request: RequestBody<'Fetch'> = {
  replicaId: 2,
  maxWaitMs: 500,
  minBytes: 1,
  maxBytes: 1000,
  isolationLevel: 0,
  sessionId: 7,
  sessionEpoch: 3,
  topics: [
    {
      topic: 'tide',
      partitions: [{ partition: 0, currentLeaderEpoch: 4, fetchOffset: 9, logStartOffset: 1, partitionMaxBytes: 100 }],
    },
  ],
  forgottenTopicsData: [],
  rackId: 'r',
};
const partition = {
  partitionIndex: 0,
  errorCode: 0,
  highWatermark: 3,
  lastStableOffset: 3,
  logStartOffset: 1,
  abortedTransactions: null,
  preferredReadReplica: 5,
  records: parseRecordSet(encodeBatch({ records: [{ key: null, value: 'a' }] })),
};
const response: ResponseBody<'Fetch'> = {
  throttleTimeMs: 0,
  errorCode: 6,
  sessionId: 7,
  responses: [{ topic: 'tide', partitions: [partition] }],
};
const versions = [4, 5, 7, 9, 11];

test.for(versions)('a body of version %i arrives as if it had been encoded and decoded', (version) => {
  const header = { correlationId: 1, clientId: 'c' };
  const sent = carriedRequest('Fetch', version, request);
  expect(sent).toEqual(decodeRequest(encodeRequest('Fetch', version, header, request)).body);
  const answered = carriedResponse('Fetch', version, response);
  expect(answered).toEqual(decodeResponse('Fetch', version, encodeResponse('Fetch', version, 1, response)).body);
});

test('where a version has every field of its table, the body itself is handed over', () => {
  expect(carriedRequest('Fetch', 11, request)).toBe(request);
  expect(carriedResponse('Fetch', 11, response)).toBe(response);
  expect(carriedRequest('Fetch', 4, request)).not.toBe(request);
});

test('a version that is not in the table is a bug of the sender', () => {
  expect(() => carriedRequest('Fetch', 12, request)).toThrow('Fetch v12 is not in its table');
});
