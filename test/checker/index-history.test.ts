/** What an operation means by itself and beside the one that its process invoked: flaws word for word, and what is kept. */
import { describe, expect, it } from 'vitest';
import type { Operation } from '../../checker/history.ts';
import { HistoryIndex, outcome } from '../../checker/index-history.ts';

const key = 'a-0';

/** An index that is told operations one after the other; index n for the n-th. */
class Told {
  readonly index: HistoryIndex;
  readonly flaws: (string | null)[] = [];
  #count = 0;

  constructor(acks: 'all' | 0 | 1 = 'all') {
    this.index = new HistoryIndex({ acks });
  }

  op(process: number | 'nemesis', type: string, f: string, value: unknown, more: object = {}): this {
    const operation = { index: this.#count, time: this.#count * 10, process, type, f, value, ...more };
    this.#count += 1;
    this.flaws.push(this.index.add(operation as unknown as Operation));
    return this;
  }

  /** Invoked and completed. */
  both(process: number, f: string, invoked: unknown, completed: unknown, type = 'ok', more: object = {}): this {
    return this.op(process, 'invoke', f, invoked, more).op(process, type, f, completed, more);
  }

  send(process: number, value: number | string, offset: number | null, type = 'ok', more: object = {}): this {
    return this.both(process, 'send', [['send', key, value]], [['send', key, [offset, value]]], type, more);
  }

  poll(
    process: number,
    records: readonly (readonly [number, number | string])[],
    type = 'ok',
    more: object = {},
  ): this {
    return this.both(process, 'poll', [['poll']], [['poll', { [key]: records }]], type, more);
  }

  get lastFlaw(): string | null {
    return this.flaws.at(-1) ?? null;
  }

  row(value: number | string, of = key): Record<string, number> {
    const { index } = this;
    const row = index.findRow(index.keyId(of), value);
    return Object.fromEntries(Object.entries(index.values).map(([name, column]) => [name, column.get(row)]));
  }

  /** Gaps that somebody passed over between two operations. */
  get gaps(): string[] {
    const { gaps } = this.index.readers;
    const rows = Array.from({ length: gaps.count }, (_, row) => row).filter((row) => gaps.between.get(row) !== -1);
    return rows.map((row) => `${gaps.after.get(row)}-${gaps.before.get(row)}`);
  }
}

const told = (acks: 'all' | 0 | 1 = 'all'): Told => new Told(acks);

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
      return [index.rows.ownerOf(0, 3), index.acknowledgedUnderAll];
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

describe('a poll', () => {
  it('proves by any outcome that its records were there', () => {
    for (const type of ['ok', 'fail', 'info']) {
      const run = told().poll(
        1,
        [
          [3, 7],
          [4, 'x'],
        ],
        type,
      );
      expect(run.row(7)).toMatchObject({ outcome: outcome.unsent, readOffset: 3, readBy: 1, readFinally: 0 });
      expect(run.row('x')['readOffset']).toBe(4);
      expect(run.index.counts).toMatchObject({ polls: 1, polledRecords: 2, [type]: 1 });
    }
  });

  it('of any number of keys and micro-operations is read', () => {
    const run = told().both(
      1,
      'poll',
      [['poll']],
      [['poll', { [key]: [[0, 1]], 'b-0': [[5, 2]] }], ['poll'], ['poll', null], ['poll', { [key]: [[1, 3]] }]],
    );
    expect([run.lastFlaw, run.index.counts.polledRecords, run.index.counts.polls]).toEqual([null, 3, 1]);
    expect(run.row(2, 'b-0')['readOffset']).toBe(5);
  });

  it.each([
    ['x', 'a poll needs a list of micro-operations'],
    [[['send', key, 7]], 'a poll holds only poll micro-operations'],
    [[7], 'a poll holds only poll micro-operations'],
    [[['poll', 7]], 'a poll reads an object of lists by key'],
    [[['poll', { [key]: 7 }]], 'the records of a-0 are not a list'],
    [[['poll', { [key]: [[0, 1], 7] }]], 'something that is not [offset, value] in the records of a-0'],
    [
      [
        [
          'poll',
          {
            [key]: [
              [-1, 7],
              [0, 1],
            ],
          },
        ],
      ],
      'an offset that is not a whole number from 0 to 2^53-1 in the records of a-0',
    ],
  ])('that is none is malformed: %j', (value, flaw) => {
    expect(told().both(1, 'poll', [['poll']], value).flaws).toEqual([null, flaw]);
  });

  it('keeps what is sound beside what is not', () => {
    const run = told().both(
      1,
      'poll',
      [['poll']],
      [
        [
          'poll',
          {
            [key]: [
              [-1, 7],
              [0, 1],
            ],
            'b-0': 7,
            'c-0': [[0, 3]],
          },
        ],
        ['poll', { 'c-0': [[1, 4]] }],
      ],
    );
    expect(run.lastFlaw).toBe('the records of b-0 are not a list');
    expect([run.row(1)['readOffset'], run.row(3, 'c-0')['readOffset'], run.row(4, 'c-0')['readOffset']]).toEqual([
      0, 0, 1,
    ]);
    expect(run.index.counts.polledRecords).toBe(3);
  });

  it('of nothing needs no value', () => {
    for (const value of [null, undefined, []])
      expect(told().both(1, 'poll', [['poll']], value).flaws).toEqual([null, null]);
  });

  it('with an error proves nothing of what it passes over', () => {
    const proofs = (more: object): number => {
      const { gaps } = told()
        .poll(1, [[0, 1]])
        .poll(1, [[5, 2]], 'ok', more).index.readers;
      return gaps.proof.get(0);
    };
    expect([proofs({}), proofs({ error: 'timeout' })]).toEqual([3, -1]);
  });

  it('that a broker denied the position of lets the reader start over', () => {
    const back = (more: object): number =>
      told()
        .poll(1, [[5, 1]])
        .op(1, 'invoke', 'poll', [['poll']])
        .op(1, 'ok', 'poll', null, more)
        .poll(1, [[2, 2]]).index.readers.stepsBack.length;
    const out = 'OFFSET_OUT_OF_RANGE';
    expect([back({}), back({ error: out }), back({ error: 'timeout' })]).toEqual([1, 0, 1]);
    expect([
      back({ errors: { [key]: out } }),
      back({ errors: { [key]: 'x' } }),
      back({ errors: { 'b-0': out } }),
    ]).toEqual([0, 1, 1]);
    expect(back({ error: out, errors: { 'b-0': out } })).toBe(1);
  });

  it('of a process that reads everything back is a final read', () => {
    const run = told()
      .op(1, 'invoke', 'poll', [['poll']], { final: true })
      .op(1, 'ok', 'poll', [['poll', { [key]: [[2, 7]] }]]);
    expect([run.index.finalRead, run.row(7)['readFinally'], run.index.readers.gaps.final.get(0)]).toEqual([true, 1, 1]);
    const later = told().poll(1, [[2, 7]]);
    expect([later.index.finalRead, later.row(7)['readFinally']]).toEqual([false, 0]);
    expect(told().poll(1, [[2, 7]], 'ok', { final: 'yes' }).index.finalRead).toBe(false);
  });
});

describe('an assignment', () => {
  const assigned = (f: string, more: object = {}, type = 'ok', keys: unknown = [key]): Told =>
    told()
      .both(1, 'assign', [key], [key])
      .poll(1, [[5, 1]])
      .both(1, f, keys, keys, type, more)
      .poll(1, [[2, 2]]);
  const back = (run: Told): number => run.index.readers.stepsBack.length;

  it('of the same keys moves nobody', () => {
    expect(back(assigned('assign'))).toBe(1);
    expect(back(assigned('crash'))).toBe(1);
    expect(back(assigned('debug-topic-partitions'))).toBe(1);
  });

  it('that seeks, at either end of the operation, moves its reader', () => {
    expect(back(assigned('assign', { seek: 'earliest' }))).toBe(0);
    const at = (invoked: object, completed: object): number =>
      back(
        told()
          .both(1, 'assign', [key], [key])
          .poll(1, [[5, 1]])
          .op(1, 'invoke', 'assign', [key], invoked)
          .op(1, 'ok', 'assign', [key], completed)
          .poll(1, [[2, 2]]),
      );
    const seek = { 'seek-to-beginning?': true };
    expect([at(seek, {}), at({}, seek), at({}, {})]).toEqual([0, 0, 1]);
  });

  it('of other keys, or by a subscription, moves its reader', () => {
    expect([
      back(assigned('assign', {}, 'ok', ['b-0'])),
      back(assigned('subscribe')),
      back(assigned('assign', {}, 'ok', null)),
    ]).toEqual([0, 0, 0]);
    expect(back(assigned('assign', {}, 'ok', [null, { a: 1 }, key]))).toBe(1);
  });

  it('that failed moves nobody', () => {
    expect(back(assigned('assign', { seek: 'earliest' }, 'fail'))).toBe(1);
  });

  it('of a process that begins to read everything back is final', () => {
    const run = told()
      .op(1, 'invoke', 'assign', [key], { final: true })
      .op(1, 'ok', 'assign', [key])
      .poll(1, [[2, 7]]);
    expect([run.index.finalRead, run.row(7)['readFinally'], run.index.readers.gaps.final.get(0)]).toEqual([true, 1, 3]);
    const anew = told()
      .poll(1, [[5, 1]])
      .op(1, 'invoke', 'assign', [key], { final: true })
      .op(1, 'fail', 'assign', [key])
      .poll(1, [[2, 7]]);
    expect([back(anew), anew.row(7)['readFinally']]).toEqual([0, 1]);
  });
});

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

describe('keys of an assignment', () => {
  it('are those that it names, and no others', () => {
    const named = (keys: unknown): readonly string[] => told().both(1, 'assign', keys, keys).index.keys;
    expect([named([key, null, { a: 1 }, 'b-0']), named(null), named([])]).toEqual([[key, '{"a":1}', 'b-0'], [], []]);
  });
});
