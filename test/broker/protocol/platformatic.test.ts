/**
 * The codec of @platformatic/kafka as an oracle: one pair of functions per API and version, flexible ones included, and
 * no socket needed. What it writes we read, what we write it reads, and requests are the same bytes.
 */
import * as fc from 'fast-check';
import * as platformatic from '@platformatic/kafka';
import { describe, expect, it } from 'vitest';
import {
  apis,
  decodeRecords,
  decodeRequest,
  encodeBatch,
  ErrorCode,
  errorName,
  isRetriable,
  servedVersions,
} from '../../../broker/protocol/index.ts';
import type { ApiName, RecordSet, RequestBody } from '../../../broker/protocol/index.ts';
import { allKinds, bodies, encode } from './arbitraries.ts';
import type { Kind } from './arbitraries.ts';

interface Oracle {
  createRequest(...parameters: readonly unknown[]): { readonly buffer: Uint8Array };
  parseResponse(correlationId: number, key: number, version: number, reader: platformatic.Reader): unknown;
}

/** Its module for a version: `metadataV9`. */
function oracleOf({ api, version }: Kind): Oracle {
  const name = `${api[0]!.toLowerCase()}${api.slice(1)}V${version}`;
  const oracle = (platformatic as unknown as Record<string, Oracle | undefined>)[name];
  if (oracle === undefined) throw new Error(`@platformatic/kafka has no ${name}`);
  return oracle;
}

/** Its parameters for our body. */
const parameters: { readonly [A in ApiName]?: (body: RequestBody<A>) => readonly unknown[] } = {
  ApiVersions: (body) => [body.clientSoftwareName, body.clientSoftwareVersion],
  Metadata: (body) => [
    body.topics,
    body.allowAutoTopicCreation,
    body.includeTopicAuthorizedOperations,
    body.includeClusterAuthorizedOperations,
  ],
  CreateTopics: (body) => [body.topics, body.timeoutMs, body.validateOnly],
  DeleteTopics: (body) => [body.topicNames.map((name) => ({ name })), body.timeoutMs],
  ListOffsets: (body) => [
    body.replicaId,
    body.isolationLevel,
    body.topics.map(({ name, partitions }) => ({
      name,
      partitions: partitions.map((each) => ({ ...each, timestamp: BigInt(each.timestamp) })),
    })),
  ],
  OffsetForLeaderEpoch: (body) => [
    body.replicaId,
    body.topics.map(({ topic, partitions }) => ({
      name: topic,
      partitions: partitions.map((each) => ({ ...each, partitionIndex: each.partition })),
    })),
  ],
  Fetch: (body) => [
    body.maxWaitMs,
    body.minBytes,
    body.maxBytes,
    body.isolationLevel,
    body.sessionId,
    body.sessionEpoch,
    body.topics.map(({ topic, partitions }) => ({
      topicId: topic,
      partitions: partitions.map((each) => ({ ...each, fetchOffset: BigInt(each.fetchOffset) })),
    })),
    body.forgottenTopicsData,
    body.rackId,
  ],
  AlterPartition: (body) => [
    body.brokerId,
    BigInt(body.brokerEpoch),
    body.topics.map(({ topicName, partitions }) => ({
      topicName,
      partitions: partitions.map((each) => ({
        ...each,
        newIsrWithEpochs: each.newIsr.map((brokerId) => ({ brokerId })),
      })),
    })),
  ],
  AlterPartitionReassignments: (body) => [body.timeoutMs, body.allowReplicationFactorChange, body.topics],
  DescribeQuorum: (body) => [body.topics],
};

const codes = [ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NOT_LEADER_OR_FOLLOWER];

/** It throws at codes that it cannot name, and stops reading ApiVersions at any error. */
function withKnownCodes(body: unknown, known: readonly number[]): unknown {
  if (Array.isArray(body)) return body.map((each) => withKnownCodes(each, known));
  if (body === null || typeof body !== 'object' || body instanceof Uint8Array) return body;
  const entries = Object.entries(body).map(([key, value]: [string, unknown]) =>
    key === 'errorCode' ? [key, known[Math.abs(value as number) % known.length]] : [key, withKnownCodes(value, known)],
  );
  return Object.fromEntries(entries);
}

