/** Operations that read from each other in circles, word for word, and circles that are only counted. */
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../checker/anomalies/finding.ts';
import { countOffsetCycles, findTransactionAnomalies } from '../../../checker/anomalies/transactions.ts';
import { Told } from './told.ts';

type Line = readonly [process: number, type: string, micros: readonly (readonly unknown[])[]];

const sends = (value: number, offset?: number, key = 'a-0'): readonly unknown[] =>
  offset === undefined ? ['send', key, value] : ['send', key, [offset, value]];
const polls = (...values: number[]): readonly unknown[] =>
  values.length === 0 ? ['poll'] : ['poll', { 'a-0': values.map((value) => [value, value]) }];

/** Transactions line by line; index n for the n-th. */
function lines(...all: readonly Line[]): Told {
  const told = new Told();
  for (const [process, type, value] of all)
    told.lines.push({ index: told.lines.length, time: 0, process, type, f: 'txn', value, acks: 'all' });
  return told;
}

const found = (...all: readonly Line[]): Finding[] => findTransactionAnomalies(lines(...all).evidence);

/** Two transactions at once: each sends a value of its own and polls the other's. */
const crossed: readonly Line[] = [
  [1, 'invoke', [sends(1), polls()]],
  [2, 'invoke', [sends(2), polls()]],
  [1, 'ok', [sends(1, 1), polls(2)]],
  [2, 'ok', [sends(2, 2), polls(1)]],
];

describe('operations in a circle', () => {
  it('are told with each link', () => {
    expect(found(...crossed)).toMatchObject([
      {
        kind: 'G1c',
        class: 'violation',
        key: null,
        summary: '2 operations read from each other: 2 → 3 → 2',
        evidence: [2, 3].map((index) => ({ source: 'history', index })),
        why: [
          {
            text: 'Process 2 read 1 of a-0, which process 1 had sent.',
            references: [2, 3].map((index) => ({ source: 'history', index })),
          },
          {
            text: 'Process 1 read 2 of a-0, which process 2 had sent.',
            references: [3, 2].map((index) => ({ source: 'history', index })),
          },
        ],
      },
    ]);
  });

  it('are none where one of them failed, or is indefinite and nobody read what it sent', () => {
    const second = (type: string): Finding[] => found(...crossed.slice(0, 3), [2, type, [sends(2), polls(1)]]);
    expect(second('fail')).toEqual([]);
    expect(second('info').map(({ kind }) => kind)).toEqual(['G1c']);
    const unread: readonly Line[] = [
      [1, 'invoke', [sends(1), polls()]],
      [2, 'invoke', [sends(2), polls()]],
      [1, 'ok', [sends(1, 1), polls()]],
      [2, 'info', [sends(2), polls(1)]],
    ];
    expect(found(...unread)).toEqual([]);
  });

  it('may be against the order of one process', () => {
    const [circle, ...others] = found(
      [1, 'invoke', [sends(1), polls()]],
      [2, 'invoke', [sends(2), polls()]],
      [2, 'ok', [sends(2, 2), polls(1)]],
      [2, 'invoke', [sends(3), polls()]],
      [1, 'ok', [sends(1, 1), polls(3)]],
      [2, 'ok', [sends(3, 3), polls()]],
    );
    expect(others).toEqual([]);
    expect(circle).toMatchObject({
      kind: 'G1c-process',
      summary: '3 operations read from each other, against the order of their processes: 2 → 5 → 4 → 2',
      why: [
        {
          text: 'Process 2 went on to its next operation.',
          references: [2, 3].map((index) => ({ source: 'history', index })),
        },
        { text: 'Process 1 read 3 of a-0, which process 2 had sent.' },
        { text: 'Process 2 read 1 of a-0, which process 1 had sent.' },
      ],
    });
  });

  it('may be against the order of time', () => {
    const [circle, ...others] = found(
      [1, 'invoke', [sends(1), polls()]],
      [2, 'invoke', [sends(2), polls()]],
      [2, 'ok', [sends(2, 2), polls(1)]],
      [3, 'invoke', [sends(3), polls()]],
      [1, 'ok', [sends(1, 1), polls(3)]],
      [3, 'ok', [sends(3, 3), polls()]],
      [4, 'invoke', [polls()]],
      [4, 'ok', [polls(2)]],
    );
    expect(others).toEqual([]);
    expect(circle).toMatchObject({
      kind: 'G1c-realtime',
      summary: '3 operations read from each other, against the order of time: 2 → 5 → 4 → 2',
      why: [
        {
          text: 'Process 3 began an operation when that of process 2 was over.',
          references: [2, 3].map((index) => ({ source: 'history', index })),
        },
        { text: 'Process 1 read 3 of a-0, which process 3 had sent.' },
        { text: 'Process 2 read 1 of a-0, which process 1 had sent.' },
      ],
    });
  });

  it('are none in the order of time where one of them is indefinite, and so never over', () => {
    const kinds = found(
      [1, 'invoke', [sends(1), polls()]],
      [2, 'invoke', [sends(2), polls()]],
      [2, 'info', [sends(2), polls(1)]],
      [3, 'invoke', [sends(3), polls()]],
      [1, 'ok', [sends(1, 1), polls(3)]],
      [3, 'ok', [sends(3, 3), polls()]],
      [4, 'invoke', [polls()]],
      [4, 'ok', [polls(2)]],
    );
    expect(kinds).toEqual([]);
  });

  it('of more than ten show ten', () => {
    const count = 12;
    const all: Line[] = [];
    for (let at = 0; at < count; at += 1) all.push([at, 'invoke', [sends(at), polls()]]);
    for (let at = 0; at < count; at += 1) all.push([at, 'ok', [sends(at, at), polls((at + count - 1) % count)]]);
    const [circle] = found(...all);
    const shown = Array.from({ length: 10 }, (_, at) => count + at).join(' → ');
    expect(circle?.summary).toBe(`12 operations read from each other: ${shown} → 12`);
    expect([circle?.evidence.length, circle?.why.length]).toEqual([12, 12]);
  });
});

