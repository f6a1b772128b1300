import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeRecords, encodeBatch, parseRecordSet, stampBatches } from '../../../broker/protocol/index.ts';

function join(...parts: Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

const one = encodeBatch({ records: [{ key: 'a', value: '1', timestampMs: 1000 }] });
const two = encodeBatch({
  baseOffset: 1,
  leaderEpoch: 4,
  records: [
    { key: 'b', value: '2', timestampMs: 3000 },
    { key: null, value: null, timestampMs: 2000 },
  ],
  producerId: 77,
  producerEpoch: 3,
  baseSequence: 10,
});

describe('a record set', () => {
  it('shows the headers of its batches', () => {
    expect(parseRecordSet(join(one, two)).batches).toEqual([
      {
        baseOffset: 0,
        lastOffset: 0,
        leaderEpoch: -1,
        recordCount: 1,
        sizeBytes: one.length,
        crc: expect.any(Number),
        attributes: 0,
        maxTimestampMs: 1000,
        producerId: -1,
        producerEpoch: -1,
        baseSequence: -1,
      },
      {
        baseOffset: 1,
        lastOffset: 2,
        leaderEpoch: 4,
        recordCount: 2,
        sizeBytes: two.length,
        crc: expect.any(Number),
        attributes: 0,
        maxTimestampMs: 3000,
        producerId: 77,
        producerEpoch: 3,
        baseSequence: 10,
      },
    ]);
  });

  it('keeps the bytes as they came', () => {
    const bytes = join(one, two);
    expect(parseRecordSet(bytes).bytes).toBe(bytes);
    expect(parseRecordSet(new Uint8Array(0))).toEqual({ batches: [], bytes: new Uint8Array(0) });
  });

  it('that ends within a batch is partial, and holds the batches before', () => {
    const whole = join(one, two);
    for (let cut = one.length + 1; cut < whole.length; cut++) {
      expect(parseRecordSet(whole.subarray(0, cut))).toMatchObject({ flaw: 'partial', batches: [{ baseOffset: 0 }] });
    }
  });

  it('with a changed bit under the checksum is corrupt from there on', () => {
    // From the attributes (byte 21) on; the checksum itself lies at 17.
    for (let at = one.length + 17; at < one.length + two.length; at++) {
      const bytes = join(one, two, one);
      bytes[at]! ^= 0x10;
      expect(parseRecordSet(bytes), `byte ${at}`).toMatchObject({ flaw: 'corrupt', batches: [{ baseOffset: 0 }] });
    }
  });

  it('in an older message format is refused as such', () => {
    const old = join(one);
    old[16] = 1;
    expect(parseRecordSet(old)).toMatchObject({ flaw: 'unsupported-format', batches: [] });
  });

  it('with a length shorter than a header, or an impossible offset, is corrupt', () => {
    const short = join(one);
    new DataView(short.buffer, short.byteOffset).setInt32(8, 40);
    expect(parseRecordSet(short).flaw).toBe('corrupt');
    const negative = join(one);
    new DataView(negative.buffer, negative.byteOffset).setInt32(8, -20);
    expect(parseRecordSet(negative).flaw).toBe('corrupt');
    // A size of nothing whose checksum is that of nothing.
    const nothing = join(one);
    new DataView(nothing.buffer, nothing.byteOffset).setInt32(8, -12);
    new DataView(nothing.buffer, nothing.byteOffset).setUint32(17, 0);
    expect(parseRecordSet(nothing).flaw).toBe('corrupt');
    const offset = join(one);
    offset[0] = 0xff;
    expect(parseRecordSet(offset).flaw).toBe('corrupt');
    offset[0] = 0x7f;
    expect(parseRecordSet(offset).flaw).toBe('corrupt');
  });

  it('of any bytes is parsed without a throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, likely) => {
        if (likely && bytes.length > 16) bytes.set([0, 0, 0, bytes.length - 12, 0, 0, 0, 0, 2], 8);
        const { batches, flaw } = parseRecordSet(bytes);
        if (bytes.length > 0 && batches.length === 0) expect(flaw).toBeDefined();
      }),
      { numRuns: 1000 },
    );
  });
});

describe('stamping', () => {
  it('writes offsets and epochs in place and keeps the checksums valid', () => {
    const bytes = join(one, two);
    const batches = parseRecordSet(bytes).batches.map((batch, index) => ({
      ...batch,
      baseOffset: 2 ** 40 + index,
      lastOffset: 2 ** 40 + index + batch.recordCount - 1,
      leaderEpoch: 9,
    }));
    stampBatches(bytes, batches);
    expect(parseRecordSet(bytes)).toEqual({ batches, bytes });
    expect(decodeRecords(bytes).map(({ offset, leaderEpoch }) => [offset, leaderEpoch])).toEqual([
      [2 ** 40, 9],
      [2 ** 40 + 1, 9],
      [2 ** 40 + 2, 9],
    ]);
  });

  it('refuses batches that are not the ones in the bytes', () => {
    const { batches } = parseRecordSet(join(one, two));
    expect(() => stampBatches(join(one), batches)).toThrow(RangeError);
    expect(() => stampBatches(join(one, two, one), batches)).toThrow(RangeError);
  });
});
