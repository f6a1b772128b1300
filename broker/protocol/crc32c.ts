/**
 * CRC-32C (Castagnoli), the checksum of record batches: polynomial 0x1EDC6F41, bits reflected.
 *
 * Slicing-by-8: eight tables take eight bytes per step, because every byte that is read or appended passes through here
 * once. Check value: the ASCII digits 1 to 9 give e3069283.
 */

const polynomialReflected = 0x82f6_3b78;

/** Eight tables of 256 entries, back to back: table k holds the effect of a byte that k more bytes follow. */
const tables = buildTables();

/** The checksum of `bytes` from `start` to `end`, unsigned. */
export function crc32c(bytes: Uint8Array, start = 0, end = bytes.length): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let crc = 0xffff_ffff | 0;
  let at = start;
  for (; at + 8 <= end; at += 8) {
    const low = crc ^ view.getInt32(at, true);
    const high = view.getInt32(at + 4, true);
    crc =
      tables[0x700 + (low & 0xff)]! ^
      tables[0x600 + ((low >>> 8) & 0xff)]! ^
      tables[0x500 + ((low >>> 16) & 0xff)]! ^
      tables[0x400 + (low >>> 24)]! ^
      tables[0x300 + (high & 0xff)]! ^
      tables[0x200 + ((high >>> 8) & 0xff)]! ^
      tables[0x100 + ((high >>> 16) & 0xff)]! ^
      tables[high >>> 24]!;
  }
  for (; at < end; at++) crc = (crc >>> 8) ^ tables[(crc ^ bytes[at]!) & 0xff]!;
  return ~crc >>> 0;
}

function buildTables(): Int32Array {
  const built = new Int32Array(8 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ ((crc & 1) * polynomialReflected);
    built[byte] = crc;
  }
  for (let index = 256; index < built.length; index++) {
    const previous = built[index - 256]!;
    built[index] = (previous >>> 8) ^ built[previous & 0xff]!;
  }
  return built;
}
