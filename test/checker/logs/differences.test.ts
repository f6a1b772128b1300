/** Where replicas part and where they meet again, told exactly: which sides there are, in what they differ, and since when. */
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Comparison } from '../../../checker/logs/report.ts';
import type { Checkpoints } from '../../../checker/logs/source.ts';
import { batch, batches, changed, joined, replica, sealed, verify } from './replicas.ts';

type Log =
  | readonly Uint8Array[]
  | { readonly base: number; readonly parts: readonly Uint8Array[]; readonly logStart?: number };

function compare(...logs: readonly Log[]): Comparison {
  const copies = logs.map((log, at) => {
    const { base, parts, logStart = null } = 'parts' in log ? log : { base: 0, parts: log };
    return replica(`broker-${at + 1}`, { [base]: joined(parts) }, { logStart });
  });
  return verify(copies).comparison;
}

/** What is told of each difference, shortly. */
const told = ({ differences }: Comparison): unknown[] =>
  differences.map(({ offset, what, sides, agreeAgainAt }) => [
    offset,
    what,
    sides.map(({ copies, record }) => `${copies.map((name) => name.slice(-1)).join('')}: ${record?.value ?? 'none'}`),
    agreeAgainAt,
  ]);

/** A batch like one of the log, with other values. */
const other = (at: number, mark = 'other'): Uint8Array =>
  batch(
    at * 3,
    [0, 1, 2].map((record) => `${mark} ${at * 3 + record}`),
    Math.floor(at / 4),
  );

/** The batch without some of its records: what a cleaner leaves. They are of equal length. */
function without(bytes: Uint8Array, ...records: readonly number[]): Uint8Array {
  const size = bytes[61]! / 2 + 1;
  const count = (bytes.length - 61) / size;
  const left = Array.from({ length: count }, (_, at) => at).filter((at) => !records.includes(at));
  const kept = left.map((at) => bytes.subarray(61 + at * size, 61 + (at + 1) * size));
  return sealed(joined([bytes.subarray(0, 61), ...kept]), (view) => {
    view.setInt32(8, view.byteLength - 12);
    view.setInt32(57, left.length);
  });
}

const values = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, at) => `value ${`${from + at}`.padStart(2, '0')}`);

describe('a difference', () => {
  it('ends where replicas of both sides hold the same again', () => {
    expect(told(compare(batches, batches.with(4, other(4))))).toEqual([
      [12, ['value'], ['1: value 12', '2: other 12'], 15],
    ]);
    expect(told(compare(batches, batches.with(9, other(9))))).toEqual([
      [27, ['value'], ['1: value 27', '2: other 27'], null],
    ]);
  });

  it('goes on as one as long as the sides are the same, and others may be told apart from it', () => {
    const two = batches.with(4, other(4)).with(5, other(5));
    expect(told(compare(batches, two))).toEqual([[12, ['value'], ['1: value 12', '2: other 12'], 18]]);
    const three = two.with(5, batches[5]!).with(6, other(6));
    expect(told(compare(batches, two, three))).toEqual([
      [12, ['value'], ['1: value 12', '23: other 12'], null],
      [15, ['value'], ['13: value 15', '2: other 15'], null],
      [18, ['value'], ['12: value 18', '3: other 18'], 21],
    ]);
  });

  it('is one, also if one replica repeats a batch while it lasts', () => {
    const one = [...batches.slice(0, 4), other(4, 'one'), batches[3]!, other(5, 'one'), ...batches.slice(6)];
    const comparison = compare(one, batches);
    expect(comparison.differencesTotal).toBe(1);
    expect(told(comparison)).toEqual([[12, ['value'], ['1: one 12', '2: value 12'], 18]]);
  });

  it('ends also if all repeat a batch before they agree again', () => {
    // Whole windows are compared again behind the first file.
    const both = [batches, batches.with(4, other(4))].map((log, at) =>
      replica(`broker-${at + 1}`, { 0: joined([...log.slice(0, 5), batches[3]!]), 15: joined(log.slice(5)) }),
    );
    expect(told(verify(both).comparison)).toEqual([[12, ['value'], ['1: value 12', '2: other 12'], 15]]);
  });

  it('does not end with replicas that were not part of it', () => {
    const short = [...batches.slice(0, 4), other(4)];
    const later = { base: 18, parts: batches.slice(6) };
    expect(told(compare(batches, short, later))).toEqual([[12, ['value'], ['1: value 12', '2: other 12'], null]]);
  });

  it('is counted always, and kept a hundred times', () => {
    const many = Array.from({ length: 204 }, (_, at) => batch(at, ['x']));
    const comparison = compare(
      many,
      many.map((part, at) => (at % 2 === 0 ? batch(at, ['y']) : part)),
    );
    expect(comparison.differencesTotal).toBe(102);
    expect(comparison.differences.map(({ offset, agreeAgainAt }) => [offset, agreeAgainAt])).toEqual(
      Array.from({ length: 100 }, (_, at) => [2 * at, 2 * at + 1]),
    );
  });
});

