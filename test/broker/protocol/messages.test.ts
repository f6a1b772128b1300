/** Headers, golden bytes, and the answers to versions that nobody speaks. */
import { describe, expect, it } from 'vitest';
import {
  advertisedVersions,
  apiByKey,
  decodeRequest,
  decodeRequestHeader,
  decodeResponse,
  encodeRequest,
  encodeResponse,
  ErrorCode,
  isSpoken,
  servedVersions,
  ProtocolError,
  unsupportedApiVersions,
} from '../../../broker/protocol/index.ts';
import type { ApiName } from '../../../broker/protocol/index.ts';
import { allKinds, titleOf } from './arbitraries.ts';
import { fromHex, hex, unspaced } from './hex.ts';

function refusal(run: () => unknown): ProtocolError {
  try {
    run();
  } catch (error) {
    if (error instanceof ProtocolError) return error;
    throw error;
  }
  throw new Error('was not refused');
}

const header = { correlationId: 1, clientId: 'ab' };

describe('a request', () => {
  it('of a plain version has header v1', () => {
    const body = { clientSoftwareName: 'x', clientSoftwareVersion: 'y' };
    expect(hex(encodeRequest('ApiVersions', 0, header, body))).toBe(unspaced('0012 0000 00000001 00026162'));
  });

  it('of a flexible version has header v2: a plain client id, then a tagged section', () => {
    const body = { clientSoftwareName: 'x', clientSoftwareVersion: 'y' };
    expect(hex(encodeRequest('ApiVersions', 3, header, body))).toBe(
      unspaced('0012 0003 00000001 00026162 00 0278 0279 00'),
    );
  });

  it('may carry tagged fields in its header, which are skipped', () => {
    const frame = fromHex('0012 0003 00000001 00026162 01 0503010203 0278 0279 00');
    expect(decodeRequest(frame)).toEqual({
      api: 'ApiVersions',
      version: 3,
      correlationId: 1,
      clientId: 'ab',
      body: { clientSoftwareName: 'x', clientSoftwareVersion: 'y' },
    });
  });

  it('without a client id has an empty one', () => {
    expect(decodeRequestHeader(fromHex('0012 0000 00000007 ffff'))).toEqual({
      apiKey: 18,
      apiVersion: 0,
      correlationId: 7,
      clientId: '',
    });
  });

  it('for Fetch v4 is on the wire as Kafka defines it', () => {
    const body = {
      replicaId: 2,
      maxWaitMs: 500,
      minBytes: 1,
      maxBytes: 1024,
      isolationLevel: 0,
      sessionId: 0,
      sessionEpoch: -1,
      topics: [
        {
          topic: 'tide',
          partitions: [
            { partition: 3, currentLeaderEpoch: 9, fetchOffset: 300, logStartOffset: 0, partitionMaxBytes: 512 },
          ],
        },
      ],
      forgottenTopicsData: [],
      rackId: '',
    };
    const frame = encodeRequest('Fetch', 4, header, body);
    expect(hex(frame)).toBe(
      unspaced(
        '0001 0004 00000001 00026162 00000002 000001f4 00000001 00000400 00 00000001 000474696465 00000001 00000003 000000000000012c 00000200',
      ),
    );
    const decoded = decodeRequest(frame).body;
    expect(decoded).toMatchObject({ topics: [{ partitions: [{ currentLeaderEpoch: -1, logStartOffset: -1 }] }] });
  });

  it('for OffsetForLeaderEpoch v3 is on the wire as Kafka defines it', () => {
    const body = {
      replicaId: 2,
      topics: [{ topic: 'tide', partitions: [{ partition: 0, currentLeaderEpoch: 5, leaderEpoch: 4 }] }],
    };
    expect(hex(encodeRequest('OffsetForLeaderEpoch', 3, header, body))).toBe(
      unspaced('0017 0003 00000001 00026162 00000002 00000001 000474696465 00000001 00000000 00000005 00000004'),
    );
  });
});

describe('a response', () => {
  it('of a plain version has header v0, of a flexible one header v1', () => {
    const body = { throttleTimeMs: 0, responses: [] };
    expect(hex(encodeResponse('DeleteTopics', 3, 9, body))).toBe(unspaced('00000009 00000000 00000000'));
    expect(hex(encodeResponse('DeleteTopics', 4, 9, body))).toBe(unspaced('00000009 00 00000000 01 00'));
  });

  it('to ApiVersions has header v0 even where its body is flexible', () => {
    const body = { ...advertisedVersions(), apiKeys: [{ apiKey: 18, minVersion: 0, maxVersion: 3 }] };
    expect(hex(encodeResponse('ApiVersions', 3, 9, body))).toBe(
      unspaced('00000009 0000 02 0012 0000 0003 00 00000000 00'),
    );
  });

  it('keeps its correlation id', () => {
    const body = { throttleTimeMs: 0, responses: [] };
    expect(decodeResponse('DeleteTopics', 4, encodeResponse('DeleteTopics', 4, -5, body))).toEqual({
      correlationId: -5,
      body,
    });
  });
});

