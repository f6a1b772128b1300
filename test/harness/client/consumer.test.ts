import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { crc32c, encodeMessageSet } from '../../../broker/protocol/index.ts';
import { unpackSnappy } from '../../../checker/logs/snappy.ts';
import type { ClientConfig } from '../../../harness/client/contract.ts';
import { batch, ByHand, concat, fetched, metadata, ms, offsets } from './by-hand.ts';

const poll = { f: 'poll' } as const;

/** A client that is assigned three keys, all led by broker 1, from their beginning, which is offset 0. */
function consuming(leaders = [1, 1, 1], config: Partial<ClientConfig> = {}): ByHand {
  const client = new ByHand(config);
  client.invoke({ f: 'assign', keys: ['tide-0', 'tide-1', 'tide-2'], seek: { 'tide-0': 0, 'tide-1': 0, 'tide-2': 0 } });
  client.invoke(poll);
  client.answer('Metadata', metadata(leaders));
  return client;
}

function askedFor(client: ByHand): Record<number, number> {
  const partitions = client.request('Fetch').body.topics.flatMap((topic) => topic.partitions);
  return Object.fromEntries(partitions.map((each) => [each.partition, each.fetchOffset]));
}

describe('an assignment', () => {
  it('is done at once, without a word to any broker', () => {
    const client = new ByHand();
    const effects = client.invoke({ f: 'assign', keys: ['tide-0'], seek: 'earliest' });
    expect(effects).toEqual([{ type: 'complete', completion: { type: 'ok', f: 'assign', value: ['tide-0'] } }]);
  });

  it('from the earliest or latest offset asks the leader for it at the first poll only', () => {
    const client = new ByHand();
    client.invoke({ f: 'assign', keys: ['tide-0', 'tide-1'], seek: 'latest' });
    client.invoke(poll);
    client.answer('Metadata', metadata([1, 1]));
    const question = client.request('ListOffsets').body;
    expect(question.topics[0]?.partitions.map((each) => each.timestamp)).toEqual([-1, -1]);
    client.answer('ListOffsets', offsets({ 0: 17, 1: 3 }));
    expect(askedFor(client)).toEqual({ 0: 17, 1: 3 });
    client.answer('Fetch', fetched({ 0: {}, 1: {} }));
    client.invoke(poll);
    expect(client.sends('ListOffsets')).toHaveLength(1);
    expect(client.sends('Fetch')).toHaveLength(2);
  });

  it('without a place keeps the position of the keys that were assigned before', () => {
    const client = consuming();
    client.answer('Fetch', fetched({ 0: { bytes: batch(0, '1', '2') }, 1: {}, 2: {} }));
    client.invoke({ f: 'assign', keys: ['tide-0', 'tide-3'] });
    client.invoke(poll);
    client.answer('Metadata', metadata([1, 1, 1, 1]));
    expect(client.request('ListOffsets').body.topics[0]?.partitions).toEqual([
      { partitionIndex: 3, currentLeaderEpoch: -1, timestamp: -2 },
    ]);
    client.answer('ListOffsets', offsets({ 3: 0 }));
    expect(askedFor(client)).toEqual({ 0: 2, 3: 0 });
  });
});