describe('where two replicas part', () => {
  it('is the lowest offset at which their batches do not hold the same', () => {
    const thinned = without(batch(0, ['value 0', 'value 1', 'other 2']), 1);
    expect(told(compare([thinned], [batch(0, ['value 0', 'value 1', 'value 2'])]))).toEqual([
      [1, ['missing'], ['1: none', '2: value 1'], null],
    ]);
    expect(told(compare([batch(0, ['value 0', 'value 1', 'value 2'])], [thinned]))).toEqual([
      [1, ['missing'], ['1: value 1', '2: none'], null],
    ]);
  });

  it('is sought as far as the shorter batch goes', () => {
    const long = batch(0, values(0, 5));
    const [two, rest] = [batch(0, values(0, 2)), batch(2, [values(2, 3)[0]!, 'other 03', values(4, 5)[0]!])];
    expect(told(compare([long], [two, rest]))).toEqual([
      [0, ['batch bounds', 'record count', 'checksum'], ['1: value 00', '2: value 00'], null],
    ]);
  });

  it('of several sides that part at one offset is told of the first two', () => {
    const logs = [batch(0, [['k', 'x']]), batch(0, [['k', 'y']]), batch(0, [['l', 'y']])];
    expect(told(compare(...logs.map((log) => [log])))).toEqual([[0, ['value'], ['1: x', '2: y', '3: y'], null]]);
  });

  it('is the end of the shorter, if they do not, and never below where both begin', () => {
    const short = { base: 0, parts: batches.slice(0, 4), logStart: 3 };
    expect(compare(batches, short, { base: 18, parts: batches.slice(6) }).pairs).toEqual([
      { copies: ['broker-1', 'broker-2'], from: 3, agreeUntil: 12 },
      { copies: ['broker-1', 'broker-3'], from: 18, agreeUntil: 30 },
      { copies: ['broker-2', 'broker-3'], from: 18, agreeUntil: 18 },
    ]);
  });

  it('is named for each two of them', () => {
    const [two, three] = [batch(12, ['value 12', 'x', 'y'], 1), batch(12, ['value 12', 'x', 'z'], 1)];
    const comparison = compare(batches, batches.with(4, two), batches.with(4, three));
    expect(comparison.pairs).toEqual([
      { copies: ['broker-1', 'broker-2'], from: 0, agreeUntil: 13 },
      { copies: ['broker-1', 'broker-3'], from: 0, agreeUntil: 13 },
      { copies: ['broker-2', 'broker-3'], from: 0, agreeUntil: 14 },
    ]);
    expect(comparison.differences[0]?.offset).toBe(13);
  });

  it('is the first time, for each two of them', () => {
    const comparison = compare(batches.with(6, other(6)), batches, batches.with(2, other(2)));
    expect(comparison.pairs.map(({ agreeUntil }) => agreeUntil)).toEqual([18, 6, 6]);
  });

  it('is told of the first two sides that part earliest', () => {
    const [one, two] = [batch(12, ['value 12', 'value 13', 'x'], 1), batch(12, ['y', 'value 13', 'value 14'], 1)];
    const comparison = compare(batches, batches.with(4, one), batches.with(4, two));
    expect(told(comparison)).toEqual([[12, ['value'], ['1: value 12', '2: value 12', '3: y'], 15]]);
    expect(comparison.pairs.map(({ agreeUntil }) => agreeUntil)).toEqual([14, 12, 12]);
  });
});

