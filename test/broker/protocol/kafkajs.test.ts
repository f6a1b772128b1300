/**
 * The codec of kafkajs as a second oracle: whole frames with their headers, in every version that both know. It has no
 * flexible versions, so a mistake that it shares with @platformatic/kafka is unlikely.
 */
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import {
  decodeRecords,
  decodeRequest,
  encodeBatch,
  encodeMessageSet,
  encodeRequest,
  encodeResponse,
  ErrorCode,
  frame,
  isRetriable,
  parseRecordSet,
} from '../../../broker/protocol/index.ts';
import type { ApiName, RequestBody, ResponseBody } from '../../../broker/protocol/index.ts';
import { hex } from './hex.ts';

interface KafkaJsRequest {
  readonly request: object;
  readonly response: { decode(payload: Buffer): Promise<unknown> };
}

// kafkajs has no public codec: these are its own modules.
const load = createRequire(import.meta.url);
const { requests } = load('kafkajs/src/protocol/requests/index.js') as {
  requests: Record<string, { protocol(of: { version: number }): (options: object) => KafkaJsRequest }>;
};
const frameOf = load('kafkajs/src/protocol/request.js') as (message: {
  correlationId: number;
  clientId: string;
  request: object;
}) => Promise<{ buffer: Buffer }>;
const { errorCodes } = load('kafkajs/src/protocol/error.js') as {
  errorCodes: { type: string; code: number; retriable: boolean }[];
};

const header = { correlationId: 5, clientId: 'client-0' };

function kafkajs(api: ApiName, version: number, options: object): KafkaJsRequest {
  return requests[api]!.protocol({ version })(options);
}

async function expectSameRequest<A extends ApiName>(
  api: A,
  version: number,
  options: object,
  body: RequestBody<A>,
): Promise<void> {
  const theirs = await frameOf({ ...header, request: kafkajs(api, version, options).request });
  expect(hex(frame(encodeRequest(api, version, header, body)))).toBe(hex(theirs.buffer));
}

function decodeResponse<A extends ApiName>(api: A, version: number, body: ResponseBody<A>): Promise<unknown> {
  const payload = encodeResponse(api, version, 1, body).subarray(4);
  return kafkajs(api, version, { topics: [], topicData: [] }).response.decode(Buffer.from(payload));
}

