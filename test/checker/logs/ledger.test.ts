/** What the order of batches shows: gaps, offsets that go back, files in wrong places, transactions without an end. */
import { describe, expect, it } from 'vitest';
import type { CopyReport } from '../../../checker/logs/report.ts';
import type { Checkpoints } from '../../../checker/logs/source.ts';
import { batch, batches, changed, joined, replica, sealed, verify } from './replicas.ts';

type Segments = Readonly<Record<number, Uint8Array>>;

function ledgerOf(segments: Segments, checkpoints: Partial<Checkpoints> = {}, compacted = false): CopyReport {
  return verify([replica('broker-1', segments, checkpoints)], compacted).copies['broker-1']!;
}

const findingsOf = (...of: Parameters<typeof ledgerOf>): readonly object[] => ledgerOf(...of).findings;

const log = (...parts: readonly Uint8Array[]): Segments => ({ 0: joined(parts) });
const file = 'tide-0/00000000000000000000.log';
const size = batches[0]!.length;
const bad = (at: number): Uint8Array => changed(batches[at]!, (bytes) => (bytes[70]! ^= 1));
const at = (offset: number, part = batches[0]!): Uint8Array => sealed(part, (view) => view.setInt32(4, offset));

describe('offsets', () => {
  it('that are missing are a gap, with its place', () => {
    expect(findingsOf(log(batches[0]!, at(7), at(12)))).toEqual([
      { name: 'offset-gap', offset: 3, last: 6, file, position: size },
      { name: 'offset-gap', offset: 10, last: 11, file, position: 2 * size },
    ]);
    expect(findingsOf({ 5: joined([at(6)]) })).toMatchObject([{ name: 'offset-gap', offset: 5, last: 5, position: 0 }]);
  });

  it('that go back are a regression, with what was to come', () => {
    const report = ledgerOf(log(batches[0]!, batches[1]!, at(4), at(7)));
    expect(report.findings).toEqual([{ name: 'offset-regression', offset: 4, expected: 6, file, position: 2 * size }]);
    expect(report).toMatchObject({ leo: 10, first: 0, last: 9, records: 12, batches: 4, bytes: 4 * size });
    const back = ledgerOf(log(batches[0]!, batches[1]!, at(1)));
    expect(back).toMatchObject({ leo: 6, last: 3 });
  });

  it('behind a batch whose checksum is wrong are not judged, but for those that go back', () => {
    const one = ledgerOf(log(batches[0]!, bad(1), at(20), at(30)));
    const stored = new DataView(bad(1).buffer).getUint32(17);
    expect(one.findings).toEqual([
      { name: 'crc-mismatch', offset: 3, file, position: size, stored },
      { name: 'offset-gap', offset: 23, last: 29, file, position: 3 * size },
    ]);
    expect(one).toMatchObject({ batches: 4, bytes: 4 * size, records: 9, leo: 33 });
    const two = findingsOf(log(batches[0]!, batches[1]!, bad(0), at(4)));
    expect(two).toMatchObject([
      { name: 'offset-regression', offset: 0, expected: 6 },
      { name: 'crc-mismatch', offset: 0 },
      { name: 'offset-regression', offset: 4, expected: 6 },
    ]);
    const end = ledgerOf(log(batches[0]!, bad(1)), { highWatermark: 5 });
    expect(end).toMatchObject({
      leo: 4,
      findings: [{ name: 'crc-mismatch' }, { name: 'checkpoint-beyond-log', leo: 4 }],
    });
  });

  it('begin where the first file says, or where the log was deleted up to', () => {
    expect(ledgerOf({ 9: joined(batches.slice(3)) })).toMatchObject({ logStart: 9, first: 9, findings: [] });
    expect(ledgerOf({ 9: joined(batches.slice(3)) }, { logStart: 4 })).toMatchObject({ logStart: 9 });
    expect(ledgerOf({ 0: joined(batches) }, { logStart: 4 })).toMatchObject({ logStart: 4, first: 0, findings: [] });
    expect(ledgerOf({})).toMatchObject({ logStart: 0, leo: 0, first: null, last: null, findings: [] });
    expect(ledgerOf({ 7: new Uint8Array() })).toMatchObject({ logStart: 7, leo: 7, first: null, findings: [] });
  });

  it('below what was cleaned may be missing, in a compacted topic anywhere', () => {
    const gaps = log(batches[0]!, at(7), at(12));
    expect(findingsOf(gaps, { cleaner: 3 })).toMatchObject([{ offset: 3 }, { offset: 10 }]);
    expect(findingsOf(gaps, { cleaner: 4 })).toMatchObject([{ offset: 10 }]);
    expect(findingsOf(gaps, { cleaner: 11 })).toEqual([]);
    expect(findingsOf(gaps, {}, true)).toEqual([]);
  });
});

