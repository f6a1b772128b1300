/**
 * Message sets, what Kafka stored and sent before record batches: format v0, and v1 with timestamps (KIP-32).
 *
 * Only our client deals in them. It writes v1 for brokers that know nothing newer (up to 0.10.2), and reads either from
 * any broker whose topics were written so. An entry is one message, or a wrapper whose value is a packed set. Offsets in
 * a wrapper of v0 are absolute; in one of v1 they count from its first message, and the wrapper has the last one's offset
 * (KIP-31), so that a leader can place it without unpacking.
 *
 * Layout of an entry: offset (8 bytes), size (4) of what follows; CRC-32 (4) of what follows it; magic (1), attributes
 * (1), in v1 timestamp (8); key and value, each after its length (4), −1 for null.
 *
 * Invariant: no bytes make the decoder throw. Left out: packing, and wrappers in wrappers, which nobody writes.
 */
import { crc32 } from 'node:zlib';
import { codecOf, unpack } from './compression.ts';
import type { Unpackers } from './compression.ts';
import { ProtocolError } from './protocol-error.ts';
import { Reader } from './reader.ts';
import { defaultMaxUnpackedBytes, logAppendTimeBit } from './record-codec.ts';
import type { DecodedRecord } from './record-codec.ts';
import { utf8Bytes, Writer } from './writer.ts';

/** A message to be written. Text is written as UTF-8. */
interface NewMessage {
  readonly key: string | null;
  readonly value: string | null;
  readonly timestampMs: number;
}

/** What the bytes of a message set hold. */
export interface MessageSetReading {
  /** Messages have neither headers nor a leader epoch. */
  readonly records: readonly DecodedRecord[];
  /** Of the entries that were read. */
  readonly sizeBytes: number;
  /** What stands behind them, if not their end; the words are those of `RecordSet`. */
  readonly flaw?: 'corrupt' | 'unsupported-format' | 'partial';
}

/** A message set of format v1, plain, with offsets from 0 on. */
export function encodeMessageSet(messages: readonly NewMessage[]): Uint8Array {
  const sizes = messages.map(({ key, value }) => v1Header - entry.crc + lengthOf(key) + lengthOf(value));
  const writer = new Writer(sizes.reduce((sum, size) => sum + entry.crc + size, 0));
  writer.field = 'message';
  for (const [index, { key, value, timestampMs }] of messages.entries()) {
    writer.int64(index);
    writer.int32(sizes[index]!);
    writer.int32(0);
    writer.int8(1);
    writer.int8(0);
    writer.int64(timestampMs);
    putText(writer, key);
    putText(writer, value);
  }
  const bytes = writer.finish();
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let position = 0;
  for (const size of sizes) {
    const end = position + entry.crc + size;
    view.setUint32(position + entry.crc, crc32(bytes.subarray(position + entry.magic, end)));
    position = end;
  }
  return bytes;
}

/** The messages of all entries, up to the first that is not whole, not sound, or of a newer format. */
export function decodeMessageSet(
  bytes: Uint8Array,
  unpackers: Unpackers = {},
  maxUnpackedBytes = defaultMaxUnpackedBytes,
): MessageSetReading {
  const records: DecodedRecord[] = [];
  let budgetBytes = maxUnpackedBytes;
  let position = 0;
  while (position < bytes.length) {
    const size = sizeOfEntry(bytes, position);
    if (typeof size === 'string') return { records, sizeBytes: position, flaw: size };
    try {
      const message = decodeMessage(bytes.subarray(position, position + size));
      if (message.codec === 'none') records.push(message.record);
      else {
        const packed = message.record.value ?? new Uint8Array(0);
        const inner = unpack(message.codec, packed, budgetBytes, unpackers, message.magic === 0);
        budgetBytes -= inner.length;
        records.push(...decodeWrapped(message, inner));
      }
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      return { records, sizeBytes: position, flaw: 'corrupt' };
    }
    position += size;
  }
  return { records, sizeBytes: position };
}

