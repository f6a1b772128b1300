/** One offset with two values, and one value at two offsets: by histories alone, and beside a final log. */
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../checker/anomalies/finding.ts';
import { findAckConflicts, findDuplicates, findInconsistentOffsets } from '../../../checker/anomalies/offsets.ts';
import { Told } from './told.ts';

const references = ({ evidence }: Finding): number[] =>
  evidence.map((reference) => (reference.source === 'history' ? reference.index : -1));

/** Values at offsets of key a-0, read by one poll. */
const read = (told: Told, process: number, ...records: readonly (readonly [offset: number, value: number])[]): Told =>
  told.op(process, 'poll', [['poll']], [['poll', { 'a-0': records }]]);

describe('an offset with two values', () => {
  it('is told with all of them, and who first saw each', () => {
    const told = read(new Told().send(1, 11, 5), 7, [5, 12]);
    read(read(told, 8, [5, 13]), 9, [5, 12]);
    expect(findInconsistentOffsets(told.evidence)).toMatchObject([
      {
        kind: 'inconsistent-offsets',
        class: 'violation',
        key: 'a-0',
        offset: 5,
        values: [11, 12, 13],
        summary: 'offset 5 of a-0 was seen with 3 values: 11, 12 and 13',
        rows: [0, 1, 2],
        ranges: [[5, 5]],
        labels: [],
        nodes: [],
        why: [],
        evidence: [1, 3, 5].map((index) => ({ source: 'history', index })),
      },
    ]);
    expect(findAckConflicts(told.evidence)).toEqual([]);
  });

  it('is told by its offset, the lowest first', () => {
    const told = read(read(new Told(), 7, [9, 1], [5, 2], [7, 3]), 8, [9, 4], [5, 5], [7, 6]);
    expect(findInconsistentOffsets(told.evidence).map(({ offset }) => offset)).toEqual([5, 7, 9]);
    const acked = new Told();
    for (const [at, offset] of [9, 5, 7, 9, 5, 7].entries()) acked.send(1, at, offset);
    expect(findAckConflicts(acked.evidence).map(({ offset }) => offset)).toEqual([5, 7, 9]);
  });

  it('is a conflict of acknowledgements where two sends were told it under acks=all', () => {
    const told = new Told().send(1, 11, 5).send(2, 12, 5).send(3, 13, 5, { acks: 1 });
    const found = findAckConflicts(told.evidence);
    expect(found).toMatchObject([
      {
        kind: 'ack-conflict',
        class: 'violation',
        key: 'a-0',
        offset: 5,
        values: [11, 12],
        summary: 'offset 5 of a-0 was acknowledged to 2 sends: 11 and 12',
        rows: [0, 1],
        ranges: [[5, 5]],
      },
    ]);
    expect(references(found[0]!)).toEqual([0, 1, 2, 3]);
    const elsewhere = read(new Told().send(1, 11, 5).send(2, 12, 6), 7, [5, 12]);
    expect(findAckConflicts(elsewhere.evidence)).toEqual([]);
  });

  it('is no conflict of acknowledgements where one of them is indefinite', () => {
    const told = new Told();
    for (const [type, micro] of [
      ['invoke', ['send', 'a-0', 11]],
      ['info', ['send', 'a-0', [5, 11]]],
    ] as const)
      told.lines.push({ index: told.lines.length, time: 0, process: 1, type, f: 'send', value: [micro], acks: 'all' });
    read(told, 7, [5, 11]).send(2, 12, 5);
    expect(findAckConflicts(told.evidence)).toEqual([]);
    expect(findInconsistentOffsets(told.evidence)).toHaveLength(1);
  });

  it('names nobody who first saw a value there that was seen at too many', () => {
    const everywhere = Array.from({ length: 105 }, (_, offset): readonly [number, number] => [offset, 11]);
    const told = read(read(new Told(), 7, ...everywhere), 8, [104, 12]);
    expect(findInconsistentOffsets(told.evidence).map(references)).toEqual([[3]]);
  });

  it('contradicts nothing under acks 0 or 1, or where the send failed', () => {
    for (const acks of [0, 1]) {
      const told = new Told().send(1, 11, 5, { acks }).send(2, 12, 5, { acks });
      expect([findAckConflicts(told.evidence), findInconsistentOffsets(told.evidence)]).toEqual([[], []]);
    }
  });

  it('may be allowed where an unclean election is, and is in doubt then', () => {
    const told = read(new Told().send(1, 11, 5), 7, [5, 12]);
    const { evidence } = told;
    const unclean = { ...evidence, promises: { ...evidence.promises, uncleanElection: true } };
    expect(findInconsistentOffsets(unclean)).toEqual([]);
    expect([...(unclean.unknown.get('offsets') ?? [])]).toEqual([
      'a-0: an offset had two values, and nothing shows whether that is allowed',
    ]);
  });
});

