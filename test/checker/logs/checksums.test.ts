/** Checksums of bytes of any length, which go through the module a part at a time, beside those of Node. */
import { crc32 as zipChecksum } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { memoryBytes, tableBytes } from '../../../checker/logs/checksum-module.ts';
import { crc32, crc32c } from '../../../checker/logs/checksums.ts';

const part = memoryBytes - tableBytes;
const noise = Uint8Array.from({ length: 3 * part + 100 }, (_, at) => (at * 131 + (at >> 5) * 17) & 255);

/** CRC-32C bit by bit, from its polynomial. */
function castagnoli(bytes: Uint8Array): number {
  let crc = 0xffff_ffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 1) === 1 ? (crc >>> 1) ^ 0x82f6_3b78 : crc >>> 1;
  }
  return ~crc >>> 0;
}

describe('a checksum', () => {
  it.each([0, 1, 15, 16, 17, 31, 32, 100, part - 1, part, part + 1, 2 * part, 2 * part + 33, 3 * part + 90])(
    'is right for %i bytes, wherever they lie',
    (size) => {
      for (const from of [0, 7]) {
        const bytes = noise.subarray(from, from + size);
        expect(crc32(noise, from, from + size)).toBe(zipChecksum(bytes));
        expect(crc32c(noise, from, from + size)).toBe(castagnoli(bytes));
      }
    },
  );

  it('of nothing is none', () => {
    expect([crc32(noise, 5, 5), crc32c(noise, 5, 5)]).toEqual([0, 0]);
  });
});
