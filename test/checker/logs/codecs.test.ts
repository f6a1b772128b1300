/**
 * Checksums and decompressors of the checker's own: check values from their specifications, frames that the lz4 program
 * wrote, and for the rest any sequence of elements that the formats allow. What Kafka wrote is in the fixtures.
 */
import { readFileSync } from 'node:fs';
import { crc32 as zipChecksum } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MalformedError } from '../../../checker/logs/bytes.ts';
import { crc32, crc32c } from '../../../checker/logs/checksums.ts';
import { unpackLz4, xxHash32 } from '../../../checker/logs/lz4.ts';
import { unpackSnappy } from '../../../checker/logs/snappy.ts';

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

describe('checksums', () => {
  it('have the check values of their polynomials', () => {
    expect(crc32c(text('123456789'), 0, 9)).toBe(0xe3069283);
    expect(crc32(text('123456789'), 0, 9)).toBe(0xcbf43926);
    // RFC 3720, B.4: 32 bytes of zeros, of ones, rising.
    expect(crc32c(new Uint8Array(32), 0, 32)).toBe(0x8a9136aa);
    expect(crc32c(new Uint8Array(32).fill(255), 0, 32)).toBe(0x62a8ab43);
    expect(
      crc32c(
        Uint8Array.from({ length: 32 }, (_, at) => at),
        0,
        32,
      ),
    ).toBe(0x46dd794e);
  });

  it('of xxHash are those of its specification', () => {
    expect(xxHash32(text(''), 0, 0)).toBe(0x02cc5d05);
    expect(xxHash32(text('abc'), 0, 3)).toBe(0x32d153ff);
    expect(xxHash32(text('Nobody inspects the spammish repetition'), 0, 39)).toBe(0xe2293b2f);
  });

  it('of any range of any bytes do not depend on where they lie', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(20), (bytes, shift) => {
        const shifted = new Uint8Array(bytes.length + shift + 3);
        shifted.set(bytes, shift);
        expect(crc32(shifted, shift, shift + bytes.length)).toBe(zipChecksum(bytes));
      }),
      { seed: 1, numRuns: 500 },
    );
  });
});

/** What an element of a packed block stands for: bytes of its own, or a copy of earlier ones. */
type Element = { readonly literal: Uint8Array } | { readonly distance: number; readonly length: number };

const elements = (shortest: number, longest: number): fc.Arbitrary<Element[]> =>
  fc.array(
    fc.oneof(
      fc.record({ literal: fc.uint8Array({ minLength: 1, maxLength: 300 }) }),
      fc.record({ distance: fc.integer({ min: 1, max: 5000 }), length: fc.integer({ min: shortest, max: longest }) }),
    ),
    { minLength: 1, maxLength: 40 },
  );

/** Plays elements by the book; copies that would reach before the beginning become literals. */
function play(list: readonly Element[]): { readonly out: number[]; readonly done: readonly Element[] } {
  const out: number[] = [];
  const done: Element[] = [];
  for (const element of list) {
    if ('literal' in element) {
      out.push(...element.literal);
      done.push(element);
    } else if (element.distance <= out.length) {
      for (let count = 0; count < element.length; count += 1) out.push(out[out.length - element.distance]!);
      done.push(element);
    }
  }
  return { out, done };
}

describe('snappy', () => {
  it('is unpacked, whatever its elements are', () => {
    fc.assert(
      fc.property(elements(1, 64), (list) => {
        const { out, done } = play(list);
        const packed = [...uvarint(out.length), ...done.flatMap(snappyElement)];
        expect([...unpackSnappy(Uint8Array.from(packed), 1 << 20)]).toEqual(out);
      }),
      { seed: 2, numRuns: 500 },
    );
  });

  it('in frames of snappy-java may come in several blocks', () => {
    const block = [...uvarint(4), 0x0c, 1, 2, 3, 4];
    const header = [0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1];
    const framed = [...header, 0, 0, 0, block.length, ...block, 0, 0, 0, block.length, ...block];
    expect([...unpackSnappy(Uint8Array.from(framed), 8)]).toEqual([1, 2, 3, 4, 1, 2, 3, 4]);
    expect(() => unpackSnappy(Uint8Array.from(framed), 7)).toThrow('more than the');
  });

  it.each([
    ['a claim beyond what is allowed', [...uvarint(2000), ...Array<number>(100).fill(0)], 'more than the 1000 bytes'],
    ['a claim that so few bytes cannot hold', [...uvarint(900), 0, 1], 'claims more than it can hold'],
    ['a copy from before its beginning', [...uvarint(8), 0x00, 1, 0x0d, 9], 'points before'],
    ['more than it claims', [...uvarint(1), 0x04, 1, 2], 'longer than it claims'],
    ['less than it claims', [...uvarint(3), 0x04, 1, 2], 'shorter than it claims'],
    ['nothing at all', [], 'breaks off'],
  ])('is refused for %s', (_, bytes, message) => {
    expect(() => unpackSnappy(Uint8Array.from(bytes), 1000)).toThrow(message);
  });
});

