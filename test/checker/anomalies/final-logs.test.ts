/** Final logs against each other, batch by batch and, where batches have other bounds, record by record. */
import { describe, expect, it } from 'vitest';
import { encodeBatch, encodeMessageSet } from '../../../broker/protocol/index.ts';
import { findDivergences, noteMissingLogs } from '../../../checker/anomalies/divergence.ts';
import type { Evidence } from '../../../checker/evidence.ts';
import { readFinalLogs } from '../../../checker/final-logs.ts';
import { readTrace } from '../../../checker/parse-trace.ts';
import { rebuildReplicas } from '../../../checker/replicas.ts';
import { decompressors } from '../../../harness/check/decompressors.ts';

const key = 'tide-0';

type Pair = readonly [key: string | null, value: string | null];

/** One batch from an offset on: values, or pairs of key and value. */
function batch(base: number, values: readonly (string | Pair)[], epoch = 0, compression?: 'gzip'): Uint8Array {
  const records = values.map((each) =>
    typeof each === 'string' ? { key: null, value: each } : { key: each[0], value: each[1] },
  );
  return encodeBatch({
    baseOffset: base,
    leaderEpoch: epoch,
    records,
    ...(compression === undefined ? {} : { compression }),
  });
}

/** Messages of format v1, from offset 0 on. */
function messages(values: readonly (string | Pair)[], timestampMs = 1): Uint8Array {
  return encodeMessageSet(
    values.map((each) =>
      typeof each === 'string'
        ? { key: null, value: each, timestampMs }
        : { key: each[0], value: each[1], timestampMs },
    ),
  );
}

interface Log {
  readonly parts: readonly Uint8Array[];
  readonly logStart?: number;
}

function evidenceOf(logs: Readonly<Record<number, readonly Uint8Array[] | Log>>, changes: object = {}): Evidence {
  const files = Object.entries(logs).map(([node, log]) => {
    const { parts, logStart = null } = 'parts' in log ? log : { parts: log };
    const bytes = Uint8Array.from(Buffer.concat([...parts]));
    return { node: Number(node), key, segments: [{ baseOffset: 0, bytes }], logStart };
  });
  const final = readFinalLogs(files, [1, 2, 3], decompressors);
  const history = { keys: [] };
  return {
    run: { settled: true },
    history,
    cluster: null,
    observed: null,
    logs: final,
    unknown: new Map(),
    ...changes,
  } as unknown as Evidence;
}

const found = (logs: Parameters<typeof evidenceOf>[0]) => findDivergences(evidenceOf(logs));
const said = (logs: Parameters<typeof evidenceOf>[0]): string[] => found(logs).map(({ summary }) => summary);

