/** LZ4 frames with every feature of the format, put together byte by byte, and xxHash beside a twin from its specification. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unpackLz4, xxHash32 } from '../../../checker/logs/lz4.ts';

/** xxHash32 with seed 0, from its specification, with whole numbers of any size. */
function hashByTheBook(bytes: Uint8Array): number {
  const [one, two, three, four, five] = [2654435761n, 2246822519n, 3266489917n, 668265263n, 374761393n] as const;
  const word = (value: bigint): bigint => BigInt.asUintN(32, value);
  const left = (value: bigint, by: bigint): bigint => word((word(value) << by) | (word(value) >> (32n - by)));
  const lane = (at: number): bigint =>
    bytes.subarray(at, at + 4).reduceRight((value, byte) => value * 256n + BigInt(byte), 0n);
  let at = 0;
  let hash: bigint = five;
  if (bytes.length >= 16) {
    const sums = [one + two, two, 0n, -one];
    for (; bytes.length - at >= 16; at += 16) {
      for (const [index, sum] of sums.entries()) sums[index] = word(left(sum + lane(at + 4 * index) * two, 13n) * one);
    }
    hash = [1n, 7n, 12n, 18n].reduce((total, by, index) => total + left(sums[index]!, by), 0n);
  }
  hash = word(hash + BigInt(bytes.length));
  for (; bytes.length - at >= 4; at += 4) hash = word(left(hash + lane(at) * three, 17n) * four);
  for (; at < bytes.length; at += 1) hash = word(left(hash + BigInt(bytes[at]!) * five, 11n) * one);
  hash = word((hash ^ (hash >> 15n)) * two);
  hash = word((hash ^ (hash >> 13n)) * three);
  return Number(hash ^ (hash >> 16n));
}

describe('xxHash', () => {
  it('of bytes of any length, wherever they lie, is what its twin says', () => {
    const noise = Uint8Array.from({ length: 120 }, (_, at) => (at * 89 + (at >> 3) * 57) & 255);
    for (let size = 0; size <= 70; size += 1) {
      expect(xxHash32(noise, 9, 9 + size), `${size} bytes`).toBe(hashByTheBook(noise.subarray(9, 9 + size)));
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(50), (bytes, from) => {
        const start = Math.min(from, bytes.length);
        expect(xxHash32(bytes, start, bytes.length)).toBe(hashByTheBook(bytes.subarray(start)));
      }),
      { seed: 6 },
    );
  });
});

interface Shape {
  readonly linked?: boolean;
  readonly blockChecksums?: boolean;
  readonly contentSize?: boolean;
  readonly contentChecksum?: number;
  readonly blockCode?: number;
}

const int32 = (value: number): number[] => [value & 255, (value >>> 8) & 255, (value >>> 16) & 255, value >>> 24];

/** A frame around blocks, each packed, or plain. */
function frame(
  blocks: readonly { readonly bytes: readonly number[]; readonly plain?: boolean }[],
  { linked = false, blockChecksums = false, contentSize = false, contentChecksum, blockCode = 4 }: Shape = {},
): Uint8Array {
  const flags =
    0x40 |
    (linked ? 0 : 0x20) |
    (blockChecksums ? 0x10 : 0) |
    (contentSize ? 0x08 : 0) |
    (contentChecksum === undefined ? 0 : 0x04);
  const descriptor = Uint8Array.from([flags, blockCode << 4, ...(contentSize ? [9, 9, 9, 9, 9, 9, 9, 9] : [])]);
  const head = [0x04, 0x22, 0x4d, 0x18, ...descriptor, (hashByTheBook(descriptor) >>> 8) & 255];
  const body: number[] = [];
  for (const { bytes, plain = false } of blocks) {
    body.push(...int32((plain ? 0x80000000 : 0) | bytes.length));
    for (const byte of bytes) body.push(byte);
    if (blockChecksums) body.push(1, 2, 3, 4);
  }
  return Uint8Array.from([
    ...head,
    ...body,
    0,
    0,
    0,
    0,
    ...(contentChecksum === undefined ? [] : int32(contentChecksum)),
  ]);
}

const plain = (...bytes: number[]): { bytes: number[]; plain: true } => ({ bytes, plain: true });
const packed = (...bytes: number[]): { bytes: number[] } => ({ bytes });
const unpack = (bytes: Uint8Array, max = 1 << 23): number[] => [...unpackLz4(bytes, max)];