function uvarint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...uvarint(value >>> 7)];
}

function snappyElement(element: Element): number[] {
  if ('literal' in element) {
    const { length } = element.literal;
    const tag =
      length <= 60
        ? [(length - 1) << 2]
        : length <= 256
          ? [60 << 2, length - 1]
          : [61 << 2, (length - 1) & 255, (length - 1) >> 8];
    return [...tag, ...element.literal];
  }
  const { distance, length } = element;
  if (distance < 2048 && length >= 4 && length < 12) {
    return [1 | ((length - 4) << 2) | ((distance >> 8) << 5), distance & 255];
  }
  if (distance % 2 === 0) return [3 | ((length - 1) << 2), distance & 255, distance >> 8, 0, 0];
  return [2 | ((length - 1) << 2), distance & 255, distance >> 8];
}

/** An LZ4 frame of independent 64 kB blocks. `old`: with the header checksum of message format v0. */
function lz4Frame(block: readonly number[], old = false): Uint8Array {
  const head = Uint8Array.from([0x04, 0x22, 0x4d, 0x18, 0x60, 0x40]);
  const sum = (xxHash32(head, old ? 0 : 4, 6) >>> 8) & 255;
  const size = block.length;
  return Uint8Array.from([...head, sum, size & 255, size >> 8, size >> 16, 0, ...block, 0, 0, 0, 0]);
}

function lz4Block(list: readonly Element[]): number[] {
  const bytes: number[] = [];
  let literal: number[] = [];
  const sequence = (distance: number | null, length: number): void => {
    const run = (value: number): number[] =>
      value < 15 ? [] : [...Array<number>(Math.floor((value - 15) / 255)).fill(255), (value - 15) % 255];
    bytes.push((Math.min(15, literal.length) << 4) | Math.min(15, Math.max(0, length - 4)));
    bytes.push(...run(literal.length), ...literal);
    if (distance !== null) bytes.push(distance & 255, distance >> 8, ...run(length - 4));
    literal = [];
  };
  for (const element of list) {
    if ('literal' in element) literal.push(...element.literal);
    else sequence(element.distance, element.length);
  }
  sequence(null, 0);
  return bytes;
}

describe('LZ4', () => {
  it('is unpacked, whatever its sequences are', () => {
    fc.assert(
      fc.property(elements(4, 1000), (list) => {
        const { out, done } = play(list);
        expect([...unpackLz4(lz4Frame(lz4Block(done)), 1 << 20)]).toEqual(out);
      }),
      { seed: 3, numRuns: 500 },
    );
  });

  it.each(['linked-blocks', 'independent-blocks'])('frames of the lz4 program are unpacked: %s', (name) => {
    const packed = readFileSync(`test/fixtures/lz4/${name}.lz4`);
    const out = unpackLz4(packed, 1 << 20);
    expect([out.length, zipChecksum(out)]).toEqual([150_658, 2745367054]);
  });

  it('shows a content that does not match its checksum', () => {
    const packed = Uint8Array.from(readFileSync('test/fixtures/lz4/linked-blocks.lz4'));
    packed[30]! ^= 1;
    expect(() => unpackLz4(packed, 1 << 20)).toThrow('the content of an LZ4 frame does not match its checksum');
  });

  it('accepts the header checksum of message format v0 only there', () => {
    const frame = lz4Frame(lz4Block([{ literal: text('hello') }]), true);
    expect(new TextDecoder().decode(unpackLz4(frame, 100, true))).toBe('hello');
    expect(() => unpackLz4(frame, 100)).toThrow('the header of an LZ4 frame does not match its checksum');
  });

  it('takes what is not packed, and stops at what is allowed', () => {
    const plain = [0x03, 0, 0, 0x80, 1, 2, 3, 0, 0, 0, 0];
    const frame = Uint8Array.from([...lz4Frame([]).slice(0, 7), ...plain]);
    expect([...unpackLz4(frame, 3)]).toEqual([1, 2, 3]);
    expect(() => unpackLz4(frame, 2)).toThrow('more than the 2 bytes');
  });

  it('is refused for a match from before its beginning, and for a block larger than its frame allows', () => {
    expect(() => unpackLz4(lz4Frame([0x10, 1, 9, 0, 0x00]), 100)).toThrow('points before its frame');
    const bomb = lz4Block([{ literal: text('a') }, { distance: 1, length: 70_000 }]);
    expect(() => unpackLz4(lz4Frame(bomb), 1 << 20)).toThrow('larger than its frame allows');
  });
});