describe('logs of the same batches', () => {
  const one = [batch(0, ['a']), batch(1, ['b', 'c']), batch(3, ['d'])];

  it('agree, also where one ends earlier or starts later', () => {
    expect(found({ 1: one, 2: one, 3: one.slice(0, 2) })).toEqual([]);
    expect(found({ 1: one, 2: { parts: [batch(0, ['x']), ...one.slice(1)], logStart: 1 } })).toEqual([]);
    expect(found({ 1: one, 2: [] })).toEqual([]);
  });

  it('differ where one has other bytes, another epoch or another size', () => {
    expect(said({ 1: one, 2: [batch(0, ['x']), ...one.slice(1)] })).toEqual([
      'the replicas of tide-0 differ at offset 0: at 0, broker 1 holds a (epoch 0); broker 2 holds x (epoch 0)',
    ]);
    expect(said({ 1: one, 2: one, 3: [...one.slice(0, 2), batch(3, ['d'], 4)] })).toEqual([
      'the replicas of tide-0 differ at offset 3: at 3, brokers 1 and 2 hold d (epoch 0); broker 3 holds d (epoch 4)',
    ]);
    expect(said({ 1: one, 2: [one[0]!, batch(1, ['b', 'longer']), one[2]!] })).toEqual([
      'the replicas of tide-0 differ at offset 1: at 1, broker 1 holds b (epoch 0); broker 2 holds b (epoch 0)',
    ]);
  });

  it('differ in one finding where the same brokers differ nearby, and in several where others do, or far away', () => {
    const twice = found({ 1: one, 2: [batch(0, ['x']), one[1]!, batch(3, ['y'])] });
    expect(twice).toMatchObject([
      {
        kind: 'replica-divergence',
        class: 'violation',
        key,
        offset: 0,
        values: ['a', 'x'],
        labels: ['final-logs'],
        nodes: [1, 2],
        ranges: [
          [0, 0],
          [3, 3],
        ],
        evidence: [
          { source: 'log', node: 1, offset: 0, epoch: 0 },
          { source: 'log', node: 2, offset: 0, epoch: 0 },
        ],
      },
    ]);
    const others = said({ 1: one, 2: [batch(0, ['x']), ...one.slice(1)], 3: [...one.slice(0, 2), batch(3, ['y'])] });
    expect(others).toEqual([
      'the replicas of tide-0 differ at offset 0: at 0, brokers 1 and 3 hold a (epoch 0); broker 2 holds x (epoch 0)',
      'the replicas of tide-0 differ at offset 3: at 3, brokers 1 and 2 hold d (epoch 0); broker 3 holds y (epoch 0)',
    ]);
    const far = (offset: number): number =>
      found({ 1: [batch(0, ['a']), batch(offset, ['b'])], 2: [batch(0, ['x']), batch(offset, ['y'])] }).length;
    expect([far(999), far(1000)]).toEqual([1, 2]);
  });

  it('are compared from the larger of the two starts on', () => {
    const later = { parts: [batch(0, ['x', 'y']), ...one.slice(2)], logStart: 1 };
    expect(found({ 1: [batch(0, ['a', 'b']), one[2]!], 2: later })).toMatchObject([{ offset: 1, ranges: [[1, 1]] }]);
  });

  it('name whole numbers as numbers, and what holds no value as another record', () => {
    expect(found({ 1: [batch(0, ['7'])], 2: [batch(0, [['k', null]])] })).toMatchObject([
      {
        values: [7],
        summary:
          'the replicas of tide-0 differ at offset 0: at 0, broker 1 holds 7 (epoch 0); broker 2 holds another record (epoch 0)',
      },
    ]);
  });
});

