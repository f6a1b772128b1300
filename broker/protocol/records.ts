/**
 * Record batches, the only thing in Kafka's protocol that is stored as it travels.
 *
 * A batch is opaque to everyone but the client that wrote it and the client that reads it: the broker stamps the base
 * offset and the leader epoch, which the checksum does not cover, and keeps the rest verbatim. So most of the code
 * deals in {@link BatchInfo}, the header of a batch, and in {@link RecordSet}, the batches of one partition in one
 * message together with the place where their bytes are.
 *
 * Layout: message format v2 (KIP-98). Older message sets are refused.
 */

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
  /** Set by the decoder when the bytes are not whole, sound v2 batches; `batches` then holds those before the flaw. */
  readonly flaw?: 'corrupt' | 'unsupported-format';
}