describe('a poll', () => {
  it('asks one broker for all its keys with one Fetch, and tells offsets and values', () => {
    const client = consuming();
    expect(askedFor(client)).toEqual({ 0: 0, 1: 0, 2: 0 });
    expect(client.request('Fetch').body).toMatchObject({ replicaId: -1, maxWaitMs: 100, sessionEpoch: -1 });
    client.answer('Fetch', fetched({ 0: { bytes: batch(0, '5', '6') }, 1: { bytes: batch(0, '9') }, 2: {} }));
    expect(client.lastCompletion()).toEqual({
      type: 'ok',
      f: 'poll',
      value: [
        [
          'poll',
          {
            'tide-0': [
              [0, 5],
              [1, 6],
            ],
            'tide-1': [[0, 9]],
          },
        ],
      ],
      node: 1,
      msg: 'client-0#1',
    });
    client.invoke(poll);
    expect(askedFor(client)).toEqual({ 0: 2, 1: 1, 2: 0 });
  });

  it('goes round the leaders of the assigned keys', () => {
    const client = consuming([3, 1, 2]);
    const asked: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      asked.push(client.request('Fetch').node);
      client.answer('Fetch', fetched({}));
      if (round < 3) client.invoke(poll);
    }
    expect(asked).toEqual([1, 2, 3, 1]);
  });

  it('drops the records of a batch that lie before its position', () => {
    const client = consuming();
    client.answer('Fetch', fetched({ 0: { bytes: batch(0, '5', '6', '7') } }));
    client.invoke({ f: 'assign', keys: ['tide-0'], seek: { 'tide-0': 2 } });
    client.invoke(poll);
    client.answer('Fetch', fetched({ 0: { bytes: batch(0, '5', '6', '7') } }));
    expect(client.lastCompletion().value).toEqual([['poll', { 'tide-0': [[2, 7]] }]]);
  });

  it('ignores a last batch that was cut', () => {
    const client = consuming();
    client.answer('Fetch', fetched({ 0: { bytes: concat(batch(0, '5'), batch(1, '6').subarray(0, 30)) } }));
    expect(client.lastCompletion()).toMatchObject({ type: 'ok', value: [['poll', { 'tide-0': [[0, 5]] }]] });
    client.invoke(poll);
    expect(askedFor(client)[0]).toBe(1);
  });

  it('shows what is not a number of ours as text', () => {
    const client = consuming();
    client.answer('Fetch', fetched({ 0: { bytes: batch(0, '007', 'x', null, '', '9007199254740993') } }));
    const values = (client.lastCompletion().value[0] as any)[1]['tide-0'].map((each: [number, unknown]) => each[1]);
    expect(values).toEqual(['007', 'x', '(null)', '', '9007199254740993']);
  });

  it('without an assignment is ok and empty', () => {
    const client = new ByHand();
    client.invoke(poll);
    client.answer('Metadata', metadata([]));
    expect(client.lastCompletion()).toEqual({ type: 'ok', f: 'poll', value: [['poll', {}]] });
  });

  it('of which some keys are served is ok, and names the errors of the others', () => {
    const client = consuming();
    client.answer('Fetch', fetched({ 0: { bytes: batch(0, '5') }, 1: { errorCode: 6 }, 2: {} }));
    expect(client.lastCompletion()).toMatchObject({
      type: 'ok',
      value: [['poll', { 'tide-0': [[0, 5]] }]],
      errors: { 'tide-1': 'NOT_LEADER_OR_FOLLOWER' },
    });
    client.invoke(poll);
    client.request('Metadata');
  });

  it('of which no key is served fails with the first error', () => {
    const client = consuming();
    client.answer('Fetch', fetched({ 0: { errorCode: 6 }, 1: { errorCode: 3 } }));
    expect(client.lastCompletion()).toMatchObject({ type: 'fail', error: 'NOT_LEADER_OR_FOLLOWER' });
  });

  it('reports OFFSET_OUT_OF_RANGE and starts that key again as configured', () => {
    const client = consuming();
    client.answer('Fetch', fetched({ 0: { errorCode: 1 }, 1: {}, 2: {} }));
    expect(client.lastCompletion()).toMatchObject({ type: 'ok', errors: { 'tide-0': 'OFFSET_OUT_OF_RANGE' } });
    client.invoke(poll);
    expect(client.request('ListOffsets').body.topics[0]?.partitions).toEqual([
      { partitionIndex: 0, currentLeaderEpoch: -1, timestamp: -2 },
    ]);
  });

  it('fetches the other keys when one has no offset to start from, and fails when none has', () => {
    const client = new ByHand();
    client.invoke({ f: 'assign', keys: ['tide-0', 'tide-1'], seek: 'latest' });
    client.invoke(poll);
    client.answer('Metadata', metadata([1, 1]));
    client.answer('ListOffsets', offsets({ 1: 4 }, { 0: 78 }));
    expect(askedFor(client)).toEqual({ 1: 4 });
    client.answer('Fetch', fetched({ 1: {} }));
    expect(client.lastCompletion()).toMatchObject({ type: 'ok', errors: { 'tide-0': 'OFFSET_NOT_AVAILABLE' } });

    const none = new ByHand();
    none.invoke({ f: 'assign', keys: ['tide-0'], seek: 'latest' });
    none.invoke(poll);
    none.answer('Metadata', metadata([1]));
    none.answer('ListOffsets', offsets({}, { 0: 78 }));
    expect(none.lastCompletion()).toMatchObject({ type: 'fail', error: 'OFFSET_NOT_AVAILABLE', node: 1 });
    expect(none.sends('Fetch')).toEqual([]);
  });

  it('does not ask twice for an offset that the answer leaves out', () => {
    const client = new ByHand();
    client.invoke({ f: 'assign', keys: ['tide-0'], seek: 'earliest' });
    client.invoke(poll);
    client.answer('Metadata', metadata([1]));
    client.answer('ListOffsets', offsets({}));
    expect(client.lastCompletion()).toMatchObject({ type: 'fail', error: 'malformed' });
  });

  it('fails when none of its keys has a leader', () => {
    const client = consuming([-1, -1, -1]);
    for (const _ of [2, 3]) client.answer('Metadata', metadata([-1, -1, -1]));
    expect(client.lastCompletion()).toMatchObject({ type: 'fail', error: 'LEADER_NOT_AVAILABLE' });
  });

  it('whose ListOffsets is not answered fails: its Fetch was never made', () => {
    const client = new ByHand();
    client.invoke({ f: 'assign', keys: ['tide-0'], seek: 'earliest' });
    client.invoke(poll);
    client.answer('Metadata', metadata([1]));
    client.sent();
    expect(client.wait()[0]).toEqual({ type: 'close', node: 1 });
    expect(client.lastCompletion()).toMatchObject({ type: 'fail', error: 'timeout' });
    expect(client.lastCompletion().msg).toBeUndefined();
  });

  it('whose Fetch is not answered is info', () => {
    const client = consuming();
    client.sent();
    client.wait();
    expect(client.nowNs).toBe(1_000 * ms);
    expect(client.lastCompletion()).toMatchObject({ type: 'info', error: 'timeout', value: [['poll']] });
  });
});