describe('an operation that reads what it sent itself', () => {
  it('is told once for each value', () => {
    const own = found([1, 'invoke', [sends(1), polls(), polls()]], [1, 'ok', [sends(1, 1), polls(1), polls(1)]]);
    expect(own).toMatchObject([
      {
        kind: 'precommitted-read',
        key: 'a-0',
        offset: 1,
        values: [1],
        rows: [0],
        summary: '1 of a-0 was read by the operation that sent it',
        evidence: [0, 1].map((index) => ({ source: 'history', index })),
      },
    ]);
  });
});

describe('a value that is read before it is sent', () => {
  it('is told by itself, and is in no circle', () => {
    const early = found(
      [1, 'invoke', [polls()]],
      [1, 'ok', [polls(5)]],
      [2, 'invoke', [sends(5), polls()]],
      [2, 'ok', [sends(5, 5), polls()]],
    );
    expect(early).toMatchObject([
      {
        kind: 'G1c-realtime',
        key: 'a-0',
        offset: 5,
        values: [5],
        rows: [0],
        labels: ['read-before-sent'],
        summary: '5 of a-0 was read before it was sent',
        evidence: [1, 2, 3].map((index) => ({ source: 'history', index })),
      },
    ]);
  });
});

describe('circles by the order of offsets', () => {
  it('are counted, and are no anomaly', () => {
    const interleaved: readonly Line[] = [
      [1, 'invoke', [sends(1), sends(11)]],
      [2, 'invoke', [sends(2), polls()]],
      [1, 'ok', [sends(1, 1), sends(11, 11)]],
      [2, 'ok', [sends(2, 2), polls()]],
    ];
    const told = lines(...interleaved);
    expect(findTransactionAnomalies(told.evidence)).toEqual([]);
    expect(countOffsetCycles(told.evidence)).toEqual({ G0: 1, 'G0-process': 1, 'G0-realtime': 1, 'G1c-offsets': 1 });
  });

  it('may need the order of a process, of time, or reads', () => {
    const apart = (second: number, polled: readonly unknown[] = ['poll']): Record<string, number> =>
      countOffsetCycles(
        lines(
          [1, 'invoke', [sends(1)]],
          [1, 'ok', [sends(1, 5)]],
          [second, 'invoke', [sends(2), polls()]],
          [second, 'ok', [sends(2, 3), polled]],
        ).evidence,
      );
    expect(apart(1)).toEqual({ G0: 0, 'G0-process': 1, 'G0-realtime': 1, 'G1c-offsets': 0 });
    expect(apart(2)).toEqual({ G0: 0, 'G0-process': 0, 'G0-realtime': 1, 'G1c-offsets': 0 });
    expect(apart(2, ['poll', { 'a-0': [[5, 1]] }])).toMatchObject({ G0: 0, 'G1c-offsets': 1 });
    expect(countOffsetCycles(new Told().send(1, 1, 5).send(1, 2, 3).evidence)).toEqual({});
  });
});