/** Its Fetch is always a consumer's. */
function asConsumer(body: RequestBody<'Fetch'>): RequestBody<'Fetch'> {
  const topics = body.topics.map(({ topic, partitions }) => ({
    topic,
    partitions: partitions.map((each) => ({ ...each, logStartOffset: -1 })),
  }));
  return { ...body, replicaId: -1, topics };
}

/** Our body as the fields that both sides name, to be matched against theirs; and theirs with our kinds of values. */
function meet(ours: unknown, theirs: unknown): readonly [ours: unknown, theirs: unknown] {
  if (typeof theirs === 'bigint') return [ours, Number(theirs)];
  if (Array.isArray(ours) && Array.isArray(theirs)) {
    const met = theirs.map((each: unknown, index) => meet(ours[index], each));
    return [ours.length === theirs.length ? met.map(([each]) => each) : ours, met.map(([, each]) => each)];
  }
  if (ours === null || typeof ours !== 'object' || theirs === null || typeof theirs !== 'object') return [ours, theirs];
  const entries = Object.entries(ours)
    // Its Fetch answers call a topic's name its id.
    .map(
      ([key, value]: [string, unknown]) =>
        [key, value, key === 'topic' && 'topicId' in theirs ? 'topicId' : key] as const,
    )
    .filter(([, , name]) => name in theirs)
    .map(([key, value, name]) => {
      const other = (theirs as Record<string, unknown>)[name];
      return [key, key === 'records' ? meetRecords(value as RecordSet | null, other) : meet(value, other)] as const;
    });
  return [0, 1].map((side) => Object.fromEntries(entries.map(([key, pair]) => [key, pair[side]]))) as [
    unknown,
    unknown,
  ];
}

function meetRecords(ours: RecordSet | null, theirs: unknown): readonly [ours: unknown, theirs: unknown] {
  const batches = theirs as { crc: number; records: unknown[] }[] | null;
  return [
    ours?.batches.map(({ crc, recordCount }) => [crc, recordCount]) ?? null,
    batches?.map(({ crc, records }) => [crc, records.length]) ?? null,
  ];
}

/** What it reads in our response, all of whose bytes it must use. It throws answers that hold an error. */
function parse(kind: Kind, frame: Uint8Array): unknown {
  const headerBytes = 4 + (kind.api !== 'ApiVersions' && kind.version >= apis[kind.api].flexibleSince ? 1 : 0);
  const reader = platformatic.Reader.from(Buffer.from(frame.subarray(headerBytes)));
  try {
    const response = oracleOf(kind).parseResponse(7, apis[kind.api].key, kind.version, reader);
    expect(reader.remaining).toBe(0);
    return response;
  } catch (error) {
    if (error instanceof platformatic.ResponseError) return (error as unknown as { response: unknown }).response;
    throw error;
  }
}

/** It has nothing older than record batches; kafkajs.test.ts looks at message sets. */
const known = allKinds.filter(({ api, version }) => version >= servedVersions(api).minVersion);
const shared = known.filter(({ api }) => api in parameters || api === 'Produce');

describe('requests are the same bytes as those of @platformatic/kafka', () => {
  const kinds = shared.filter(({ api, direction }) => direction === 'request' && api !== 'Produce');

  it.each(kinds.map((kind) => [`${kind.api} v${kind.version}`, kind] as const))('%s', (_title, kind) => {
    fc.assert(
      fc.property(bodies(kind), (drawn) => {
        const body = kind.api === 'Fetch' ? asConsumer(drawn as RequestBody<'Fetch'>) : drawn;
        const theirs = oracleOf(kind).createRequest(...parameters[kind.api]!(body as never)).buffer;
        const ours = encode(kind, body);
        const flexible = kind.version >= apis[kind.api].flexibleSince;
        const header = 2 + 2 + 4 + 2 + 'client-0'.length + (flexible ? 1 : 0);
        expect(Buffer.from(ours.subarray(header)).toString('hex')).toBe(Buffer.from(theirs).toString('hex'));
      }),
      { numRuns: 25 },
    );
  });
});

