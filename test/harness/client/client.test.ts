import { describe, expect, it } from 'vitest';
import { decodeMessageSet, decodeRecords } from '../../../broker/protocol/index.ts';
import { clientId, nextDeadlineNs, nextProcess } from '../../../harness/client/client.ts';
import type { Acks } from '../../../harness/client/verdicts.ts';
import { ByHand, metadata, ms, produced } from './by-hand.ts';

const send = { f: 'send', key: 'tide-1', value: 7 } as const;

/** A client that knows broker 2 as the leader of tide-1, and has its Produce request under way. */
function producing(acks: Acks = 'all'): ByHand {
  const client = new ByHand({ acks });
  client.invoke(send);
  client.answer('Metadata', metadata([1, 2, 3]));
  return client;
}

describe('a send', () => {
  it('asks for metadata first, then makes one attempt at the leader, and tells the offset', () => {
    const client = new ByHand();
    expect(client.invoke(send).map((effect) => effect.type)).toEqual(['endpoint', 'send']);
    expect(client.request('Metadata').body.topics).toEqual([{ name: 'tide' }]);
    client.answer('Metadata', metadata([1, 2, 3]));
    const attempt = client.request('Produce');
    expect(attempt.node).toBe(2);
    expect(attempt.body.acks).toBe(-1);
    client.answer('Produce', produced(1, 0, 41));
    expect(client.lastCompletion()).toEqual({
      type: 'ok',
      f: 'send',
      value: [['send', 'tide-1', [41, 7]]],
      acks: 'all',
      node: 2,
      msg: 'client-0#1',
    });
  });

  it('carries its value as decimal text in a record with a null key and a wall clock time', () => {
    const client = producing();
    client.nowNs = 3_000 * ms;
    const set = client.request('Produce').body.topicData[0]?.partitionData[0]?.records;
    const [record, ...more] = decodeRecords(set!);
    expect(more).toEqual([]);
    expect(record).toMatchObject({ key: null, timestampMs: 1_700_000_000_000 });
    expect(Buffer.from(record!.value!).toString()).toBe('7');
  });

  it('asks for no metadata again while what it knows is fresh', () => {
    const client = producing();
    client.answer('Produce', produced(1, 0, 41));
    client.invoke({ ...send, value: 8 });
    expect(client.request('Produce').correlationId).toBe(2);
    expect(client.sends('Metadata')).toHaveLength(1);
  });

  it('asks again when what it knows is too old', () => {
    const client = producing();
    client.answer('Produce', produced(1, 0, 41));
    client.nowNs = 5_001 * ms;
    client.invoke({ ...send, value: 8 });
    client.request('Metadata');
    expect(client.sends('Metadata').map((request) => request.node)).toEqual([1, 2]);
  });

  it.each([
    [6, 'NOT_LEADER_OR_FOLLOWER', 'all', 'info'],
    [6, 'NOT_LEADER_OR_FOLLOWER', 1, 'fail'],
    [19, 'NOT_ENOUGH_REPLICAS', 'all', 'fail'],
    [7, 'REQUEST_TIMED_OUT', 'all', 'info'],
    [56, 'KAFKA_STORAGE_ERROR', 1, 'info'],
    [1234, 'error 1234', 'all', 'info'],
  ] as const)('that is answered with %i, %s, at acks=%s ends as %s', (code, name, acks, type) => {
    const client = producing(acks);
    client.answer('Produce', produced(1, code, -1));
    expect(client.lastCompletion()).toMatchObject({ type, error: name, value: [['send', 'tide-1', 7]], node: 2 });
  });

  it('keeps the offset that an unknown outcome tells, and claims none for a refusal', () => {
    const timedOut = producing();
    timedOut.answer('Produce', produced(1, 7, 41));
    expect(timedOut.lastCompletion()).toMatchObject({ type: 'info', value: [['send', 'tide-1', [41, 7]]] });
    const refused = producing();
    refused.answer('Produce', produced(1, 19, 41));
    expect(refused.lastCompletion().value).toEqual([['send', 'tide-1', 7]]);
  });

  it('that is a duplicate is ok at an offset that nobody told', () => {
    const client = producing();
    client.answer('Produce', produced(1, 46, -1));
    expect(client.lastCompletion()).toMatchObject({ type: 'ok', value: [['send', 'tide-1', [null, 7]]] });
  });

  it('makes no second attempt after NOT_LEADER, but asks for metadata before the next operation', () => {
    const client = producing(1);
    client.answer('Produce', produced(1, 6, -1));
    expect(client.sends('Produce')).toHaveLength(1);
    client.invoke({ ...send, value: 8 });
    client.answer('Metadata', metadata([1, 3, 3]));
    expect(client.request('Produce').node).toBe(3);
  });

  it('whose answer forgets the partition is info, malformed', () => {
    const client = producing();
    client.answer('Produce', produced(0, 0, 41));
    expect(client.lastCompletion()).toMatchObject({ type: 'info', error: 'malformed' });
  });

  it('at acks=0 is ok at an unknown offset as soon as it is written, and awaits no answer', () => {
    const client = producing(0);
    expect(client.request('Produce')).toMatchObject({ expectsResponse: false });
    expect(client.completions()).toEqual([]);
    client.sent();
    expect(client.lastCompletion()).toMatchObject({ type: 'ok', acks: 0, value: [['send', 'tide-1', [null, 7]]] });
    expect(nextDeadlineNs(client.state)).toBeNull();
  });
});

