/**
 * Snappy, unpacked: the raw format, and the frames of snappy-java (xerial) that Kafka's clients put around it.
 *
 * Source: google/snappy format_description.txt; xerial SnappyOutputStream (magic, two versions, then length and block,
 * again and again). The length that a block claims is checked before a byte of it is allocated.
 */
import { Cursor, MalformedError } from './bytes.ts';

/** Unpacks `bytes` into at most `max` bytes. */
export function unpackSnappy(bytes: Uint8Array, max: number): Uint8Array {
  if (!isXerial(bytes)) return unpackBlock(bytes, max);
  const blocks: Uint8Array[] = [];
  let total = 0;
  const cursor = new Cursor(bytes, xerialHeader);
  while (cursor.at < cursor.end) {
    const packed = cursor.take(cursor.int32());
    if (packed === null) throw new MalformedError('a snappy block has a negative length');
    const block = unpackBlock(packed, max - total);
    blocks.push(block);
    total += block.length;
  }
  const all = new Uint8Array(total);
  let at = 0;
  for (const block of blocks) {
    all.set(block, at);
    at += block.length;
  }
  return all;
}

const xerialMagic = [0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00];
const xerialHeader = 16;

function isXerial(bytes: Uint8Array): boolean {
  return bytes.length >= xerialHeader && xerialMagic.every((byte, at) => bytes[at] === byte);
}

function unpackBlock(packed: Uint8Array, max: number): Uint8Array {
  const cursor = new Cursor(packed);
  const size = uvarint(cursor);
  if (size > max) throw new MalformedError(`it would unpack to more than the ${max} bytes that are allowed`);
  // No element of two bytes or more stands for more than 64: a larger claim is a lie.
  if (size > packed.length * 64) throw new MalformedError('a snappy block claims more than it can hold');
  const out = new Uint8Array(size);
  let at = 0;
  while (cursor.at < cursor.end) {
    const tag = cursor.byte();
    if ((tag & 3) === 0) {
      const literal = cursor.take(literalLength(cursor, tag >>> 2)) as Uint8Array;
      if (literal.length > size - at) throw new MalformedError('a snappy block is longer than it claims');
      out.set(literal, at);
      at += literal.length;
    } else {
      at = copy(cursor, tag, out, at);
    }
  }
  if (at !== size) throw new MalformedError('a snappy block is shorter than it claims');
  return out;
}

function copy(cursor: Cursor, tag: number, out: Uint8Array, at: number): number {
  const kind = tag & 3;
  const length = kind === 1 ? ((tag >>> 2) & 7) + 4 : (tag >>> 2) + 1;
  const distance = kind === 1 ? ((tag >>> 5) << 8) | cursor.byte() : little(cursor, kind === 2 ? 2 : 4);
  if (distance === 0 || distance > at) throw new MalformedError('a snappy copy points before its block');
  if (length > out.length - at) throw new MalformedError('a snappy block is longer than it claims');
  // Source and target may overlap: what was just written is read again, byte by byte.
  for (let next = at; next < at + length; next += 1) out[next] = out[next - distance] as number;
  return at + length;
}

function literalLength(cursor: Cursor, short: number): number {
  return (short < 60 ? short : little(cursor, short - 59)) + 1;
}

function little(cursor: Cursor, count: number): number {
  let value = 0;
  for (let index = 0; index < count; index += 1) value += cursor.byte() * 2 ** (8 * index);
  return value;
}

function uvarint(cursor: Cursor): number {
  let value = 0;
  for (let shift = 0; shift < 35; shift += 7) {
    const byte = cursor.byte();
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return value;
  }
  throw new MalformedError('a varint is too long');
}
