/** What a send means by itself and beside the one that its process invoked: flaws word for word, and what is kept. */
import { describe, expect, it } from 'vitest';
import { outcome } from '../../../checker/index-history.ts';
import { key, told, type Told } from './told.ts';

describe('a send', () => {
  it('is kept with what was asked, who sent it, and where it came to stand', () => {
    const run = told().send(4, 7, 3, 'ok', { msg: 'client-4#9' });
    expect(run.flaws).toEqual([null, null]);
    expect(run.row(7)).toEqual({
      key: 0,
      outcome: outcome.ok,
      acks: -1,
      offset: 3,
      invoked: 0,
      completed: 1,
      process: 4,
      correlation: 9,
      floor: -1,
      readOffset: -1,
      readBy: -1,
      readFinally: 0,
      finalOffset: -1,
    });
    expect(run.index.rows.ownerOf(0, 3)).toBe(0);
  });

  it('asks for what it says, or for what the run says', () => {
    expect(told(1).send(1, 7, 3).row(7)['acks']).toBe(1);
    expect(told(1).send(1, 7, 3, 'ok', { acks: 'all' }).row(7)['acks']).toBe(-1);
    expect(told().send(1, 7, 3, 'ok', { acks: 0 }).row(7)['acks']).toBe(0);
  });

  it('owns its offset, and is acknowledged, only under acks=all and when it was ok', () => {
    const seen = (type: string, acks: unknown): unknown[] => {
      const { index } = told().send(1, 7, 3, type, { acks });
      return [index.rows.ownerOf(0, 3), index.sends.acknowledgedUnderAll];
    };
    expect(seen('ok', 'all')).toEqual([0, true]);
    expect([seen('ok', 1), seen('info', 'all'), seen('fail', 'all')]).toEqual(
      Array.from({ length: 3 }, () => [-1, false]),
    );
  });

  it('of each outcome is counted, and keeps its offset unless it failed', () => {
    for (const [type, offset] of [
      ['ok', 3],
      ['info', 3],
      ['fail', -1],
    ] as const) {
      const run = told().send(1, 7, 3, type);
      expect([run.row(7)['outcome'], run.row(7)['offset']]).toEqual([outcome[type], offset]);
      const counts = { invoked: 1, ok: 0, fail: 0, info: 0, sends: 1, sendsOk: 0, sendsFail: 0, sendsInfo: 0 };
      const name = { ok: 'sendsOk', info: 'sendsInfo', fail: 'sendsFail' }[type];
      expect(run.index.counts).toEqual({ ...counts, [type]: 1, [name]: 1, polls: 0, polledRecords: 0 });
    }
  });

  it('that never completed is open', () => {
    const run = told().op(1, 'invoke', 'send', [['send', key, 7]]);
    run.index.finish();
    expect([run.row(7)['outcome'], run.row(7)['completed']]).toEqual([outcome.open, -1]);
    expect(run.index.transactions.indefinite).toEqual([]);
  });

  it('knows the highest acknowledgement before it, in its own key', () => {
    const run = told().send(1, 7, 3).send(1, 8, 2).send(1, 9, 5).send(1, 10, 9, 'ok', { acks: 1 }).send(1, 11, 6);
    run.both(2, 'send', [['send', 'b-0', 1]], [['send', 'b-0', [0, 1]]]);
    const floors = [7, 8, 9, 10, 11].map((value) => run.row(value)['floor']);
    expect([...floors, run.row(1, 'b-0')['floor']]).toEqual([-1, 0, 0, 2, 2, -1]);
  });

  it('may be acknowledged without an offset, or without a value', () => {
    expect(told().send(1, 7, null).row(7)).toMatchObject({ outcome: outcome.ok, offset: -1 });
    for (const value of [null, undefined]) {
      const run = told().both(1, 'send', [['send', key, 7]], value);
      expect([run.flaws, run.row(7)['outcome']]).toEqual([[null, null], outcome.ok]);
    }
  });

  it('of a value that was sent already is malformed, and changes nothing', () => {
    const run = told()
      .send(1, 7, 3)
      .op(2, 'invoke', 'send', [['send', key, 7]]);
    expect(run.lastFlaw).toBe('the value 7 is sent twice to a-0: values must be unique per key');
    expect(run.row(7)).toMatchObject({ process: 1, outcome: outcome.ok });
    expect(run.op(2, 'invoke', 'send', [['send', 'b-0', 7]]).index.counts.sends).toBe(3);
  });

  it.each([
    ['send', null, 'a send needs a list of micro-operations'],
    ['txn', 7, 'a txn needs a list of micro-operations'],
    ['send', [['poll']], 'a send holds only ["send", key, value]'],
    ['txn', [['poll'], ['append', 1, 2]], 'a send holds only ["send", key, value]'],
    ['send', [['send', key, 1.5]], 'a value that is neither a text nor a whole number within 2^53'],
  ])('that is no %s: %j', (f, value, flaw) => {
    expect(told().op(1, 'invoke', f, value).flaws).toEqual([flaw]);
  });

  it('is malformed where one of several is, and the others are kept', () => {
    const run = told().op(1, 'invoke', 'send', [
      ['send', key, 1.5],
      ['send', key, 8],
    ]);
    expect(run.lastFlaw).toContain('neither a text');
    expect(run.row(8)['outcome']).toBe(outcome.open);
    expect(
      told().op(1, 'invoke', 'send', [
        ['send', key, 7],
        ['send', key, 7],
        ['send', key, 8],
      ]).lastFlaw,
    ).toContain('sent twice');
  });
});

