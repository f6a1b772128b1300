import { describe, expect, it } from 'vitest';
import { emptyFinding, type Finding } from '../../checker/anomalies/finding.ts';
import { groupFindings } from '../../checker/group.ts';
import type { AnomalyKind } from '../../checker/results.ts';

function found(kind: AnomalyKind, fields: Partial<Finding> = {}): Finding {
  return { ...emptyFinding(kind, 'tide-0'), summary: kind, ...fields };
}

/** What stands at the top, each with what was put under it. */
function grouped(...findings: readonly Finding[]): Record<string, string[]> {
  const anomalies = groupFindings(findings, () => []);
  return Object.fromEntries(anomalies.map(({ kind, consequences }) => [kind, consequences.map((child) => child.kind)]));
}

const at = (from: number, to = from): Partial<Finding> => ({ offset: from, ranges: [[from, to]] });

describe('a consequence', () => {
  it.each([
    ['a value', { rows: [4] }, { rows: [9, 4] }],
    ['an offset', at(7), at(7)],
    ['the first offset of a range', at(7, 9), at(7)],
    ['one of several offsets', at(9), { ranges: [[7, 7] as const, [9, 9] as const] }],
    ['the last offset of a range', at(9), at(7, 9)],
    ['an offset of a long range', at(7, 500), at(400)],
    ['an offset, of a long finding', at(7), at(7, 70_000)],
    ['an offset, just as long as is looked up', at(71), at(7, 71)],
    ['offsets of a long range, further within a long finding than is looked up', at(200, 264), at(7, 500)],
  ])('stands under the loss that shares %s with it', (_, loss, finding) => {
    expect(grouped(found('lost-acked-write', loss), found('inconsistent-offsets', finding))).toEqual({
      'lost-acked-write': ['inconsistent-offsets'],
    });
  });

  it.each([
    ['another value', { rows: [4] }, { rows: [5] }],
    ['the offset before', at(7, 9), at(6)],
    ['the offset after', at(7, 9), at(10)],
    ['the offset after a long range', at(7, 500), at(501)],
    ['the offset before a long range', at(7, 500), at(6)],
    ['an offset further within a long finding than is looked up', at(72), at(7, 500)],
    ['another partition', { rows: [4] }, { rows: [4], key: 'tide-1' }],
    ['no partition', { rows: [4] }, { rows: [4], key: null }],
    ['another class', { rows: [4] }, { rows: [4], class: 'expected' as const }],
  ])('stands alone beside a loss that has only to do with %s', (_, loss, finding) => {
    const anomalies = groupFindings(
      [found('lost-acked-write', loss), found('inconsistent-offsets', finding)],
      () => [],
    );
    expect(anomalies.map(({ consequences }) => consequences)).toEqual([[], []]);
  });

  it('follows by the election that lacked the record, where it is a loss of it', () => {
    const loss = found('lost-acked-write', { lackingEpoch: 3 });
    expect(grouped(loss, found('consumer-saw-uncommitted', { lackingEpoch: 3 }))).toEqual({
      'lost-acked-write': ['consumer-saw-uncommitted'],
    });
    expect(Object.keys(grouped(loss, found('consumer-saw-uncommitted', { lackingEpoch: 4 })))).toHaveLength(2);
    expect(Object.keys(grouped(loss, found('inconsistent-offsets', { lackingEpoch: 3 })))).toHaveLength(2);
    // A divergence is asked about everything in its partition.
    const divergence = found('replica-divergence', { lackingEpoch: 3 });
    expect(Object.keys(grouped(divergence, found('consumer-saw-uncommitted', { lackingEpoch: 4 })))).toHaveLength(2);
    expect(Object.keys(grouped(found('replica-divergence'), found('consumer-saw-uncommitted')))).toHaveLength(2);
    const none = found('lost-acked-write');
    expect(Object.keys(grouped(none, found('consumer-saw-uncommitted')))).toHaveLength(2);
  });

  it('on single replicas follows from a divergence between them', () => {
    const divergence = found('replica-divergence', { nodes: [1, 3] });
    expect(grouped(divergence, found('lost-on-replica', { nodes: [3] }))).toEqual({
      'replica-divergence': ['lost-on-replica'],
    });
    expect(grouped(divergence, found('epoch-regression', { nodes: [1, 3] }))).toEqual({
      'replica-divergence': ['epoch-regression'],
    });
    expect(Object.keys(grouped(divergence, found('lost-on-replica', { nodes: [2, 3] })))).toHaveLength(2);
    const loss = found('lost-acked-write', { ...at(3), nodes: [3] });
    expect(Object.keys(grouped(loss, found('lost-on-replica', { ...at(3), nodes: [3] })))).toHaveLength(2);
  });

  it('stands under the gravest root, and under a root before anything else', () => {
    const shared = { rows: [1] };
    const roots = [found('offset-moved', shared), found('replica-divergence', shared), found('lost-write', shared)];
    const conflict = found('ack-conflict', shared);
    expect(grouped(...roots, found('duplicate', shared), conflict)).toEqual({
      'lost-write': ['ack-conflict', 'duplicate'],
      'replica-divergence': [],
      'offset-moved': [],
    });
    const both = found('poll-skip', { rows: [1, 2] });
    expect(grouped(found('replica-divergence', shared), found('ack-conflict', { rows: [2] }), both)).toEqual({
      'replica-divergence': ['poll-skip'],
      'ack-conflict': [],
    });
    expect(grouped(found('nonmonotonic-send', shared), found('duplicate', shared), conflict)).toEqual({
      'ack-conflict': ['nonmonotonic-send', 'duplicate'],
    });
  });

  it.each(['lost-acked-write', 'lost-write', 'log-start-moved', 'replica-divergence', 'offset-moved'] as const)(
    'may follow from %s, which follows from nothing',
    (kind) => {
      const shared = { rows: [1], ...at(1) };
      expect(grouped(found('duplicate', shared), found(kind, shared))).toEqual({ [kind]: ['duplicate'] });
      const other = kind === 'lost-write' ? 'lost-acked-write' : 'lost-write';
      expect(Object.keys(grouped(found(other, shared), found(kind, shared))).sort()).toEqual([kind, other].sort());
    },
  );

  it.each([
    'committed-overwritten',
    'ack-conflict',
    'inconsistent-offsets',
    'consumer-saw-uncommitted',
    'realtime-order',
  ] as const)('may follow from %s where no root explains it', (kind) => {
    const shared = { rows: [1], ...at(1) };
    expect(grouped(found('poll-skip', shared), found(kind, shared))).toEqual({ [kind]: ['poll-skip'] });
  });

  it('of a read of what was never committed are two values at its offset, not at another', () => {
    const never = found('consumer-saw-uncommitted', { ...at(3), rows: [1], labels: ['never-committed'] });
    expect(grouped(found('inconsistent-offsets', { ...at(3), rows: [1, 2] }), never)).toEqual({
      'consumer-saw-uncommitted': ['inconsistent-offsets'],
    });
    // Both of these were committed: the read has nothing to do with it.
    expect(grouped(found('inconsistent-offsets', { ...at(4), rows: [2, 3] }), never)).toEqual({
      'inconsistent-offsets': [],
      'consumer-saw-uncommitted': [],
    });
    // What was committed when it was read gave way as one of the two.
    const vanished = found('consumer-saw-uncommitted', { ...at(3), rows: [1], labels: ['vanished'] });
    expect(grouped(vanished, found('inconsistent-offsets', { ...at(3), rows: [1, 2] }))).toEqual({
      'inconsistent-offsets': ['consumer-saw-uncommitted'],
    });
    // Losses come first.
    for (const kind of ['lost-acked-write', 'committed-overwritten', 'ack-conflict'] as const) {
      expect(grouped(never, found('inconsistent-offsets', at(3)), found(kind, at(3)))).toEqual({
        [kind]: ['consumer-saw-uncommitted', 'inconsistent-offsets'],
      });
    }
  });

  it('of an order by time is no order by time, and no order of sends within one operation', () => {
    const shared = { rows: [1] };
    const order = found('realtime-order', shared);
    expect(grouped(order, found('int-nonmonotonic-send', shared))).toEqual({
      'realtime-order': [],
      'int-nonmonotonic-send': [],
    });
    expect(grouped(order, found('nonmonotonic-send', shared))).toEqual({ 'realtime-order': ['nonmonotonic-send'] });
    expect(groupFindings([order, { ...order }], () => [])).toHaveLength(2);
    for (const kind of ['realtime-order', 'int-nonmonotonic-send'] as const) {
      expect(grouped(found('lost-write', shared), found(kind, shared))).toEqual({ 'lost-write': [kind] });
      expect(Object.keys(grouped(found('lost-write', { rows: [2] }), found(kind, shared)))).toHaveLength(2);
    }
  });

  it('of values alone does not follow by its offset', () => {
    for (const kind of ['duplicate', 'nonmonotonic-send', 'realtime-order', 'int-nonmonotonic-send'] as const)
      expect(Object.keys(grouped(found('lost-write', at(1)), found(kind, at(1))))).toHaveLength(2);
  });

  it.each(['phantom', 'G1a', 'no-convergence', 'two-leaders-one-epoch'] as const)('is never %s', (kind) => {
    const shared = { rows: [1], ...at(1), lackingEpoch: 1 };
    expect(Object.keys(grouped(found('lost-write', shared), found(kind, shared)))).toHaveLength(2);
  });

  it('follows from no consequence that stands alone', () => {
    const shared = { rows: [1] };
    expect(grouped(found('duplicate', shared), found('poll-skip', shared))).toEqual({ duplicate: [], 'poll-skip': [] });
  });

  it('is found among very many causes at one place', () => {
    const many = Array.from({ length: 100 }, () => found('lost-write', { rows: [1] }));
    const anomalies = groupFindings([...many, found('poll-skip', { rows: [1] })], () => []);
    expect(anomalies.filter(({ consequences }) => consequences.length === 1)).toHaveLength(1);
    expect(anomalies).toHaveLength(100);
  });

  it('asks no more than 32 causes at one place, those that were found first', () => {
    const shared = { rows: [1] };
    const under = (count: number): string | undefined =>
      groupFindings(
        [
          ...Array.from({ length: count }, () => found('offset-moved', shared)),
          found('lost-write', shared),
          found('poll-skip', shared),
        ],
        () => [],
      ).find(({ consequences }) => consequences.length > 0)?.kind;
    expect(under(31)).toBe('lost-write');
    expect(under(32)).toBe('offset-moved');
  });
});

