/** Snappy, element by element: each kind in each of its widths, and every bound. */
import { describe, expect, it } from 'vitest';
import { unpackSnappy } from '../../../checker/logs/snappy.ts';

const range = (size: number): number[] => Array.from({ length: size }, (_, at) => at & 255);
const unpack = (bytes: readonly number[], max = 100_000): number[] => [...unpackSnappy(Uint8Array.from(bytes), max)];

/** A literal of these bytes, its length in so many bytes of its own. */
function literal(bytes: readonly number[], width: 0 | 1 | 2 | 3 | 4): number[] {
  const length = bytes.length - 1;
  if (width === 0) return [length << 2, ...bytes];
  return [(59 + width) << 2, ...[0, 8, 16, 24].slice(0, width).map((by) => (length >>> by) & 255), ...bytes];
}

describe('a literal', () => {
  it.each<[number, 0 | 1 | 2 | 3 | 4]>([
    [1, 0],
    [60, 0],
    [1, 1],
    [61, 1],
    [256, 1],
    [300, 2],
    [65_536, 2],
    [300, 3],
    [65_800, 3],
    [5, 4],
    [65_800, 4],
  ])('of %i bytes may have its length in %i bytes', (size, width) => {
    const bytes = range(size);
    expect(unpack([...size128(size), ...literal(bytes, width)])).toEqual(bytes);
  });

  it('is of the bytes that are there', () => {
    for (const cut of [1, 2, 4]) {
      expect(() => unpack([...size128(5), ...literal(range(5), 2)].slice(0, -cut))).toThrow('it breaks off');
    }
    expect(() => unpack([...size128(5), 61 << 2, 4])).toThrow('it breaks off');
  });

  it('may be as long as what is left, and no longer', () => {
    expect(unpack([...size128(3), ...literal([1], 0), ...literal([2, 3], 0)])).toEqual([1, 2, 3]);
    expect(() => unpack([...size128(2), ...literal([1], 0), ...literal([2, 3], 0)])).toThrow('longer than it claims');
  });
});

describe('a copy', () => {
  const start = literal(range(60), 0);
  const far = literal(range(2100), 2);

  it.each<[string, readonly number[], number, number]>([
    ['with one byte, the shortest', [0x01, 60], 60, 4],
    ['with one byte, the longest', [0x1d, 11], 11, 11],
    ['with two bytes, the shortest', [0x02, 60, 0], 60, 1],
    ['with two bytes, the longest', [0xfe, 60, 0], 60, 64],
    ['with four bytes, the shortest', [0x03, 1, 0, 0, 0], 1, 1],
    ['with four bytes, the longest', [0xff, 2, 0, 0, 0], 2, 64],
    ['that overlaps', [0x1d, 3], 3, 11],
  ])('may come %s', (_, copy, distance, length) => {
    const out = range(60);
    for (let count = 0; count < length; count += 1) out.push(out[out.length - distance]!);
    expect(unpack([...size128(60 + length), ...start, ...copy])).toEqual(out);
  });

  it.each<[string, readonly number[], number]>([
    ['one byte', [0xe1, 0xff], 2047],
    ['two bytes', [0x0e, 2100 & 255, 2100 >> 8], 2100],
    ['four bytes', [0x0f, 2100 & 255, 2100 >> 8, 0, 0], 2100],
  ])('may reach back as far as %s say', (_, copy, distance) => {
    const bytes = range(2100);
    const at = 2100 - distance;
    expect(unpack([...size128(2104), ...far, ...copy])).toEqual([...bytes, ...bytes.slice(at, at + 4)]);
  });

  it.each<[string, readonly number[]]>([
    ['one byte', [0x01, 61]],
    ['one byte and three bits', [0x21, 0]],
    ['two bytes', [0x02, 61, 0]],
    ['two bytes that say nothing', [0x02, 0, 0]],
    ['four bytes', [0x03, 61, 0, 0, 0]],
    ['all of four bytes', [0x03, 1, 0, 0, 1]],
  ])('points before its block with %s', (_, copy) => {
    expect(() => unpack([...size128(200), ...start, ...copy])).toThrow('a snappy copy points before its block');
  });

  it('is as long as what is left, and no longer', () => {
    expect(unpack([...size128(61), ...start, 0x02, 60, 0])).toEqual([...range(60), 0]);
    expect(() => unpack([...size128(61), ...start, 0x06, 60, 0])).toThrow('longer than it claims');
  });

  it.each([[[0x01]], [[0x02, 1]], [[0x03, 1, 0, 0]]])('is refused if it breaks off: %j', (copy) => {
    expect(() => unpack([...size128(64), ...start, ...copy])).toThrow('it breaks off');
  });
});

describe('a block', () => {
  it('may be empty', () => {
    expect(unpack([0])).toEqual([]);
    expect(unpack([0], 0)).toEqual([]);
  });

  it('claims no more than is allowed, and no more than it can hold', () => {
    expect(unpack([3, ...literal(range(3), 0)], 3)).toEqual([0, 1, 2]);
    expect(() => unpack([3, ...literal(range(3), 0)], 2)).toThrow('it would unpack to more than the 2 bytes');
    // Four bytes hold 256 at the most.
    expect(() => unpack([...size128(256), 0, 7])).toThrow('shorter than it claims');
    expect(() => unpack([...size128(257), 0, 7])).toThrow('claims more than it can hold');
  });

  it('has a length of up to five bytes', () => {
    expect(unpack([0x83, 0x80, 0x80, 0x80, 0x00, ...literal(range(3), 0)])).toEqual([0, 1, 2]);
    expect(() => unpack([0x80, 0x80, 0x80, 0x80, 0x08])).toThrow('more than the 100000 bytes');
    expect(() => unpack([0x83, 0x80, 0x80, 0x80, 0x80, 0x00, ...literal(range(3), 0)])).toThrow('a varint is too long');
    expect(() => unpack([0x83])).toThrow('it breaks off');
  });
});

describe('a frame of snappy-java', () => {
  const header = [0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1];
  const block = (bytes: readonly number[]): number[] => {
    const packed = [...size128(bytes.length), ...literal(bytes, 2)];
    return [0, 0, packed.length >> 8, packed.length & 255, ...packed];
  };

  it('holds any number of blocks, one after the other, up to what is allowed', () => {
    const bytes = [...header, ...block([1]), ...block(range(300)), ...block([2, 3])];
    expect(unpack(bytes, 303)).toEqual([1, ...range(300), 2, 3]);
    expect(() => unpack(bytes, 302)).toThrow('it would unpack to more than the 1 bytes that are allowed');
  });

  it('breaks off where a block or its length does', () => {
    const bytes = [...header, ...block([1, 2, 3])];
    for (const left of [1, 3, 4, 5, 8]) expect(() => unpack(bytes.slice(0, 16 + left))).toThrow('it breaks off');
  });

  it('is known by its first eight bytes, and by its length', () => {
    // A block of the length 130 begins with the same byte.
    expect(unpack([0x82, 0x01, ...literal(range(130), 1)])).toEqual(range(130));
    for (let at = 0; at < 8; at += 1) {
      const other = header.with(at, header[at]! ^ 0x20);
      expect(() => unpack(other), `byte ${at}`).toThrow(/claims more|more than the/);
    }
    expect(() => unpack(header.slice(0, 15))).toThrow('claims more than it can hold');
    expect(unpack(header)).toEqual([]);
  });
});

function size128(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...size128(value >>> 7)];
}
