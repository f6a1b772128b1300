/**
 * What lies inside of a batch: records with keys, values and headers, packed or plain. Only clients need it.
 *
 * Invariant: unpacking never yields more than the given bound, summed over all batches of a call.
 */
import { codecOf, codecs, pack, unpack } from './compression.ts';
import type { Compression, Unpackers } from './compression.ts';
import { crc32c } from './crc32c.ts';
import { getInt64, setInt64 } from './int64.ts';
import { ProtocolError } from './protocol-error.ts';
import { Reader } from './reader.ts';
import { batchLayout, bytesBeforeBatchLengthCounts, parseRecordSet } from './records.ts';
import type { BatchInfo, RecordSet } from './records.ts';
import { utf8Bytes, varintBytes, Writer } from './writer.ts';

/** A record to be written. Text is written as UTF-8. */
interface NewRecord {
  readonly key: Uint8Array | string | null;
  readonly value: Uint8Array | string | null;
  /** −1, no timestamp, when not given. */
  readonly timestampMs?: number;
  readonly headers?: readonly RecordHeader[];
}

interface RecordHeader {
  readonly key: string;
  readonly value: Uint8Array | null;
}

/** A batch to be written. A producer leaves the offset at 0 and the epoch at −1; the leader stamps both. */
interface NewBatch {
  readonly records: readonly NewRecord[];
  readonly baseOffset?: number;
  readonly leaderEpoch?: number;
  readonly compression?: Compression;
  readonly producerId?: number;
  readonly producerEpoch?: number;
  readonly baseSequence?: number;
}

/** A record as it was read. Keys and values are views of the bytes that were read. */
export interface DecodedRecord {
  readonly offset: number;
  readonly timestampMs: number;
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
  readonly headers: readonly RecordHeader[];
  /** Epoch of the leader that appended the record's batch. */
  readonly leaderEpoch: number;
  /** A transaction marker, not a record of a client. */
  readonly control: boolean;
}

/** Set where the broker's clock stamped the records, in batches and messages alike. */
export const logAppendTimeBit = 0x08;
const controlBit = 0x20;

export const defaultMaxUnpackedBytes = 64 * 1024 * 1024;

/** One batch of message format v2 with its checksum. */
export function encodeBatch(batch: NewBatch): Uint8Array {
  return encode(batch).bytes;
}

/** The same, with its header as {@link parseRecordSet} would read it. */
export function encodeRecordSet(batch: NewBatch): RecordSet {
  const { info, bytes } = encode(batch);
  return { batches: [info], bytes };
}

function encode(batch: NewBatch): { readonly info: BatchInfo; readonly bytes: Uint8Array } {
  const { records, baseOffset = 0, compression = 'none' } = batch;
  if (records.length === 0) throw new RangeError('a batch needs a record');
  const baseTimestampMs = timestampOf(records[0]);
  const bytes = recordsBehindHeader(records, baseTimestampMs, compression);
  const info = {
    baseOffset,
    lastOffset: baseOffset + records.length - 1,
    leaderEpoch: batch.leaderEpoch ?? -1,
    recordCount: records.length,
    sizeBytes: bytes.length,
    crc: 0,
    attributes: codecs.indexOf(compression),
    maxTimestampMs: latestOf(records),
    producerId: batch.producerId ?? -1,
    producerEpoch: batch.producerEpoch ?? -1,
    baseSequence: batch.baseSequence ?? -1,
  };
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  setInt64(view, batchLayout.baseOffset, info.baseOffset);
  view.setInt32(batchLayout.batchLength, info.sizeBytes - bytesBeforeBatchLengthCounts);
  view.setInt32(batchLayout.leaderEpoch, info.leaderEpoch);
  view.setInt8(batchLayout.magic, 2);
  view.setInt16(batchLayout.attributes, info.attributes);
  view.setInt32(batchLayout.lastOffsetDelta, records.length - 1);
  setInt64(view, batchLayout.baseTimestampMs, baseTimestampMs);
  setInt64(view, batchLayout.maxTimestampMs, info.maxTimestampMs);
  setInt64(view, batchLayout.producerId, info.producerId);
  view.setInt16(batchLayout.producerEpoch, info.producerEpoch);
  view.setInt32(batchLayout.baseSequence, info.baseSequence);
  view.setInt32(batchLayout.recordCount, info.recordCount);
  info.crc = crc32c(bytes, batchLayout.attributes);
  view.setUint32(batchLayout.crc, info.crc);
  return { info, bytes };
}

/**
 * All records of the batches in `source`, in order. Bytes are checked first, a {@link RecordSet} was checked when it was
 * decoded. A batch that was cut at the end is left out; any other flaw is a ProtocolError.
 */