describe('the list of anomalies', () => {
  it('names of each kind of consequence how many there are, the first, and the evidence of all', () => {
    const evidence = (index: number): Partial<Finding> => ({ rows: [1], evidence: [{ source: 'history', index }] });
    const [loss] = groupFindings(
      [
        found('lost-write', evidence(1)),
        found('poll-skip', { ...evidence(2), summary: 'the first' }),
        found('poll-skip', { ...evidence(3), summary: 'the second' }),
        found('duplicate', evidence(4)),
      ],
      () => [],
    );
    expect(loss?.consequences).toEqual([
      {
        kind: 'poll-skip',
        count: 2,
        summary: 'the first',
        evidence: [
          { source: 'history', index: 2 },
          { source: 'history', index: 3 },
        ],
      },
      { kind: 'duplicate', count: 1, summary: 'duplicate', evidence: [{ source: 'history', index: 4 }] },
    ]);
    expect(loss?.evidence).toEqual([{ source: 'history', index: 1 }]);
  });

  it('goes from violations to what is expected, then by gravity, partition and offset', () => {
    const order: readonly Finding[] = [
      found('lost-acked-write', { key: null, rows: [1] }),
      found('lost-acked-write', { key: 'A-0', offset: 1 }),
      found('lost-acked-write', { key: 'a-0', offset: null }),
      found('lost-acked-write', { key: 'a-0', offset: 0 }),
      found('lost-acked-write', { key: 'a-0', offset: 2 }),
      found('lost-acked-write', { key: 'a-0', offset: 10 }),
      found('lost-acked-write', { key: 'a-1', offset: 1 }),
      found('replica-divergence', { key: 'a-0', offset: 0 }),
      found('lost-acked-write', { key: 'a-0', offset: 0, class: 'expected' }),
      found('replica-divergence', { key: 'a-0', offset: 0, class: 'expected' }),
    ];
    const names = (findings: readonly Pick<Finding, 'class' | 'kind' | 'key' | 'offset'>[]): unknown =>
      findings.map((each) => [each.class, each.kind, each.key, each.offset]);
    for (const shuffled of [order, order.toReversed(), [...order.slice(4), ...order.slice(0, 4)]])
      expect(names(groupFindings(shuffled, () => []))).toEqual(names(order));
  });

  it('asks why of what does not say so itself, and of each kind no more than are listed', () => {
    const asked: string[] = [];
    const explain = ({ summary }: Finding): { text: string; references: [] }[] => {
      asked.push(summary);
      return [{ text: summary, references: [] }];
    };
    const told = found('lost-write', { why: [{ text: 'told', references: [] }] });
    const many = Array.from({ length: 205 }, (_, index) => found('duplicate', { summary: `d${index}`, offset: index }));
    const anomalies = groupFindings([told, ...many], explain);
    expect(asked).toHaveLength(200);
    expect(anomalies[0]?.why).toEqual([{ text: 'told', references: [] }]);
    expect(anomalies[1]?.why).toEqual([{ text: 'd0', references: [] }]);
    expect(anomalies.at(-1)?.why).toEqual([]);
  });
});
