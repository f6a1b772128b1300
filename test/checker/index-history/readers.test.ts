/** What a poll and an assignment mean: flaws word for word, who passed over what, and what is kept. */
import { describe, expect, it } from 'vitest';
import { outcome } from '../../../checker/index-history.ts';
import { key, told, type Told } from './told.ts';

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

describe('keys of an assignment', () => {
  it('are those that it names, and no others', () => {
    const named = (keys: unknown): readonly string[] => told().both(1, 'assign', keys, keys).index.keys;
    expect([named([key, null, { a: 1 }, 'b-0']), named(null), named([])]).toEqual([[key, '{"a":1}', 'b-0'], [], []]);
  });
});