describe('an LZ4 frame', () => {
  const content = [10, 20, 30, 40];
  const sum = hashByTheBook(Uint8Array.from(content));

  it.each<[string, Shape]>([
    ['nothing more', {}],
    ['linked blocks', { linked: true }],
    ['checksums of its blocks', { blockChecksums: true }],
    ['the size of its content', { contentSize: true }],
    ['a checksum of its content', { contentChecksum: sum }],
    ['everything', { linked: true, blockChecksums: true, contentSize: true, contentChecksum: sum, blockCode: 7 }],
  ])('may have %s', (_, shape) => {
    const one = frame([plain(10, 20), packed(0x20, 30, 40)], shape);
    expect(unpack(one)).toEqual(content);
    expect(unpack(Uint8Array.from([...one, ...one]))).toEqual([...content, ...content]);
  });

  it('may have no blocks', () => {
    expect(unpack(frame([]))).toEqual([]);
    expect(unpack(frame([], { contentChecksum: 0x02cc5d05 }), 0)).toEqual([]);
  });

  it('has a checksum of its own content alone', () => {
    const [one, two] = [frame([plain(1)]), frame([plain(...content)], { contentChecksum: sum })];
    expect(unpack(Uint8Array.from([...one, ...two]))).toEqual([1, ...content]);
    const wrong = frame([plain(...content)], { contentChecksum: sum ^ 1 });
    expect(() => unpack(wrong)).toThrow('the content of an LZ4 frame does not match its checksum');
  });

  it.each([4, 5, 6, 7])('of block code %i has blocks of up to as many bytes as that says', (blockCode) => {
    const most = 2 ** (8 + 2 * blockCode);
    // One byte, then copies of it: 15 and so many times 255, and what is left.
    const block = (size: number): { bytes: number[] } => {
      const rest = size - 1 - 4 - 15;
      return packed(0x1f, 7, 1, 0, ...Array<number>(Math.floor(rest / 255)).fill(255), rest % 255, 0);
    };
    const out = unpackLz4(frame([block(most)], { blockCode }), most);
    expect([out.length, out.every((byte) => byte === 7)]).toEqual([most, true]);
    expect(() => unpackLz4(frame([block(most + 1)], { blockCode }), most + 1)).toThrow('larger than its frame allows');
    expect(() => unpackLz4(frame([block(most)], { blockCode }), most - 1)).toThrow(`more than the ${most - 1} bytes`);
  });

  it.each([0, 1, 2, 3])('names a block size that there is, and not %i', (blockCode) => {
    expect(() => unpack(frame([], { blockCode }))).toThrow('an LZ4 frame names no block size');
  });

  it('has blocks that end within what it allows, whatever they end with', () => {
    const long = Array.from({ length: 65_536 }, (_, at) => at & 255);
    expect(unpack(frame([plain(...long)]))).toEqual(long);
    const literals = (size: number): { bytes: number[] } => {
      const rest = size - 15;
      return packed(
        0xf0,
        ...Array<number>(Math.floor(rest / 255)).fill(255),
        rest % 255,
        ...Array<number>(size).fill(3),
      );
    };
    expect(unpack(frame([literals(65_536), literals(65_536)])).length).toBe(131_072);
    for (const block of [plain(...long, 1), literals(65_537)]) {
      expect(() => unpack(frame([block]))).toThrow('an LZ4 block is larger than its frame allows');
    }
  });

  it('is read as far as it goes, and no further', () => {
    const whole = frame([plain(10, 20), packed(0x20, 30, 40)], {
      contentChecksum: sum,
      blockChecksums: true,
      contentSize: true,
    });
    for (let size = 0; size < whole.length; size += 1)
      expect(() => unpack(whole.subarray(0, size))).toThrow('it breaks off');
    for (const more of [1, 3]) {
      expect(() => unpack(Uint8Array.from([...whole, ...Array<number>(more).fill(0)]))).toThrow('it breaks off');
    }
    expect(() => unpack(Uint8Array.from([...whole, 0, 0, 0, 0]))).toThrow('does not begin with its magic number');
  });

  it.each([0, 2, 3])('is of version 1, and not %i', (version) => {
    const other = frame([]);
    other[4] = (version << 6) | 0x20;
    expect(() => unpack(other)).toThrow(`of the unknown version ${version}`);
  });

  it('has a header under a checksum, and says what else it wants', () => {
    for (const shape of [{}, { contentSize: true }]) {
      const whole = frame([], shape);
      const end = whole.length - 5;
      for (let at = 4; at <= end; at += 1) {
        const changed = Uint8Array.from(whole);
        // The lowest bit of the block size is left alone: nothing else is known by it.
        changed[at]! ^= at === 4 ? 0x02 : at === 5 ? 0x01 : 0x80;
        expect(() => unpack(changed)).toThrow('the header of an LZ4 frame does not match its checksum');
      }
    }
    const neither = frame([]);
    neither[6]! ^= 1;
    expect(() => unpackLz4(neither, 0, true)).toThrow('the header of an LZ4 frame does not match its checksum');
    const dictionary = frame([], { contentSize: true });
    dictionary[4]! |= 1;
    expect(() => unpack(dictionary)).toThrow('an LZ4 frame wants a dictionary');
    dictionary[4]! &= ~0x08;
    expect(() => unpack(dictionary)).toThrow('an LZ4 frame wants a dictionary');
  });

  it('is allowed so many bytes in all, and takes no more room', () => {
    const two = [plain(...Array<number>(50_000).fill(1)), plain(...Array<number>(50_000).fill(2))];
    const out = unpackLz4(frame(two), 100_000);
    expect([out.length, out.buffer.byteLength]).toEqual([100_000, 100_000]);
    expect([out[49_999], out[50_000], out[99_999]]).toEqual([1, 2, 2]);
    expect(() => unpackLz4(frame(two), 99_999)).toThrow(
      'it would unpack to more than the 99999 bytes that are allowed',
    );
    // Room grows by doubling, or to what is needed at once.
    expect(unpackLz4(frame(two), 1 << 20).buffer.byteLength).toBe(1 << 17);
    const large = frame([{ bytes: Array<number>(200_000).fill(1), plain: true }], { blockCode: 5 });
    expect(unpackLz4(large, 1 << 20).buffer.byteLength).toBe(200_000);
    expect(unpackLz4(frame([plain(1)]), 100).buffer.byteLength).toBe(1 << 16);
    const full = frame([plain(...Array<number>(1 << 16).fill(1))]);
    expect(unpackLz4(full, 1 << 20).buffer.byteLength).toBe(1 << 16);
  });
});

