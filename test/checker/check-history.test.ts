/**
 * What a verdict says of a history that is cut, malformed or empty: every note word for word, what is in doubt for it, and
 * what is left out because the lines that are missed may explain it.
 */
import { describe, expect, it } from 'vitest';
import { checkRun } from '../../checker/check.ts';
import { Told } from './anomalies/told.ts';
import { Foreign } from './foreign.ts';
import { doubts, quietRun } from './quiet-run.ts';
import { historyInput, key, kinds, quiet, Story } from './story.ts';

describe('a history', () => {
  it('that was cut is malformed behind its end', () => {
    const { history, trace } = quiet(1);
    const lines = history.length + 2;
    const results = quietRun({ recordedLines: { history: lines + 3, trace: trace.length } });
    expect(results.notes).toContain(
      `history line ${lines + 1}: the history ends before it, and the harness wrote ${lines + 3} lines`,
    );
    expect(results.anomalies).toMatchObject([
      {
        kind: 'malformed',
        class: 'expected',
        key: null,
        summary: `1 malformed in the history; the first is line ${lines + 1}: the history ends before it, and the harness wrote ${lines + 3} lines`,
      },
    ]);
    expect(doubts(results)).toEqual(['durability', 'agreement', 'offsets', 'visibility', 'order', 'convergence']);
  });

  it('that breaks off is told, after what the reader of the files had to say', () => {
    const { history } = quiet(1);
    const { notes } = quietRun({}, { history: [...history, '{"index":'], notes: ['it was read from afar'] });
    expect(notes).toEqual([
      'it was read from afar',
      'the last line of the history breaks off: the recorder was stopped while it wrote',
    ]);
  });

  it('without a completed operation leaves everything in doubt', () => {
    const { history } = quiet(1);
    const results = quietRun({}, { history: history.slice(0, 1), trace: null, logs: null, source: 'history' });
    expect(results.notes).toContain('order unknown: the history holds no completed operation');
    expect(results.valid).toBe('unknown');
    for (const type of ['fail', 'info']) {
      const completed = [history[0]!, history[1]!.replace('"ok"', `"${type}"`)];
      expect(quietRun({}, { history: completed }).notes.join()).not.toContain('no completed operation');
    }
  });

  it('of one operation that was done and one that was not has completed operations', () => {
    const story = new Story();
    story.poll(60, []);
    for (const type of ['invoke', 'fail']) story.operation({ process: 61, type, f: 'poll', value: [['poll']] });
    expect(checkRun(historyInput(story.history)).notes.join()).not.toContain('no completed operation');
  });

  it('is looked at to its end, also where readers lag then', () => {
    const lines = new Told()
      .poll(7, 0)
      .poll(8, 1)
      .poll(7)
      .lines.map((line) => JSON.stringify(line));
    expect(checkRun(historyInput(lines)).measures['realtimeLagMs']).toBeGreaterThan(0);
  });

  it('names operations that nobody understands, by their number', () => {
    const story = quiet(1);
    for (let count = 0; count < 3; count += 1) {
      const f = count === 2 ? 'sleep' : 'dance';
      for (const type of ['invoke', 'ok']) story.operation({ process: 70, type, f, value: null });
    }
    expect(story.check().notes.slice(0, 2)).toEqual([
      '2 operations "dance" of the history are not understood, and were left aside',
      '1 operation "sleep" of the history are not understood, and were left aside',
    ]);
  });

  it('with malformed lines shows the first twenty of them, and leaves out what they might explain', () => {
    const { history } = quiet(1);
    const read = (...lines: string[]) => quietRun({}, { history: lines, trace: null, logs: null, source: 'history' });
    const phantoms = new Story();
    for (const [at, value] of [77, 78].entries()) phantoms.poll(60 + at, [[at, value]]);
    const results = read('x', ...phantoms.history);
    expect(results.notes).toContain('2 phantom are left out: what is missed may be malformed');
    expect(kinds(results)).toEqual([]);
    const many = read(...Array.from({ length: 25 }, () => 'x'), ...history);
    expect(many.notes.filter((note) => note.startsWith('history line'))).toHaveLength(20);
    expect(many.notes).toContain('6 more lines of the history are malformed');
    expect(many.anomalies[0]?.summary).toBe('26 malformed in the history; the first is line 1: not JSON');
    expect(read('x', ...history).notes.join()).not.toContain('more lines');
  });

  it('with malformed lines keeps what rests on what was seen', () => {
    const story = new Story();
    story.poll(60, [[0, 1]]);
    story.poll(61, [[5, 1]]);
    story.poll(62, [
      [9, 7],
      [8, 6],
    ]);
    const results = checkRun(historyInput(['x', ...story.history]));
    expect(kinds(results).sort()).toEqual(['duplicate', 'int-nonmonotonic-poll']);
    expect(results.notes.filter((note) => note.includes('left out'))).toEqual([
      '3 phantom are left out: what is missed may be malformed',
    ]);
  });
});

describe('what a malformed line may have said', () => {
  const leftOut = (told: Told): string[] => {
    const lines = ['x', ...told.lines.map((line) => JSON.stringify(line))];
    const results = checkRun(
      historyInput(lines, { promises: { acks: 'all', minInsyncReplicas: 1, uncleanElection: false } }),
    );
    return results.notes.filter((note) => note.includes('left out')).map((note) => note.split(' left out')[0]!);
  };
  const sent = (): Told => new Told().send(1, 1, 0).send(1, 2, 1).send(1, 3, 2);

  it('is told of each kind by its number', () => {
    expect(leftOut(sent().poll(7, 0).poll(7, 2).poll(8, 0).poll(8, 2).poll(9, 2).poll(9, 0))).toEqual([
      '1 lost-write is',
      '1 poll-skip is',
      '1 nonmonotonic-poll is',
    ]);
  });

  it('is what was read and gone, where no log tells', () => {
    expect(
      leftOut(new Told().send(1, 1, 0).send(1, 2, null).send(1, 3, 2).poll(6, 0, 1, 2).poll(7, 0).poll(7, 2)),
    ).toContain('1 consumer-saw-uncommitted is');
  });

  it('is nothing of what a log tells', () => {
    const run = new Foreign(key);
    run.elect(2, [2, 1, 3], 0);
    for (const node of [1, 2, 3]) run.role(node, 2, 0);
    for (const node of [2, 1, 3]) run.append(node, 0, 0);
    run.poll(9, [
      [0, 10],
      [1, 11],
    ]);
    run.history.unshift('x');
    for (const node of [1, 2, 3]) run.log(node, [10]);
    expect(kinds(run.check())).toContain('consumer-saw-uncommitted');
  });

  it('is the order of operations, and what one of them did to another', () => {
    const own = new Told().txn(1, [
      ['send', 'a-0', [0, 1]],
      ['poll', { 'a-0': [[0, 1]] }],
    ]);
    expect(leftOut(own)).toEqual(['1 precommitted-read is']);
    expect(leftOut(new Told().send(1, 1, 5).send(2, 2, 3))).toEqual(['1 realtime-order is']);
  });

  it('leaves every guarantee in doubt', () => {
    const { notes } = checkRun(historyInput(['x', ...quiet(1).history]));
    expect(notes).toContain('order unknown: lines of the history are malformed');
  });
});