describe('a replica that begins within a batch of another', () => {
  const six = batch(0, values(0, 6));
  const part = batch(3, values(3, 6));

  it('differs from there on, if it has a batch there', () => {
    for (const logStart of [0, 3]) {
      expect(told(compare({ base: 0, parts: [six], logStart }, { base: 3, parts: [part] }))).toEqual([
        [3, ['batch bounds'], ['1: none', '2: value 03'], null],
      ]);
    }
  });

  it('differs from there on, if it holds nothing there', () => {
    for (const base of [3, 4, 5]) {
      const later = { base, parts: [batch(6, ['value 06'])] };
      expect(told(compare([six, batch(6, ['value 06'])], later))).toEqual([
        [base, ['missing'], [`1: value 0${base}`, '2: none'], 6],
      ]);
    }
    expect(told(compare([six, batch(6, ['value 06'])], { base: 6, parts: [batch(6, ['value 06'])] }))).toEqual([]);
  });

  it('is not yet compared in what it holds further on', () => {
    const thinned = without(six, 2, 3);
    expect(told(compare([thinned], { base: 2, parts: [batch(4, ['other 4', 'other 5'])] }))).toEqual([
      [2, ['batch bounds'], ['1: none', '2: none'], null],
    ]);
  });

  it('is told beside all that stand there, however far their batches go', () => {
    const three = batch(0, values(0, 3));
    const [one, two] = [batch(0, values(0, 1)), batch(1, values(1, 3))];
    const next = batch(3, values(3, 6));
    const [first] = told(compare([three, next], [one, two, next], { base: 2, parts: [next] }));
    expect(first).toEqual([
      0,
      ['batch bounds', 'record count', 'checksum'],
      ['1: value 00', '2: value 00', '3: none'],
      3,
    ]);
  });
});

describe('replicas that agree', () => {
  it('are not told apart by how they differed in what one of them has deleted', () => {
    const [one, three] = [batches, [...batches, batches[9]!]];
    const two = { base: 0, parts: batches.with(0, other(0)), logStart: 3 };
    expect(compare(one, two, three)).toMatchObject({ verdict: 'agree', differences: [], differencesTotal: 0 });
  });

  it('are not told apart by where they begin', () => {
    const later = { base: 3, parts: batches.slice(1) };
    expect(compare([...batches, batches[9]!], batches, later)).toMatchObject({ verdict: 'agree', differencesTotal: 0 });
  });
});

