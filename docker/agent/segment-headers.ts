/**
 * The headers of a Kafka segment, one after the other: which offsets each batch holds, and in which epoch it was written.
 *
 * Enough of both families of formats to walk a file without looking into it. A batch of format 2 says its first offset,
 * how many follow, and its leader epoch. An entry of the formats 0 and 1 says one offset: its own, or, of a compressed
 * wrapper, that of the last message in it; of its first one the header knows nothing, so the end of the entry before is
 * taken. They know no epochs.
 *
 * Invariant: bytes that are not the whole header of a whole batch are never taken for one. Left out: contents and sums.
 */

export interface BatchHeader {
  /** Null where the header does not say it. */
  readonly base: number | null;
  readonly last: number;
  /** −1 where the format knows none. */
  readonly epoch: number;
  /** Of the whole batch in the file. */
  readonly bytes: number;
}

/** So many bytes are enough for any header. */
export const headerBytesMax = 27;

const attributesAt = 17;
const codecBits = 0b111;
/** Smallest length fields that can be true: a message of format 0 without key and value, an empty batch of format 2. */
const smallest = { entry: 14, batch: 49 };
const largest = 1 << 30;

/**
 * The header at the beginning of `bytes`. `partial`: it goes on where the bytes end. `none`: no batch begins here, as in
 * the zeros of a preallocated file, or behind something torn.
 */
export function readHeader(bytes: Uint8Array): BatchHeader | 'partial' | 'none' {
  if (bytes.length <= attributesAt) return 'partial';
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const offset = Number(view.getBigInt64(0));
  const length = view.getInt32(8);
  const magic = view.getInt8(16);
  const isOld = magic === 0 || magic === 1;
  if (offset < 0 || length > largest || (!isOld && magic !== 2)) return 'none';
  if (length < (isOld ? smallest.entry : smallest.batch)) return 'none';
  if (isOld) {
    const isWrapper = (view.getUint8(attributesAt) & codecBits) !== 0;
    return { base: isWrapper ? null : offset, last: offset, epoch: -1, bytes: 12 + length };
  }
  if (bytes.length < headerBytesMax) return 'partial';
  const delta = view.getInt32(23);
  if (delta < 0) return 'none';
  return { base: offset, last: offset + delta, epoch: view.getInt32(12), bytes: 12 + length };
}

/** What tells a batch from any other that may stand in its place: offset, length, epoch or sum, and sum or attributes. */
export function printOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 26)).toString('latin1');
}
