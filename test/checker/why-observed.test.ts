/** How a loss came about on brokers that tell no trace: each step word for word, with its time and its reference. */
import { describe, expect, it } from 'vitest';
import { crc32c, encodeBatch, encodeMessageSet } from '../../broker/protocol/index.ts';
import { emptyFinding } from '../../checker/anomalies/finding.ts';
import type { Evidence } from '../../checker/evidence.ts';
import { readFinalLogs } from '../../checker/final-logs.ts';
import type { Decompressors } from '../../checker/logs/contents.ts';
import { readObservations } from '../../checker/observations.ts';
import type { AnomalyKind } from '../../checker/results.ts';
import { whyObserved } from '../../checker/why-observed.ts';
import { withFaults } from '../../checker/why.ts';
import { decompressors } from '../../harness/check/decompressors.ts';

const key = 'tide-0';

type Line = readonly [ms: number, node: number | 'controller', fields: Readonly<Record<string, unknown>>];

function evidenceOf(lines: readonly Line[], more: object = {}): Evidence {
  const seqs = new Map<number | 'controller', number>();
  const told = lines.map(([ms, node, fields]) => {
    const seq = seqs.get(node) ?? 0;
    seqs.set(node, seq + 1);
    return { seq, time: ms * 1e6, node, boot: 1, partition: key, ...fields };
  });
  return { observed: readObservations(told), logs: null, history: { faults: [] }, ...more } as unknown as Evidence;
}

function steps(lines: readonly Line[], more: object = {}, kind: AnomalyKind = 'lost-acked-write', offset = 3) {
  return whyObserved(evidenceOf(lines, more), { ...emptyFinding(kind, key), offset });
}

const texts = (...given: Parameters<typeof steps>): string[] => steps(...given).map(({ text }) => text);

const ack = (ms: number, more: object = {}): Line => [
  ms,
  1,
  { event: 'ack', base: 2, last: 3, acks: -1, isr: [1, 2, 3], leaderEpoch: 0, ...more },
];
const election = (ms: number, leader: number | null, more: object = {}): Line => [
  ms,
  'controller',
  { event: 'election', leader, isr: [2, 3], leaderEpoch: 1, ...more },
];
const cut = (ms: number, from: number, to: number, more: object = {}): Line => [
  ms,
  3,
  { event: 'truncation', source: 'segments', from, to, ...more },
];
const words = (ms: number, said: string, more: object = {}): Line => [
  ms,
  3,
  { event: 'truncation', source: 'log', words: said, ...more },
];

