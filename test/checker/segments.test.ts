/** The checker's own decoder, against bytes that Apache Kafka wrote, bytes that our broker writes, and bytes of nobody. */
import { readFileSync } from 'node:fs';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeBatch } from '../../broker/protocol/index.ts';
import { text } from '../../checker/final-logs.ts';
import { decodeLog, decodeRecords, type DecodedLog } from '../../checker/segments.ts';

const decompressors = { gzip: gunzipSync, zstd: zstdDecompressSync };

function read(bytes: Uint8Array, logStart: number | null = null): DecodedLog {
  return decodeLog([{ baseOffset: 0, bytes }], logStart);
}

function values(log: DecodedLog): string[] {
  return log.batches.flatMap((batch) =>
    (decodeRecords(log, batch, decompressors) ?? []).map(
      ({ offset, value }) => `${offset}=${text(value ?? new Uint8Array())}`,
    ),
  );
}

/** Three batches at 0, 1 to 2 and 3. */
const ours = [
  encodeBatch({ baseOffset: 0, leaderEpoch: 0, records: [{ key: null, value: '1' }] }),
  encodeBatch({
    baseOffset: 1,
    leaderEpoch: 0,
    compression: 'gzip',
    records: [
      { key: 'k', value: '2' },
      { key: null, value: 'text' },
    ],
  }),
  encodeBatch({ baseOffset: 3, leaderEpoch: 2, compression: 'zstd', records: [{ key: null, value: '4' }] }),
];
const log = Buffer.concat(ours);

describe('segments that Apache Kafka wrote', () => {
  const fixture = (name: string): Uint8Array => readFileSync(`test/checker/fixtures/kafka-${name}.segment`);

  it('are read with their epochs', () => {
    const decoded = read(fixture('4.4.0-epochs'));
    expect(decoded).toMatchObject({ start: 0, end: 12, flaw: null });
    expect(decoded.batches.map(({ base, last, epoch }) => [base, last, epoch])).toEqual([
      [0, 2, 0],
      [3, 5, 1],
      [6, 8, 2],
      [9, 11, 3],
    ]);
    expect(decoded.batches.map(({ crc }) => crc).slice(0, 2)).toEqual([43207376, 2406198161]);
    expect(values(decoded).slice(0, 4)).toEqual(['0=e-0-0', '1=e-0-1', '2=e-0-2', '3=e-1-0']);
  });

  it.each(['0.11.0.3-gzip', '2.1.1-zstd'])('are unpacked: %s', (name) => {
    const decoded = read(fixture(name));
    expect(decoded).toMatchObject({ end: 30, flaw: null });
    expect(values(decoded)).toHaveLength(30);
    expect(values(decoded)[0]).toMatch(/^0=value-000 /);
  });
});

describe('segments that our broker writes', () => {
  it('are read record by record', () => {
    const decoded = read(log);
    expect(values(decoded)).toEqual(['0=1', '1=2', '2=text', '3=4']);
    expect(decoded.batches.map(({ epoch }) => epoch)).toEqual([0, 0, 2]);
  });

  it('go on from file to file, in the order of their names', () => {
    const decoded = decodeLog(
      [
        { baseOffset: 3, bytes: ours[2] as Uint8Array },
        { baseOffset: 0, bytes: Buffer.concat(ours.slice(0, 2)) },
      ],
      null,
    );
    expect(values(decoded)).toEqual(['0=1', '1=2', '2=text', '3=4']);
  });

  it('end where the last file says, even if it is empty', () => {
    expect(decodeLog([{ baseOffset: 7, bytes: new Uint8Array() }], null)).toMatchObject({
      start: 7,
      end: 7,
      flaw: null,
    });
  });

  it('begin at the log start that was checkpointed', () => {
    expect(read(log, 2)).toMatchObject({ start: 2, end: 4 });
  });

  it('cannot be unpacked without the right codec, and say so', () => {
    const decoded = read(log);
    expect(decodeRecords(decoded, decoded.batches[1]!, {})).toBeNull();
  });
});

