/**
 * What lies inside of a frame: records, plain or packed, in any of the three formats.
 *
 * Two looks at the same bytes. {@link inspect} walks over them without keeping anything: how many records, which offsets,
 * which markers, and whether all of it fits together. {@link decode} makes records of them, for the few that somebody
 * wants to see or compare.
 *
 * Invariant: no bytes make either of them throw; what is wrong is told in words. Bounds: what a frame unpacks to is
 * limited by {@link unpackedMax}, here and in the decompressors that are handed in.
 */
import { Cursor, MalformedError, readInt16, readInt32 } from './bytes.ts';
import { crc32 } from './checksums.ts';
import { batchHeader, framePrefix, type Frame } from './frame.ts';
import { unpackLz4 } from './lz4.ts';
import { unpackSnappy } from './snappy.ts';

/** What one frame may unpack to: sixty times the largest that brokers accept by default. */
export const unpackedMax = 1 << 26;

/** Records of one frame that are kept at once: more than a broker's largest batch can hold. */
const decodedMax = 1_000_000;
const tooMany = (max: number): string => `it holds more than ${max} records`;

/** What the checker may use to unpack records, handed in since pure code has no zlib. Each keeps {@link unpackedMax}. */
export interface Decompressors {
  readonly gzip?: (bytes: Uint8Array) => Uint8Array;
  readonly zstd?: (bytes: Uint8Array) => Uint8Array;
}

export interface LogRecord {
  readonly offset: number;
  readonly timestamp: number;
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
  readonly headers: readonly (readonly [key: Uint8Array | null, value: Uint8Array | null])[];
}

/** A transaction's end, or a word of a KRaft controller. */
export interface Marker {
  readonly offset: number;
  readonly type: string;
}

/** What a frame holds. One object is used again and again. */
export class Contents {
  records = 0;
  /** Offsets of the first and the last record; −1 for none. */
  first = -1;
  last = -1;
  /** The first run of offsets that the frame covers and that have no record: exclusive at its end, −1 for none. */
  gapFrom = -1;
  gapTo = -1;
  readonly markers: Marker[] = [];
  /** Why the records cannot be read, or null. */
  problem: string | null = null;

  clear(): void {
    this.records = 0;
    this.first = -1;
    this.last = -1;
    this.gapFrom = -1;
    this.gapTo = -1;
    this.markers.length = 0;
    this.problem = null;
  }

  /** All offsets are so much higher. */
  shift(by: number): void {
    this.first += by;
    this.last += by;
    if (this.gapFrom === -1) return;
    this.gapFrom += by;
    this.gapTo += by;
  }

  /** Takes note of a record; offsets must rise. */
  note(offset: number, expected: number): void {
    if (offset > expected && this.gapFrom === -1) {
      this.gapFrom = expected;
      this.gapTo = offset;
    }
    if (this.first === -1) this.first = offset;
    this.last = offset;
    this.records += 1;
  }
}

/** Walks over the records of a whole frame. For a wrapper this also finds the first offset that it covers. */
export function inspect(
  bytes: Uint8Array,
  at: number,
  frame: Frame,
  decompressors: Decompressors,
  contents: Contents,
): void {
  contents.clear();
  try {
    if (frame.magic === 2) inspectBatch(bytes, at, frame, decompressors, contents);
    else inspectMessages(bytes, at, frame, decompressors, contents);
  } catch (error) {
    contents.clear();
    contents.problem = problemOf(error);
    // Whatever a wrapper holds, its own offset is one that it covers.
    if (frame.base === -1) frame.base = frame.last;
  }
}

/** The records of a whole frame, as far as they can be read, and `max` at the most. */
export function decode(
  bytes: Uint8Array,
  at: number,
  frame: Frame,
  decompressors: Decompressors,
  max = decodedMax,
): { readonly records: LogRecord[]; readonly problem: string | null } {
  const records: LogRecord[] = [];
  try {
    if (frame.magic !== 2) return { records: messagesOf(bytes, at, frame, decompressors, max), problem: null };
    const cursor = new Cursor(unpack(bytes.subarray(at + batchHeader, at + frame.size), frame, decompressors));
    for (let index = 0; index < frame.count; index += 1) {
      if (index === max) throw new MalformedError(tooMany(max));
      records.push(decodeRecord(cursor, frame));
    }
    if (frame.count < 0 || cursor.at < cursor.end) throw new MalformedError('its record count is wrong');
    return { records, problem: null };
  } catch (error) {
    return { records, problem: problemOf(error) };
  }
}

