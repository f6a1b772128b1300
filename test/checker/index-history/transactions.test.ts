/** What a transaction, and whatever else stands in a history, means: flaws word for word, and what is kept. */
import { describe, expect, it } from 'vitest';
import { key, told, type Told } from './told.ts';

describe('a transaction', () => {
  const micros = [
    ['send', key, [1, 7]],
    ['poll', { [key]: [[0, 5]] }],
    ['send', key, [2, 8]],
  ];
  const invoked = [['send', key, 7], ['poll'], ['send', key, 8]];

  it('both sends and polls', () => {
    const run = told().both(1, 'txn', invoked, micros);
    expect(run.flaws).toEqual([null, null]);
    expect(run.index.counts).toMatchObject({ invoked: 1, ok: 1, sends: 2, sendsOk: 2, polls: 1, polledRecords: 1 });
    expect([run.row(7)['offset'], run.row(8)['offset'], run.row(5)['readOffset']]).toEqual([1, 2, 0]);
    const { transactions } = run.index;
    expect(transactions.seen).toBe(true);
    expect([
      transactions.invoked.get(0),
      transactions.completed.get(0),
      transactions.process.get(0),
      transactions.ok.get(0),
    ]).toEqual([0, 1, 1, 1]);
    expect(transactions.readsOf(0)).toEqual([0, 1]);
    expect([transactions.sendPairs.length, transactions.sendPairs.get(0), transactions.sendPairs.get(1)]).toEqual([
      2, 0, 1,
    ]);
  });

  it('is counted by its sends, whatever became of it', () => {
    expect(told().both(1, 'txn', invoked, invoked, 'info').index.counts).toMatchObject({
      sends: 2,
      sendsInfo: 2,
      sendsOk: 0,
    });
    expect(told().both(1, 'txn', invoked, invoked, 'fail').index.counts).toMatchObject({ sends: 2, sendsFail: 2 });
    expect(told().both(1, 'txn', [['poll']], [['poll', {}]]).index.counts).toMatchObject({
      sends: 0,
      sendsOk: 0,
      polls: 1,
    });
  });

  it('notes pairs and what is indefinite by key, unless it failed', () => {
    const three = [
      ['send', key, 7],
      ['send', 'b-0', 1],
      ['send', key, 8],
    ];
    const noted = (type: string): unknown[] => {
      const { transactions } = told().both(1, 'txn', three, three, type).index;
      const { sendPairs, indefinite } = transactions;
      return [sendPairs.length, sendPairs.get(0), sendPairs.get(1), indefinite];
    };
    expect(noted('ok')).toEqual([2, 0, 2, []]);
    expect(noted('info')).toEqual([2, 0, 2, [[0, 1, 2]]]);
    expect(noted('fail')).toEqual([0, 0, 0, []]);
    const open = told().op(1, 'invoke', 'txn', three);
    open.index.finish();
    expect(open.index.transactions.indefinite).toEqual([[0, 1, 2]]);
    const done = told().both(1, 'txn', three, three);
    done.index.finish();
    expect(done.index.transactions.indefinite).toEqual([]);
    const single = told().both(1, 'txn', [['send', key, 7]], [['send', key, 7]], 'info');
    expect(single.index.transactions.indefinite).toEqual([]);
  });

  it('is kept from the first on that there is, with every operation after it', () => {
    const run = told()
      .poll(1, [[0, 1]])
      .both(1, 'txn', [['poll']], [['poll', { [key]: [[1, 2]] }]])
      .poll(2, [[0, 1]])
      .send(3, 9, 4, 'info');
    const { transactions } = run.index;
    expect(transactions.invoked.length).toBe(3);
    expect([0, 1, 2].map((at) => transactions.ok.get(at))).toEqual([1, 1, 0]);
    expect([transactions.readsOf(1), transactions.reads.length]).toEqual([[1, 2], 2]);
  });

  it('that reads what it sent itself, or what was sent later, is noted', () => {
    const own = told().both(
      1,
      'txn',
      [['send', key, 7], ['poll']],
      [
        ['send', key, [0, 7]],
        ['poll', { [key]: [[0, 7]] }],
      ],
    );
    expect(own.index.transactions.ownReads).toEqual([{ row: 0, index: 1 }]);
    expect(own.index.transactions.earlyReads).toEqual([]);
    const early = told()
      .poll(1, [[0, 7]])
      .send(2, 7, 0);
    expect(early.index.transactions.earlyReads).toEqual([0]);
    expect(
      told()
        .send(2, 7, 0)
        .poll(1, [[0, 7]]).index.transactions,
    ).toMatchObject({ earlyReads: [], ownReads: [] });
  });
});