describe('a damaged answer', () => {
  const damaged = batch(1, '6');
  damaged[damaged.length - 1]! ^= 1;

  it('with a wrong checksum makes the poll info, corrupt, and still shows what was sound', () => {
    const client = consuming();
    client.answer('Fetch', fetched({ 0: { bytes: concat(batch(0, '5'), damaged) }, 1: { bytes: batch(0, '9') } }));
    expect(client.lastCompletion()).toMatchObject({
      type: 'info',
      error: 'corrupt',
      value: [['poll', { 'tide-0': [[0, 5]], 'tide-1': [[0, 9]] }]],
    });
  });

  it('with records that contradict their batch is corrupt too, though its checksum is right', () => {
    const client = consuming();
    const claimsTwo = batch(0, '5');
    const view = new DataView(claimsTwo.buffer, claimsTwo.byteOffset);
    view.setInt32(57, 2);
    view.setUint32(17, crc32c(claimsTwo, 21));
    client.answer('Fetch', fetched({ 0: { bytes: concat(claimsTwo, batch(1, '6')) } }));
    expect(client.lastCompletion()).toMatchObject({ type: 'info', error: 'corrupt', value: [['poll', {}]] });
  });

  it('with an offset above 2^53−1 is malformed, never rounded', () => {
    const client = consuming();
    const far = batch(0, '5');
    new DataView(far.buffer, far.byteOffset).setBigInt64(0, 2n ** 53n);
    client.answer('Fetch', fetched({ 0: { bytes: far } }));
    expect(client.lastCompletion()).toMatchObject({ type: 'info', error: 'malformed', value: [['poll', {}]] });
  });
});