describe('the steps of a loss that was observed', () => {
  it('are the acknowledgement, who led then, and whose log was cut, in the order of their times', () => {
    expect(steps([cut(20, 4, 3), election(10, 2), ack(5)])).toEqual([
      {
        text: 'Broker 1 acknowledged offset 3 (acks=all); in sync were, as last seen, brokers 1, 2 and 3.',
        time: 5e6,
        references: [{ source: 'observation', node: 1, boot: 1, seq: 0 }],
      },
      {
        text: 'Broker 2 was seen to lead tide-0 (epoch 1, in-sync replicas 2, 3).',
        time: 10e6,
        references: [{ source: 'observation', node: 'controller', boot: 1, seq: 0 }],
      },
      {
        text: 'The log of broker 3 was seen to be cut from 4 to 3; by which rule, nothing tells.',
        time: 20e6,
        references: [{ source: 'observation', node: 3, boot: 1, seq: 0 }],
      },
    ]);
  });

  it('tell of an acknowledgement what was asked for, and who was in sync if that was seen', () => {
    expect(texts([ack(5, { acks: 1, isr: [] })])).toEqual(['Broker 1 acknowledged offset 3 (acks=1).']);
    expect(texts([ack(5, { isr: [2] })])[0]).toContain('; in sync were, as last seen, broker 2.');
    expect(texts([ack(5, { acks: 0 })])).toEqual([]);
    expect(texts([ack(5, { base: 4, last: 9 }), ack(6, { base: 0, last: 2 })])).toEqual([]);
    expect(texts([ack(5, { base: 3 }), ack(6, { base: 0, last: 3 })])).toHaveLength(2);
  });

  it('tell of an election that nobody leads, and no epoch that was not seen', () => {
    expect(texts([election(5, null, { leaderEpoch: undefined, isr: [] })])).toEqual([
      'Nobody was seen to lead tide-0 (in-sync replicas ).',
    ]);
  });

  it('begin with the acknowledgement', () => {
    const before = [election(4, 1), election(5, 1), cut(4, 9, 3)];
    expect(texts([ack(5), ...before, cut(5, 4, 3), election(6, 2)])).toEqual([
      expect.stringContaining('Broker 1 acknowledged'),
      'The log of broker 3 was seen to be cut from 4 to 3; by which rule, nothing tells.',
      'Broker 2 was seen to lead tide-0 (epoch 1, in-sync replicas 2, 3).',
    ]);
    expect(texts(before)).toHaveLength(3);
  });

  it('tell only of what was cut at the offset or below', () => {
    expect(texts([cut(6, 9, 4)])).toEqual([]);
    expect(texts([cut(6, 9, 3), cut(7, 3, 0)])).toHaveLength(2);
    expect(texts([words(6, 'Truncating', { to: 3 }), words(7, 'Truncating', { from: 4 })])).toEqual([]);
  });

  it('tell of a cut what the log of the same broker said within a second', () => {
    const said = (...log: Line[]): string => texts([cut(2000, 4, 3), ...log])[0]!.split('; ')[1]!;
    expect(said(words(1500, 'Truncating to 3', { to: 3 }))).toBe('as its log said: Truncating to 3.');
    expect(said(words(1500, 'Truncating'))).toBe('as its log said: Truncating.');
    expect(said(words(1001, 'early'))).toBe('as its log said: early.');
    expect(said(words(2999, 'late'))).toBe('as its log said: late.');
    const nothing = 'by which rule, nothing tells.';
    expect([said(words(1000, 'early')), said(words(3000, 'late'))]).toEqual([nothing, nothing]);
    expect(said(words(1500, 'Truncating to 2', { to: 2 }))).toBe(nothing);
    expect(said([1500, 2, { event: 'truncation', source: 'log', words: 'of another' }])).toBe(nothing);
    expect(texts([cut(2000, 4, 3, { words: 'by itself' })])[0]).toContain('as its log said: by itself.');
  });

  it('are at most eight of each sort', () => {
    const many = (line: (ms: number) => Line): number => texts(Array.from({ length: 10 }, (_, at) => line(at))).length;
    expect([many((ms) => ack(ms)), many((ms) => election(ms, 2)), many((ms) => cut(ms, 4, 3))]).toEqual([8, 8, 8]);
  });

  it('are told of losses and divergences alone, on a partition that was observed', () => {
    for (const kind of ['lost-acked-write', 'replica-divergence', 'lost-on-replica'] as const)
      expect(texts([ack(5)], {}, kind)).toHaveLength(1);
    expect(texts([ack(5)], {}, 'duplicate')).toEqual([]);
    expect(texts([ack(5)], { observed: null })).toEqual([]);
    const evidence = evidenceOf([ack(5)]);
    const finding = { ...emptyFinding('lost-acked-write', key), offset: 3 };
    expect(whyObserved(evidence, { ...finding, key: null })).toEqual([]);
    expect(whyObserved(evidence, { ...finding, key: 'tide-1' })).toEqual([]);
    expect(whyObserved(evidenceOf([ack(5, { base: 0 })]), { ...finding, offset: null })).toEqual([]);
  });
});

