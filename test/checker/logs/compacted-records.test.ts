/**
 * Records of a compacted topic that only one replica holds: each is judged by its key, by what was written after it, and by
 * whether its transaction was aborted; what nothing explains is a difference.
 */
import { describe, expect, it } from 'vitest';
import { compareCompacted } from '../../../checker/logs/compacted.ts';
import { Lane } from '../../../checker/logs/lane.ts';
import type { Checkpoints } from '../../../checker/logs/source.ts';
import { tools } from '../../../harness/verify/tools.ts';
import { batch, joined, replica, sealed, verify } from './replicas.ts';

describe('a record that only one replica holds', () => {
  type Line = readonly [offset: number, key: string | null, value: string | null];
  const of = (...lines: readonly Line[]): Uint8Array =>
    joined(
      lines.map(([offset, key, value]) => (key === null ? batch(offset, [value]) : batch(offset, [[key, value]]))),
    );

  /** Offsets at which a record is missing, or differs. */
  function differing(
    one: Uint8Array,
    other: Uint8Array,
    mine: Partial<Checkpoints> = {},
    theirs: Partial<Checkpoints> = {},
  ): string[] {
    const { comparison } = verify(
      [replica('broker-1', { 0: one }, mine), replica('broker-2', { 0: other }, theirs)],
      true,
    );
    expect(comparison.differencesTotal).toBe(comparison.differences.length);
    return comparison.differences.map(({ offset, what, sides }) =>
      `${offset} ${what.join()} ${sides.map(({ copies, record }) => `${copies.join()}=${record?.value ?? 'none'}`).join(' ')}`.replaceAll(
        'broker-',
        '',
      ),
    );
  }

  const end: Line = [9, 'end', 'x'];

  it.each<[string, readonly Line[], readonly Line[], readonly string[]]>([
    ['a key nobody writes again', [[3, 'k', 'v']], [], ['3 missing 1=v 2=none']],
    ['the same, on the other side', [], [[3, 'k', 'v']], ['3 missing 1=none 2=v']],
    [
      'a key that both write again',
      [
        [3, 'k', 'v'],
        [5, 'k', 'w'],
      ],
      [[5, 'k', 'w']],
      [],
    ],
    ['a key that the other writes again', [[3, 'k', 'v']], [[5, 'k', 'w']], ['5 missing 1=none 2=w']],
    [
      'a key that was written before',
      [
        [3, 'k', 'v'],
        [5, 'k', 'w'],
      ],
      [[3, 'k', 'v']],
      ['5 missing 1=w 2=none'],
    ],
    [
      'a key that is deleted later',
      [
        [3, 'k', 'v'],
        [5, 'k', null],
      ],
      [],
      [],
    ],
    ['a tombstone', [[3, 'k', null]], [], []],
    ['no key', [[3, null, 'v']], [], []],
    [
      'other keys in turn',
      [
        [1, 'a', 'v'],
        [3, 'c', 'v'],
      ],
      [[2, 'b', 'v']],
      ['1 missing 1=v 2=none', '2 missing 1=none 2=v', '3 missing 1=v 2=none'],
    ],
    ['another value', [[3, 'k', 'v']], [[3, 'k', 'w']], ['3 value 1=v 2=w']],
    ['another key', [[3, 'k', 'v']], [[3, 'l', 'v']], ['3 key 1=v 2=v']],
  ])('is judged by its key: %s', (_, one, other, expected) => {
    expect(differing(of(...one, end), of(...other, end))).toEqual(expected);
  });

  it('is judged from where both logs begin up to where the shorter ends', () => {
    const [whole, none] = [of([3, 'k', 'v'], end), of(end)];
    for (const [mine, theirs] of [
      [{ logStart: 3 }, {}],
      [{}, { logStart: 3 }],
    ] as const) {
      expect(differing(whole, none, mine, theirs)).toHaveLength(1);
    }
    for (const [mine, theirs] of [
      [{ logStart: 4 }, {}],
      [{}, { logStart: 4 }],
    ] as const) {
      expect(differing(whole, none, mine, theirs)).toEqual([]);
      expect(differing(whole, of([3, 'k', 'w'], end), mine, theirs)).toEqual([]);
    }
    expect(differing(of([3, 'k', 'v'], [4, 'l', 'v'], [5, 'm', 'v']), of([4, 'l', 'v']))).toEqual([
      '3 missing 1=v 2=none',
    ]);
    expect(differing(of([4, 'l', 'v']), of([3, 'k', 'v'], [4, 'l', 'v'], [5, 'm', 'v']))).toEqual([
      '3 missing 1=none 2=v',
    ]);
  });

  it('explains, below the start of a log as well, what is missing of its key', () => {
    expect(differing(of([3, 'k', 'v'], [5, 'k', 'w'], end), of([5, 'k', 'w'], end), { logStart: 3 })).toEqual([]);
    const report = verify(
      [replica('broker-1', { 0: of([3, 'k', 'v'], end) }), replica('broker-2', { 0: of(end) }, { logStart: 9 })],
      true,
    );
    expect(report.comparison.pairs).toEqual([{ copies: ['broker-1', 'broker-2'], from: 9, agreeUntil: 10 }]);
  });

  it('makes two replicas part at the lowest of all offsets', () => {
    const { comparison } = verify(
      [
        replica('broker-1', { 0: of([2, 'a', 'v'], [3, 'k', 'v'], end) }),
        replica('broker-2', { 0: of([3, 'k', 'w'], end) }),
      ],
      true,
    );
    expect(comparison.pairs).toEqual([{ copies: ['broker-1', 'broker-2'], from: 0, agreeUntil: 2 }]);
    expect(comparison.differences.map(({ offset }) => offset)).toEqual([2, 3]);
  });

  it('is committed if both high watermarks are above it', () => {
    const committed = (mine: number | null, theirs: number | null): boolean | undefined =>
      verify(
        [
          replica('broker-1', { 0: of([3, 'k', 'v'], end) }, { highWatermark: mine }),
          replica('broker-2', { 0: of(end) }, { highWatermark: theirs }),
        ],
        true,
      ).comparison.differences[0]?.committed;
    expect([committed(4, 4), committed(3, 4), committed(4, 3), committed(null, 4)]).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it('is kept a hundred times for two replicas, and for all of them', () => {
    const many = of(...Array.from({ length: 120 }, (_, at): Line => [at, `k${at}`, 'v']), [200, 'end', 'x']);
    const none = of([200, 'end', 'x']);
    const copies = [many, none, none].map((bytes, at) => replica(`broker-${at + 1}`, { 0: bytes }));
    const two = verify(copies.slice(0, 2), true).comparison;
    expect([two.differences.length, two.differencesTotal]).toEqual([100, 120]);
    expect(two.differences.map(({ offset }) => offset)).toEqual(Array.from({ length: 100 }, (_, at) => at));
    const three = verify(copies, true).comparison;
    expect([three.differences.length, three.differencesTotal]).toEqual([100, 240]);
    expect(three.differences.slice(0, 4).map(({ offset }) => offset)).toEqual([0, 0, 1, 1]);
  });

  it('is kept if it is among the lowest, however many differ above it', () => {
    const lines = (value: string): Line[] => Array.from({ length: 110 }, (_, at): Line => [50 + at, `k${at}`, value]);
    const missing = Array.from({ length: 30 }, (_, at): Line => [at, `m${at}`, 'v']);
    const copies = [of(...missing, ...lines('v')), of(...lines('w'))].map((bytes, at) =>
      replica(`broker-${at + 1}`, { 0: bytes }),
    );
    const { differences, differencesTotal, first } = verify(copies, true).comparison;
    expect([differencesTotal, first?.offset]).toEqual([140, 0]);
    expect(differences.map(({ offset }) => offset)).toEqual(
      Array.from({ length: 100 }, (_, at) => (at < 30 ? at : at + 20)),
    );
  });

  it('is not judged beyond so many keys, which is said', () => {
    const lanes = (): Lane[] =>
      [of([1, 'a', 'v'], [2, 'b', 'v'], [3, 'c', null], [4, 'd', 'v'], end), of(end)].map(
        (bytes, at) => new Lane(replica(`broker-${at + 1}`, { 0: bytes }), true, tools),
      );
    expect(compareCompacted(lanes(), tools, 3)).toMatchObject({ differencesTotal: 3, notes: [] });
    expect(compareCompacted(lanes(), tools, 2)).toMatchObject({
      differences: [{ offset: 1 }, { offset: 2 }],
      differencesTotal: 2,
      notes: ['broker-1 and broker-2: more than 2 keys are missing on one side; those beyond were not judged'],
    });
  });

  it('is shown with its place and its epoch, and the epoch counts', () => {
    const [one, other] = [joined([batch(0, [['a', 'v']], 4), batch(1, [['b', 'v']], 5)]), batch(0, [['a', 'v']], 3)];
    const { differences } = verify(
      [replica('broker-1', { 0: one }), replica('broker-2', { 0: other })],
      true,
    ).comparison;
    expect(differences).toMatchObject([{ offset: 0, what: ['epoch'], agreeAgainAt: null }]);
    const file = 'tide-0/00000000000000000000.log';
    expect(differences[0]?.sides.map(({ record }) => record)).toMatchObject([
      { key: 'a', epoch: 4, file, position: 0, sound: true },
      { key: 'a', epoch: 3, file, position: 0, sound: true },
    ]);
    const size = batch(0, [['a', 'v']], 4).length;
    const missing = verify(
      [
        replica('broker-1', { 0: joined([one, batch(2, [['c', 'v']], 5)]) }),
        replica('broker-2', { 0: joined([batch(0, [['a', 'v']], 4), batch(2, [['c', 'v']], 5)]) }),
      ],
      true,
    );
    expect(missing.comparison.differences[0]?.sides[0]?.record).toMatchObject({ key: 'b', epoch: 5, position: size });
  });
});

describe('an abort', () => {
  const transactional = (offset: number, key: string, producerId: number, attributes = 0x10): Uint8Array =>
    sealed(batch(offset, [[key, 'v']]), (view) => {
      view.setInt16(21, attributes);
      view.setBigInt64(43, BigInt(producerId));
    });
  const marker = (offset: number, producerId: number, key: string | null): Uint8Array =>
    sealed(key === null ? batch(offset, ['']) : batch(offset, [[key, '']]), (view) => {
      view.setInt16(21, 0x30);
      view.setBigInt64(43, BigInt(producerId));
    });
  const [abort, commit] = ['\0\0\0\0', '\0\0\0\x01'];
  const end = batch(9, [['end', 'x']]);

  /** How many records are missing in a log that holds nothing but the end. */
  const missing = (...parts: readonly Uint8Array[]): number =>
    verify([replica('broker-1', { 0: joined([...parts, end]) }), replica('broker-2', { 0: end })], true).comparison
      .differencesTotal;

  it('explains what is missing of its producer, and nothing else', () => {
    expect(missing(transactional(1, 'a', 1), transactional(2, 'b', 1), marker(3, 1, abort))).toBe(0);
    expect(missing(transactional(1, 'a', 1), marker(3, 1, commit))).toBe(1);
    expect(missing(transactional(1, 'a', 1), marker(3, 2, abort))).toBe(1);
    expect(missing(transactional(1, 'a', 1), marker(3, 1, null))).toBe(1);
    expect(missing(transactional(1, 'a', 1, 0), marker(3, 1, abort))).toBe(1);
    expect(missing(marker(1, 1, abort), transactional(3, 'a', 1))).toBe(1);
  });

  it('is no record itself, and explains none of its key', () => {
    expect(missing(batch(1, [[abort, 'v']]), marker(3, 1, abort))).toBe(1);
    expect(missing(marker(3, 1, commit))).toBe(0);
  });

  it('of the other side explains as well', () => {
    const report = verify(
      [
        replica('broker-1', { 0: joined([transactional(1, 'a', 1), end]) }),
        replica('broker-2', { 0: joined([marker(3, 1, abort), end]) }),
      ],
      true,
    );
    expect(report.comparison.differencesTotal).toBe(0);
  });
});
