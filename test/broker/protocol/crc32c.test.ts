import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { crc32c } from '../../../broker/protocol/index.ts';

/** The definition, bit by bit. */
function bitwise(bytes: Uint8Array): number {
  let crc = 0xffff_ffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ ((crc & 1) === 1 ? 0x82f6_3b78 : 0);
  }
  return ~crc >>> 0;
}

it('gives the check value of CRC-32C', () => {
  expect(crc32c(new TextEncoder().encode('123456789'))).toBe(0xe306_9283);
  expect(crc32c(new Uint8Array(0))).toBe(0);
});

it('gives the vectors of RFC 3720 B.4', () => {
  const ascending = Uint8Array.from({ length: 32 }, (_, index) => index);
  expect(crc32c(new Uint8Array(32))).toBe(0x8a91_36aa);
  expect(crc32c(new Uint8Array(32).fill(0xff))).toBe(0x62a8_ab43);
  expect(crc32c(ascending)).toBe(0x46dd_794e);
  expect(crc32c(ascending.toReversed())).toBe(0x113f_db5c);
});

it('agrees with the definition on any part of any bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat({ max: 100 }), fc.nat({ max: 100 }), (bytes, one, other) => {
      const start = Math.min(one, other, bytes.length);
      const end = Math.min(Math.max(one, other), bytes.length);
      expect(crc32c(bytes, start, end)).toBe(bitwise(bytes.subarray(start, end)));
    }),
  );
});