describe('a log that ends', () => {
  it('with an empty file that is named higher has a gap before it', () => {
    const report = ledgerOf({ 0: batches[0]!, 5: new Uint8Array() }, { highWatermark: 5 });
    const name = 'tide-0/00000000000000000005.log';
    expect(report.findings).toEqual([{ name: 'offset-gap', offset: 3, last: 4, file: name, position: 0 }]);
    expect(report.leo).toBe(5);
    expect(findingsOf({ 0: batches[0]!, 3: batches[1]!, 9: new Uint8Array() })).toMatchObject([{ offset: 6, last: 8 }]);
    expect(ledgerOf({ 0: batches[0]!, 3: new Uint8Array() })).toMatchObject({ leo: 3, findings: [] });
    expect(ledgerOf({ 0: batches[0]!, 2: new Uint8Array() })).toMatchObject({ leo: 3, findings: [] });
  });

  it('before what its checkpoints say is told for each of them', () => {
    const offsets = { highWatermark: 4, recoveryPoint: 5, logStart: 6 };
    expect(findingsOf(log(batches[0]!), offsets)).toEqual([
      { name: 'checkpoint-beyond-log', offset: 4, file: 'replication-offset-checkpoint', leo: 3 },
      { name: 'checkpoint-beyond-log', offset: 5, file: 'recovery-point-offset-checkpoint', leo: 3 },
      { name: 'checkpoint-beyond-log', offset: 6, file: 'log-start-offset-checkpoint', leo: 3 },
    ]);
    expect(findingsOf(log(batches[0]!), { highWatermark: 3, recoveryPoint: 3, logStart: 3 })).toEqual([]);
  });

  it('before an entry of its epochs is told', () => {
    const leaderEpochs = [
      { epoch: 0, start: 0 },
      { epoch: 1, start: 4 },
    ];
    expect(findingsOf(log(batches[0]!), { leaderEpochs })).toMatchObject([{ name: 'checkpoint-mismatch', offset: 4 }]);
    expect(findingsOf({ 0: batches[0]!, 4: new Uint8Array() }, { leaderEpochs })).toMatchObject([
      { name: 'offset-gap' },
    ]);
  });

  it('and of which files could not be opened says so first', () => {
    const copy = {
      ...replica('broker-1', log(at(1))),
      unreadable: [{ file: 'tide-0/x.log', reason: 'no permission' }],
    };
    expect(verify([copy]).copies['broker-1']?.findings).toEqual([
      { name: 'unreadable', offset: null, file: 'tide-0/x.log', position: null, reason: 'no permission' },
      { name: 'offset-gap', offset: 0, last: 0, file, position: 0 },
    ]);
  });

  it('in bytes that are no batch says what they are, and what was to come', () => {
    expect(findingsOf(log(batches[0]!, Uint8Array.of(1, 2)))).toEqual([
      { name: 'torn-tail', offset: 3, file, position: size, bytes: 2 },
    ]);
    expect(findingsOf(log(batches[0]!, new Uint8Array(20).fill(1)))).toEqual([
      {
        name: 'unreadable',
        offset: 3,
        file,
        position: size,
        reason: '20 bytes that are no batch, up to the end of the file',
      },
    ]);
  });
});