function versions(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

describe('kafkajs writes the same requests', () => {
  it.each(versions(0, 2))('ApiVersions v%i', async (version) => {
    await expectSameRequest('ApiVersions', version, {}, { clientSoftwareName: '', clientSoftwareVersion: '' });
  });

  it.each(versions(0, 6))('Metadata v%i', async (version) => {
    const options = { topics: ['tide', 'ebb'], allowAutoTopicCreation: false };
    await expectSameRequest('Metadata', version, options, {
      topics: [{ name: 'tide' }, { name: 'ebb' }],
      allowAutoTopicCreation: false,
      includeClusterAuthorizedOperations: false,
      includeTopicAuthorizedOperations: false,
    });
  });

  it.each(versions(2, 11))('Fetch v%i', async (version) => {
    const partition = { partition: 3, currentLeaderEpoch: 9, fetchOffset: 2 ** 40, logStartOffset: 7 };
    const options = {
      replicaId: -1,
      maxWaitTime: 500,
      minBytes: 1,
      maxBytes: 1024,
      isolationLevel: 1,
      topics: [{ topic: 'tide', partitions: [{ ...partition, maxBytes: 512 }] }],
      rackId: 'r',
    };
    await expectSameRequest('Fetch', version, options, {
      replicaId: -1,
      maxWaitMs: 500,
      minBytes: 1,
      maxBytes: 1024,
      isolationLevel: 1,
      sessionId: 0,
      sessionEpoch: -1,
      topics: [{ topic: 'tide', partitions: [{ ...partition, partitionMaxBytes: 512 }] }],
      forgottenTopicsData: [],
      rackId: 'r',
    });
  });

  it.each(versions(1, 3))('ListOffsets v%i', async (version) => {
    const options = {
      replicaId: -1,
      isolationLevel: 1,
      topics: [{ topic: 'tide', partitions: [{ partition: 1, timestamp: -2 }] }],
    };
    await expectSameRequest('ListOffsets', version, options, {
      replicaId: -1,
      isolationLevel: 1,
      topics: [{ name: 'tide', partitions: [{ partitionIndex: 1, currentLeaderEpoch: -1, timestamp: -2 }] }],
    });
  });

  it.each(versions(0, 3))('CreateTopics v%i', async (version) => {
    const topic = {
      topic: 'tide',
      numPartitions: 8,
      replicationFactor: 3,
      replicaAssignment: [{ partition: 0, replicas: [1, 2, 3] }],
      configEntries: [{ name: 'min.insync.replicas', value: '2' }],
    };
    const options = { topics: [topic], timeout: 900, validateOnly: true };
    await expectSameRequest('CreateTopics', version, options, {
      topics: [
        {
          name: 'tide',
          numPartitions: 8,
          replicationFactor: 3,
          assignments: [{ partitionIndex: 0, brokerIds: [1, 2, 3] }],
          configs: [{ name: 'min.insync.replicas', value: '2' }],
        },
      ],
      timeoutMs: 900,
      validateOnly: true,
    });
  });

  it.each(versions(0, 1))('DeleteTopics v%i', async (version) => {
    const body = { topicNames: ['tide'], timeoutMs: 900 };
    await expectSameRequest('DeleteTopics', version, { topics: ['tide'], timeout: 900 }, body);
  });
});

it('kafkajs writes the same message sets in Produce v2, but for the offsets, which no broker looks at', async () => {
  const now = 1_700_000_000_000;
  const messages = [
    { key: null, value: Buffer.from('17'), timestamp: String(now) },
    { key: null, value: Buffer.from('18'), timestamp: String(now + 4) },
  ];
  const options = { acks: -1, timeout: 1500, topicData: [{ topic: 'tide', partitions: [{ partition: 2, messages }] }] };
  const theirs = await frameOf({ ...header, request: kafkajs('Produce', 2, options).request });
  const bytes = encodeMessageSet([
    { key: null, value: '17', timestampMs: now },
    { key: null, value: '18', timestampMs: now + 4 },
  ]);
  for (const at of [0, bytes.length / 2]) bytes.fill(0xff, at, at + 8);
  const ours = encodeRequest('Produce', 2, header, {
    transactionalId: null,
    acks: -1,
    timeoutMs: 1500,
    topicData: [{ name: 'tide', partitionData: [{ index: 2, records: { batches: [], bytes } }] }],
  });
  expect(hex(frame(ours))).toBe(hex(theirs.buffer));
});

it.each(versions(3, 7))('we read the records that kafkajs produces in v%i', async (version) => {
  const messages = [
    { key: Buffer.from('k'), value: Buffer.from('v'), timestamp: '1700000000000', headers: {} },
    { key: null, value: Buffer.from('w'), timestamp: '1700000000004', headers: { h: 'x' } },
  ];
  const options = {
    acks: -1,
    timeout: 1500,
    topicData: [{ topic: 'tide', partitions: [{ partition: 2, firstSequence: 0, messages }] }],
  };
  const theirs = await frameOf({ ...header, request: kafkajs('Produce', version, options).request });
  const decoded = decodeRequest(new Uint8Array(theirs.buffer).subarray(4));
  expect(decoded).toMatchObject({
    api: 'Produce',
    version,
    body: { transactionalId: null, acks: -1, timeoutMs: 1500 },
  });
  const [topic] = (decoded.body as RequestBody<'Produce'>).topicData;
  expect(topic).toMatchObject({ name: 'tide', partitionData: [{ index: 2 }] });
  const records = decodeRecords(topic!.partitionData[0]!.records!);
  expect(records.map(({ timestampMs, value }) => [timestampMs, Buffer.from(value!).toString()])).toEqual([
    [1_700_000_000_000, 'v'],
    [1_700_000_000_004, 'w'],
  ]);
});

describe('kafkajs reads our responses', () => {
  it.each(versions(4, 11))('Fetch v%i, with the records in it', async (version) => {
    const records = parseRecordSet(
      encodeBatch({ records: [{ key: 'k', value: 'v', timestampMs: 1000 }], baseOffset: 41, leaderEpoch: 2 }),
    );
    const partition = { partitionIndex: 3, errorCode: 0, highWatermark: 42, lastStableOffset: 42, logStartOffset: 5 };
    const decoded = await decodeResponse('Fetch', version, {
      throttleTimeMs: 0,
      errorCode: 0,
      sessionId: 0,
      responses: [
        {
          topic: 'tide',
          partitions: [{ ...partition, abortedTransactions: [], preferredReadReplica: -1, records }],
        },
      ],
    });
    expect(decoded).toMatchObject({
      responses: [
        {
          topicName: 'tide',
          partitions: [
            {
              partition: 3,
              errorCode: 0,
              highWatermark: '42',
              lastStableOffset: '42',
              messages: [{ offset: '41', key: Buffer.from('k'), value: Buffer.from('v'), timestamp: '1000' }],
            },
          ],
        },
      ],
    });
  });

  it.each([2, 3])('Fetch v%i, with a message set in it', async (version) => {
    const bytes = encodeMessageSet([{ key: 'k', value: 'v', timestampMs: 1000 }]);
    const partition = { partitionIndex: 3, errorCode: 0, highWatermark: 42, lastStableOffset: 42, logStartOffset: 5 };
    const more = { abortedTransactions: null, preferredReadReplica: -1, records: { batches: [], bytes } };
    const responses = [{ topic: 'tide', partitions: [{ ...partition, ...more }] }];
    const decoded = await decodeResponse('Fetch', version, {
      throttleTimeMs: 0,
      errorCode: 0,
      sessionId: 0,
      responses,
    });
    expect(decoded).toMatchObject({
      responses: [
        {
          topicName: 'tide',
          partitions: [{ partition: 3, highWatermark: '42', messages: [{ offset: '0', value: Buffer.from('v') }] }],
        },
      ],
    });
  });

  it('Produce v2', async () => {
    const partition = { index: 2, errorCode: 0, baseOffset: 7, logAppendTimeMs: -1, logStartOffset: 5 };
    const responses = [{ name: 'tide', partitionResponses: [partition] }];
    expect(await decodeResponse('Produce', 2, { responses, throttleTimeMs: 0 })).toMatchObject({
      topics: [{ topicName: 'tide', partitions: [{ partition: 2, errorCode: 0, offset: '7', timestamp: '-1' }] }],
    });
  });

  it.each(versions(3, 7))('Produce v%i', async (version) => {
    const partition = { index: 2, errorCode: 0, baseOffset: 2 ** 40, logAppendTimeMs: -1, logStartOffset: 5 };
    const decoded = await decodeResponse('Produce', version, {
      responses: [{ name: 'tide', partitionResponses: [partition] }],
      throttleTimeMs: 0,
    });
    expect(decoded).toMatchObject({
      topics: [{ topicName: 'tide', partitions: [{ partition: 2, errorCode: 0, baseOffset: String(2 ** 40) }] }],
    });
  });

  it.each(versions(0, 6))('Metadata v%i', async (version) => {
    const partition = { errorCode: 0, partitionIndex: 1, leaderId: 2, leaderEpoch: 3 };
    const decoded = await decodeResponse('Metadata', version, {
      throttleTimeMs: 0,
      brokers: [{ nodeId: 2, host: '127.0.0.1', port: 9092, rack: null }],
      clusterId: 'c',
      controllerId: 1,
      topics: [
        {
          errorCode: 0,
          name: 'tide',
          isInternal: false,
          partitions: [{ ...partition, replicaNodes: [1, 2], isrNodes: [2], offlineReplicas: [] }],
          topicAuthorizedOperations: 0,
        },
      ],
      clusterAuthorizedOperations: 0,
    });
    expect(decoded).toMatchObject({
      brokers: [{ nodeId: 2, host: '127.0.0.1', port: 9092 }],
      topicMetadata: [
        { topic: 'tide', partitionMetadata: [{ partitionId: 1, leader: 2, replicas: [1, 2], isr: [2] }] },
      ],
    });
  });

  it.each(versions(0, 2))('ApiVersions v%i', async (version) => {
    const range = { apiKey: 1, minVersion: 4, maxVersion: 11 };
    const decoded = await decodeResponse('ApiVersions', version, {
      errorCode: 0,
      apiKeys: [range],
      throttleTimeMs: 0,
      supportedFeatures: [],
      finalizedFeaturesEpoch: -1,
      finalizedFeatures: [],
    });
    expect(decoded).toMatchObject({ errorCode: 0, apiVersions: [range] });
  });

  it.each(versions(1, 3))('ListOffsets v%i', async (version) => {
    const partition = { partitionIndex: 1, errorCode: 0, timestamp: -1, offset: 77, leaderEpoch: 4 };
    const body = { throttleTimeMs: 0, topics: [{ name: 'tide', partitions: [partition] }] };
    expect(await decodeResponse('ListOffsets', version, body)).toMatchObject({
      responses: [{ topic: 'tide', partitions: [{ partition: 1, errorCode: 0, timestamp: '-1', offset: '77' }] }],
    });
  });

  it.each(versions(0, 3))('CreateTopics v%i', async (version) => {
    const topic = { name: 'tide', errorCode: ErrorCode.TOPIC_ALREADY_EXISTS, errorMessage: null };
    expect(await decodeResponse('CreateTopics', version, { throttleTimeMs: 0, topics: [topic] })).toMatchObject({
      topicErrors: [{ topic: 'tide', errorCode: 36 }],
    });
  });

  it.each(versions(0, 1))('DeleteTopics v%i', async (version) => {
    const responses = [{ name: 'tide', errorCode: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION }];
    expect(await decodeResponse('DeleteTopics', version, { throttleTimeMs: 0, responses })).toMatchObject({
      topicErrors: [{ topic: 'tide', errorCode: 3 }],
    });
  });
});

it('error codes are retriable to the same clients', () => {
  const theirs = errorCodes.filter(({ code }) => code >= 0 && code <= 76);
  const differing = theirs.filter(({ code, retriable }) => isRetriable(code) !== retriable).map(({ type }) => type);
  expect(differing).toEqual([]);
});
