/**
 * Puts Kafka's primitive types into one growing buffer.
 *
 * Large byte ranges (record batches) are not copied when they are put: they are remembered, and copied once, when
 * `finish` joins the parts. A value that its type cannot hold is a fault of the caller and throws a RangeError or
 * TypeError that names the field.
 */

/** Below this size copying at once is cheaper than remembering. */
const rememberFromBytes = 1024;
/** Up to this length a look at each character is cheaper than a call into the engine. */
const SHORT = 64;

/** Size of a text in UTF-8. */
export function utf8Bytes(value: string): number {
  if (value.length > SHORT) return Buffer.byteLength(value);
  for (let at = 0; at < value.length; at += 1) if (value.charCodeAt(at) > 0x7f) return Buffer.byteLength(value);
  return value.length;
}

/** Size of a whole number as {@link Writer.varint} writes it. */
export function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value < 0 ? -2 * value - 1 : 2 * value; rest >= 0x80; rest = Math.floor(rest / 128)) bytes += 1;
  return bytes;
}

export class Writer {
  /** The field that is being written, for messages. */
  field = '';
  #buffer: Buffer;
  #position = 0;
  /** Start of what was written to `#buffer` since the last remembered range. */
  #start = 0;
  readonly #parts: Uint8Array[] = [];
  #partsBytes = 0;

  constructor(expectedBytes = 256) {
    // Small ones come from Node's pool: memory of its own for each would cost more than what is written into it.
    this.#buffer = Buffer.allocUnsafe(expectedBytes);
  }

  get size(): number {
    return this.#partsBytes + this.#position - this.#start;
  }

  bool(value: boolean): void {
    if (typeof value !== 'boolean') this.#refuse(value, 'a boolean');
    this.#reserve(1);
    this.#position = this.#buffer.writeUInt8(value ? 1 : 0, this.#position);
  }

  int8(value: number): void {
    this.#check(value, -0x80, 0x7f);
    this.#reserve(1);
    this.#position = this.#buffer.writeInt8(value, this.#position);
  }

  int16(value: number): void {
    this.#check(value, -0x8000, 0x7fff);
    this.#reserve(2);
    this.#position = this.#buffer.writeInt16BE(value, this.#position);
  }

  uint16(value: number): void {
    this.#check(value, 0, 0xffff);
    this.#reserve(2);
    this.#position = this.#buffer.writeUInt16BE(value, this.#position);
  }

  int32(value: number): void {
    this.#check(value, -0x8000_0000, 0x7fff_ffff);
    this.#reserve(4);
    this.#position = this.#buffer.writeInt32BE(value, this.#position);
  }

  int64(value: number): void {
    this.#check(value, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
    this.#reserve(8);
    this.#position = this.#buffer.writeInt32BE(Math.floor(value / 0x1_0000_0000), this.#position);
    this.#position = this.#buffer.writeUInt32BE(value >>> 0, this.#position);
  }

  uvarint(value: number): void {
    this.#check(value, 0, 0xffff_ffff);
    this.#putVarint(value);
  }

  /** Zig-zag, as in records: the sign in the lowest bit. */
  varint(value: number): void {
    this.#check(value, -(2 ** 52), 2 ** 52 - 1);
    this.#putVarint(value < 0 ? -2 * value - 1 : 2 * value);
  }

  uuid(value: string): void {
    if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value)) this.#refuse(value, 'a UUID');
    this.raw(Buffer.from(value.replaceAll('-', ''), 'hex'));
  }

  /** UTF-8 text after its length, which `putLength` writes. */
  text(value: string, maxBytes: number, putLength: (bytes: number) => void): void {
    if (typeof value !== 'string') this.#refuse(value, 'a string');
    const length = utf8Bytes(value);
    if (length > maxBytes)
      throw new RangeError(`field ${this.field}: a string of ${length} bytes, ${maxBytes} at most`);
    putLength(length);
    this.#reserve(length);
    if (length === value.length) this.#putAscii(value);
    else this.#position += this.#buffer.write(value, this.#position, 'utf8');
  }

  /** Bytes as they are. The caller must not change them before `finish`. */
  raw(bytes: Uint8Array): void {
    if (bytes.length >= rememberFromBytes) {
      this.#remember(bytes);
      return;
    }
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#position);
    this.#position += bytes.length;
  }

  /** Leaves room for bytes that are filled in after `finish`. */
  skip(bytes: number): void {
    this.#reserve(bytes);
    this.#position += bytes;
  }

  finish(): Uint8Array {
    const { buffer, byteOffset } = this.#buffer;
    const last = new Uint8Array(buffer, byteOffset + this.#start, this.#position - this.#start);
    if (this.#parts.length === 0) return last;
    this.#parts.push(last);
    const whole = Buffer.allocUnsafeSlow(this.#partsBytes + last.length);
    let at = 0;
    for (const part of this.#parts) {
      whole.set(part, at);
      at += part.length;
    }
    return new Uint8Array(whole.buffer);
  }

  #putAscii(value: string): void {
    for (let at = 0; at < value.length; at += 1) this.#buffer[this.#position++] = value.charCodeAt(at);
  }

  #putVarint(unsigned: number): void {
    /* Most are short, and room for more would move all that was written where the buffer fits exactly. */
    this.#reserve(unsigned < 0x80 ? 1 : 8);
    let rest = unsigned;
    while (rest >= 0x80) {
      this.#buffer[this.#position++] = (rest % 128) | 0x80;
      rest = Math.floor(rest / 128);
    }
    this.#buffer[this.#position++] = rest;
  }

  #remember(bytes: Uint8Array): void {
    const before = this.#buffer.subarray(this.#start, this.#position);
    this.#start = this.#position;
    this.#parts.push(before, bytes);
    this.#partsBytes += before.length + bytes.length;
  }

  #reserve(bytes: number): void {
    if (this.#position + bytes <= this.#buffer.length) return;
    // What was remembered keeps the old buffer; only the bytes since then move.
    const pending = this.#buffer.subarray(this.#start, this.#position);
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, pending.length + bytes));
    larger.set(pending);
    this.#buffer = larger;
    this.#position = pending.length;
    this.#start = 0;
  }

  #check(value: number, min: number, max: number): void {
    if (!Number.isInteger(value) || value < min || value > max) {
      throw new RangeError(`field ${this.field}: ${String(value)} is not an integer from ${min} to ${max}`);
    }
  }

  #refuse(value: unknown, expected: string): never {
    throw new TypeError(`field ${this.field}: ${String(value)} is not ${expected}`);
  }
}