describe('the bounds of a log', () => {
  const segments = (...bases: number[]) => bases.map((baseOffset) => ({ baseOffset, bytes: new Uint8Array(0) }));

  it('are those of its segments, also of empty ones', () => {
    expect(decodeLog([], null)).toMatchObject({ start: 0, end: 0 });
    expect(decodeLog(segments(7), null)).toMatchObject({ start: 7, end: 7 });
    expect(decodeLog([...segments(10), { baseOffset: 0, bytes: log }], null)).toMatchObject({ start: 0, end: 10 });
  });

  it('begin at the log start, within them', () => {
    const at = (logStart: number) => decodeLog([{ baseOffset: 0, bytes: ours[0]! }, ...segments(5)], logStart).start;
    expect([at(0), at(3), at(5), at(9)]).toEqual([0, 3, 5, 5]);
    expect(decodeLog(segments(7), 3).start).toBe(7);
  });

  it('go back where a segment begins within the one before', () => {
    const overlapping = [
      { baseOffset: 0, bytes: log },
      { baseOffset: 3, bytes: ours[2]! },
    ];
    expect(decodeLog(overlapping, null)).toMatchObject({
      end: 4,
      flaw: { kind: 'offset-regression', segment: 1, offset: 4 },
    });
  });
});

describe('a damaged segment', () => {
  it('is read up to its torn tail, wherever it was torn', () => {
    const ends = [0, ...ours.map((_, at) => ours.slice(0, at + 1).reduce((sum, batch) => sum + batch.length, 0))];
    for (let size = 0; size < log.length; size += 1) {
      const decoded = read(log.subarray(0, size));
      const whole = ends.filter((end) => end <= size).length - 1;
      expect(decoded.batches).toHaveLength(whole);
      expect(decoded.flaw?.kind).toBe(ends.includes(size) ? undefined : 'torn-tail');
    }
  });

  it('shows every flipped bit that the checksum covers', () => {
    for (let at = 21; at < ours[0]!.length; at += 1) {
      const bytes = Uint8Array.from(log);
      bytes[at]! ^= 0x10;
      expect(read(bytes).flaw).toMatchObject({ kind: 'crc-mismatch', position: 0, offset: 0 });
    }
  });

  it.each([
    ['offsets that go back', Buffer.concat([ours[2]!, ours[0]!]), 'offset-regression'],
    ['zeros where nothing was written', Buffer.concat([ours[0]!, new Uint8Array(200)]), 'torn-tail'],
    ['a format of the future', withByte(log, 16, 3), 'unsupported-format'],
    ['an offset above 2^53', withByte(log, 1, 0x20), 'offset-too-large'],
    ['an offset far above 2^53', withByte(log, 0, 0x20), 'offset-too-large'],
    ['a length that no batch has', withByte(log, 11, 3), 'torn-tail'],
    ['a last offset before the first', withByte(log, 23, 0x80), 'torn-tail'],
  ])('is named for %s', (_, bytes, kind) => {
    expect(read(bytes).flaw?.kind).toBe(kind);
  });

  it('is the last that is read of a log of several', () => {
    const parts = ours.map((bytes, at) => ({ baseOffset: [0, 1, 3][at]!, bytes }));
    expect(decodeLog(parts.toReversed(), null)).toMatchObject({ start: 0, end: 4, flaw: null });
    const torn = parts.with(1, { baseOffset: 1, bytes: ours[1]!.subarray(0, 40) });
    const decoded = decodeLog(torn, null);
    expect(decoded).toMatchObject({ end: 1, flaw: { kind: 'torn-tail', segment: 1, position: 0, offset: 1 } });
    expect(decoded.batches).toHaveLength(1);
  });

  it('of any bytes at all never throws', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(log.length), (noise, at) => {
        const bytes = Uint8Array.from(log);
        bytes.set(noise.subarray(0, bytes.length - at), at);
        for (const candidate of [noise, bytes]) {
          const decoded = read(candidate);
          for (const batch of decoded.batches) decodeRecords(decoded, batch, decompressors);
        }
      }),
      { numRuns: 2000, seed: 3 },
    );
  });

  it('with sound checksums over senseless records yields null, not an error', () => {
    const [batch] = read(ours[0]!).batches;
    const bytes = Uint8Array.from(ours[0]!);
    for (let byte = 0; byte < 256; byte += 1) {
      bytes[61] = byte;
      const records = decodeRecords({ ...read(ours[0]!), segments: [{ baseOffset: 0, bytes }] }, batch!, {});
      expect(records === null || records.length === 1).toBe(true);
    }
  });
});

function withByte(from: Uint8Array, at: number, byte: number): Uint8Array {
  const bytes = Uint8Array.from(from);
  bytes[at] = byte;
  return bytes;
}