describe('a transaction, looked at again', () => {
  it('is malformed where it names other sends, or broken ones', () => {
    const completed = (micro: unknown): string | null =>
      told().both(1, 'txn', [['send', key, 7], ['poll']], [micro]).lastFlaw;
    expect(completed(['send', key, [3, 8]])).toBe('the completion names 8 of a-0, which its invocation does not');
    expect(completed(['send', key, [-1, 7]])).toContain('an offset that is not');
    expect(completed(['poll', { [key]: 7 }])).toBe('the records of a-0 are not a list');
  });

  it('reads its own value, whenever it began', () => {
    const own = told()
      .poll(9, [])
      .both(
        1,
        'txn',
        [['send', key, 7], ['poll']],
        [
          ['send', key, [0, 7]],
          ['poll', { [key]: [[0, 7]] }],
        ],
      );
    expect(own.index.transactions.ownReads).toEqual([{ row: 0, index: 3 }]);
  });
});

describe('what else stands in a history', () => {
  it('are faults, with their time and name', () => {
    const value = { fault: 'f1', phase: 'start', roles: {}, nodes: {} };
    const run = told().op('nemesis', 'info', 'pause', value).op('nemesis', 'info', 'pause', { fault: 'f1' });
    expect(run.flaws).toEqual([null, 'a nemesis line needs a value with fault and phase']);
    expect(run.index.faults).toEqual([{ time: 0, kind: 'pause', record: value }]);
    expect(run.index.counts.info).toBe(0);
  });

  it('are operations that nobody understands, by their name', () => {
    const run = told().both(1, 'dance', null, null).both(1, 'dance', null, null, 'fail').both(1, 'sleep', null, null);
    expect([...run.index.unknown]).toEqual([
      ['dance', 2],
      ['sleep', 1],
    ]);
    for (const f of ['send', 'poll', 'txn', 'assign', 'subscribe', 'crash', 'debug-topic-partitions'])
      expect(told().both(1, f, [], []).index.unknown.size).toBe(0);
  });

  it('are processes that go on after a failure, and readers that end with an indefinite operation', () => {
    expect(
      told()
        .poll(1, [[5, 1]])
        .both(1, 'crash', null, null, 'fail')
        .poll(1, [[2, 2]]).index.readers.stepsBack,
    ).toHaveLength(1);
    expect(
      told()
        .poll(1, [[5, 1]])
        .both(1, 'crash', null, null, 'info')
        .poll(1, [[2, 2]]).index.readers.stepsBack,
    ).toHaveLength(0);
    expect(
      told()
        .poll(1, [[0, 1]])
        .poll(1, [[3, 2]]).gaps,
    ).toEqual(['0-3']);
  });

  it('is the longest lag of all readers, once it is over', () => {
    const run = told()
      .poll(1, [[0, 1]])
      .poll(2, [[1, 2]])
      .poll(1, []);
    run.index.finish();
    expect(run.index.readers.longestLag).toBe(10);
  });
});

describe('what is left of one operation', () => {
  const reads = (...records: readonly (readonly [number, number])[]): unknown => [['poll', { [key]: records }]];

  it('is nothing in the next one of the process', () => {
    expect(told().send(1, 7, 3).send(1, 8, null, 'info').index.transactions.indefinite).toEqual([]);
    const run = told().op(1, 'invoke', 'assign', [key], { final: true }).op(1, 'ok', 'assign', [key]);
    expect(
      run
        .both(1, 'assign', [key], [key])
        .poll(1, [[2, 7]])
        .row(7)['readFinally'],
    ).toBe(0);
    expect(
      told()
        .both(1, 'assign', [key], [key])
        .poll(1, [[2, 7]])
        .row(7)['readFinally'],
    ).toBe(0);
  });

  it('is where a reader stands, also as it begins to read everything back', () => {
    const run = told()
      .poll(1, [[5, 1]])
      .poll(1, [[2, 2]], 'ok', { final: true });
    expect(run.index.readers.stepsBack).toHaveLength(1);
  });

  it('is when its process first polled, alone or in a transaction', () => {
    const since = (run: Told): number => run.index.readers.gaps.since.get(0);
    const passes: readonly (readonly [number, number])[] = [
      [0, 1],
      [5, 2],
    ];
    expect(since(told().both(1, 'crash', null, null, 'fail').poll(1, passes))).toBe(2);
    expect(since(told().both(1, 'txn', [['poll']], reads(...passes)))).toBe(0);
  });
});