describe('a sequence of LZ4', () => {
  it.each<[string, readonly number[], readonly number[]]>([
    ['literals alone', [0x30, 1, 2, 3], [1, 2, 3]],
    ['nothing', [0x00], []],
    ['fifteen literals', [0xf0, 0, ...range(15)], range(15)],
    ['sixteen literals', [0xf0, 1, ...range(16)], range(16)],
    ['two hundred and seventy literals', [0xf0, 255, 0, ...range(270)], range(270)],
    ['a copy from just before', [0x20, 1, 2, 2, 0, 0x00], [1, 2, 1, 2, 1, 2]],
    ['a copy that ends where it began', [0x40, 1, 2, 3, 4, 4, 0, 0x00], [1, 2, 3, 4, 1, 2, 3, 4]],
    ['a copy from further before', [0x61, 1, 2, 3, 4, 5, 6, 6, 0, 0x00], [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5]],
    ['a copy that overlaps', [0x32, 1, 2, 3, 2, 0, 0x10, 9], [1, 2, 3, 2, 3, 2, 3, 2, 3, 9]],
    ['a long copy', [0x1f, 7, 1, 0, 1, 0x00], Array<number>(21).fill(7)],
  ])('may be %s', (_, block, out) => {
    expect(unpack(frame([packed(...block)]))).toEqual(out);
  });

  it('may copy from as far as two bytes reach, and from its beginning', () => {
    const bytes = Array.from({ length: 60_000 }, (_, at) => (at * 7 + (at >> 8)) & 255);
    const far = packed(0x00, 60_000 & 255, 60_000 >> 8, 0x00);
    expect(unpack(frame([plain(...bytes), far], { linked: true })).slice(60_000)).toEqual(bytes.slice(0, 4));
    const tooFar = packed(0x00, 60_001 & 255, 60_001 >> 8, 0x00);
    expect(() => unpack(frame([plain(...bytes), tooFar], { linked: true }))).toThrow('points before its frame');
  });

  it('of linked blocks copies nothing from the frame before', () => {
    const reaching = frame([plain(5), packed(0x00, 2, 0, 0x00)], { linked: true });
    expect(() => unpack(Uint8Array.from([...frame([plain(1, 2, 3)]), ...reaching]))).toThrow('points before its frame');
  });

  it.each<[string, readonly number[]]>([
    ['with fewer literals than it says', [0x30, 1, 2]],
    ['without the rest of a length', [0xf0]],
    ['within a distance', [0x10, 1, 1]],
    ['without the rest of the length of a copy', [0x1f, 1, 1, 0]],
    ['behind a copy', [0x10, 1, 1, 0]],
  ])('is refused if it breaks off %s', (_, block) => {
    expect(() => unpack(frame([packed(...block)]))).toThrow('it breaks off');
  });
});

function range(size: number): number[] {
  return Array.from({ length: size }, (_, at) => at & 255);
}