describe('an API or version that is not spoken', () => {
  it('is told apart from malformed bytes, with the header for the answer', () => {
    const unknown = refusal(() => decodeRequest(fromHex('0009 0001 0000002a 00026162 ffff')));
    expect(unknown).toMatchObject({
      reason: 'unknown-api',
      message: 'api key 9 is not known',
      header: { apiKey: 9, apiVersion: 1, correlationId: 42, clientId: 'ab' },
    });
    const newer = refusal(() => decodeRequest(fromHex('0000 0009 0000002a 00026162 ffff')));
    expect(newer).toMatchObject({
      reason: 'unsupported-version',
      message: 'Produce v9 is not spoken, only v2 to v7',
      header: { apiKey: 0, apiVersion: 9, correlationId: 42 },
    });
    const older = refusal(() => decodeRequest(fromHex('0000 0002 0000002a 00026162 ffff'), servedVersions));
    expect(older.message).toBe('Produce v2 is not spoken, only v3 to v7');
    expect(refusal(() => decodeRequest(fromHex('0012 ffff 0000002a ffff'))).reason).toBe('unsupported-version');
    expect(refusal(() => decodeRequest(fromHex('0012 0003 0000002a'))).reason).toBe('malformed');
  });

  it('can be asked about before decoding', () => {
    expect(apiByKey(1)).toBe('Fetch');
    expect(apiByKey(1000)).toBe('PartitionStates');
    expect(apiByKey(999)).toBeUndefined();
    expect(isSpoken('Fetch', 2)).toBe(true);
    expect(isSpoken('Fetch', 1)).toBe(false);
    expect(servedVersions('Fetch')).toEqual({ minVersion: 4, maxVersion: 11 });
    expect(isSpoken('Fetch', 12)).toBe(false);
  });

  it('of ApiVersions is answered in version 0 with the range that is spoken (KIP-511)', () => {
    const refused = refusal(() => decodeRequest(fromHex('0012 0005 0000002a 00026162 00 0278 0279 00')));
    expect(refused.reason).toBe('unsupported-version');
    expect(hex(unsupportedApiVersions(refused.header!.correlationId))).toBe(
      unspaced('0000002a 0023 00000001 0012 0000 0003'),
    );
  });

  it('of ApiVersions is understood by a client that asked in a newer version', () => {
    const { body } = decodeResponse('ApiVersions', 3, unsupportedApiVersions(1));
    expect(body.errorCode).toBe(ErrorCode.UNSUPPORTED_VERSION);
    expect(body.apiKeys).toEqual([{ apiKey: 18, minVersion: 0, maxVersion: 3 }]);
  });

  it('cannot be encoded', () => {
    expect(() => encodeResponse('Fetch', 1, 1, {} as never)).toThrow(new RangeError('Fetch v1 is not in its table'));
  });
});

describe('what a broker advertises', () => {
  const ranges = new Map(advertisedVersions().apiKeys.map((range) => [apiByKey(range.apiKey), range]));

  it('is what old clients look for', () => {
    // librdkafka 2.0: Produce from 0 or it does not compress, Fetch 4, ListOffsets 1 (KAFKA-18659).
    expect(ranges.get('Produce')).toMatchObject({ minVersion: 0 });
    for (const [api, version] of [
      ['Produce', 3],
      ['Fetch', 4],
      ['ListOffsets', 1],
      ['Metadata', 4],
      ['ApiVersions', 0],
    ] as const) {
      expect(ranges.get(api)!.minVersion).toBeLessThanOrEqual(version);
      expect(ranges.get(api)!.maxVersion).toBeGreaterThanOrEqual(version);
    }
  });

  it('never exceeds what the codec speaks', () => {
    for (const [api, range] of ranges) expect(isSpoken(api!, range.maxVersion)).toBe(true);
  });

  it('leaves out what only brokers and the controller speak', () => {
    const internal: ApiName[] = [
      'AlterPartition',
      'BrokerRegistration',
      'BrokerHeartbeat',
      'PartitionStates',
      'MoveLeader',
      'AlterPartitionReassignments',
      'DescribeQuorum',
    ];
    for (const api of internal) expect(ranges.has(api)).toBe(false);
  });
});

it('has every message that the builds and clients use', () => {
  const titles = new Set(allKinds.map(titleOf));
  for (const [api, from, to] of [
    ['ApiVersions', 0, 3],
    ['Metadata', 0, 9],
    ['CreateTopics', 0, 4],
    ['DeleteTopics', 0, 4],
    ['ElectLeaders', 0, 2],
    ['AlterPartitionReassignments', 0, 1],
    ['DescribeQuorum', 0, 2],
    ['Produce', 2, 7],
    ['Fetch', 2, 11],
    ['ListOffsets', 1, 6],
    ['OffsetForLeaderEpoch', 0, 4],
    ['BrokerRegistration', 0, 0],
    ['BrokerHeartbeat', 0, 0],
    ['AlterPartition', 0, 1],
    ['PartitionStates', 0, 0],
    ['MoveLeader', 0, 0],
  ] as const) {
    for (let version = from; version <= to; version++) expect(titles).toContain(`${api} v${version} request`);
  }
});
