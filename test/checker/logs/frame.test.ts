/** A frame alone: what each field of a header says, which bytes are no frame, and what its checksum covers. */
import { crc32 as zipChecksum } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { crc32c } from '../../../checker/logs/checksums.ts';
import { Frame, frameMax, isSound, readFrame } from '../../../checker/logs/frame.ts';

/** Bytes before the frame, which are none of its business. */
const lead = 5;

/** A header of zeros but for its format and a length, with `change` made to it; other bytes stand before it. */
function header(magic: number, length: number, change: (view: DataView) => void = () => undefined): Uint8Array {
  const bytes = new Uint8Array(lead + 61).fill(0xee, 0, lead);
  const view = new DataView(bytes.buffer, lead);
  view.setInt32(8, length);
  view.setUint8(16, magic);
  change(view);
  return bytes;
}

const read = (bytes: Uint8Array, frame = new Frame(), size = 61): string => readFrame(bytes, lead, lead + size, frame);

describe('the header of a batch', () => {
  it('says everything of it', () => {
    const frame = new Frame();
    const bytes = header(2, 1000, (view) => {
      view.setBigInt64(0, 0x1_0000_0002n);
      view.setInt32(12, 0x0102_0304);
      view.setUint32(17, 0xf102_0304);
      view.setInt16(21, 0x0113);
      view.setInt32(23, 0x0201_0005);
      view.setBigInt64(27, 0x0123_0000_0004n);
      view.setBigInt64(35, 0x0124_0000_0005n);
      view.setBigInt64(43, 0x0000_0007_8000_0001n);
      view.setInt16(51, 0x0203);
      view.setInt32(53, 0x0304_0506);
      view.setInt32(57, 0x0405_0607);
    });
    expect(read(bytes, frame)).toBe('frame');
    expect(frame).toEqual({
      magic: 2,
      size: 1012,
      base: 0x1_0000_0002,
      last: 0x1_0000_0002 + 0x0201_0005,
      epoch: 0x0102_0304,
      crc: 0xf102_0304,
      attributes: 0x0113,
      count: 0x0405_0607,
      baseTimestamp: 0x0123_0000_0004,
      maxTimestamp: 0x0124_0000_0005,
      producerId: 0x0000_0007_8000_0001,
      producerEpoch: 0x0203,
      baseSequence: 0x0304_0506,
    });
  });

  it('may say none of many things', () => {
    const frame = new Frame();
    const bytes = header(2, 49, (view) => {
      view.setInt32(12, -1);
      view.setInt16(21, -1);
      for (const at of [27, 35, 43]) view.setBigInt64(at, -1n);
      view.setInt16(51, -1);
      view.setInt32(53, -1);
      view.setInt32(57, -1);
    });
    expect(read(bytes, frame)).toBe('frame');
    expect(frame).toEqual({ ...none, magic: 2, size: 61, attributes: -1, count: -1 });
  });
});

const none = {
  magic: 0,
  size: 0,
  base: 0,
  last: 0,
  epoch: -1,
  crc: 0,
  attributes: 0,
  count: 0,
  baseTimestamp: -1,
  maxTimestamp: -1,
  producerId: -1,
  producerEpoch: -1,
  baseSequence: -1,
};

describe('the header of a message', () => {
  it.each([0, 1])('of format v%i says what it can, whatever the frame said before', (magic) => {
    const frame = new Frame();
    read(
      header(2, 100, (view) => {
        for (let at = 20; at < 61; at += 1) view.setUint8(at, 1);
      }),
      frame,
    );
    const bytes = header(magic, 40, (view) => {
      view.setBigInt64(0, 77n);
      view.setUint32(12, 0xfedc_ba98);
      view.setUint8(17, 0x18);
    });
    expect(read(bytes, frame, 18)).toBe('frame');
    const expected = { ...none, magic, size: 52, base: 77, last: 77, crc: 0xfedc_ba98, attributes: 0x18, count: 1 };
    expect(frame).toEqual(expected);
    bytes[lead + 17] = 0x0b;
    expect(read(bytes, frame, 18)).toBe('frame');
    expect(frame).toEqual({ ...expected, attributes: 0x0b, base: -1, count: -1 });
  });

  it('is not known before it was read', () => {
    expect(new Frame()).toEqual(none);
  });
});