describe('an attempt without an answer', () => {
  it('is fail, connection-refused, when no connection came about', () => {
    const client = producing();
    client.tell({ type: 'connect-failed', node: 2 });
    expect(client.lastCompletion()).toMatchObject({ type: 'fail', error: 'connection-refused', node: 2 });
  });

  it('is info, disconnect, when the connection ended after the bytes were written', () => {
    const client = producing();
    client.sent();
    client.tell({ type: 'closed', node: 2 });
    expect(client.lastCompletion()).toMatchObject({ type: 'info', error: 'disconnect', msg: 'client-0#1' });
  });

  it('is fail, disconnect, when the connection ended before that', () => {
    const client = producing();
    client.tell({ type: 'closed', node: 2 });
    expect(client.lastCompletion()).toMatchObject({ type: 'fail', error: 'disconnect' });
  });

  it('is info, malformed, when the answer cannot be understood', () => {
    const client = producing();
    client.sent();
    client.tell({ type: 'malformed', node: 2 });
    expect(client.lastCompletion()).toMatchObject({ type: 'info', error: 'malformed' });
  });

  it('is info, timeout, at the deadline if it was written, and the connection is closed', () => {
    const client = producing();
    client.sent();
    expect(nextDeadlineNs(client.state)).toBe(1_000 * ms);
    expect(client.wait()[0]).toEqual({ type: 'close', node: 2 });
    expect(client.lastCompletion()).toMatchObject({ type: 'info', error: 'timeout', msg: 'client-0#1' });
  });

  it('is fail, timeout, at the deadline if it was never written', () => {
    const client = producing();
    expect(client.wait()[0]).toEqual({ type: 'close', node: 2 });
    expect(client.lastCompletion()).toMatchObject({ type: 'fail', error: 'timeout' });
  });

  it('is not touched by an early deadline, by another connection, or by an answer to another request', () => {
    const client = producing();
    client.sent();
    expect(client.tell({ type: 'deadline' })).toEqual([]);
    expect(client.tell({ type: 'closed', node: 1 })).toEqual([]);
    const body = produced(1, 0, 5);
    expect(client.tell({ type: 'response', node: 2, correlationId: 99, api: 'Produce', version: 7, body })).toEqual([]);
    expect(client.completions()).toEqual([]);
  });

  it('drops an answer that comes after the deadline', () => {
    const client = producing();
    client.sent();
    client.wait();
    const body = produced(1, 0, 5);
    expect(client.tell({ type: 'response', node: 2, correlationId: 1, api: 'Produce', version: 7, body })).toEqual([]);
    expect(client.completions()).toHaveLength(1);
  });
});

