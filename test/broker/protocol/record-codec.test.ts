import { gzipSync, zstdCompressSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  crc32c,
  decodeRecords,
  encodeBatch,
  encodeRecordSet,
  parseRecordSet,
  ProtocolError,
} from '../../../broker/protocol/index.ts';
import { hex, unspaced } from './hex.ts';

function text(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString();
}

/** A batch with a sound checksum around `records`, as a client that means harm would build it. */
function forge(records: Uint8Array, { recordCount = 1, lastOffsetDelta = 0, attributes = 0 } = {}): Uint8Array {
  const bytes = new Uint8Array(
    Buffer.concat([encodeBatch({ records: [{ key: null, value: '' }] }).subarray(0, 61), records]),
  );
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  view.setInt32(8, bytes.length - 12);
  view.setInt16(21, attributes);
  view.setInt32(23, lastOffsetDelta);
  view.setInt32(57, recordCount);
  view.setUint32(17, crc32c(bytes, 21));
  return bytes;
}

function refusal(bytes: Uint8Array, maxUnpackedBytes?: number): string {
  try {
    decodeRecords(bytes, maxUnpackedBytes);
  } catch (error) {
    if (error instanceof ProtocolError) return `${error.reason}: ${error.message}`;
    throw error;
  }
  return 'decoded';
}

describe.each(['none', 'gzip', 'zstd'] as const)('records packed with %s', (compression) => {
  it('are read as they were written', () => {
    const content = fc.option(fc.uint8Array({ maxLength: 30 }));
    const record = fc.record({
      key: content,
      value: content,
      timestampMs: fc.integer({ min: 0, max: 2 ** 45 }),
      headers: fc.array(fc.record({ key: fc.string({ unit: 'grapheme' }), value: content }), { maxLength: 2 }),
    });
    const batches = fc.array(fc.array(record, { minLength: 1, maxLength: 4 }), { maxLength: 3 });
    fc.assert(
      fc.property(batches, fc.nat(), (written, baseOffset) => {
        const bytes = Buffer.concat(
          written.map((records, index) =>
            encodeBatch({ records, baseOffset: baseOffset + 10 * index, leaderEpoch: index, compression }),
          ),
        );
        const expected = written.flatMap((records, index) =>
          records.map((each, delta) => ({
            ...each,
            offset: baseOffset + 10 * index + delta,
            leaderEpoch: index,
            control: false,
          })),
        );
        const plain = (bytes: Uint8Array | null): number[] | null => (bytes === null ? null : [...bytes]);
        const comparable = (records: ReturnType<typeof decodeRecords>): unknown =>
          records.map((each) => ({
            ...each,
            key: plain(each.key),
            value: plain(each.value),
            headers: each.headers.map((header) => ({ ...header, value: plain(header.value) })),
          }));
        expect(comparable(decodeRecords(bytes))).toEqual(comparable(expected));
      }),
      { numRuns: 50 },
    );
  });
});

describe('a batch', () => {
  it('is laid out as message format v2 defines it', () => {
    const batch = encodeBatch({
      baseOffset: 5,
      leaderEpoch: 2,
      records: [
        { key: 'k', value: 'v', timestampMs: 1000 },
        { key: null, value: 'w', timestampMs: 1003, headers: [{ key: 'h', value: null }] },
      ],
    });
    const crc = crc32c(batch, 21).toString(16).padStart(8, '0');
    expect(hex(batch)).toBe(
      unspaced(`
        0000000000000005 00000045 00000002 02 ${crc}
        0000 00000001 00000000000003e8 00000000000003eb ffffffffffffffff ffff ffffffff 00000002
        10 00 00 00 026b 0276 00
        14 00 06 02 01 0277 02 0268 01
      `),
    );
  });

  it('takes text as UTF-8 and has no timestamp unless it is given one', () => {
    const [record] = decodeRecords(encodeBatch({ records: [{ key: 'é', value: '' }] }));
    expect(record).toMatchObject({ timestampMs: -1, headers: [] });
    expect([text(record!.key), text(record!.value)]).toEqual(['é', '']);
  });

  it.each(['none', 'gzip'] as const)(
    'comes with the header that would be read from its bytes, packed with %s',
    (compression) => {
      const set = encodeRecordSet({
        records: [
          { key: 'k', value: 'v', timestampMs: 2 ** 41 },
          { key: null, value: 'w', timestampMs: 2 ** 41 - 3 },
        ],
        baseOffset: 2 ** 40,
        leaderEpoch: 7,
        compression,
        producerId: 2 ** 33,
        producerEpoch: 3,
        baseSequence: 9,
      });
      expect(set).toEqual(parseRecordSet(set.bytes as Uint8Array));
      const plain = encodeRecordSet({ records: [{ key: null, value: 'v' }] });
      expect(plain).toEqual(parseRecordSet(plain.bytes as Uint8Array));
    },
  );

  it('needs a record', () => {
    expect(() => encodeBatch({ records: [] })).toThrow('a batch needs a record');
  });

  it('with log append time gives its time to all records', () => {
    const records = encodeBatch({
      records: [
        { key: null, value: null, timestampMs: 5 },
        { key: null, value: null, timestampMs: 9 },
      ],
    });
    const bytes = forge(records.subarray(61), { recordCount: 2, lastOffsetDelta: 1, attributes: 0x08 });
    new DataView(bytes.buffer, bytes.byteOffset).setInt32(39, 1234);
    new DataView(bytes.buffer, bytes.byteOffset).setInt32(35, 0);
    new DataView(bytes.buffer, bytes.byteOffset).setUint32(17, crc32c(bytes, 21));
    expect(decodeRecords(bytes).map((each) => each.timestampMs)).toEqual([1234, 1234]);
  });

  it('of a transaction coordinator is marked as control', () => {
    const records = encodeBatch({ records: [{ key: new Uint8Array([0, 0, 0, 1]), value: null }] });
    expect(decodeRecords(forge(records.subarray(61), { attributes: 0x30 }))[0]).toMatchObject({ control: true });
  });
});

