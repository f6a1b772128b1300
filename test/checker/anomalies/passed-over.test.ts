/** What is said of readers that passed over records, or went back, and of sends out of order: by histories alone. */
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../checker/anomalies/finding.ts';
import { findReaderOrder } from '../../../checker/anomalies/reader-order.ts';
import { countSendSkips, findSendOrder } from '../../../checker/anomalies/send-order.ts';
import { Told } from './told.ts';

class Ordered extends Told {
  /** What both families find. */
  of(...kinds: string[]): Finding[] {
    const { evidence } = this;
    return [...findReaderOrder(evidence), ...findSendOrder(evidence)].filter(({ kind }) => kinds.includes(kind));
  }
}

/** Values 1 to `count`, acknowledged at offsets 0 and up. */
function sent(count: number): Ordered {
  const told = new Ordered();
  for (let offset = 0; offset < count; offset += 1) told.send(1, offset + 1, offset);
  return told;
}

const references = ({ evidence }: Finding): number[] =>
  evidence.map((reference) => (reference.source === 'history' ? reference.index : -1));

describe('a reader that passed over records', () => {
  it('is told with those that it passed over, and where they were seen', () => {
    const [skip, ...others] = sent(4).poll(7, 0).poll(7, 3).of('poll-skip');
    expect(others).toEqual([]);
    expect(skip).toMatchObject({
      class: 'violation',
      key: 'a-0',
      offset: 1,
      values: [2, 3],
      summary: 'a reader went from offset 0 of a-0 to 3 and passed over 2 and 3',
    });
    expect(references(skip!)).toEqual([11, 3, 5]);
  });

  it('is about the first of them that stands; what is gone follows from its loss', () => {
    const about = (...standing: number[]): unknown => {
      const [skip] = findReaderOrder(
        sent(5)
          .poll(7, 0)
          .poll(7, 4)
          .withLog(0, 4, ...standing),
      );
      return [skip?.values, skip?.rows, skip?.ranges];
    };
    expect(about(1, 2, 3)).toEqual([[2, 3, 4], [1], [[1, 1]]]);
    expect(about(2, 3)).toEqual([[2, 3, 4], [2], [[2, 2]]]);
    expect(about(3)).toEqual([[2, 3, 4], [3], [[3, 3]]]);
    const [unlogged] = sent(5).poll(7, 0).poll(7, 4).of('poll-skip');
    expect([unlogged?.rows, unlogged?.ranges]).toEqual([[1, 2, 3], [[1, 3]]]);
  });

  it('of records that were only read is told by their first reader', () => {
    const [skip] = new Ordered().poll(5, 0, 1, 2).poll(7, 0).poll(7, 2).of('poll-skip');
    expect(skip).toMatchObject({ values: [2] });
    expect(references(skip!)).toEqual([5, 1]);
  });

  it('of more than five names five', () => {
    const shown = (passed: number): string =>
      sent(passed + 2)
        .poll(7, 0)
        .poll(7, passed + 1)
        .of('poll-skip')[0]!.summary;
    expect(shown(5)).toBe('a reader went from offset 0 of a-0 to 6 and passed over 2, 3, 4, 5 and 6');
    expect(shown(6)).toBe('a reader went from offset 0 of a-0 to 7 and passed over 2, 3, 4, 5, 6 and more');
  });

  it('of more than ten is told with where ten of them were seen, and of more than a hundred with a hundred', () => {
    const [skip] = sent(130).poll(7, 0).poll(7, 129).of('poll-skip');
    expect(references(skip!)).toHaveLength(11);
    expect(skip?.values).toHaveLength(100);
  });

  it('within one operation is another kind', () => {
    const [skip] = sent(3).poll(7, 0, 2).of('int-poll-skip', 'poll-skip');
    expect(skip).toMatchObject({ kind: 'int-poll-skip', offset: 1, values: [2] });
  });

  it('may be both, of one gap', () => {
    const found = sent(3).poll(7, 0, 2).poll(8, 0).poll(8, 2).of('int-poll-skip', 'poll-skip');
    expect(found.map(({ kind }) => kind).sort()).toEqual(['int-poll-skip', 'poll-skip']);
  });

  it('of a hole in the offsets has passed over nothing', () => {
    expect(new Ordered().send(1, 1, 0).send(1, 5, 4).poll(7, 0).poll(7, 4).of('poll-skip')).toEqual([]);
  });
});

describe('a reader that went back', () => {
  it('is told from where to where, with both operations', () => {
    const [back] = sent(3).poll(7, 2).poll(7, 0).of('nonmonotonic-poll');
    expect(back).toMatchObject({
      offset: 0,
      values: [3],
      rows: [2],
      ranges: [[0, 2]],
      summary: 'a reader of a-0 went from one operation to the next from offset 2 back to 0',
    });
    expect(references(back!)).toEqual([7, 9]);
  });

  it('within one operation is told with that', () => {
    const [back] = sent(3).poll(7, 2, 0).of('int-nonmonotonic-poll');
    expect(back?.summary).toBe('a reader of a-0 went within one operation from offset 2 back to 0');
    expect(references(back!)).toEqual([7]);
  });
});