describe('a value at two offsets', () => {
  it('is told with both, and with who saw it', () => {
    const told = read(read(new Told().send(1, 11, 5), 7, [3, 11]), 8, [9, 11]);
    const found = findDuplicates(told.evidence);
    expect(found).toMatchObject([
      {
        kind: 'duplicate',
        class: 'violation',
        key: 'a-0',
        offset: 3,
        values: [11],
        summary: '11 stands at 3 offsets of a-0: 3, 5 and 9',
        rows: [0],
        ranges: [
          [3, 3],
          [5, 5],
          [9, 9],
        ],
      },
    ]);
    expect(references(found[0]!)).toEqual([0, 1, 3, 5]);
  });

  it('counts by any acknowledgement, and by any two of acknowledgement, read and final log', () => {
    expect(findDuplicates(read(new Told().send(1, 11, 5, { acks: 1 }), 7, [3, 11]).evidence)).toHaveLength(1);
    const offsets = (told: Told, final: number): number[] => {
      const { evidence } = told;
      evidence.history.sawInFinalLog(0, final);
      return findDuplicates(evidence).flatMap(({ ranges }) => ranges.map(([offset]) => offset));
    };
    expect(offsets(new Told().send(1, 11, 5), 3)).toEqual([3, 5]);
    expect(offsets(new Told().send(1, 11, 5), 5)).toEqual([]);
    expect(offsets(new Told().send(1, 11, null), 5)).toEqual([]);
    expect(offsets(read(new Told(), 7, [2, 11]), 3)).toEqual([2, 3]);
    expect(offsets(read(new Told(), 7, [2, 11]), 2)).toEqual([]);
    expect(offsets(read(new Told().send(1, 11, 5), 7, [5, 11]), 3)).toEqual([3, 5]);
    expect(offsets(read(new Told().send(1, 11, 3), 7, [5, 11]), 3)).toEqual([3, 5]);
    expect(offsets(read(new Told().send(1, 11, 5), 7, [3, 11]), 3)).toEqual([3, 5]);
  });

  it('is none where a send that failed names another offset', () => {
    const told = new Told();
    const send = (type: string, micro: readonly unknown[]): void => {
      told.lines.push({ index: told.lines.length, time: 0, process: 1, type, f: 'send', value: [micro], acks: 'all' });
    };
    send('invoke', ['send', 'a-0', 11]);
    send('info', ['send', 'a-0', [5, 11]]);
    expect(findDuplicates(read(told, 7, [3, 11]).evidence)).toEqual([]);
  });

  it('of a log alone has no operation that saw it', () => {
    const { evidence } = new Told().send(1, 11, 5);
    evidence.history.sawInFinalLog(0, 5);
    evidence.history.sawInFinalLog(0, 8);
    const found = findDuplicates(evidence);
    expect(found).toMatchObject([{ summary: '11 stands at 2 offsets of a-0: 5 and 8' }]);
    expect(references(found[0]!)).toEqual([0, 1]);
  });
});