describe('what replicas hold in the end', () => {
  const batch = (base: number, values: readonly (string | null)[], compression?: 'gzip'): Uint8Array => {
    const packed = compression === undefined ? {} : { compression };
    return encodeBatch({
      baseOffset: base,
      leaderEpoch: 4,
      records: values.map((value) => ({ key: 'k', value })),
      ...packed,
    });
  };
  const held = (logs: Readonly<Record<number, readonly Uint8Array[]>>, unpack: Decompressors = {}) => {
    const files = Object.entries(logs).map(([node, parts]) => {
      const bytes = Uint8Array.from(Buffer.concat([...parts]));
      return { node: Number(node), key, segments: [{ baseOffset: 0, bytes }], logStart: null };
    });
    return steps([ack(5)], { logs: readFinalLogs(files, [1, 2, 3], unpack) }).slice(1);
  };

  it('is told by camps, with a reference to each log', () => {
    const log = (value: string | null): Uint8Array[] => [batch(0, ['a', 'b', 'c']), batch(3, [value])];
    expect(held({ 1: log('x'), 2: log('y'), 3: log('x') })).toEqual([
      {
        text: 'In the end, at offset 3: brokers 1 and 3 hold x; broker 2 holds y.',
        references: [1, 2, 3].map((node) => ({ source: 'log', node, offset: 3, epoch: 4 })),
      },
    ]);
    expect(held({ 1: log(null), 2: log('y').slice(0, 1), 3: [batch(0, ['a', 'b']), batch(5, ['z'])] })).toEqual([
      {
        text: 'In the end, at offset 3: broker 1 holds another record; brokers 2 and 3 hold nothing.',
        references: [4, null, null].map((epoch, at) => ({ source: 'log', node: at + 1, offset: 3, epoch })),
      },
    ]);
    expect(held({ 1: [batch(2, ['p', 'q'])], 2: [batch(3, ['r'], 'gzip')] })[0]?.text).toBe(
      'In the end, at offset 3: broker 1 holds q; broker 2 holds another record.',
    );
  });

  it('is told where it is packed, where messages have no epoch, and where a batch has lost its record', () => {
    const gzip = [batch(0, ['a', 'b', 'c', 'r'], 'gzip')];
    const set = encodeMessageSet(['a', 'b', 'c', 'r'].map((value) => ({ key: null, value, timestampMs: 1 })));
    const compacted = Uint8Array.from(batch(0, ['a']));
    const view = new DataView(compacted.buffer);
    view.setInt32(23, 5);
    view.setUint32(17, crc32c(compacted.subarray(21)));
    expect(held({ 1: gzip, 2: [set], 3: [compacted] }, decompressors)).toEqual([
      {
        text: 'In the end, at offset 3: brokers 1 and 2 hold r; broker 3 holds another record.',
        references: [4, null, 4].map((epoch, at) => ({ source: 'log', node: at + 1, offset: 3, epoch })),
      },
    ]);
  });

  it('is not told where no log of the partition was copied', () => {
    expect(held({})).toEqual([]);
  });
});

describe('faults among the steps', () => {
  const step = (time: number | undefined, text: string) =>
    ({ text, references: [], ...(time === undefined ? {} : { time }) }) as const;
  const told = (
    faults: readonly (readonly [time: number, fault: string, phase: string, nodes?: object])[],
    times = [10, 20, 30],
  ) => {
    const lines = faults.map(([time, fault, phase, nodes = { leader: 1 }]) => ({
      time,
      kind: 'pause',
      record: { fault, phase, nodes },
    }));
    const given = { history: { faults: lines } } as unknown as Evidence;
    return withFaults(
      given,
      times.map((time) => step(time, `at ${time}`)),
    ).map(({ text }) => text);
  };

  it('stand where they began, if they lasted into the steps', () => {
    expect(told([[15, 'f1', 'start']])).toEqual(['at 10', 'Fault f1: pause (leader 1).', 'at 20', 'at 30']);
    expect(told([[20, 'f1', 'start']])).toEqual(['at 10', 'at 20', 'Fault f1: pause (leader 1).', 'at 30']);
    expect(
      told([
        [30, 'f1', 'start'],
        [40, 'f1', 'end'],
      ]).at(-1),
    ).toBe('Fault f1: pause (leader 1).');
    expect(told([[31, 'f1', 'start']])).toHaveLength(3);
    expect(
      told([
        [5, 'f1', 'start'],
        [10, 'f1', 'end'],
      ])[0],
    ).toBe('Fault f1: pause (leader 1).');
    expect(
      told([
        [5, 'f1', 'start'],
        [9, 'f1', 'end'],
      ]),
    ).toHaveLength(3);
    expect(told([[5, 'f1', 'start']])).toHaveLength(3);
    expect(told([[15, 'f1', 'end']])).toHaveLength(3);
  });

  it('name their nodes, a role that is a node only once, and none where none is known', () => {
    expect(told([[15, 'f1', 'start', { leader: 1, controller: 'controller', others: [2, 3] }]])[1]).toBe(
      'Fault f1: pause (leader 1; controller; others 2,3).',
    );
    expect(told([[15, 'f1', 'start', {}]])[1]).toBe('Fault f1: pause.');
  });

  it('are none where no step has a time', () => {
    expect(told([[15, 'f1', 'start']], [])).toEqual([]);
    const given = { history: { faults: [{ time: 15, kind: 'pause', record: { fault: 'f1', phase: 'start' } }] } };
    expect(withFaults(given as unknown as Evidence, [step(undefined, 'x')]).map(({ text }) => text)).toEqual(['x']);
    const timed = withFaults(given as unknown as Evidence, [step(undefined, 'x'), step(10, 'a'), step(20, 'b')]);
    expect(timed.map(({ text }) => text)).toEqual(['x', 'a', 'Fault f1: pause.', 'b']);
  });
});