function problemOf(error: unknown): string {
  if (error instanceof MalformedError) return error.message;
  if (error instanceof Error) return `it cannot be unpacked: ${error.message.split('\n')[0]}`;
  throw error;
}

function unpack(packed: Uint8Array, frame: Frame, decompressors: Decompressors): Uint8Array {
  const { codec } = frame;
  // What a cleaner leaves of a batch whose records are all gone.
  if (packed.length === 0) return packed;
  switch (codec) {
    case 'none':
      return packed;
    case 'snappy':
      return unpackSnappy(packed, unpackedMax);
    case 'lz4':
      return unpackLz4(packed, unpackedMax, frame.magic === 0);
    case 'gzip':
    case 'zstd': {
      const decompressor = decompressors[codec];
      if (decompressor === undefined) throw new MalformedError(`nothing is here to unpack ${codec}`);
      return decompressor(packed);
    }
    case undefined:
      throw new MalformedError(`it is packed by the unknown codec ${frame.attributes & 7}`);
  }
}

function inspectBatch(
  bytes: Uint8Array,
  at: number,
  frame: Frame,
  decompressors: Decompressors,
  contents: Contents,
): void {
  const cursor = new Cursor(unpack(bytes.subarray(at + batchHeader, at + frame.size), frame, decompressors));
  let expected = frame.base;
  for (let index = 0; index < frame.count; index += 1) {
    const offset = frame.base + walkRecord(cursor, frame, contents);
    if (offset < expected || offset > frame.last) throw new MalformedError('the offsets of its records are wrong');
    contents.note(offset, expected);
    expected = offset + 1;
  }
  if (frame.count < 0 || cursor.at < cursor.end) throw new MalformedError('its record count is wrong');
  if (expected <= frame.last && contents.gapFrom === -1) {
    contents.gapFrom = expected;
    contents.gapTo = frame.last + 1;
  }
}

/** Steps over one record; answers with its offset delta. */
function walkRecord(cursor: Cursor, frame: Frame, contents: Contents): number {
  const length = cursor.varint();
  const end = cursor.at + length;
  cursor.byte();
  cursor.varlong();
  const delta = cursor.varint();
  const keyLength = cursor.varint();
  const keyAt = cursor.at;
  cursor.skip(keyLength);
  cursor.skip(cursor.varint());
  for (let headers = cursor.varint(); headers > 0; headers -= 1) {
    cursor.skip(cursor.varint());
    cursor.skip(cursor.varint());
  }
  if (cursor.at !== end) throw new MalformedError('the length of a record is wrong');
  if (frame.isControl && keyLength >= 4) {
    const type = readInt16(cursor.bytes, keyAt + 2);
    contents.markers.push({ offset: frame.base + delta, type: markerTypes[type] ?? `type ${type}` });
  }
  return delta;
}

/** Kafka's ControlRecordType: the first two end transactions, the others stand in the log of a KRaft controller. */
const markerTypes: readonly string[] = [
  'abort',
  'commit',
  'leader-change',
  'snapshot-header',
  'snapshot-footer',
  'kraft-version',
  'kraft-voters',
];

function decodeRecord(cursor: Cursor, frame: Frame): LogRecord {
  const length = cursor.varint();
  const end = cursor.at + length;
  cursor.byte();
  const timestampDelta = cursor.varlong();
  const offset = frame.base + cursor.varint();
  const key = cursor.take(cursor.varint());
  const value = cursor.take(cursor.varint());
  const headers: [Uint8Array | null, Uint8Array | null][] = [];
  for (let left = cursor.varint(); left > 0; left -= 1) {
    headers.push([cursor.take(cursor.varint()), cursor.take(cursor.varint())]);
  }
  if (cursor.at !== end) throw new MalformedError('the length of a record is wrong');
  // Under LogAppendTime (bit 3) all records of a batch share the broker's time.
  const stamped = (frame.attributes & 8) !== 0;
  return {
    offset,
    timestamp: stamped ? frame.maxTimestamp : frame.baseTimestamp + timestampDelta,
    key,
    value,
    headers,
  };
}