describe('metadata', () => {
  it('is asked of the next broker when one refuses, is silent or hangs up, within the same operation', () => {
    const client = new ByHand();
    client.invoke(send);
    client.tell({ type: 'connect-failed', node: 1 });
    expect(client.request('Metadata').node).toBe(2);
    expect(nextDeadlineNs(client.state)).toBe(250 * ms);
    expect(client.wait()[0]).toEqual({ type: 'close', node: 2 });
    expect(client.request('Metadata').node).toBe(3);
    client.answer('Metadata', metadata([1, 2, 3]));
    client.answer('Produce', produced(1, 0, 41));
    expect(client.lastCompletion().type).toBe('ok');
  });

  it('makes the operation fail when nobody can be reached, since nothing was attempted', () => {
    const client = new ByHand();
    client.invoke(send);
    for (const node of [1, 2, 3]) client.tell({ type: 'connect-failed', node });
    expect(client.lastCompletion()).toEqual({
      type: 'fail',
      f: 'send',
      value: [['send', 'tide-1', 7]],
      acks: 'all',
      error: 'connection-refused',
    });
  });

  it('never holds an operation beyond its deadline', () => {
    const client = new ByHand({ metadataTimeoutMs: 600 });
    client.invoke(send);
    client.wait();
    expect(client.nowNs).toBe(600 * ms);
    client.wait();
    expect(client.nowNs).toBe(1_000 * ms);
    expect(client.lastCompletion()).toMatchObject({ type: 'fail', error: 'timeout' });
  });

  it('that names no leader is asked of the others before the operation fails', () => {
    const client = new ByHand();
    client.invoke(send);
    for (const node of [1, 2, 3]) {
      expect(client.request('Metadata').node).toBe(node);
      client.answer('Metadata', metadata([1, -1, 3]));
    }
    expect(client.lastCompletion()).toMatchObject({ type: 'fail', error: 'LEADER_NOT_AVAILABLE' });
    client.invoke(send);
    client.answer('Metadata', metadata([1, 3, 3]));
    expect(client.request('Produce').node).toBe(3);
  });

  it('that does not know the topic fails the operation with that error', () => {
    const client = new ByHand();
    client.invoke(send);
    for (const _ of [1, 2, 3]) client.answer('Metadata', { ...metadata([]), topics: [] });
    expect(client.lastCompletion()).toMatchObject({ type: 'fail', error: 'UNKNOWN_TOPIC_OR_PARTITION' });
  });

  it('tells the driver where brokers are, once, and again when one has moved', () => {
    const client = producing();
    client.answer('Produce', produced(1, 0, 0));
    expect(client.said.filter((effect) => effect.type === 'endpoint')).toEqual([
      { type: 'endpoint', node: 1, host: '10.0.0.1', port: 9091 },
      { type: 'endpoint', node: 2, host: '10.0.0.1', port: 9092 },
    ]);
    client.tell({ type: 'closed', node: 2 });
    client.invoke({ ...send, value: 8 });
    client.answer('Metadata', metadata([1, 2, 3], '10.0.0.9'));
    expect(client.said.filter((effect) => effect.type === 'endpoint').at(-1)).toEqual({
      type: 'endpoint',
      node: 2,
      host: '10.0.0.9',
      port: 9092,
    });
  });

  it('is asked first of another bootstrap broker by each process', () => {
    const first = [0, 1, 2, 3].map((process) => {
      const client = new ByHand({ process });
      client.invoke(send);
      return client.request('Metadata').node;
    });
    expect(first).toEqual([1, 2, 3, 1]);
  });
});

describe('a process', () => {
  it('has one operation under way at a time', () => {
    const client = producing();
    expect(() => client.invoke(send)).toThrow('client-0 has an operation under way already');
  });

  it('that ended is followed by the one whose number is higher by the concurrency', () => {
    expect(nextProcess(3, 8)).toBe(11);
    expect(clientId(11)).toBe('client-11');
  });

  it('never uses a correlation id twice', () => {
    const client = producing(1);
    for (let value = 0; value < 5; value += 1) {
      client.answer('Produce', produced(1, value % 2 === 0 ? 6 : 0, value));
      client.invoke({ ...send, value });
      if (client.lastSend().api === 'Metadata') client.answer('Metadata', metadata([1, 2, 3]));
    }
    const ids = client.sends().map((request) => request.correlationId);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('a broker that knows no record batches', () => {
  const versions = { Produce: 2, Fetch: 3, ListOffsets: 1, Metadata: 2 };

  it('gets a message set, in the versions that it speaks', () => {
    const client = new ByHand({ versions });
    client.invoke({ f: 'send', key: 'tide-0', value: 17 });
    expect(client.request('Metadata').version).toBe(2);
    client.answer('Metadata', metadata([2]));
    const { version, body } = client.request('Produce');
    expect(version).toBe(2);
    const bytes = body.topicData[0]!.partitionData[0]!.records!.bytes as Uint8Array;
    expect(
      decodeMessageSet(bytes).records.map(({ offset, value }) => [offset, Buffer.from(value!).toString()]),
    ).toEqual([[0, '17']]);
    client.answer('Produce', produced(0, 0, 41));
    expect(client.lastCompletion()).toMatchObject({ type: 'ok', value: [['send', 'tide-0', [41, 17]]] });
  });

  it('is believed without a leader epoch, and its refusals mean what they always mean', () => {
    const client = new ByHand({ versions });
    client.invoke({ f: 'send', key: 'tide-0', value: 17 });
    client.answer('Metadata', { ...metadata([2]), controllerId: -1, clusterId: null });
    client.answer('Produce', produced(0, 19, -1));
    expect(client.lastCompletion()).toMatchObject({ type: 'fail', error: 'NOT_ENOUGH_REPLICAS' });
    client.invoke({ f: 'send', key: 'tide-0', value: 18 });
    client.answer('Produce', produced(0, 7, -1));
    expect(client.lastCompletion()).toMatchObject({ type: 'info', error: 'REQUEST_TIMED_OUT' });
  });
});
