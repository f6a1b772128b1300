/**
 * Compacted topics: gaps are no finding where a cleaner has been, cleaners may differ in how far they went, and what is
 * left must be the same. Which missing records a cleaner explains stands in `compacted-records.test.ts`.
 */
import { describe, expect, it } from 'vitest';
import type { PartitionReport } from '../../../checker/logs/report.ts';
import { batch, changed, joined, replica, sealed, verify } from './replicas.ts';

/** Offsets 0 to 5; `b` is deleted at 4. */
const written: readonly (readonly [string, string | null])[] = [
  ['a', '1'],
  ['b', '2'],
  ['a', '3'],
  ['c', '4'],
  ['b', null],
  ['d', '5'],
];

/** The log with only these offsets left, each in a batch of its own, as a cleaner leaves them. */
function left(...offsets: number[]): Uint8Array {
  return joined(offsets.map((offset) => batch(offset, [written[offset]!])));
}

function compare(one: Uint8Array, other: Uint8Array, cleaner: number | null = 6): PartitionReport {
  const checkpoints = { cleaner, highWatermark: 6 };
  return verify([replica('broker-1', { 0: one }, checkpoints), replica('broker-2', { 0: other }, checkpoints)]);
}

describe('replicas of a compacted topic', () => {
  it.each([
    ['as far as each other', left(2, 3, 4, 5), left(2, 3, 4, 5)],
    ['one not at all', left(0, 1, 2, 3, 4, 5), left(2, 3, 5)],
    ['each in its own places', left(1, 2, 3, 4, 5), left(0, 2, 3, 5)],
  ])('agree if cleaned %s', (_, one, other) => {
    const report = compare(one, other);
    expect(report.compacted).toBe(true);
    expect(report.comparison).toMatchObject({ verdict: 'agree', exit: 0, differences: [] });
  });

  it('agree however their records are batched', () => {
    expect(compare(batch(0, written), left(0, 1, 2, 3, 4, 5)).comparison.verdict).toBe('agree');
  });

  it('differ if the last record of a key is on one side only', () => {
    const report = compare(left(2, 3, 4, 5), left(2, 4, 5));
    expect(report.comparison).toMatchObject({
      verdict: 'diverge',
      exit: 1,
      first: { offset: 3, values: { 'broker-1': '4', 'broker-2': null } },
      differences: [{ what: ['missing'], committed: true }],
    });
  });

  it('differ if one offset holds two records', () => {
    const other = joined([left(2), batch(3, [['c', 'other']]), left(4, 5)]);
    expect(compare(left(2, 3, 4, 5), other).comparison).toMatchObject({
      exit: 1,
      differences: [{ offset: 3, what: ['value'] }],
    });
  });

  it('may hold batches of which nothing is left', () => {
    const emptied = sealed(batch(0, ['x', 'y']).slice(0, 61), (view) => {
      view.setInt32(8, 49);
      view.setInt16(21, 2);
      view.setInt32(57, 0);
    });
    const report = compare(joined([emptied, left(2, 3, 4, 5)]), left(2, 3, 4, 5));
    expect(report.copies['broker-1']).toMatchObject({ findings: [], first: 2 });
    expect(report.comparison.verdict).toBe('agree');
  });

  it('may lack parts of aborted transactions', () => {
    const transactional = sealed(batch(2, [['c', 'aborted']]), (view) => {
      view.setInt16(21, 0x10);
      view.setBigInt64(43, 7n);
    });
    // A marker: its key is the version 0 and the type 0, abort.
    const marker = sealed(batch(3, [['\0\0\0\0', '\0\0\0\0\0\0']]), (view) => {
      view.setInt16(21, 0x30);
      view.setBigInt64(43, 7n);
    });
    const one = joined([batch(0, [['a', '1']]), batch(1, [['b', '2']]), transactional, marker, left(4, 5)]);
    const report = compare(one, joined([batch(0, [['a', '1']]), left(4, 5)]));
    expect(report.copies['broker-1']).toMatchObject({
      control: [{ offset: 3, type: 'abort', producerId: 7 }],
      openTransactions: [],
    });
    expect(report.comparison.verdict).toBe('agree');
  });
});

describe('gaps', () => {
  it('below what was cleaned are the work of the cleaner, above it they are a finding', () => {
    const report = compare(left(2, 3, 5), left(2, 3, 5), 3);
    expect(report.copies['broker-1']?.findings).toMatchObject([{ name: 'offset-gap', offset: 4, last: 4 }]);
    expect(report.comparison.exit).toBe(1);
  });

  it('without a cleaner checkpoint are a finding, unless the topic is said to be compacted', () => {
    const copies = [replica('broker-1', { 0: left(2, 3, 5) }), replica('broker-2', { 0: left(2, 3, 5) })];
    expect(verify(copies).comparison).toMatchObject({ verdict: 'agree', exit: 1 });
    expect(verify(copies, true)).toMatchObject({ compacted: true, comparison: { verdict: 'agree', exit: 0 } });
  });

  it('within a batch are gaps as well', () => {
    const thinned = sealed(batch(0, written), (view) => view.setInt32(23, 9));
    const { findings } = verify([replica('broker-1', { 0: thinned })]).copies['broker-1']!;
    expect(findings).toMatchObject([{ name: 'offset-gap', offset: 6, last: 9 }]);
  });
});

describe('a damaged log of a compacted topic', () => {
  const of = (offset: number, value = 'v'): Uint8Array => batch(offset, [[`k${offset}`, value]]);

  it('lacks the records of a batch whose checksum is wrong', () => {
    const bad = changed(of(1), (bytes) => (bytes[bytes.length - 2]! ^= 1));
    const report = verify(
      [
        replica('broker-1', { 0: joined([of(0), of(1), of(2)]) }),
        replica('broker-2', { 0: joined([of(0), bad, of(2)]) }),
      ],
      true,
    );
    expect(report.copies['broker-2']?.findings).toMatchObject([{ name: 'crc-mismatch', offset: 1 }]);
    expect(report.comparison.differences).toMatchObject([{ offset: 1, what: ['missing'] }]);
  });

  it('is read as far as the walk over it believed, and no further', () => {
    // Behind the noise stands a sound batch below what was read: it is no part of the log.
    const noisy = joined([
      batch(0, [
        ['a', 'v'],
        ['b', 'v'],
        ['c', 'v'],
      ]),
      Uint8Array.of(1, 2, 3),
      batch(1, [['d', 'v']]),
      batch(3, [['e', 'v']]),
    ]);
    const clean = joined([
      batch(0, [
        ['a', 'v'],
        ['b', 'v'],
        ['c', 'v'],
      ]),
      batch(3, [['e', 'v']]),
    ]);
    const report = verify([replica('broker-1', { 0: noisy }), replica('broker-2', { 0: clean })], true);
    expect(report.copies['broker-1']).toMatchObject({ records: 4 });
    expect(report.comparison).toMatchObject({ verdict: 'agree', differencesTotal: 0 });
  });

  it('outlives the window through which it was read', () => {
    const long = Array.from({ length: 40 }, (_, at) => of(at, `${at}`.padEnd(20_000, '.')));
    const other = long.with(20, of(20, 'another')).slice(0, 40);
    const report = verify([replica('broker-1', { 0: joined(long) }), replica('broker-2', { 0: joined(other) })], true);
    expect(report.comparison.differences).toMatchObject([{ offset: 20, what: ['value'] }]);
  });
});