describe('batches that hold the same records', () => {
  /** An empty batch: nothing but its header can differ. */
  const empty = (change: (view: DataView) => void): Uint8Array =>
    sealed(batches[0]!.slice(0, 61), (view) => {
      view.setInt32(8, 49);
      view.setInt32(57, 0);
      change(view);
    });

  it.each<[readonly string[], string, (view: DataView) => void]>([
    [['epoch'], 'leader epoch', (view) => view.setInt32(12, 3)],
    [['batch bounds', 'checksum'], 'last offset', (view) => view.setInt32(23, 3)],
    [['attributes', 'checksum'], 'attributes', (view) => view.setInt16(21, 0x10)],
    [['producer', 'checksum'], 'producer', (view) => view.setBigInt64(43, 4n)],
    [['producer', 'checksum'], 'epoch of the producer', (view) => view.setInt16(51, 4)],
    [['producer', 'checksum'], 'sequence', (view) => view.setInt32(53, 4)],
    [['record count', 'checksum'], 'record count', (view) => view.setInt32(57, 1)],
    [['timestamp', 'checksum'], 'first timestamp', (view) => view.setBigInt64(27, 4n)],
    [['timestamp', 'checksum'], 'last timestamp', (view) => view.setBigInt64(35, 4n)],
  ])('differ in %j: the %s', (what, _, change) => {
    expect(compare([empty(() => undefined)], [empty(change)]).differences).toMatchObject([{ offset: 0, what }]);
  });

  it('differ in their checksum, if that alone is wrong', () => {
    const one = empty(() => undefined);
    const wrong = changed(one, (bytes) => (bytes[17]! ^= 1));
    expect(compare([one], [wrong]).differences).toMatchObject([{ offset: 0, what: ['checksum'] }]);
  });

  it('differ in their bytes, if nobody would read the one that is wrong', () => {
    // The attributes of a record, of which there are none.
    const wrong = changed(batches[0]!, (bytes) => (bytes[62]! ^= 1));
    expect(told(compare([batches[0]!], [wrong]))).toEqual([[0, ['bytes'], ['1: value 0', '2: value 0'], null]]);
  });

  it('differ in their format', () => {
    const message = new Uint8Array(39);
    const view = new DataView(message.buffer);
    view.setInt32(8, 27);
    view.setUint8(16, 1);
    view.setBigInt64(18, -1n);
    view.setInt32(26, -1);
    view.setInt32(30, 5);
    message.set(new TextEncoder().encode('value'), 34);
    view.setUint32(12, crc32(message.subarray(16)));
    const record = sealed(batch(0, ['value'], -1), () => undefined);
    expect(told(compare([message], [record]))).toEqual([[0, ['format', 'checksum'], ['1: value', '2: value'], null]]);
  });

  it('differ in their epoch as well as in what they hold', () => {
    expect(told(compare([batch(0, ['x'], 1)], [batch(0, ['y'], 2)]))).toEqual([
      [0, ['value', 'epoch'], ['1: x', '2: y'], null],
    ]);
    expect(told(compare([batch(0, ['x'], 1)], [batch(0, ['x'], 2)]))).toEqual([[0, ['epoch'], ['1: x', '2: x'], null]]);
  });
});

describe('records that cannot be read', () => {
  it('of a sound batch are not known: what the other holds is no difference of its own', () => {
    const senseless = sealed(batches[0]!, (view) => view.setInt32(57, 2));
    expect(told(compare([batches[0]!], [senseless]))).toEqual([
      [0, ['record count', 'checksum'], ['1: value 0', '2: value 0'], null],
    ]);
  });

  it('of a batch whose checksum is wrong are missing from there on', () => {
    const torn = changed(batches[0]!, (bytes) => bytes.fill(255, 61 + 14));
    expect(told(compare([batches[0]!], [torn]))).toEqual([[1, ['missing'], ['1: value 1', '2: none'], null]]);
  });

  it('are shown with their place, and whether their batch is sound', () => {
    const at = joined(batches.slice(0, 4)).length;
    const wrong = batches.with(
      4,
      changed(other(4), (bytes) => (bytes[62]! ^= 1)),
    );
    const [difference] = compare(batches, wrong).differences;
    const file = 'tide-0/00000000000000000000.log';
    expect(difference?.sides.map(({ record }) => record)).toMatchObject([
      { value: 'value 12', file, position: at, sound: true, epoch: 1 },
      { value: 'other 12', file, position: at, sound: false, epoch: 1 },
    ]);
  });
});

describe('a committed difference', () => {
  const at = (...marks: readonly (number | null)[]): boolean | undefined => {
    const copies = marks.map((highWatermark, index) => {
      const log = joined(index === 0 ? batches : batches.with(4, other(4)));
      const checkpoints: Partial<Checkpoints> = { highWatermark };
      return replica(`broker-${index + 1}`, { 0: log }, checkpoints);
    });
    return verify(copies).comparison.differences[0]?.committed;
  };

  it('lies below high watermarks of two sides', () => {
    expect([at(13, 13), at(12, 13), at(13, 12), at(null, 13), at(13, null)]).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
    expect([at(null, 13, 13), at(13, null, 13), at(12, 30, 30)]).toEqual([false, true, false]);
  });
});