/** Where the fields of an entry lie. */
const entry = { size: 8, crc: 12, magic: 16 } as const;
/** Size of an entry of v0 without key and value. */
const v0Header = 26;
const v1Header = 34;

interface Message {
  readonly magic: number;
  readonly attributes: number;
  readonly codec: ReturnType<typeof codecOf>;
  readonly record: DecodedRecord;
}

/** The size of a whole entry whose checksum is right, else what is wrong. */
function sizeOfEntry(bytes: Uint8Array, position: number): number | NonNullable<MessageSetReading['flaw']> {
  const view = new DataView(bytes.buffer, bytes.byteOffset + position, bytes.length - position);
  if (view.byteLength <= entry.magic) return 'partial';
  const magic = view.getInt8(entry.magic);
  if (magic !== 0 && magic !== 1) return 'unsupported-format';
  const size = view.getInt32(entry.size) + entry.crc;
  if (size < (magic === 0 ? v0Header : v1Header)) return 'corrupt';
  if (size > view.byteLength) return 'partial';
  const sum = crc32(bytes.subarray(position + entry.magic, position + size));
  return sum === view.getUint32(entry.crc) ? size : 'corrupt';
}

function decodeMessage(bytes: Uint8Array): Message {
  const reader = new Reader(bytes);
  reader.field = 'message';
  const offset = reader.int64();
  if (offset < 0) reader.fail(`offset ${offset}`);
  reader.position = entry.magic;
  const magic = reader.int8();
  const attributes = reader.int8();
  const timestampMs = magic === 1 ? reader.int64() : -1;
  const key = takeBytes(reader);
  const value = takeBytes(reader);
  if (reader.remaining > 0) reader.fail(`${reader.remaining} bytes after a message`);
  const record = { offset, timestampMs, key, value, headers: [], leaderEpoch: -1, control: false };
  return { magic, attributes, codec: codecOf(attributes), record };
}

/** The messages that a wrapper holds, with the offsets and times that it gives them. */
function decodeWrapped(wrapper: Message, bytes: Uint8Array): readonly DecodedRecord[] {
  const inner: DecodedRecord[] = [];
  for (let position = 0; position < bytes.length;) {
    const size = sizeOfEntry(bytes, position);
    if (typeof size === 'string') throw new ProtocolError('malformed', `a packed message: ${size}`);
    const { codec, magic, record } = decodeMessage(bytes.subarray(position, position + size));
    if (codec !== 'none' || magic !== wrapper.magic) throw new ProtocolError('malformed', 'a strange packed message');
    inner.push(record);
    position += size;
  }
  const last = inner.at(-1);
  if (last === undefined) throw new ProtocolError('malformed', 'a wrapper holds nothing');
  const { offset, timestampMs } = wrapper.record;
  const shift = wrapper.magic === 0 ? 0 : offset - last.offset;
  const stamped = (wrapper.attributes & logAppendTimeBit) !== 0;
  return inner.map((record, index) => {
    const placed = {
      ...record,
      offset: record.offset + shift,
      timestampMs: stamped ? timestampMs : record.timestampMs,
    };
    const before = index === 0 ? -1 : inner[index - 1]!.offset + shift;
    if (placed.offset <= before || placed.offset > offset) {
      throw new ProtocolError('malformed', `offset ${placed.offset} in the wrapper at offset ${offset}`);
    }
    return placed;
  });
}

function takeBytes(reader: Reader): Uint8Array | null {
  const length = reader.int32();
  if (length < -1) reader.fail(`a length of ${length}`);
  return length === -1 ? null : reader.slice(length);
}

function lengthOf(text: string | null): number {
  return text === null ? 0 : utf8Bytes(text);
}

function putText(writer: Writer, text: string | null): void {
  if (text === null) writer.int32(-1);
  else writer.text(text, 0x7fff_ffff, (length) => writer.int32(length));
}
