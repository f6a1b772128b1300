/**
 * The segment files of a replica, decoded by the checker itself.
 *
 * Layout: message format v2 (KIP-98). A log is read batch by batch in the order of its files; reading stops at the
 * first thing that is not a whole, sound batch, and that *flaw* is named. Batches are kept as columns of their headers;
 * records are decoded only when somebody asks for their values.
 *
 * Invariant: no bytes make this throw. Left out: older message formats and the codecs snappy and LZ4, whose records are
 * reported as unreadable; their batches can still be compared.
 */
import { crc32c } from './crc32c.ts';
import { firstNotBefore } from './search.ts';

/** What the checker may use to unpack records; handed in, since pure code has no zlib. */
export interface Decompressors {
  readonly gzip?: (bytes: Uint8Array) => Uint8Array;
  readonly zstd?: (bytes: Uint8Array) => Uint8Array;
}

export interface SegmentFile {
  /** From its name. */
  readonly baseOffset: number;
  readonly bytes: Uint8Array;
}

export interface Batch {
  readonly base: number;
  readonly last: number;
  readonly epoch: number;
  readonly crc: number;
  readonly attributes: number;
  readonly recordCount: number;
  readonly segment: number;
  readonly position: number;
  readonly size: number;
}

/** Why reading stopped before the end of the files. */
export interface LogFlaw {
  readonly kind: 'torn-tail' | 'crc-mismatch' | 'unsupported-format' | 'offset-regression' | 'offset-too-large';
  readonly segment: number;
  readonly position: number;
  /** The next offset that was to come. */
  readonly offset: number;
}

export interface DecodedLog {
  readonly segments: readonly SegmentFile[];
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  readonly batches: readonly Batch[];
  readonly flaw: LogFlaw | null;
}

export interface DecodedRecord {
  readonly offset: number;
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
}

const headerSize = 61;
const lengthOffset = 12;

/** Reads the headers of all batches of a log; `logStart` is the checkpointed one, where there is one. */
export function decodeLog(files: readonly SegmentFile[], logStart: number | null): DecodedLog {
  const segments = [...files].sort((a, b) => a.baseOffset - b.baseOffset);
  const batches: Batch[] = [];
  const firstBase = segments[0]?.baseOffset ?? 0;
  let end = firstBase;
  let flaw: LogFlaw | null = null;
  for (const [segment, file] of segments.entries()) {
    end = Math.max(end, file.baseOffset);
    const view = new DataView(file.bytes.buffer, file.bytes.byteOffset, file.bytes.byteLength);
    let position = 0;
    while (position < view.byteLength) {
      const batch = readHeader(file.bytes, view, segment, position, end);
      if ('kind' in batch) {
        flaw = batch;
        break;
      }
      batches.push(batch);
      end = batch.last + 1;
      position += batch.size;
    }
    if (flaw !== null) break;
  }
  return { segments, start: Math.min(Math.max(logStart ?? firstBase, firstBase), end), end, batches, flaw };
}

function readHeader(
  bytes: Uint8Array,
  view: DataView,
  segment: number,
  position: number,
  offset: number,
): Batch | LogFlaw {
  const flaw = (kind: LogFlaw['kind']): LogFlaw => ({ kind, segment, position, offset });
  const left = view.byteLength - position;
  if (left < headerSize) return flaw('torn-tail');
  const length = view.getInt32(position + 8);
  const magic = view.getInt8(position + 16);
  const size = lengthOffset + length;
  // A zero-filled tail reads as magic 0 and length 0: nothing was ever written there.
  if (magic !== 2) return flaw(length === 0 ? 'torn-tail' : 'unsupported-format');
  if (size < headerSize || size > left) return flaw('torn-tail');
  const crc = view.getUint32(position + 17);
  if (crc32c(bytes, position + 21, position + size) !== crc) return flaw('crc-mismatch');
  const base = readInt64(view, position);
  const delta = view.getInt32(position + 23);
  if (base + delta > Number.MAX_SAFE_INTEGER) return flaw('offset-too-large');
  if (base < offset || delta < 0) return flaw('offset-regression');
  return {
    base,
    last: base + delta,
    epoch: view.getInt32(position + 12),
    crc,
    attributes: view.getInt16(position + 21),
    recordCount: view.getInt32(position + 57),
    segment,
    position,
    size,
  };
}

/** The batch that covers `offset`; null for none. */
export function batchAt(log: DecodedLog, offset: number): Batch | null {
  const first = firstNotBefore(log.batches.length, (at) => (log.batches[at] as Batch).last < offset);
  const batch = log.batches[first];
  return batch !== undefined && batch.base <= offset ? batch : null;
}

/** True for the markers of transactions, which carry nobody's value. */
export function isControl(batch: Batch): boolean {
  return (batch.attributes & 0x20) !== 0;
}

/** The records of one batch, or null when its codec cannot be unpacked here or its records do not parse. */
export function decodeRecords(log: DecodedLog, batch: Batch, decompressors: Decompressors): DecodedRecord[] | null {
  const file = log.segments[batch.segment];
  if (file === undefined) return null;
  const packed = file.bytes.subarray(batch.position + headerSize, batch.position + batch.size);
  try {
    const payload = unpack(packed, batch.attributes & 7, decompressors);
    return payload === null ? null : parseRecords(payload, batch);
  } catch {
    return null;
  }
}

function unpack(bytes: Uint8Array, codec: number, decompressors: Decompressors): Uint8Array | null {
  switch (codec) {
    case 0:
      return bytes;
    case 1:
      return decompressors.gzip?.(bytes) ?? null;
    case 4:
      return decompressors.zstd?.(bytes) ?? null;
    default:
      return null;
  }
}

function parseRecords(payload: Uint8Array, batch: Batch): DecodedRecord[] | null {
  // Each record has an offset of its own.
  if (batch.recordCount > batch.last - batch.base + 1) return null;
  const records: DecodedRecord[] = [];
  const cursor = { bytes: payload, at: 0 };
  for (let index = 0; index < batch.recordCount; index += 1) {
    const length = readVarint(cursor);
    const end = cursor.at + length;
    if (length < 0 || end > payload.length) return null;
    cursor.at += 1;
    readVarint(cursor);
    const offset = batch.base + readVarint(cursor);
    const key = readBytes(cursor);
    const value = readBytes(cursor);
    if (cursor.at > end) return null;
    cursor.at = end;
    records.push({ offset, key, value });
  }
  return records;
}

interface Cursor {
  readonly bytes: Uint8Array;
  at: number;
}

/** A zigzag varint of up to ten bytes. Bits above the 53rd are lost; only timestamps have any, and nobody reads them. */
function readVarint(cursor: Cursor): number {
  let value = 0;
  let scale = 1;
  for (let index = 0; index < 10; index += 1) {
    const byte = cursor.bytes[cursor.at];
    if (byte === undefined) throw new RangeError('a varint breaks off');
    cursor.at += 1;
    value += (byte & 0x7f) * scale;
    scale *= 128;
    if (byte < 0x80) return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
  throw new RangeError('a varint is too long');
}

function readBytes(cursor: Cursor): Uint8Array | null {
  const length = readVarint(cursor);
  if (length < 0) return null;
  const end = cursor.at + length;
  if (end > cursor.bytes.length) throw new RangeError('a field breaks off');
  const bytes = cursor.bytes.subarray(cursor.at, end);
  cursor.at = end;
  return bytes;
}

function readInt64(view: DataView, at: number): number {
  return view.getInt32(at) * 4294967296 + view.getUint32(at + 4);
}