describe('bytes', () => {
  const setFirst =
    (first: bigint) =>
    (view: DataView): void =>
      view.setBigInt64(0, first);
  const most = BigInt(Number.MAX_SAFE_INTEGER);

  it.each<[string, string, Uint8Array]>([
    ['frame', 'the shortest message of v0', header(0, 14)],
    ['strange', 'a message of v0 that is too short', header(0, 13)],
    ['frame', 'the shortest message of v1', header(1, 22)],
    ['strange', 'a message of v1 that is too short', header(1, 21)],
    ['frame', 'an empty batch', header(2, 49)],
    ['strange', 'a batch that is shorter than its header', header(2, 48)],
    ['frame', 'the longest message', header(1, frameMax)],
    ['strange', 'a message that is too long', header(1, frameMax + 1)],
    ['frame', 'the longest batch', header(2, frameMax)],
    ['strange', 'a batch that is too long', header(2, frameMax + 1)],
    ['strange', 'a negative length', header(2, -1)],
    ['strange', 'an unknown format', header(3, 100)],
    ['zeros', 'zeros', header(0, 0)],
    ['strange', 'zeros behind an offset', header(0, 0, setFirst(1n))],
    ['strange', 'zeros but for a format', header(1, 0)],
    ['strange', 'zeros but for a length', header(0, 5)],
    ['frame', 'the first offset', header(1, 100, setFirst(0n))],
    ['strange', 'a negative offset', header(1, 100, setFirst(-1n))],
    ['frame', 'the last offset', header(1, 100, setFirst(most))],
    ['strange', 'an offset that is too large', header(1, 100, setFirst(most + 1n))],
    ['strange', 'offsets that fall', header(2, 100, (view) => view.setInt32(23, -1))],
    ['frame', 'a batch that ends with the last offset', endingAt(most)],
    ['strange', 'a batch that ends beyond it', endingAt(most + 1n)],
  ])('are %s: %s', (state, _, bytes) => {
    expect(read(bytes)).toBe(state);
  });

  function endingAt(last: bigint): Uint8Array {
    return header(2, 100, (view) => {
      view.setBigInt64(0, last - 3n);
      view.setInt32(23, 3);
    });
  }

  it('are too few to tell below 18, and of a batch below 61', () => {
    for (let size = 0; size <= 61; size += 1) {
      expect(read(header(1, 100), new Frame(), size)).toBe(size < 18 ? 'short' : 'frame');
      expect(read(header(2, 100), new Frame(), size)).toBe(size < 61 ? 'short' : 'frame');
      expect(read(header(2, 48), new Frame(), size)).toBe(size < 18 ? 'short' : 'strange');
    }
  });
});

describe('attributes', () => {
  it.each([
    [0, 'none'],
    [1, 'gzip'],
    [2, 'snappy'],
    [3, 'lz4'],
    [4, 'zstd'],
    [5, undefined],
    [6, undefined],
    [7, undefined],
  ])('%i in the lowest bits name the codec %s', (bits, codec) => {
    const frame = new Frame();
    for (const others of [0, 0x08, 0x10, 0x38]) {
      frame.attributes = bits | others;
      expect(frame.codec).toBe(codec);
    }
  });

  it('mark transactions and control records in batches only', () => {
    for (const magic of [0, 1, 2]) {
      const marks = [0, 0x0f, 0x10, 0x20, 0x30].map((attributes) => {
        const frame = Object.assign(new Frame(), { magic, attributes });
        return `${frame.isTransactional} ${frame.isControl}`;
      });
      const expected = ['false false', 'false false', 'true false', 'false true', 'true true'];
      expect(marks).toEqual(magic === 2 ? expected : expected.map(() => 'false false'));
    }
  });
});

describe('a checksum', () => {
  it.each([
    [2, 17, 21],
    [1, 12, 16],
    [0, 12, 16],
  ])('covers a frame of format v%i from behind itself to its end', (magic, at, from) => {
    const bytes = Uint8Array.from({ length: lead + 80 }, (_, index) => index);
    const view = new DataView(bytes.buffer, lead);
    view.setInt32(8, 60);
    view.setUint8(16, magic);
    const covered = bytes.slice(lead + from, lead + 72);
    view.setUint32(at, magic === 2 ? crc32c(covered, 0, covered.length) : zipChecksum(covered));
    for (let changed = 0; changed < bytes.length; changed += 1) {
      const copy = Uint8Array.from(bytes);
      const frame = Object.assign(new Frame(), { magic, size: 72, crc: view.getUint32(at) });
      copy[changed]! ^= 0x40;
      const isCovered = changed >= lead + from && changed < lead + 72;
      expect(isSound(copy, lead, frame), `byte ${changed - lead}`).toBe(!isCovered);
    }
  });
});