describe('a completion', () => {
  const foreign = 'process 1 completes an operation that it did not invoke';

  it('without an invocation is malformed, and counts as indefinite', () => {
    for (const type of ['ok', 'fail', 'info']) {
      const run = told().op(1, type, 'send', [['send', key, [3, 7]]]);
      expect(run.flaws).toEqual([foreign]);
      expect(run.index.counts).toMatchObject({ ok: 0, fail: 0, info: 1, sendsInfo: 1 });
      expect(run.index.rowCount).toBe(0);
    }
    expect(
      told()
        .poll(1, [])
        .op(1, 'ok', 'poll', [['poll', {}]]).lastFlaw,
    ).toBe(foreign);
  });

  it('of another function is malformed', () => {
    const run = told()
      .op(1, 'invoke', 'send', [['send', key, 7]])
      .op(1, 'ok', 'poll', [['poll', { [key]: [[0, 5]] }]]);
    expect(run.lastFlaw).toBe('process 1 completes a poll, and had invoked a send');
    expect(run.index.counts).toMatchObject({ ok: 0, info: 1, polls: 1, polledRecords: 1 });
  });

  it('of other sends is malformed, and leaves what was sent indefinite', () => {
    const names = (micro: unknown): Told =>
      told()
        .op(1, 'invoke', 'send', [['send', key, 7]])
        .op(1, 'ok', 'send', [micro]);
    for (const micro of [
      ['send', key, [3, 8]],
      ['send', 'b-0', [3, 7]],
    ]) {
      const run = names(micro);
      expect(run.lastFlaw).toBe(
        `the completion names ${(micro[2] as number[])[1]} of ${String(micro[1])}, which its invocation does not`,
      );
      expect(run.row(7)).toMatchObject({ outcome: outcome.info, offset: -1 });
    }
    expect(names(['poll']).lastFlaw).toBe('a send holds only ["send", key, value]');
    expect(names(['send', key, [-1, 7]]).lastFlaw).toContain('an offset that is not');
    const earlier = told()
      .send(1, 7, 3)
      .op(1, 'invoke', 'send', [['send', key, 8]])
      .op(1, 'ok', 'send', [['send', key, [4, 7]]]);
    expect(earlier.lastFlaw).toContain('names 7 of a-0, which its invocation does not');
    expect(earlier.row(7)['offset']).toBe(3);
  });

  it('without a list is malformed', () => {
    const said = (f: string): string | null => told().both(1, f, [['send', key, 7]], 'x').lastFlaw;
    expect(said('send')).toBe('a send needs a list of micro-operations');
    expect(said('txn')).toBe('a poll needs a list of micro-operations');
  });

  it('of one of several sends leaves the others without an offset', () => {
    const run = told().both(
      1,
      'send',
      [
        ['send', key, 7],
        ['send', key, 8],
      ],
      [['send', key, [3, 8]]],
    );
    expect(run.flaws).toEqual([null, null]);
    expect([run.row(7), run.row(8)]).toMatchObject([
      { outcome: outcome.ok, offset: -1 },
      { outcome: outcome.ok, offset: 3 },
    ]);
  });
});

describe('an invocation', () => {
  it('before the last operation completed is malformed, and is taken', () => {
    const run = told()
      .op(1, 'invoke', 'poll', [['poll']])
      .op(1, 'invoke', 'send', [['send', key, 7]]);
    expect(run.lastFlaw).toBe('process 1 is invoked again before its operation completed');
    expect(run.op(1, 'ok', 'send', [['send', key, [3, 7]]]).flaws).toEqual([null, run.flaws[1], null]);
    expect(run.row(7)['offset']).toBe(3);
    expect(told().op(1, 'invoke', 'poll', null).op(1, 'invoke', 'send', null).lastFlaw).toBe(
      'a send needs a list of micro-operations',
    );
  });

  it('after an indefinite operation is of a new process', () => {
    const run = told()
      .poll(1, [[5, 5]], 'info')
      .poll(1, [[2, 2]]);
    expect([run.flaws.filter((flaw) => flaw !== null), run.index.readers.stepsBack]).toEqual([[], []]);
    const ok = told()
      .poll(1, [[5, 5]])
      .poll(1, [[2, 2]]);
    expect(ok.index.readers.stepsBack).toHaveLength(1);
  });
});

describe('a completion without an invocation', () => {
  const reads = (...records: readonly (readonly [number, number])[]): unknown => [['poll', { [key]: records }]];

  it('sends no reader back, and reads nothing of its own', () => {
    const run = told()
      .poll(1, [[5, 1]])
      .op(1, 'ok', 'poll', reads([5, 1]));
    expect(run.index.readers.stepsBack).toEqual([]);
    expect(run.index.transactions.ownReads).toEqual([]);
    const sent = told()
      .op(2, 'invoke', 'poll', [['poll']])
      .op(1, 'invoke', 'send', [['send', key, 7]]);
    expect(sent.op(3, 'ok', 'poll', reads([0, 7])).index.transactions.ownReads).toEqual([]);
  });

  it('is part of no transaction', () => {
    const run = told()
      .both(1, 'txn', [['poll']], [['poll', {}]])
      .op(2, 'ok', 'txn', reads([0, 7]));
    expect(run.index.transactions.invoked.length).toBe(1);
    expect(told().op(1, 'ok', 'txn', []).index.counts.sendsInfo).toBe(0);
  });
});

describe('an offset', () => {
  it('is known of a send only where it is named', () => {
    expect([...told().send(1, 7, null).index.rows.knownOffsets(0)]).toEqual([]);
    expect(told().send(1, 7, 1).row(7)['offset']).toBe(1);
  });

  it('that a failed poll passed over proves nothing', () => {
    const { gaps } = told()
      .poll(1, [[0, 1]])
      .poll(1, [[5, 2]], 'fail').index.readers;
    expect([gaps.between.get(0), gaps.proof.get(0)]).toEqual([3, -1]);
  });
});
