/**
 * The checksums of record batches (CRC-32C, Castagnoli) and of older messages (CRC-32, the one of zip): the checker's
 * own, so that it shares no mistake with a broker.
 *
 * Sixteen bytes at a time ("slicing by 16"): row `n` of a table says what a byte does to the checksum when `n` more bytes
 * follow it, so sixteen look-ups that do not wait for each other stand for sixteen rounds that would.
 */

const slices = 16;

/** CRC-32C of `bytes` in [from, to): covers a v2 batch from its attributes to its end. */
export function crc32c(bytes: Uint8Array, from: number, to: number): number {
  return checksum(castagnoli, bytes, from, to);
}

/** CRC-32 of `bytes` in [from, to): covers a v0 or v1 message from its magic byte to its end. */
export function crc32(bytes: Uint8Array, from: number, to: number): number {
  return checksum(zip, bytes, from, to);
}

const castagnoli = tableOf(0x82f63b78);
const zip = tableOf(0xedb88320);

/** `polynomial` with its bits reversed, as is usual for checksums that take the lowest bit first. */
function tableOf(polynomial: number): Int32Array {
  const table = new Int32Array(256 * slices);
  for (let byte = 0; byte < 256; byte += 1) {
    let value = byte;
    for (let bit = 0; bit < 8; bit += 1) value = (value & 1) === 1 ? (value >>> 1) ^ polynomial : value >>> 1;
    table[byte] = value;
  }
  for (let at = 256; at < table.length; at += 1) {
    const before = table[at - 256] as number;
    table[at] = (before >>> 8) ^ (table[before & 0xff] as number);
  }
  return table;
}

function checksum(table: Int32Array, bytes: Uint8Array, from: number, to: number): number {
  const t = table as unknown as Readonly<Record<number, number>>;
  const b = bytes as unknown as Readonly<Record<number, number>>;
  let crc = -1;
  let at = from;
  for (const end = to - (slices - 1); at < end; at += slices) {
    const first = crc ^ (b[at]! | (b[at + 1]! << 8) | (b[at + 2]! << 16) | (b[at + 3]! << 24));
    crc =
      t[3840 | (first & 0xff)]! ^
      t[3584 | ((first >>> 8) & 0xff)]! ^
      t[3328 | ((first >>> 16) & 0xff)]! ^
      t[3072 | (first >>> 24)]! ^
      t[2816 | b[at + 4]!]! ^
      t[2560 | b[at + 5]!]! ^
      t[2304 | b[at + 6]!]! ^
      t[2048 | b[at + 7]!]! ^
      t[1792 | b[at + 8]!]! ^
      t[1536 | b[at + 9]!]! ^
      t[1280 | b[at + 10]!]! ^
      t[1024 | b[at + 11]!]! ^
      t[768 | b[at + 12]!]! ^
      t[512 | b[at + 13]!]! ^
      t[256 | b[at + 14]!]! ^
      t[b[at + 15]!]!;
  }
  for (; at < to; at += 1) crc = t[(crc ^ b[at]!) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}
