/**
 * The client hears real brokers: answers of Apache Kafka 0.10.2.2 and 4.4.0 to our own requests, kept byte by byte.
 *
 * Of each: a topic of one partition was made, our client wrote one record, and kcat three more with each codec.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { decodeResponse, ErrorCode } from '../../../broker/protocol/index.ts';
import type { ApiName, ResponseBody } from '../../../broker/protocol/index.ts';
import { unpackLz4 } from '../../../checker/logs/lz4.ts';
import { unpackSnappy } from '../../../checker/logs/snappy.ts';
import {
  controllerOf,
  description,
  endOffsets,
  refusalOfElection,
  refusalOfReassignment,
  refusalOfTopic,
} from '../../../harness/client/admin-requests.ts';
import type { Versions } from '../../../harness/client/negotiation.ts';
import { negotiate } from '../../../harness/client/negotiation.ts';
import { fromHex } from '../../broker/protocol/hex.ts';
import { ByHand } from './by-hand.ts';

class Answers {
  readonly #answers: readonly { readonly api: ApiName; readonly version: number; readonly hex: string }[];

  constructor(kafka: string) {
    this.#answers = JSON.parse(readFileSync(`test/fixtures/kafka-answers/${kafka}.json`, 'utf8'));
  }

  /** The answer to this API; the version is the one that was negotiated, or the fixture would not fit. */
  of<A extends ApiName>(api: A, version: number, index = 0): ResponseBody<A> {
    const found = this.#answers.filter((each) => each.api === api && each.version === version)[index];
    if (found === undefined) throw new Error(`no answer to ${api} v${version} was kept`);
    return decodeResponse(api, version, fromHex(found.hex)).body;
  }

  versions(): Versions {
    const { versions } = negotiate(new Map([[1, this.of('ApiVersions', 0)]]));
    return versions!;
  }
}

const seventeen = { f: 'send', key: 'tide-0', value: 17 } as const;

describe.each([
  ['0.10.2.2', ['gzip', 'snappy', 'lz4'], -1],
  ['4.4.0', ['gzip', 'snappy', 'lz4', 'zstd'], 0],
])('Apache Kafka %s', (kafka, codecs, leaderEpoch) => {
  const answers = new Answers(kafka);
  const versions = answers.versions();
  const client = (): ByHand =>
    new ByHand({ versions: versions.client, unpackers: { snappy: unpackSnappy, lz4: unpackLz4 } });

  it('makes a topic, and tells its leader, replicas and ISR', () => {
    expect(refusalOfTopic('tide', answers.of('CreateTopics', versions.admin.CreateTopics))).toBeNull();
    const body = answers.of('Metadata', versions.admin.Metadata);
    expect(description(body)).toEqual({
      brokers: [1],
      partitions: new Map([['tide-0', { leader: 1, leaderEpoch, replicas: [1], isr: [1] }]]),
    });
    expect(controllerOf(body)?.node).toBe(1);
  });

  it('acknowledges what our client writes', () => {
    const producer = client();
    producer.invoke(seventeen);
    producer.answer('Metadata', answers.of('Metadata', versions.client.Metadata));
    producer.answer('Produce', answers.of('Produce', versions.client.Produce));
    expect(producer.lastCompletion()).toMatchObject({ type: 'ok', value: [['send', 'tide-0', [0, 17]]] });
  });

  it('is read, however its records are packed', () => {
    const consumer = client();
    consumer.invoke({ f: 'assign', keys: ['tide-0'], seek: { 'tide-0': 0 } });
    consumer.invoke({ f: 'poll' });
    consumer.answer('Metadata', answers.of('Metadata', versions.client.Metadata));
    consumer.answer('Fetch', answers.of('Fetch', versions.client.Fetch));
    const packed = codecs.flatMap((codec) => [1, 2, 3].map((index) => `${codec} ${index} ${'~'.repeat(40)}`));
    const records = [17, ...packed].map((value, offset) => [offset, value]);
    expect(consumer.lastCompletion()).toMatchObject({ type: 'ok', value: [['poll', { 'tide-0': records }]] });
  });

  it('says where the partition ends, and that nothing is beyond it', () => {
    const end = 1 + 3 * codecs.length;
    expect(endOffsets(answers.of('ListOffsets', versions.admin.ListOffsets))).toEqual(new Map([['tide-0', end]]));
    const consumer = client();
    consumer.invoke({ f: 'assign', keys: ['tide-0'], seek: { 'tide-0': 99 } });
    consumer.invoke({ f: 'poll' });
    consumer.answer('Metadata', answers.of('Metadata', versions.client.Metadata));
    consumer.answer('Fetch', answers.of('Fetch', versions.client.Fetch, 1));
    expect(consumer.lastCompletion()).toMatchObject({ type: 'fail', errors: { 'tide-0': 'OFFSET_OUT_OF_RANGE' } });
  });
});

describe('Apache Kafka 4.4.0', () => {
  const answers = new Answers('4.4.0');

  it('answers an election that is not needed, and an order that cannot be', () => {
    const elected = answers.of('ElectLeaders', 1);
    expect(elected.replicaElectionResults[0]?.partitionResult[0]?.errorCode).toBe(ErrorCode.ELECTION_NOT_NEEDED);
    expect(refusalOfElection(elected)).toBeNull();
    expect(refusalOfReassignment(answers.of('AlterPartitionReassignments', 0))).toMatch(
      /^INVALID_REPLICA_ASSIGNMENT, The manual partition assignment includes broker 7/u,
    );
  });

  it('describes the quorum of its controllers', () => {
    const { topics, nodes } = answers.of('DescribeQuorum', 2);
    expect(topics[0]?.partitions[0]).toMatchObject({ leaderId: 1, currentVoters: [{ replicaId: 1 }] });
    expect(nodes[0]?.nodeId).toBe(1);
  });
});