describe('decoding', () => {
  const good = encodeBatch({ records: [{ key: 'k', value: 'v' }] });

  it('leaves out a batch that was cut at the end', () => {
    const bytes = Buffer.concat([good, good.subarray(0, 40)]);
    expect(decodeRecords(bytes)).toHaveLength(1);
    expect(decodeRecords(parseRecordSet(bytes))).toHaveLength(1);
  });

  it('refuses what is corrupt or of an older format', () => {
    const corrupt = new Uint8Array(Buffer.concat([good, good]));
    corrupt[good.length + 65]! ^= 1;
    expect(refusal(corrupt)).toBe('malformed: record batch 1: corrupt');
    const old = new Uint8Array(good);
    old[16] = 0;
    expect(refusal(old)).toBe('malformed: record batch 0: unsupported-format');
  });

  it('refuses records that lie about themselves under a sound checksum', () => {
    const record = good.subarray(61);
    expect(refusal(forge(record))).toBe('decoded');
    expect(refusal(forge(record, { recordCount: 2 }))).toContain('malformed');
    expect(refusal(forge(record, { recordCount: 0 }))).toContain('bytes after the last record');
    expect(refusal(forge(record, { recordCount: 0x7fff_ffff }))).toContain('malformed');
    const longer = new Uint8Array(record);
    longer[0] = 0x7e;
    expect(refusal(forge(longer))).toContain('a record of 63 bytes, 8 left');
    const beyond = new Uint8Array(record);
    beyond[3] = 2;
    expect(refusal(forge(beyond))).toContain("offset 1 is not the batch's");
  });

  it('decodes or refuses any records under a sound checksum', () => {
    const noise = fc.uint8Array({ maxLength: 60 });
    fc.assert(
      fc.property(
        noise,
        fc.integer({ min: 0, max: 4 }),
        fc.integer({ min: 0, max: 7 }),
        (bytes, recordCount, codec) => {
          refusal(forge(bytes, { recordCount, lastOffsetDelta: 3, attributes: codec }));
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('refuses codecs that it does not understand, by name', () => {
    expect(refusal(forge(good.subarray(61), { attributes: 2 }))).toBe(
      'unsupported-compression: records are packed with snappy, which nothing here unpacks',
    );
    expect(refusal(forge(good.subarray(61), { attributes: 3 }))).toContain('lz4');
    expect(refusal(forge(good.subarray(61), { attributes: 7 }))).toContain('unknown');
  });

  it('never unpacks more than its bound, over all batches together', () => {
    const zeros = new Uint8Array(1_000_000);
    expect(refusal(forge(gzipSync(zeros), { attributes: 1 }), 999_999)).toBe(
      'oversize: records unpack to more than 999999 bytes',
    );
    expect(refusal(forge(zstdCompressSync(zeros), { attributes: 4 }), 999_999)).toContain('oversize');
    const packed = encodeBatch({ records: [{ key: null, value: 'x'.repeat(600) }], compression: 'gzip' });
    expect(refusal(packed, 1000)).toBe('decoded');
    expect(refusal(new Uint8Array(Buffer.concat([packed, packed])), 1000)).toContain('oversize');
  });

  it('refuses what does not unpack', () => {
    expect(refusal(forge(new Uint8Array([1, 2, 3]), { attributes: 1 }))).toContain('malformed: records do not unpack');
    expect(refusal(forge(new Uint8Array([1, 2, 3]), { attributes: 4 }))).toContain('malformed: records do not unpack');
  });
});
