/**
 * The frame of what stands in a segment: a record batch (message format v2, KIP-98), or an entry of a message set (v0,
 * and v1 with timestamps, KIP-32), which is one message or a wrapper around packed ones.
 *
 * All three begin alike: an int64 offset, an int32 length of what follows it, and the format's number ("magic") as the
 * 17th byte. A frame is read into one object that is used again, since logs have millions of them. Nothing here vouches
 * for the bytes: a frame that is whole may still fail its checksum.
 */
import { crc32, crc32c } from './checksums.ts';
import { readInt16, readInt32, readInt64, readUint32 } from './bytes.ts';

/** The bytes of offset and length, which the length does not count. */
export const frameHead = 12;
/** So many bytes tell a frame's format and size. */
export const framePrefix = 17;
/** The header of a v2 batch; its records follow. */
export const batchHeader = 61;
/** The largest batch that is looked at: ten times what a broker would accept under any sane setting. */
export const frameMax = 1 << 27;

const codecs = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;
export type Codec = (typeof codecs)[number];

/** What the bytes at a place turn out to be. `short`: more bytes are needed to tell. */
export type FrameState = 'frame' | 'short' | 'zeros' | 'strange';

/** One batch, or one entry of a message set. */
export class Frame {
  magic = 0;
  /** In bytes, all of it. */
  size = 0;
  /** The first offset that it covers. Of a wrapper: −1 until it was unpacked. */
  base = 0;
  last = 0;
  /** −1 for none: formats v0 and v1 have no leader epochs. */
  epoch = -1;
  crc = 0;
  attributes = 0;
  /** Records, as a v2 header says; 1 for a message, −1 for a wrapper until it was unpacked. */
  count = 0;
  baseTimestamp = -1;
  maxTimestamp = -1;
  producerId = -1;
  producerEpoch = -1;
  baseSequence = -1;

  /** Undefined for a number that no codec has. */
  get codec(): Codec | undefined {
    return codecs[this.attributes & 7];
  }

  get isTransactional(): boolean {
    return this.magic === 2 && (this.attributes & 0x10) !== 0;
  }

  /** True for batches of markers, which carry nobody's value. */
  get isControl(): boolean {
    return this.magic === 2 && (this.attributes & 0x20) !== 0;
  }
}

/** Reads the frame at `at`, of which the bytes up to `end` are there. */
export function readFrame(bytes: Uint8Array, at: number, end: number, frame: Frame): FrameState {
  if (end - at <= framePrefix) return 'short';
  const magic = bytes[at + 16] as number;
  const length = readInt32(bytes, at + 8);
  const first = readInt64(bytes, at);
  if (length === 0 && magic === 0 && first === 0) return 'zeros';
  if (magic > 2 || length < smallest[magic]! || length > frameMax) return 'strange';
  if (first < 0 || first > Number.MAX_SAFE_INTEGER) return 'strange';
  frame.magic = magic;
  frame.size = length + frameHead;
  if (magic === 2) {
    if (end - at < batchHeader) return 'short';
    return readBatchHeader(bytes, at, first, frame);
  }
  readMessageHeader(bytes, at, first, frame);
  return 'frame';
}

/** The least length that a frame of each format can state. */
const smallest: readonly number[] = [14, 22, batchHeader - frameHead];

function readBatchHeader(bytes: Uint8Array, at: number, base: number, frame: Frame): FrameState {
  const delta = readInt32(bytes, at + 23);
  if (delta < 0 || base + delta > Number.MAX_SAFE_INTEGER) return 'strange';
  frame.base = base;
  frame.last = base + delta;
  frame.epoch = readInt32(bytes, at + 12);
  frame.crc = readUint32(bytes, at + 17);
  frame.attributes = readInt16(bytes, at + 21);
  frame.baseTimestamp = readInt64(bytes, at + 27);
  frame.maxTimestamp = readInt64(bytes, at + 35);
  frame.producerId = readInt64(bytes, at + 43);
  frame.producerEpoch = readInt16(bytes, at + 51);
  frame.baseSequence = readInt32(bytes, at + 53);
  frame.count = readInt32(bytes, at + 57);
  return 'frame';
}

function readMessageHeader(bytes: Uint8Array, at: number, offset: number, frame: Frame): void {
  frame.crc = readUint32(bytes, at + 12);
  frame.attributes = bytes[at + framePrefix] as number;
  const packed = (frame.attributes & 7) !== 0;
  frame.last = offset;
  frame.base = packed ? -1 : offset;
  frame.count = packed ? -1 : 1;
  frame.epoch = -1;
  frame.baseTimestamp = -1;
  frame.maxTimestamp = -1;
  frame.producerId = -1;
  frame.producerEpoch = -1;
  frame.baseSequence = -1;
}

/** True if the checksum of the whole frame at `at` is right. */
export function isSound(bytes: Uint8Array, at: number, frame: Frame): boolean {
  const end = at + frame.size;
  const computed = frame.magic === 2 ? crc32c(bytes, at + 21, end) : crc32(bytes, at + 16, end);
  return computed === frame.crc;
}