describe('a file', () => {
  const [first, second, third] = [batches.slice(0, 3), batches.slice(3, 6), batches.slice(6)].map(joined) as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ];

  it('may begin where its name says, and up to where the next one begins', () => {
    expect(findingsOf({ 0: first, 9: second, 18: third })).toEqual([]);
    const above = findingsOf({ 0: at(9), 9: second });
    expect(above).toMatchObject([{ name: 'segment-mismatch', offset: 9, expected: 0 }]);
    expect(findingsOf({ 0: at(8), 11: joined([at(11)]) })).toMatchObject([{ name: 'offset-gap', offset: 0, last: 7 }]);
  });

  it('that begins below its name is told, and is not judged by what was before it', () => {
    expect(findingsOf({ 0: first, 10: second })).toEqual([
      { name: 'segment-mismatch', offset: 9, expected: 10, file: 'tide-0/00000000000000000010.log', position: 0 },
    ]);
    expect(findingsOf({ 10: second })).toMatchObject([{ name: 'segment-mismatch', offset: 9, expected: 10 }]);
  });

  it('behind one in a wrong place is not judged by it', () => {
    const report = ledgerOf({ 0: third, 9: second, 18: third });
    expect(report.findings).toMatchObject([{ name: 'segment-mismatch', offset: 18, expected: 0 }]);
    expect(report.epochs).toEqual([
      [1, 18, 23],
      [2, 24, 29],
      [0, 9, 11],
      [1, 12, 23],
      [2, 24, 29],
    ]);
    const twice = findingsOf({ 0: third, 9: second, 18: joined([at(18), at(30)]), 40: joined([at(41)]) });
    expect(twice).toMatchObject([
      { name: 'segment-mismatch' },
      { name: 'epoch-regression', offset: 18 },
      { name: 'offset-gap', offset: 21, last: 29 },
      { name: 'offset-gap', offset: 33, last: 40 },
    ]);
  });

  it('in a wrong place, or behind one, is judged from its second batch on', () => {
    const wrong = joined([at(30), at(40)]);
    expect(findingsOf({ 0: wrong, 9: joined([at(9), at(14)]) })).toMatchObject([
      { name: 'segment-mismatch', offset: 30 },
      { name: 'offset-gap', offset: 33, last: 39 },
      { name: 'offset-gap', offset: 12, last: 13 },
    ]);
  });

  it('has epochs that are not judged by those in a wrong place', () => {
    const high = sealed(at(30), (view) => view.setInt32(12, 9));
    expect(findingsOf({ 0: batches[9]!, 9: joined([sealed(at(4), (view) => view.setInt32(12, 1))]) })).toMatchObject([
      { name: 'segment-mismatch', offset: 27 },
      { name: 'segment-mismatch', offset: 4 },
    ]);
    expect(findingsOf({ 0: high, 9: at(9), 12: at(12) })).toMatchObject([{ name: 'segment-mismatch', offset: 30 }]);
  });
});

