/** Which versions are spoken with brokers of which age: the ranges are those that real brokers announce. */
import { describe, expect, it } from 'vitest';
import { advertisedVersions, apis, isSpoken } from '../../../broker/protocol/index.ts';
import type { ApiName, ResponseBody } from '../../../broker/protocol/index.ts';
import { adminVersions } from '../../../harness/client/admin-requests.ts';
import { defaultClientConfig } from '../../../harness/client/contract.ts';
import { negotiate, ownVersions } from '../../../harness/client/negotiation.ts';

type Ranges = Partial<Record<ApiName, readonly [number, number]>>;

const kafka0_10_2: Ranges = {
  Produce: [0, 2],
  Fetch: [0, 3],
  ListOffsets: [0, 1],
  Metadata: [0, 2],
  ApiVersions: [0, 0],
  CreateTopics: [0, 1],
  DeleteTopics: [0, 0],
};
const kafka4_4: Ranges = {
  Produce: [0, 13],
  Fetch: [4, 18],
  ListOffsets: [1, 11],
  Metadata: [0, 13],
  ApiVersions: [0, 5],
  CreateTopics: [2, 7],
  ElectLeaders: [0, 2],
  AlterPartitionReassignments: [0, 1],
};

function answer(ranges: Ranges): ResponseBody<'ApiVersions'> {
  const apiKeys = Object.entries(ranges).map(([api, [minVersion, maxVersion]]) => {
    return { apiKey: apis[api as ApiName].key, minVersion, maxVersion };
  });
  return { ...advertisedVersions(), apiKeys };
}

function negotiated(...brokers: readonly Ranges[]): ReturnType<typeof negotiate> {
  return negotiate(new Map(brokers.map((ranges, index) => [index + 1, answer(ranges)])));
}

describe('the versions that are spoken', () => {
  it('with our own brokers are those of always, to the byte', () => {
    const { versions } = negotiate(new Map([[1, advertisedVersions()]]));
    expect(versions?.client).toEqual(defaultClientConfig.versions);
    expect(versions?.admin).toEqual({ ...adminVersions, AlterPartitionReassignments: null });
  });

  it('with Kafka 4.4 are the same', () => {
    expect(negotiated(kafka4_4, kafka4_4)).toEqual({ versions: ownVersions, refusal: null });
  });

  it('with Kafka 0.10.2 are the newest that it has, and what it lacks is told', () => {
    const { versions } = negotiated(kafka0_10_2);
    expect(versions?.client).toEqual({ Produce: 2, Fetch: 3, ListOffsets: 1, Metadata: 2 });
    expect(versions?.admin).toMatchObject({ CreateTopics: 1, ElectLeaders: null, AlterPartitionReassignments: null });
  });

  it('with brokers of several ages are what all of them have', () => {
    const middle: Ranges = { ...kafka4_4, Produce: [0, 5], Fetch: [0, 7], CreateTopics: [0, 2] };
    expect(negotiated(middle, kafka4_4).versions).toMatchObject({
      client: { Produce: 5, Fetch: 7, ListOffsets: 5, Metadata: 7 },
      admin: { CreateTopics: 2 },
    });
  });

  it('are the nearest newer ones where a broker has dropped the usual', () => {
    const { versions } = negotiated({ ...kafka4_4, Metadata: [8, 13] });
    expect(versions?.client.Metadata).toBe(8);
    expect(isSpoken('Metadata', 8)).toBe(true);
  });
});

describe('brokers without a common version', () => {
  it('are named with their ranges, in one line', () => {
    expect(negotiated(kafka4_4, kafka0_10_2)).toEqual({
      versions: null,
      refusal:
        'no version of Fetch is common to all: this client speaks 2 to 11, broker 1 serves 4 to 18, broker 2 serves 0 to 3',
    });
  });

  it('are named where one does not serve the API at all', () => {
    const { CreateTopics: _, ...rest } = kafka4_4;
    expect(negotiated(rest).refusal).toBe(
      'no version of CreateTopics is common to all: this client speaks 0 to 4, broker 1 serves none',
    );
  });
});