describe('logs of other batches', () => {
  it('agree where the records do', () => {
    expect(found({ 1: [batch(0, ['a', 'b', 'c'])], 2: [batch(0, ['a']), batch(1, ['b', 'c'])] })).toEqual([]);
    expect(found({ 1: [batch(0, ['a']), batch(1, ['b', 'c'])], 2: [batch(0, ['a', 'b']), batch(2, ['c'])] })).toEqual(
      [],
    );
    expect(found({ 1: [batch(0, ['a', 'b'], 0, 'gzip')], 2: [batch(0, ['a'])] })).toEqual([]);
  });

  it('agree where one lacks a record that may have been compacted away', () => {
    expect(
      found({ 1: [batch(0, ['a']), batch(1, ['b']), batch(2, ['c'])], 2: [batch(0, ['a']), batch(2, ['c'])] }),
    ).toEqual([]);
    expect(found({ 1: [batch(0, ['a', 'b', 'c'])], 2: [batch(0, ['a']), batch(2, ['c'])] })).toEqual([]);
  });

  it('differ where a value or a key does', () => {
    const differ = (theirs: readonly (string | Pair)[]): (number | null)[] =>
      found({
        1: [batch(0, ['a', ['k', 'b'], [null, 'c']])],
        2: [batch(0, theirs.slice(0, 1)), batch(1, theirs.slice(1))],
      }).map(({ offset }) => offset);
    expect(differ(['a', ['k', 'b'], 'c'])).toEqual([]);
    expect(differ(['x', ['k', 'b'], 'c'])).toEqual([0]);
    expect(differ(['a', ['k', 'x'], 'c'])).toEqual([1]);
    expect(differ(['a', ['k', 'bb'], 'c'])).toEqual([1]);
    expect(differ(['a', ['x', 'b'], 'c'])).toEqual([1]);
    expect(differ(['a', [null, 'b'], 'c'])).toEqual([1]);
    expect(differ(['a', ['k', null], 'c'])).toEqual([1]);
    expect(differ(['a', ['k', 'b'], ['', 'c']])).toEqual([2]);
  });

  it('are compared only where both have them', () => {
    expect(found({ 1: [batch(0, ['a', 'b', 'c'])], 2: [batch(0, ['a']), batch(1, ['b'])] })).toEqual([]);
    const start = { parts: [batch(0, ['x', 'b', 'c'])], logStart: 1 };
    expect(found({ 1: [batch(0, ['a']), batch(1, ['b', 'c'])], 2: start })).toEqual([]);
    const inside = { parts: [batch(0, ['x', 'b', 'y'])], logStart: 1 };
    expect(found({ 1: [batch(0, ['a']), batch(1, ['b', 'c'])], 2: inside })).toMatchObject([{ offset: 2 }]);
  });

  it('show what is packed', () => {
    const packed = (value: string): Uint8Array => batch(0, [value], 0, 'gzip');
    expect(found({ 1: [packed('a')], 2: [packed('b')] })).toMatchObject([{ values: ['a', 'b'] }]);
    expect(said({ 1: [messages(['a'])], 2: [packed('a')], 3: [messages(['b'])] })).toEqual([
      'the replicas of tide-0 differ at offset 0: at 0, brokers 1 and 2 hold a; broker 3 holds b',
    ]);
  });

  it('that cannot be unpacked differ only where both have them', () => {
    const evidence = evidenceOf({
      1: [batch(0, ['a', 'b'], 0, 'gzip')],
      2: { parts: [batch(0, ['a']), batch(1, ['b', 'c'])], logStart: 2 },
    });
    expect(findDivergences({ ...evidence, logs: { ...evidence.logs, decompressors: {} } } as Evidence)).toEqual([]);
  });

  it('that cannot be unpacked do not differ where the other has a hole, or nothing any more', () => {
    const packed = batch(0, ['a', 'b'], 0, 'gzip');
    const evidence = evidenceOf({ 1: [packed, batch(2, ['c'])], 2: [batch(2, ['c'])] });
    expect(findDivergences({ ...evidence, logs: { ...evidence.logs, decompressors: {} } } as Evidence)).toEqual([]);
    const late = { parts: [batch(0, ['x', 'b', 'c'])], logStart: 1 };
    expect(found({ 1: late, 2: [batch(0, ['a', 'b']), batch(2, ['c'])] })).toEqual([]);
  });

  it('differ as a whole where one cannot be unpacked', () => {
    const packed = batch(0, ['a', 'b'], 0, 'gzip');
    const evidence = evidenceOf({ 1: [packed], 2: [batch(0, ['a']), batch(1, ['b'])] });
    const without = { ...evidence, logs: { ...evidence.logs, decompressors: {} } } as Evidence;
    expect(findDivergences(without)).toMatchObject([{ offset: 0, ranges: [[0, 1]], values: ['a'] }]);
    expect(findDivergences(evidence)).toEqual([]);
  });
});

describe('logs of message sets', () => {
  it('agree where keys and values do: a broker may write them anew', () => {
    expect(found({ 1: [messages(['a', ['k', 'b']])], 2: [messages(['a', ['k', 'b']], 2)] })).toEqual([]);
    expect(found({ 1: [messages(['a', 'b'])], 2: [batch(0, ['a', 'b'])] })).toEqual([]);
  });

  it('differ where a key or a value does, and have no epochs', () => {
    expect(found({ 1: [messages(['a', 'b'])], 2: [messages(['a', 'x'])], 3: [messages(['a', 'b'], 2)] })).toMatchObject(
      [
        {
          offset: 1,
          summary: 'the replicas of tide-0 differ at offset 1: at 1, brokers 1 and 3 hold b; broker 2 holds x',
          evidence: [
            { source: 'log', node: 1, offset: 1, epoch: null },
            { source: 'log', node: 3, offset: 1, epoch: null },
            { source: 'log', node: 2, offset: 1, epoch: null },
          ],
        },
      ],
    );
    expect(said({ 1: [messages([['k', 'a']])], 2: [messages([[null, 'a']])] })).toEqual([
      'the replicas of tide-0 differ at offset 0: at 0, broker 1 holds a; broker 2 holds a',
    ]);
    expect(said({ 1: [messages([['k', null]])], 2: [messages([['k', 'a']])] })).toEqual([
      'the replicas of tide-0 differ at offset 0: at 0, broker 1 holds another record; broker 2 holds a',
    ]);
    expect(said({ 1: [messages(['a'])], 2: [batch(0, ['b'])], 3: [batch(0, ['a'], 3)] })).toEqual([
      'the replicas of tide-0 differ at offset 0: at 0, brokers 1 and 3 hold a; broker 2 holds b (epoch 0)',
    ]);
  });
});