describe('what a log holds', () => {
  it('is told by format and codec, each once, in their order', () => {
    const codec = (offset: number, attributes: number): Uint8Array =>
      sealed(at(offset).slice(0, 61), (view) => {
        view.setInt32(8, 49);
        view.setInt16(21, attributes);
        view.setInt32(57, 0);
      });
    const report = ledgerOf(
      log(codec(0, 4), codec(3, 0), codec(6, 1), codec(9, 4), codec(12, 5), codec(15, 2)),
      {},
      true,
    );
    expect(report).toMatchObject({ formats: ['v2'], codecs: ['gzip', 'none', 'snappy', 'zstd'] });
  });

  it('counts nothing of a batch that cannot be read, and says why', () => {
    const senseless = sealed(batches[1]!, (view) => view.setInt32(57, 2));
    const report = ledgerOf(log(batches[0]!, senseless, batches[2]!));
    expect(report).toMatchObject({ batches: 3, records: 6, first: 0, last: 8, leo: 9 });
    expect(report.findings).toEqual([
      {
        name: 'unreadable',
        offset: 3,
        file,
        position: size,
        reason: 'the records of a sound batch cannot be read: its record count is wrong',
      },
    ]);
    expect(ledgerOf(log(batches[0]!, senseless))).toMatchObject({ first: 0, last: 2, leo: 6 });
    expect(
      ledgerOf(
        log(
          sealed(batches[0]!, (view) => view.setInt32(57, 2)),
          batches[1]!,
        ),
      ),
    ).toMatchObject({ first: 3 });
  });

  it('may lack records within a batch, which is a gap at its place', () => {
    const thinned = sealed(batches[1]!, (view) => view.setInt32(23, 5));
    expect(findingsOf(log(batches[0]!, thinned))).toEqual([
      { name: 'offset-gap', offset: 6, last: 8, file, position: size },
    ]);
  });
});

describe('transactions', () => {
  const of = (offset: number, producerId: number, attributes = 0x10): Uint8Array =>
    sealed(batch(offset, ['x']), (view) => {
      view.setInt16(21, attributes);
      view.setBigInt64(43, BigInt(producerId));
    });
  const marker = (offset: number, producerId: number, type: number): Uint8Array =>
    sealed(batch(offset, [[`\0\0\0${String.fromCharCode(type)}`, '']]), (view) => {
      view.setInt16(21, 0x30);
      view.setBigInt64(43, BigInt(producerId));
    });

  it('are open from their first batch to their marker', () => {
    const report = ledgerOf(log(of(0, 7), of(1, 8), of(2, 7), marker(3, 7, 1), of(4, 9), of(5, 7)));
    expect(report.openTransactions).toEqual([
      { producerId: 8, firstOffset: 1 },
      { producerId: 9, firstOffset: 4 },
      { producerId: 7, firstOffset: 5 },
    ]);
    expect(report.control).toEqual([{ offset: 3, type: 'commit', producerId: 7 }]);
  });

  it('are told by where they began, also if a later one was open before', () => {
    const report = ledgerOf({ 0: joined([at(20, of(20, 5))]), 9: joined([of(9, 6), of(10, 6)]) });
    expect(report.openTransactions).toEqual([
      { producerId: 6, firstOffset: 9 },
      { producerId: 5, firstOffset: 20 },
    ]);
  });

  it('end by commit and abort of their producer, and by nothing else', () => {
    const ends = (type: number, producerId = 7): boolean =>
      ledgerOf(log(of(0, 7), marker(1, producerId, type))).openTransactions.length === 0;
    expect([0, 1, 2, 3, 9].map((type) => ends(type))).toEqual([true, true, false, false, false]);
    expect(ends(1, 8)).toBe(false);
  });

  it('are begun by batches that say so, and by no marker', () => {
    const report = ledgerOf(log(of(0, 7, 0), marker(1, 8, 2)));
    expect(report.openTransactions).toEqual([]);
    expect(report.control).toEqual([{ offset: 1, type: 'leader-change', producerId: 8 }]);
  });

  it('and their markers are kept up to a thousand', () => {
    const begun = Array.from({ length: 1_002 }, (_, offset) => of(offset, offset));
    const open = ledgerOf(log(...begun)).openTransactions;
    expect([open.length, open.at(-1)]).toEqual([1_000, { producerId: 999, firstOffset: 999 }]);
    const markers = Array.from({ length: 1_001 }, (_, offset) => marker(offset, 1, 1));
    const report = ledgerOf(log(...markers, of(1_001, 2), marker(1_002, 2, 1)));
    expect([report.control.length, report.control.at(-1)?.offset]).toEqual([1_000, 999]);
    expect(report.openTransactions).toEqual([]);
  });
});