export function decodeRecords(
  source: Uint8Array | RecordSet,
  maxUnpackedBytes = defaultMaxUnpackedBytes,
  unpackers: Unpackers = {},
): DecodedRecord[] {
  const { batches, bytes, flaw } = source instanceof Uint8Array ? parseRecordSet(source) : source;
  if (flaw === 'corrupt' || flaw === 'unsupported-format') {
    throw new ProtocolError('malformed', `record batch ${batches.length}: ${flaw}`);
  }
  if (!(bytes instanceof Uint8Array)) throw new TypeError(`a range of ${bytes.log} that was not resolved to bytes`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const plain = new Reader(bytes);
  const decoded: DecodedRecord[] = [];
  let position = 0;
  let budgetBytes = maxUnpackedBytes;
  for (const batch of batches) {
    const [from, to] = [position + batchLayout.records, position + batch.sizeBytes];
    const codec = codecOf(batch.attributes);
    let reader = plain;
    // A cleaner may leave a batch without records, and then nothing is packed either.
    if (codec === 'none' || from === to) {
      plain.position = from;
      plain.end = to;
    } else {
      const unpacked = unpack(codec, bytes.subarray(from, to), budgetBytes, unpackers);
      budgetBytes -= unpacked.length;
      reader = new Reader(unpacked);
    }
    decodeBatch(batch, getInt64(view, position + batchLayout.baseTimestampMs), reader, decoded);
    position = to;
  }
  return decoded;
}

/** The records behind the room that the header of their batch takes. */
function recordsBehindHeader(
  records: readonly NewRecord[],
  baseTimestampMs: number,
  compression: Compression,
): Uint8Array {
  const sizes: number[] = [];
  let sizeBytes = 0;
  for (const record of records) {
    const size = sizeOf(record, timestampOf(record) - baseTimestampMs, sizes.length);
    sizes.push(size);
    sizeBytes += varintBytes(size) + size;
  }
  const isPacked = compression !== 'none';
  const writer = new Writer((isPacked ? 0 : batchLayout.records) + sizeBytes);
  if (!isPacked) writer.skip(batchLayout.records);
  for (let index = 0; index < records.length; index += 1) {
    const record = records[index]!;
    writer.field = 'record';
    writer.varint(sizes[index]!);
    putRecord(writer, record, timestampOf(record) - baseTimestampMs, index);
  }
  if (!isPacked) return writer.finish();
  const packed = pack(compression, writer.finish());
  const bytes = new Uint8Array(batchLayout.records + packed.length);
  bytes.set(packed, batchLayout.records);
  return bytes;
}

function timestampOf(record: NewRecord | undefined): number {
  return record?.timestampMs ?? -1;
}

function latestOf(records: readonly NewRecord[]): number {
  let latest = -Infinity;
  for (const record of records) latest = Math.max(latest, timestampOf(record));
  return latest;
}

function putRecord(writer: Writer, { key, value, headers = [] }: NewRecord, sinceFirstMs: number, index: number): void {
  writer.int8(0);
  writer.varint(sinceFirstMs);
  writer.varint(index);
  putOptional(writer, key);
  putOptional(writer, value);
  writer.varint(headers.length);
  for (const header of headers) {
    putOptional(writer, header.key);
    putOptional(writer, header.value);
  }
}

/** What {@link putRecord} writes. */
function sizeOf({ key, value, headers = [] }: NewRecord, sinceFirstMs: number, index: number): number {
  let size = 1 + varintBytes(sinceFirstMs) + varintBytes(index) + optionalBytes(key) + optionalBytes(value);
  size += varintBytes(headers.length);
  for (const header of headers) size += optionalBytes(header.key) + optionalBytes(header.value);
  return size;
}

function optionalBytes(value: Uint8Array | string | null): number {
  if (value === null) return varintBytes(-1);
  const length = typeof value === 'string' ? utf8Bytes(value) : value.length;
  return varintBytes(length) + length;
}

function putOptional(writer: Writer, value: Uint8Array | string | null): void {
  if (value === null) {
    writer.varint(-1);
  } else if (typeof value === 'string') {
    writer.text(value, 0x7fff_ffff, (length) => writer.varint(length));
  } else {
    writer.varint(value.length);
    writer.raw(value);
  }
}

function decodeBatch(batch: BatchInfo, baseTimestampMs: number, reader: Reader, into: DecodedRecord[]): void {
  reader.field = `record of the batch at offset ${batch.baseOffset}`;
  for (let index = 0; index < batch.recordCount; index++) into.push(decodeRecord(reader, batch, baseTimestampMs));
  if (reader.remaining > 0) reader.fail(`${reader.remaining} bytes after the last record`);
}

function decodeRecord(reader: Reader, batch: BatchInfo, baseTimestampMs: number): DecodedRecord {
  const length = reader.varint();
  if (length < 0 || length > reader.remaining) reader.fail(`a record of ${length} bytes, ${reader.remaining} left`);
  const end = reader.position + length;
  reader.int8();
  const timestampMs = baseTimestampMs + reader.varint();
  if (!Number.isSafeInteger(timestampMs)) reader.fail('a timestamp is beyond 2^53-1');
  const offset = batch.baseOffset + reader.varint();
  if (offset < batch.baseOffset || offset > batch.lastOffset) reader.fail(`offset ${offset} is not the batch's`);
  const record = {
    offset,
    timestampMs: (batch.attributes & logAppendTimeBit) === 0 ? timestampMs : batch.maxTimestampMs,
    key: takeOptional(reader),
    value: takeOptional(reader),
    headers: decodeHeaders(reader),
    leaderEpoch: batch.leaderEpoch,
    control: (batch.attributes & controlBit) !== 0,
  };
  if (reader.position !== end) reader.fail(`a record ends at byte ${end}`);
  return record;
}

function takeOptional(reader: Reader): Uint8Array | null {
  const length = reader.varint();
  return length === -1 ? null : reader.slice(length);
}

function decodeHeaders(reader: Reader): RecordHeader[] {
  const headers: RecordHeader[] = [];
  const count = reader.varint();
  if (count < 0) reader.fail(`${count} headers`);
  for (let left = count; left > 0; left--) {
    headers.push({ key: reader.utf8(reader.varint()), value: takeOptional(reader) });
  }
  return headers;
}