describe('a trace of two records at one offset in one epoch', () => {
  it('is a difference up to the end of the longer batch', () => {
    const line = (node: number, last: number, hash: string): object => {
      const batches = [{ base: 1, last, epoch: 0, hash }];
      return { seq: 0, time: node, node, boot: 1, event: 'append', partition: key, leaderEpoch: 0, batches };
    };
    for (const [one, other] of [
      [1, 3],
      [3, 1],
    ] as const) {
      const cluster = rebuildReplicas(readTrace([line(1, one, '0000000a'), line(2, other, '0000000b')]));
      const history = { keys: [], faults: [] };
      const evidence = evidenceOf({}, { cluster, logs: null, run: { settled: true }, history, promises: {} });
      expect(findDivergences(evidence)).toMatchObject([
        { labels: ['same-epoch'], offset: 1, nodes: [1, 2], ranges: [[1, 3]] },
      ]);
    }
  });
});

describe('logs that cannot be compared', () => {
  const doubts = (evidence: Evidence): string[] => [...(evidence.unknown.get('agreement') ?? [])];

  it('are those of a run that did not settle', () => {
    const logs = { 1: [batch(0, ['a'])], 2: [batch(0, ['b'])] };
    for (const settled of [false, null]) {
      const evidence = evidenceOf(logs, { run: { settled } });
      expect(findDivergences(evidence)).toEqual([]);
      expect(doubts(evidence)).toEqual(['the run did not settle, so that replicas may still have had to truncate']);
    }
    const none = evidenceOf(logs, { run: { settled: false }, logs: null });
    expect([findDivergences(none), doubts(none)]).toEqual([[], []]);
  });

  it('are read up to their flaw, which is told', () => {
    const torn = [batch(0, ['a']), batch(1, ['b']).slice(0, 60)];
    const evidence = evidenceOf({ 1: [batch(0, ['a']), batch(1, ['x'])], 2: torn });
    expect(findDivergences(evidence)).toEqual([]);
    expect(doubts(evidence)).toEqual(['tide-0: the log of broker 2 cannot be read from offset 1 on (torn-tail)']);
    expect(found({ 1: [batch(0, ['x'])], 2: torn })).toHaveLength(1);
  });

  it('are missing where a replica should have one', () => {
    const missing = (changes: object): string[] => {
      const evidence = evidenceOf({ 1: [], 2: [] }, changes);
      noteMissingLogs(evidence);
      return doubts(evidence);
    };
    const partition = (replicas: readonly number[], deleted = false) => ({
      cluster: {
        partitions: new Map([
          [key, { replicas, deleted }],
          ['other-0', { replicas: [1], deleted: false }],
        ]),
      },
    });
    expect(missing({})).toEqual([]);
    expect(missing(partition([1, 2]))).toEqual([]);
    expect(missing(partition([1, 3, 2, 4]))).toEqual(['tide-0: the log of brokers 3 and 4 is missing']);
    expect(missing(partition([1, 3], true))).toEqual([]);
    expect(missing({ ...partition([1, 2]), history: { keys: ['other-0', 'unheard-0'] } })).toEqual([
      'other-0: the log of broker 1 is missing',
    ]);
    expect(missing({ ...partition([1, 3]), logs: null })).toEqual([]);
    const seen = { partitions: new Map([[key, { replicas: [1, 3] }]]) };
    expect(missing({ observed: seen })).toEqual(['tide-0: the log of broker 3 is missing']);
  });
});
