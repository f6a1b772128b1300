/**
 * Record batches, the only thing in Kafka's protocol that is stored as it travels.
 *
 * A batch is opaque to everyone but the client that wrote it and the client that reads it: the broker stamps the base
 * offset and the leader epoch, which the checksum does not cover, and keeps the rest verbatim. So most of the code
 * deals in {@link BatchInfo}, the header of a batch, and in {@link RecordSet}, the batches of one partition in one
 * message together with the place where their bytes are.
 *
 * Layout: message format v2 (KIP-98). Older message sets are refused. What lies inside of a batch is the matter of
 * `record-codec.ts`.
 */
import { crc32c } from './crc32c.ts';
import { getInt64, setInt64 } from './int64.ts';

/** The header of one record batch. `crc` covers everything but the base offset and the leader epoch, so it is the identity of the content. */
export interface BatchInfo {
  readonly baseOffset: number;
  /** Offset of the last record: `baseOffset + lastOffsetDelta`. */
  readonly lastOffset: number;
  /** `partitionLeaderEpoch`: the epoch of the leader that appended the batch; −1 from a producer. */
  readonly leaderEpoch: number;
  readonly recordCount: number;
  /** Size of the whole batch with its header. */
  readonly sizeBytes: number;
  /** CRC-32C of the bytes from `attributes` on, as stored, unsigned. */
  readonly crc: number;
  readonly attributes: number;
  readonly maxTimestampMs: number;
  readonly producerId: number;
  readonly producerEpoch: number;
  readonly baseSequence: number;
}

/** Bytes of a log that a driver has not read yet: positions in the log's file, counted from its first byte. */
export interface LogRange {
  readonly log: string;
  readonly startPosition: number;
  readonly endPosition: number;
}

/**
 * The batches of one partition in one message. The codec decodes every `records` field to this and encodes it from
 * this. A core never looks at `bytes`: it hands them on, or names a {@link LogRange}, which the driver resolves before
 * anything is encoded or written.
 */
export interface RecordSet {
  readonly batches: readonly BatchInfo[];
  readonly bytes: Uint8Array | LogRange;
  /**
   * Set by the decoder when the bytes are not whole, sound v2 batches; `batches` then holds those before the flaw.
   * `partial`: the bytes end within a batch. A broker may cut a Fetch answer so (clients drop the rest); in a Produce
   * request it is as bad as corrupt.
   */
  readonly flaw?: 'corrupt' | 'unsupported-format' | 'partial';
}

/** Where the fields of a batch lie. The checksum covers everything from the attributes on. */
export const batchLayout = {
  baseOffset: 0,
  batchLength: 8,
  leaderEpoch: 12,
  magic: 16,
  crc: 17,
  attributes: 21,
  lastOffsetDelta: 23,
  baseTimestampMs: 27,
  maxTimestampMs: 35,
  producerId: 43,
  producerEpoch: 51,
  baseSequence: 53,
  recordCount: 57,
  records: 61,
} as const;

/** `batchLength` counts the bytes after itself. */
export const bytesBeforeBatchLengthCounts = 12;

/** Reads the headers of the batches that lie back to back in `bytes`, and checks each batch's checksum. Never throws. */
export function parseRecordSet(bytes: Uint8Array): RecordSet {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const batches: BatchInfo[] = [];
  for (let position = 0; position < bytes.length;) {
    const batch = parseBatch(bytes, view, position);
    if (typeof batch === 'string') return { batches, bytes, flaw: batch };
    batches.push(batch);
    position += batch.sizeBytes;
  }
  return { batches, bytes };
}

/** Writes base offset and leader epoch of `batches` into their bytes, which lie back to back, in place. */
export function stampBatches(bytes: Uint8Array, batches: readonly BatchInfo[]): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let position = 0;
  for (const batch of batches) {
    stampBatch(view, position, batch);
    position += batch.sizeBytes;
  }
  if (position !== bytes.length) throw new RangeError(`${bytes.length} bytes hold batches of ${position} bytes`);
}

/** Writes base offset and leader epoch of one batch, which lies at `position`. */
export function stampBatch(view: DataView, position: number, { baseOffset, leaderEpoch }: BatchInfo): void {
  setInt64(view, position + batchLayout.baseOffset, baseOffset);
  view.setInt32(position + batchLayout.leaderEpoch, leaderEpoch);
}

/** A producer's batch as it stands in a log: from `baseOffset` on, under its leader's epoch. */
export function placedBatch(batch: BatchInfo, baseOffset: number, leaderEpoch: number): BatchInfo {
  /* Field by field: a copy by spreading takes ten times as long. */
  return {
    baseOffset,
    lastOffset: baseOffset + batch.lastOffset - batch.baseOffset,
    leaderEpoch,
    recordCount: batch.recordCount,
    sizeBytes: batch.sizeBytes,
    crc: batch.crc,
    attributes: batch.attributes,
    maxTimestampMs: batch.maxTimestampMs,
    producerId: batch.producerId,
    producerEpoch: batch.producerEpoch,
    baseSequence: batch.baseSequence,
  };
}

function parseBatch(bytes: Uint8Array, view: DataView, start: number): BatchInfo | NonNullable<RecordSet['flaw']> {
  const left = bytes.length - start;
  if (left <= batchLayout.magic) return 'partial';
  if (view.getInt8(start + batchLayout.magic) !== 2) return 'unsupported-format';
  const sizeBytes = view.getInt32(start + batchLayout.batchLength) + bytesBeforeBatchLengthCounts;
  if (sizeBytes < batchLayout.records) return 'corrupt';
  if (sizeBytes > left) return 'partial';
  const crc = view.getUint32(start + batchLayout.crc);
  if (crc32c(bytes, start + batchLayout.attributes, start + sizeBytes) !== crc) return 'corrupt';
  const baseOffset = getInt64(view, start + batchLayout.baseOffset);
  const lastOffsetDelta = view.getInt32(start + batchLayout.lastOffsetDelta);
  const batch = {
    baseOffset,
    lastOffset: baseOffset + lastOffsetDelta,
    leaderEpoch: view.getInt32(start + batchLayout.leaderEpoch),
    recordCount: view.getInt32(start + batchLayout.recordCount),
    sizeBytes,
    crc,
    attributes: view.getInt16(start + batchLayout.attributes),
    maxTimestampMs: getInt64(view, start + batchLayout.maxTimestampMs),
    producerId: getInt64(view, start + batchLayout.producerId),
    producerEpoch: view.getInt16(start + batchLayout.producerEpoch),
    baseSequence: view.getInt32(start + batchLayout.baseSequence),
  };
  return isSane(batch) ? batch : 'corrupt';
}

/** A checksum does not cover the base offset, and a client may have written nonsense under a sound checksum. */
function isSane(batch: BatchInfo): boolean {
  return (
    batch.baseOffset >= 0 &&
    batch.lastOffset >= batch.baseOffset &&
    Number.isSafeInteger(batch.lastOffset) &&
    batch.recordCount >= 0 &&
    Number.isSafeInteger(batch.maxTimestampMs) &&
    Number.isSafeInteger(batch.producerId)
  );
}
