/**
 * Takes Kafka's primitive types from bytes that nobody vouches for.
 *
 * Invariant: every length is compared with the bytes that are left before anything is taken or allocated, so that no
 * announced length costs more than the frame that carried it. Byte ranges are views of the frame, not copies. An
 * element of an array may be a hundred times larger in memory than on the wire, so a message holds so many and no more.
 */
import { getInt64 } from './int64.ts';
import { ProtocolError } from './protocol-error.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const twoTo32 = 0x1_0000_0000;

/** Elements of all arrays of one message together. */
const maxElements = 200_000;

export class Reader {
  readonly bytes: Uint8Array;
  position = 0;
  /** One past the last byte that may be read; a tagged field narrows it for its value. */
  end: number;
  /** The field that is being read, for messages. */
  field = '';
  #elementsLeft = maxElements;
  /** Made when text is read: most readers read none. */
  #text: Buffer | null = null;
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.end = bytes.length;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  get remaining(): number {
    return this.end - this.position;
  }

  bool(): boolean {
    // Kafka writes 0 and 1 and reads anything but 0 as true.
    return this.int8() !== 0;
  }

  int8(): number {
    return this.#view.getInt8(this.take(1));
  }

  int16(): number {
    return this.#view.getInt16(this.take(2));
  }

  uint16(): number {
    return this.#view.getUint16(this.take(2));
  }

  int32(): number {
    return this.#view.getInt32(this.take(4));
  }

  uint32(): number {
    return this.#view.getUint32(this.take(4));
  }

  int64(): number {
    const at = this.take(8);
    const number = getInt64(this.#view, at);
    if (!Number.isSafeInteger(number)) this.fail('an int64 is beyond 2^53-1');
    return number;
  }

  /** An unsigned varint of at most 32 bits (KIP-482). */
  uvarint(): number {
    const number = this.#takeVarint();
    if (number >= twoTo32) this.fail('a length varint is longer than 32 bits');
    return number;
  }

  /** A zig-zag varint, as in records; beyond 53 bits it is refused. */
  varint(): number {
    const unsigned = this.#takeVarint();
    return unsigned % 2 === 0 ? unsigned / 2 : -(unsigned + 1) / 2;
  }

  uuid(): string {
    const at = this.take(16);
    const hex = this.#buffer().toString('hex', at, at + 16);
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  }

  utf8(length: number): string {
    const at = this.take(length);
    const text = this.#buffer().toString('utf8', at, at + length);
    // Two different names must not become equal through replacement characters.
    if (text.includes('\ufffd')) this.#checkUtf8(at, length);
    return text;
  }

  #buffer(): Buffer {
    const { buffer, byteOffset, length } = this.bytes;
    this.#text ??= Buffer.from(buffer, byteOffset, length);
    return this.#text;
  }

  /** A view of the next `length` bytes. */
  slice(length: number): Uint8Array {
    const at = this.take(length);
    return this.bytes.subarray(at, at + length);
  }

  /** Moves on by `length` bytes and returns where they begin. */
  take(length: number): number {
    const at = this.position;
    if (length < 0) this.fail(`a length of ${length}`);
    if (length > this.end - at) this.fail(`${length} bytes announced, ${this.end - at} left`);
    this.position = at + length;
    return at;
  }

  /** Counts the elements of an array that is about to be read. */
  takeElements(count: number): void {
    if (count > this.#elementsLeft) this.fail(`more than ${maxElements} elements in one message`);
    this.#elementsLeft -= count;
  }

  fail(what: string): never {
    const where = this.field === '' ? '' : `, field ${this.field}`;
    throw new ProtocolError('malformed', `byte ${this.position}${where}: ${what}`);
  }

  #takeVarint(): number {
    const first = this.#view.getUint8(this.take(1));
    if (first < 0x80) return first;
    let number = first & 0x7f;
    for (let factor = 128; ; factor *= 128) {
      const byte = this.#view.getUint8(this.take(1));
      number += (byte & 0x7f) * factor;
      if (number > Number.MAX_SAFE_INTEGER || factor > 2 ** 49) this.fail('a varint is too long');
      if (byte < 0x80) return number;
    }
  }

  #checkUtf8(at: number, length: number): void {
    try {
      utf8.decode(this.bytes.subarray(at, at + length));
    } catch {
      this.fail('a string is not UTF-8');
    }
  }
}