describe('@platformatic/kafka reads our responses', () => {
  const kinds = shared.filter(({ direction }) => direction === 'response');

  it.each(kinds.map((kind) => [`${kind.api} v${kind.version}`, kind] as const))('%s', (_title, kind) => {
    fc.assert(
      fc.property(bodies(kind), (drawn) => {
        const body = withKnownCodes(drawn, kind.api === 'ApiVersions' ? [ErrorCode.NONE] : codes);
        const [ours, theirs] = meet(body, parse(kind, encode(kind, body)));
        expect(ours).not.toEqual({});
        expect(theirs).toEqual(ours);
      }),
      { numRuns: 25 },
    );
  });
});

describe('records', () => {
  const now = 1_700_000_000_000;
  const messages = [
    { topic: 'tide', partition: 0, key: Buffer.from('k'), value: Buffer.from('v'), timestamp: BigInt(now) },
    { topic: 'tide', partition: 0, key: Buffer.from('k2'), value: Buffer.from('v2'), timestamp: BigInt(now + 5) },
  ];

  it.each(['none', 'gzip', 'zstd'] as const)('that it packs with %s are read by us', (compression) => {
    const kind = { api: 'Produce', version: 7, direction: 'request' } as const;
    const options = compression === 'none' ? {} : { compression };
    const request = platformatic.produceV7.createRequest(-1, 1000, structuredClone(messages) as never, options);
    const header = encode(kind, { transactionalId: null, acks: 0, timeoutMs: 0, topicData: [] }).subarray(0, 18);
    const decoded = decodeRequest(Buffer.concat([header, request.buffer]));
    expect(decoded).toMatchObject({ api: 'Produce', body: { acks: -1, timeoutMs: 1000 } });
    const { topicData } = decoded.body as RequestBody<'Produce'>;
    const { records } = topicData[0]!.partitionData[0]!;
    expect(records).not.toHaveProperty('flaw');
    const read = decodeRecords(records!).map(({ offset, timestampMs, key, value }) => [
      offset,
      timestampMs,
      Buffer.from(key!).toString(),
      Buffer.from(value!).toString(),
    ]);
    expect(read).toEqual([
      [0, now, 'k', 'v'],
      [1, now + 5, 'k2', 'v2'],
    ]);
  });

  it.each(['none', 'gzip', 'zstd'] as const)('that we pack with %s are read by it', (compression) => {
    const records = [
      { key: 'k', value: 'v', timestampMs: now, headers: [{ key: 'h', value: new Uint8Array([1]) }] },
      { key: null, value: 'w', timestampMs: now + 7 },
    ];
    const bytes = encodeBatch({ records, baseOffset: 40, leaderEpoch: 3, compression });
    const batch = platformatic.readRecordsBatch(platformatic.Reader.from(Buffer.from(bytes)));
    expect(batch).toMatchObject({
      firstOffset: 40n,
      partitionLeaderEpoch: 3,
      lastOffsetDelta: 1,
      firstTimestamp: BigInt(now),
    });
    const read = batch.records.map(({ offsetDelta, timestampDelta, key, value }) => [
      offsetDelta,
      timestampDelta,
      key?.toString() ?? null,
      value?.toString(),
    ]);
    expect(read).toEqual([
      [0, 0n, 'k', 'v'],
      [1, 7n, null, 'w'],
    ]);
  });
});

it('error codes have the same names and are retriable to the same clients', () => {
  const ours = new Set<number>(Object.values(ErrorCode));
  const shared = Object.values(platformatic.protocolErrors).filter(({ code }) => ours.has(code));
  expect(shared.length).toBeGreaterThan(100);
  expect(shared.map(({ code }) => [errorName(code), isRetriable(code)])).toEqual(
    shared.map(({ id, canRetry }) => [id, canRetry]),
  );
});
