/**
 * LZ4 frames, unpacked.
 *
 * Source: lz4_Frame_format.md 1.6, lz4_Block_format.md, xxHash's specification; KIP-57 and KafkaLZ4BlockInputStream.
 * In message format v0 Kafka computed the header's checksum over the magic number as well; there, either one is right,
 * since clients of that age differ. Blocks may depend on those before them, since all go into one buffer.
 *
 * Bounds: the output grows as blocks are unpacked and never beyond what is allowed, whatever the header claims.
 */
import { Cursor, MalformedError, readInt32 } from './bytes.ts';

/** Unpacks one frame or several into at most `max` bytes. `oldHeader` accepts the checksum of format v0 too. */
export function unpackLz4(bytes: Uint8Array, max: number, oldHeader = false): Uint8Array {
  const output = new Output(max);
  const cursor = new Cursor(bytes);
  do unpackFrame(cursor, output, oldHeader);
  while (cursor.at < cursor.end);
  return output.bytes.subarray(0, output.size);
}

const frameMagic = 0x184d2204;

/** Bytes that grow by doubling up to a limit. */
class Output {
  bytes = new Uint8Array(1 << 16);
  size = 0;
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  reserve(more: number): void {
    const need = this.size + more;
    if (need > this.#max) {
      throw new MalformedError(`it would unpack to more than the ${this.#max} bytes that are allowed`);
    }
    if (need <= this.bytes.length) return;
    const grown = new Uint8Array(Math.min(this.#max, Math.max(need, this.bytes.length * 2)));
    grown.set(this.bytes.subarray(0, this.size));
    this.bytes = grown;
  }

  append(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.size);
    this.size += bytes.length;
  }
}

function unpackFrame(cursor: Cursor, output: Output, oldHeader: boolean): void {
  const start = cursor.at;
  if (littleInt32(cursor) !== frameMagic) throw new MalformedError('an LZ4 frame does not begin with its magic number');
  const flags = cursor.byte();
  if (flags >>> 6 !== 1) throw new MalformedError(`an LZ4 frame is of the unknown version ${flags >>> 6}`);
  const blockCode = (cursor.byte() >>> 4) & 7;
  if (blockCode < 4) throw new MalformedError('an LZ4 frame names no block size');
  // 64 kB, 256 kB, 1 MB or 4 MB.
  const blockMax = 1 << (8 + 2 * blockCode);
  if ((flags & 0x08) !== 0) cursor.skip(8);
  if ((flags & 0x01) !== 0) throw new MalformedError('an LZ4 frame wants a dictionary');
  const header = cursor.at;
  const given = cursor.byte();
  const sum = (from: number): number => (xxHash32(cursor.bytes, from, header) >>> 8) & 0xff;
  if (given !== sum(start + 4) && !(oldHeader && given === sum(start))) {
    throw new MalformedError('the header of an LZ4 frame does not match its checksum');
  }
  const from = output.size;
  for (let size = littleInt32(cursor); size !== 0; size = littleInt32(cursor)) {
    unpackBlock(cursor, size, blockMax, output, (flags & 0x20) === 0 ? from : output.size);
    if ((flags & 0x10) !== 0) cursor.skip(4);
  }
  if ((flags & 0x04) !== 0 && littleInt32(cursor) >>> 0 !== xxHash32(output.bytes, from, output.size)) {
    throw new MalformedError('the content of an LZ4 frame does not match its checksum');
  }
}

/** One block; copies in it may reach back to `floor`. */
function unpackBlock(cursor: Cursor, size: number, blockMax: number, output: Output, floor: number): void {
  const limit = output.size + blockMax;
  const packed = cursor.take(size & 0x7fffffff) as Uint8Array;
  // Its highest bit says that a block is not packed.
  if (size >>> 31 === 1) output.append(packed);
  else unpackSequences(new Cursor(packed), output, floor);
  if (output.size > limit) throw new MalformedError('an LZ4 block is larger than its frame allows');
}

function unpackSequences(block: Cursor, output: Output, floor: number): void {
  for (;;) {
    const token = block.byte();
    output.append(block.take(lengthOf(block, token >>> 4)) as Uint8Array);
    // The last sequence of a block is literals alone.
    if (block.at === block.end) break;
    copyMatch(block, token & 15, output, floor);
  }
}

function copyMatch(block: Cursor, short: number, output: Output, floor: number): void {
  const distance = block.byte() | (block.byte() << 8);
  const length = lengthOf(block, short) + 4;
  output.reserve(length);
  const { bytes, size } = output;
  if (distance === 0 || distance > size - floor) throw new MalformedError('an LZ4 match points before its frame');
  // Source and target may overlap: what was just written is read again, byte by byte.
  for (let at = size; at < size + length; at += 1) bytes[at] = bytes[at - distance] as number;
  output.size += length;
}

function lengthOf(block: Cursor, short: number): number {
  if (short < 15) return short;
  let length = 15;
  for (;;) {
    const byte = block.byte();
    length += byte;
    if (byte !== 255) return length;
  }
}

function littleInt32(cursor: Cursor): number {
  return cursor.byte() | (cursor.byte() << 8) | (cursor.byte() << 16) | (cursor.byte() << 24);
}

const prime1 = 0x9e3779b1;
const prime2 = 0x85ebca77;
const prime3 = 0xc2b2ae3d;
const prime4 = 0x27d4eb2f;
const prime5 = 0x165667b1;

/** xxHash32 with seed 0 of `bytes` in [from, to). */
export function xxHash32(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  let hash: number;
  if (to - from >= 16) {
    let a = (prime1 + prime2) | 0;
    let b = prime2 | 0;
    let c = 0;
    let d = -prime1 | 0;
    for (; at <= to - 16; at += 16) {
      a = round(a, wordAt(bytes, at));
      b = round(b, wordAt(bytes, at + 4));
      c = round(c, wordAt(bytes, at + 8));
      d = round(d, wordAt(bytes, at + 12));
    }
    hash = (rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18)) | 0;
  } else {
    hash = prime5 | 0;
  }
  hash = (hash + (to - from)) | 0;
  for (; at <= to - 4; at += 4) {
    hash = Math.imul(rotate((hash + Math.imul(wordAt(bytes, at), prime3)) | 0, 17), prime4);
  }
  for (; at < to; at += 1) {
    hash = Math.imul(rotate((hash + Math.imul(bytes[at] as number, prime5)) | 0, 11), prime1);
  }
  hash = Math.imul(hash ^ (hash >>> 15), prime2);
  hash = Math.imul(hash ^ (hash >>> 13), prime3);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function round(sum: number, word: number): number {
  return Math.imul(rotate((sum + Math.imul(word, prime2)) | 0, 13), prime1);
}

function rotate(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by));
}

/** Little-endian, unlike everything else in Kafka's files. */
function wordAt(bytes: Uint8Array, at: number): number {
  const big = readInt32(bytes, at);
  return ((big & 0xff) << 24) | ((big & 0xff00) << 8) | ((big >>> 8) & 0xff00) | (big >>> 24);
}
