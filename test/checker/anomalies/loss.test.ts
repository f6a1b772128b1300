/** What is lost, moved or passed over, judged by a history and a final log alone: which rows count, and by whom. */
import { describe, expect, it } from 'vitest';
import { findLosses, findLostOnReplicas, findLostWrites, readAt } from '../../../checker/anomalies/loss.ts';
import type { Evidence } from '../../../checker/evidence.ts';
import type { Operation } from '../../../checker/history.ts';
import { HistoryIndex } from '../../../checker/index-history.ts';
import { readTrace } from '../../../checker/parse-trace.ts';
import { rebuildReplicas } from '../../../checker/replicas.ts';
import { Story } from '../story.ts';
import { Told } from './told.ts';

/** Two sends of one operation that nobody answered. */
function unanswered(acks: 'all' | 1): Told {
  const told = new Told();
  const value = [11, 12].map((each) => ['send', 'a-0', each]);
  for (const type of ['invoke', 'info'])
    told.lines.push({ index: told.lines.length, time: 0, process: 1, type, f: 'txn', value, acks });
  return told.op(7, 'poll', [['poll']], [['poll', { 'a-0': [[1, 12]] }]]);
}

describe('a final log', () => {
  it('has to hold all of an operation of which one record was read, under acks=all', () => {
    expect(findLosses(unanswered('all').withLog()).flatMap(({ values }) => values)).toContain(11);
    expect(findLosses(unanswered(1).withLog())).toEqual([]);
  });

  it('says where a loss lies among those that survived: at their offsets, or where they were found', () => {
    const labels = (found: number | null, ...places: number[]): unknown => {
      const evidence = new Told().send(1, 11, found).send(2, 12, 4).withLog();
      for (const place of places) evidence.history.sawInFinalLog(0, place);
      return findLosses(evidence).map(({ offset, labels: each }) => [offset, each]);
    };
    expect(labels(5, 3, 5)).toEqual([[4, ['lost-prefix']]]);
    expect(labels(3, 5, 3)).toEqual([[4, ['lost-tail']]]);
    expect(labels(null, 5)).toEqual([[4, ['lost-prefix']]]);
    expect(labels(null, 3)).toEqual([[4, ['lost-tail']]]);
  });

  it('has moved a record with both places, by its leader', () => {
    const evidence = new Told().send(1, 11, 5).withLog();
    evidence.history.sawInFinalLog(0, 3);
    expect(findLosses(evidence)).toMatchObject([
      {
        kind: 'offset-moved',
        nodes: [1],
        ranges: [
          [5, 5],
          [3, 3],
        ],
      },
    ]);
  });

  it('is held against replicas only from its start on', () => {
    const lacking = (start: number): number => {
      const evidence = new Told().send(1, 2, 1).withLog(1);
      const log = (node: number, from: number) => [
        node,
        { node, log: { start: from, end: 10, flaw: null, batches: [] } },
      ];
      const byKey = new Map([['a-0', new Map([log(1, start), log(2, 0)] as never)]]);
      return findLostOnReplicas({ ...evidence, logs: { byKey } } as unknown as Evidence).length;
    };
    expect([lacking(1), lacking(2)]).toEqual([1, 0]);
  });
});

describe('a reader', () => {
  it('who began after settling passes over what was read before, whoever else passed over more', () => {
    const told = new Told().send(1, 6, 5).poll(5, 5).poll(6, 0, 10);
    expect(findLostWrites(told.evidence)).toEqual([]);
    const records = [3, 7].map((offset) => [offset, offset + 1]);
    told.op(8, 'poll', [['poll']], [['poll', { 'a-0': records }]], { final: true });
    const [lost, ...others] = findLostWrites(told.evidence);
    expect(others).toEqual([]);
    expect(lost).toMatchObject({ values: [6] });
    expect(lost?.evidence.at(-1)).toEqual({ source: 'history', index: 7 });
  });

  it('has not passed over where it was before and after', () => {
    const offsets = [...Array(103).keys(), 104, 108];
    const records = offsets.map((offset) => [offset, 11]);
    const told = new Told().send(1, 12, 104).send(2, 13, 106);
    told.op(7, 'poll', [['poll']], [['poll', { 'a-0': records }]]);
    expect(findLostWrites(told.evidence).flatMap(({ values }) => values)).toEqual([13]);
  });

  it('of a value at several offsets is known at each, whatever a log has', () => {
    const history = new HistoryIndex({ acks: 'all' });
    const reading = new Told().op(7, 'poll', [['poll']], [['poll', { 'a-0': [3, 5].map((offset) => [offset, 11]) }]]);
    history.rows.rowOf(history.keyId('a-0'), 11);
    for (const offset of [2, 5, 8]) history.sawInFinalLog(0, offset);
    for (const line of reading.lines) history.add(line as Operation);
    expect([2, 3, 5, 8].map((offset) => readAt(history, 0, offset))).toEqual([-1, 1, 1, -1]);
  });

  it('of another value where an election had lost one tells of that election', () => {
    const story = new Story();
    story.begin(3, [1, 2, 3]);
    story.commit(1);
    story.send(2);
    story.copy(3, 1, 2);
    story.hw(2, 3);
    story.ack(2);
    story.elect(2, [1, 2, 3]);
    story.follow(1);
    story.truncateToHw(1);
    story.begin(1, [1, 3]);
    story.commit(9);
    story.poll(90, [
      [0, 1],
      [1, 9],
    ]);
    const history = new HistoryIndex({ acks: 'all' });
    for (const line of story.history) history.add(JSON.parse(line) as Operation);
    history.finish();
    const evidence = { ...new Told().evidence, history, cluster: rebuildReplicas(readTrace(story.trace)) };
    const losses = findLostWrites({ ...evidence, run: { ...evidence.run, settled: true } });
    expect(losses).toMatchObject([{ values: [2], lackingEpoch: 2 }]);
  });
});