describe('an LZ4 frame', () => {
  const hello = lz4Frame(lz4Block([{ literal: text('hello') }]));
  /** The frame with another byte at a place of its header, and the checksum that this asks for. */
  const withHeader = (at: number, byte: number): Uint8Array => {
    const frame = Uint8Array.from(hello);
    frame[at] = byte;
    frame[6] = (xxHash32(frame, 4, 6) >>> 8) & 255;
    return frame;
  };

  it.each([
    ['its magic number', withHeader(0, 0x05), 'does not begin with its magic number'],
    ['an unknown version', withHeader(4, 0xa0), 'of the unknown version 2'],
    ['a block size that there is not', withHeader(5, 0x30), 'names no block size'],
    ['a dictionary', withHeader(4, 0x61), 'wants a dictionary'],
    ['a match at no distance', lz4Frame([0x10, 1, 0, 0, 0x00]), 'points before its frame'],
  ])('is refused for %s', (_, frame, message) => {
    expect(() => unpackLz4(frame, 100)).toThrow(message);
  });

  it('may follow another, and grows as it is unpacked', () => {
    const both = unpackLz4(Uint8Array.from([...hello, ...hello]), 10);
    expect(new TextDecoder().decode(both)).toBe('hellohello');
    const long = { literal: Uint8Array.from({ length: 40_000 }, (_, at) => at) };
    const frame = lz4Frame(lz4Block([long, { distance: 40_000, length: 20_000 }]));
    const three = unpackLz4(Uint8Array.from([...frame, ...frame, ...frame]), 180_000);
    expect(three.length).toBe(180_000);
    expect([...three.subarray(120_000, 160_000)]).toEqual([...long.literal]);
    expect(() => unpackLz4(Uint8Array.from([...frame, ...frame, ...frame]), 179_999)).toThrow('more than the 179999');
  });

  it('of independent blocks copies nothing from the block before', () => {
    const block = lz4Block([{ literal: text('a') }]);
    const reaching = [0x00, 1, 0, 0x10, 98];
    const blocks = [...size(block), ...block, ...size(reaching), ...reaching, 0, 0, 0, 0];
    const linked = Uint8Array.from([...withHeader(4, 0x40).subarray(0, 7), ...blocks]);
    expect(new TextDecoder().decode(unpackLz4(linked, 100))).toBe('aaaaab');
    const independent = Uint8Array.from([...hello.subarray(0, 7), ...blocks]);
    expect(() => unpackLz4(independent, 100)).toThrow('points before its frame');
  });

  function size({ length }: readonly number[]): number[] {
    return [length & 255, length >> 8, 0, 0];
  }
});

describe('a snappy block', () => {
  it.each([
    [
      'a negative length in a frame',
      [0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1, 255, 255, 255, 255],
      'a negative length',
    ],
    ['a copy at no distance', [...uvarint(8), 0x00, 1, 0x01, 0], 'points before its block'],
    ['a copy of more than it claims', [...uvarint(4), 0x00, 1, 0x01, 1], 'longer than it claims'],
    ['a length that does not end', [0x80, 0x80, 0x80, 0x80, 0x80, 0x00], 'a varint is too long'],
  ])('is refused for %s', (_, bytes, message) => {
    expect(() => unpackSnappy(Uint8Array.from(bytes), 1000)).toThrow(message);
  });

  it('may be a frame of one block, or of none', () => {
    const header = [0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1];
    expect([...unpackSnappy(Uint8Array.from([...header, 0, 0, 0, 3, ...uvarint(1), 0x00, 7]), 8)]).toEqual([7]);
    expect([...unpackSnappy(Uint8Array.from(header), 8)]).toEqual([]);
  });
});

describe('any bytes at all', () => {
  it('are unpacked within their bound or refused, never more', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (noise, framed) => {
        const lz4 = framed ? Uint8Array.from([...lz4Frame([]).slice(0, 7), ...noise]) : noise;
        for (const unpack of [() => unpackSnappy(noise, 4096), () => unpackLz4(lz4, 4096, true)]) {
          try {
            expect(unpack().length).toBeLessThanOrEqual(4096);
          } catch (error) {
            expect(error).toBeInstanceOf(MalformedError);
          }
        }
      }),
      { seed: 4, numRuns: 3000 },
    );
  });
});