describe('message sets, as brokers of old answer them', () => {
  const set = (...values: readonly string[]): Uint8Array =>
    encodeMessageSet(values.map((value) => ({ key: null, value, timestampMs: 1 })));

  it('are read like batches, and from the position on', () => {
    const client = consuming();
    client.answer('Fetch', fetched({ 0: { bytes: set('5', '6') } }));
    expect(client.lastCompletion()).toMatchObject({
      type: 'ok',
      value: [
        [
          'poll',
          {
            'tide-0': [
              [0, 5],
              [1, 6],
            ],
          },
        ],
      ],
    });
    client.invoke(poll);
    expect(askedFor(client)).toMatchObject({ 0: 2 });
    client.answer('Fetch', fetched({ 0: { bytes: set('5', '6') } }));
    expect(client.lastCompletion()).toMatchObject({ type: 'ok', value: [['poll', {}]] });
  });

  it('may be followed by batches, where the format of the topic was raised', () => {
    const client = consuming();
    client.answer(
      'Fetch',
      fetched({ 0: { bytes: concat(set('5', '6'), batch(2, '7'), batch(3, '8').subarray(0, 30)) } }),
    );
    const polled = {
      'tide-0': [
        [0, 5],
        [1, 6],
        [2, 7],
      ],
    };
    expect(client.lastCompletion()).toMatchObject({ type: 'ok', value: [['poll', polled]] });
    client.invoke(poll);
    expect(askedFor(client)).toMatchObject({ 0: 3 });
  });

  it('may end within a message', () => {
    const client = consuming();
    client.answer('Fetch', fetched({ 0: { bytes: set('5', '6').subarray(0, 40) } }));
    expect(client.lastCompletion()).toMatchObject({ type: 'ok', value: [['poll', { 'tide-0': [[0, 5]] }]] });
  });

  it('that are damaged make the poll unknown, and what stood before counts', () => {
    const client = consuming();
    const damaged = set('5', '6');
    damaged[damaged.length - 1]! ^= 1;
    client.answer('Fetch', fetched({ 0: { bytes: damaged } }));
    const value = [['poll', { 'tide-0': [[0, 5]] }]];
    expect(client.lastCompletion()).toMatchObject({ type: 'info', error: 'corrupt', value });
  });

  it('with an offset beyond 2^53−1 are malformed, never rounded', () => {
    const client = consuming();
    const far = set('5');
    new DataView(far.buffer, far.byteOffset).setBigInt64(0, 2n ** 53n);
    client.answer('Fetch', fetched({ 0: { bytes: far } }));
    expect(client.lastCompletion()).toMatchObject({ type: 'info', error: 'malformed', value: [['poll', {}]] });
  });

  it('of a format that nobody knows are corrupt', () => {
    const client = consuming();
    const strange = set('5');
    strange[16] = 3;
    client.answer('Fetch', fetched({ 0: { bytes: strange } }));
    expect(client.lastCompletion()).toMatchObject({ type: 'info', error: 'corrupt' });
  });
});

describe('packed records', () => {
  /** One record of a Kafka producer, packed with snappy: the batch of a broker's own log. */
  const snappy = (): Uint8Array =>
    new Uint8Array(
      readFileSync('test/fixtures/kafka-logs/4.4.0-v2-snappy/broker-1/v2-snappy-0/00000000000000000000.log'),
    );

  it('are read with what the driver has for them', () => {
    const client = consuming([1, 1, 1], { unpackers: { snappy: unpackSnappy } });
    client.answer('Fetch', fetched({ 0: { bytes: snappy() } }));
    const { type, value } = client.lastCompletion();
    expect(type).toBe('ok');
    expect((value as [string, Record<string, unknown[]>][])[0]![1]['tide-0']!.length).toBeGreaterThan(0);
  });

  it('are reported as damaged where it has nothing', () => {
    const client = consuming();
    client.answer('Fetch', fetched({ 0: { bytes: snappy() } }));
    expect(client.lastCompletion()).toMatchObject({ type: 'info', error: 'corrupt' });
  });
});