describe('sends out of order', () => {
  it('are told as a pair, with what is known of both', () => {
    const told = new Ordered().send(1, 1, 5).send(2, 2, 3);
    expect(told.of('realtime-order')).toMatchObject([
      {
        class: 'violation',
        key: 'a-0',
        offset: 3,
        values: [1, 2],
        rows: [1, 0],
        ranges: [[3, 3]],
        summary: '2 has offset 3 of a-0, and 1, at offset 5, was acknowledged before it was sent',
      },
    ]);
    expect(new Ordered().send(1, 1, 3).send(2, 2, 5).of('realtime-order')).toEqual([]);
  });

  it('are told of the highest that was acknowledged before', () => {
    const told = new Ordered().send(1, 1, 4).send(2, 2, 9).send(3, 3, 6).send(4, 4, 5);
    expect(told.of('realtime-order').map(({ values }) => values)).toEqual([
      [2, 3],
      [2, 4],
    ]);
  });

  it('are judged only in one partition', () => {
    const other = [['send', 'b-0', [1, 9]]];
    const told = new Ordered().send(1, 1, 5).op(2, 'send', [['send', 'b-0', 9]], other, { acks: 'all' });
    expect(told.of('realtime-order', 'nonmonotonic-send')).toEqual([]);
  });

  it('are judged by what was acknowledged under acks=all, and by where the later one was read', () => {
    const weak = { acks: 1 };
    expect(new Ordered().send(1, 1, 5, weak).send(2, 2, 3).of('realtime-order')).toEqual([]);
    expect(new Ordered().send(1, 1, 5).send(2, 2, 3, weak).of('realtime-order')).toEqual([]);
    const read = new Ordered().send(1, 1, 5).send(2, 2, null, weak).poll(7, 1);
    expect(read.of('realtime-order')).toMatchObject([{ offset: 1, values: [1, 2] }]);
    const acked = new Ordered().send(1, 1, 5).send(2, 2, null).poll(7, 1);
    expect(acked.of('realtime-order')).toMatchObject([{ offset: 1, values: [1, 2] }]);
    const unknown = new Ordered().send(1, 1, 5).send(1, 2, null).send(1, 3, 3);
    expect(unknown.of('nonmonotonic-send')).toMatchObject([{ values: [1, 3] }]);
  });

  it('are told of the highest that stands and was acknowledged before, whoever was sent first', () => {
    const told = new Ordered();
    const line = (process: number, type: string, value: number, offset: number | null): void => {
      const third = offset === null ? value : [offset, value];
      const index = told.lines.length;
      told.lines.push({ index, time: index, process, type, f: 'send', value: [['send', 'a-0', third]], acks: 'all' });
    };
    line(1, 'invoke', 9, null);
    line(2, 'invoke', 6, null);
    line(2, 'ok', 6, 5);
    line(3, 'invoke', 4, null);
    line(3, 'ok', 4, 3);
    line(1, 'ok', 9, 8);
    const found = findSendOrder(told.withLog(5, 3, 8));
    expect(found.map(({ kind, values }) => [kind, values])).toEqual([['realtime-order', [6, 4]]]);
  });

  it('are told of one that stands before a higher one that may be gone, and of none in another partition', () => {
    const other = [['send', 'b-0', [9, 77]]];
    const told = new Ordered().op(4, 'send', [['send', 'b-0', 77]], other, { acks: 'all' });
    told.send(1, 6, 5).send(2, 8, 7).send(3, 4, 3);
    const { evidence } = told;
    const log = told.withLog(5, 3);
    log.history.sawInFinalLog(log.history.findRow(log.history.keyId('b-0'), 77), 9);
    expect(evidence.history.keys).toEqual(['b-0', 'a-0']);
    expect(findSendOrder(log).map(({ kind, values }) => [kind, values])).toEqual([['realtime-order', [6, 4]]]);
  });

  it('of one process are another kind too', () => {
    const told = new Ordered().send(1, 1, 5).send(1, 2, 3);
    expect(told.of('realtime-order', 'nonmonotonic-send').map(({ kind, values }) => [kind, values])).toEqual([
      ['realtime-order', [1, 2]],
      ['nonmonotonic-send', [1, 2]],
    ]);
    expect(new Ordered().send(1, 1, 3).send(1, 2, 5).of('realtime-order', 'nonmonotonic-send')).toEqual([]);
  });

  it('within one operation are a kind of their own', () => {
    const told = new Ordered().txn(1, [
      ['send', 'a-0', [5, 1]],
      ['send', 'a-0', [3, 2]],
    ]);
    expect(told.of('int-nonmonotonic-send')).toMatchObject([
      {
        offset: 3,
        values: [1, 2],
        rows: [1, 0],
        ranges: [[3, 3]],
        summary: '2 has offset 3 of a-0, and 1, at offset 5, was sent before in the same operation',
      },
    ]);
  });

  it('within one operation are no finding where nothing tells where one of them stands', () => {
    for (const [first, second] of [
      [null, 3],
      [5, null],
      [null, null],
    ] as const) {
      const told = new Ordered().txn(1, [
        ['send', 'a-0', [first, 1]],
        ['send', 'a-0', [second, 2]],
      ]);
      expect(told.of('int-nonmonotonic-send')).toEqual([]);
    }
  });
});

describe('sends of one operation between which another record stands', () => {
  const skips = (first: number | null, second: number, ...others: number[]): number => {
    const told = new Ordered().txn(1, [
      ['send', 'a-0', [first, 1000]],
      ['send', 'a-0', [second, 1001]],
    ]);
    for (const offset of others) told.send(2 + offset, offset, offset);
    return countSendSkips(told.evidence);
  };

  it('are counted, and are no anomaly', () => {
    expect(skips(1, 3, 2)).toBe(1);
    expect(skips(1, 9, 5, 6)).toBe(1);
  });

  it('are none where nothing stands between them', () => {
    expect([skips(1, 2, 5), skips(1, 3, 0, 7), skips(1, 3), skips(null, 3, 2), skips(3, 1, 2)]).toEqual([
      0, 0, 0, 0, 0,
    ]);
  });
});
