/**
 * Numbers in bytes that nobody vouches for: big-endian integers, and the zigzag varints of records.
 *
 * A {@link Cursor} never leaves its bytes: what would lie beyond is a {@link MalformedError}, the one exception of this
 * folder. It is caught where a batch is taken apart, and becomes a finding.
 */

/** Bytes that are not what they claim to be. */
export class MalformedError extends Error {
  override readonly name = 'MalformedError';
}

export function readInt16(bytes: Uint8Array, at: number): number {
  return (((bytes[at] as number) << 24) >> 16) | (bytes[at + 1] as number);
}

export function readInt32(bytes: Uint8Array, at: number): number {
  return (
    ((bytes[at] as number) << 24) |
    ((bytes[at + 1] as number) << 16) |
    ((bytes[at + 2] as number) << 8) |
    (bytes[at + 3] as number)
  );
}

export function readUint32(bytes: Uint8Array, at: number): number {
  return readInt32(bytes, at) >>> 0;
}

/** As a number: what lies beyond 2^53 is rounded, and too large for an offset anyway. */
export function readInt64(bytes: Uint8Array, at: number): number {
  return readInt32(bytes, at) * 4294967296 + readUint32(bytes, at + 4);
}

/** A place in bytes that moves forward as things are taken from there. */
export class Cursor {
  readonly bytes: Uint8Array;
  at: number;
  /** Exclusive. */
  readonly end: number;

  constructor(bytes: Uint8Array, from = 0, to = bytes.length) {
    this.bytes = bytes;
    this.at = from;
    this.end = to;
  }

  byte(): number {
    if (this.at >= this.end) throw new MalformedError('it breaks off');
    const byte = this.bytes[this.at] as number;
    this.at += 1;
    return byte;
  }

  int32(): number {
    this.#need(4);
    this.at += 4;
    return readInt32(this.bytes, this.at - 4);
  }

  int64(): number {
    this.#need(8);
    this.at += 8;
    return readInt64(this.bytes, this.at - 8);
  }

  /** A zigzag varint of up to 32 bits. */
  varint(): number {
    let byte = this.byte();
    // Nearly all of them are of one byte.
    if (byte < 0x80) return (byte >>> 1) ^ -(byte & 1);
    let value = byte & 0x7f;
    for (let shift = 7; shift < 35; shift += 7) {
      byte = this.byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return (value >>> 1) ^ -(value & 1);
    }
    throw new MalformedError('a varint is too long');
  }

  /** A zigzag varint of up to 64 bits; bits above the 53rd are lost. */
  varlong(): number {
    let value = 0;
    let scale = 1;
    for (let index = 0; index < 10; index += 1) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      scale *= 128;
      if (byte < 0x80) return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    }
    throw new MalformedError('a varint is too long');
  }

  /** `length` bytes; null for a negative length, which is how Kafka writes null. */
  take(length: number): Uint8Array | null {
    if (length < 0) return null;
    this.#need(length);
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  /** Over `length` bytes; over none for a negative length. */
  skip(length: number): void {
    this.#need(length);
    this.at += Math.max(0, length);
  }

  #need(count: number): void {
    if (count > this.end - this.at) throw new MalformedError('it breaks off');
  }
}