function inspectMessages(
  bytes: Uint8Array,
  at: number,
  frame: Frame,
  decompressors: Decompressors,
  contents: Contents,
): void {
  const outer = messageAt(new Cursor(bytes, at + 12, at + frame.size), frame.last);
  if ((frame.attributes & 7) === 0) {
    contents.note(frame.last, frame.last);
    return;
  }
  let expected = -1;
  for (const inner of packedMessages(outer, frame, decompressors)) {
    if (inner.offset < Math.max(expected, 0)) throw new MalformedError('the offsets of its messages are wrong');
    contents.note(inner.offset, expected === -1 ? inner.offset : expected);
    expected = inner.offset + 1;
  }
  const shift = frame.last - contents.last;
  if ((frame.magic === 0 && shift !== 0) || contents.first + shift < 0) {
    throw new MalformedError('the offsets of its messages are wrong');
  }
  contents.shift(shift);
  frame.base = contents.first;
  frame.count = contents.records;
}

/**
 * The message of an entry, or those that its wrapper holds. Offsets inside are absolute in v0; in v1 they count from the
 * first message, and the wrapper's own offset is that of the last (KIP-31).
 */
function messagesOf(
  bytes: Uint8Array,
  at: number,
  frame: Frame,
  decompressors: Decompressors,
  max: number,
): LogRecord[] {
  const outer = messageAt(new Cursor(bytes, at + 12, at + frame.size), frame.last);
  if ((frame.attributes & 7) === 0) return [outer];
  const messages: LogRecord[] = [];
  for (const message of packedMessages(outer, frame, decompressors)) {
    if (messages.length === max) throw new MalformedError(tooMany(max));
    messages.push(message);
  }
  const shift = frame.magic === 0 ? 0 : frame.last - (messages.at(-1) as LogRecord).offset;
  // Under LogAppendTime (bit 3) all messages of a wrapper share its time.
  const stamped = (frame.attributes & 8) !== 0;
  return messages.map((message) => ({
    ...message,
    offset: message.offset + shift,
    timestamp: stamped ? outer.timestamp : message.timestamp,
  }));
}

/** What a wrapper holds, with offsets as they are written there. */
function* packedMessages(
  outer: LogRecord,
  frame: Frame,
  decompressors: Decompressors,
): Generator<LogRecord, void, undefined> {
  if (outer.value === null) throw new MalformedError('a wrapper holds nothing');
  const inner = new Cursor(unpack(outer.value, frame, decompressors));
  if (inner.end === 0) throw new MalformedError('a wrapper holds nothing');
  while (inner.at < inner.end) {
    const offset = inner.int64();
    const size = inner.int32();
    if (size < 14 || size > inner.end - inner.at) throw new MalformedError('a packed message breaks off');
    checkInner(inner, size);
    yield messageAt(new Cursor(inner.bytes, inner.at, inner.at + size), offset);
    inner.skip(size);
  }
}

/** A packed message has a checksum of its own, and may not be a wrapper again. */
function checkInner({ bytes, at }: Cursor, size: number): void {
  if ((bytes[at + 4] as number) > 1) throw new MalformedError('a packed message is of an unknown format');
  if (((bytes[at + 5] as number) & 7) !== 0) throw new MalformedError('a wrapper holds another wrapper');
  if (crc32(bytes, at + 4, at + size) !== readInt32(bytes, at) >>> 0) {
    throw new MalformedError('a packed message does not match its checksum');
  }
}

/** The message from its checksum to its end. */
function messageAt(cursor: Cursor, offset: number): LogRecord {
  cursor.skip(framePrefix - 12 - 1);
  const magic = cursor.byte();
  cursor.skip(1);
  const timestamp = magic === 1 ? cursor.int64() : -1;
  const key = cursor.take(cursor.int32());
  const value = cursor.take(cursor.int32());
  if (cursor.at !== cursor.end) throw new MalformedError('the length of a message is wrong');
  return { offset, timestamp, key, value, headers: [] };
}
