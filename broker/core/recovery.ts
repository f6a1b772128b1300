/**
 * Crash recovery of one log's bytes: which batches are whole, and where the first invalid byte is.
 *
 * A process that was killed leaves all that it wrote, and perhaps half a batch at the end. A disk that lost power leaves
 * less, or rubbish. Either way the log is scanned from its first byte, and ends before the first batch that is cut short,
 * fails its checksum, or does not follow the one before (Kafka's `LogLoader.recoverLog`).
 *
 * Invariant: what is kept is a prefix of what was found, byte for byte, and the kept batches are contiguous. A decreasing
 * leader epoch is no reason to cut: on a build without epochs that is how a diverged log looks.
 *
 * Left out: files. Storage reads them, cuts them, and decides what a power loss took.
 */
import { parseRecordSet } from '../protocol/index.ts';
import type { BatchInfo } from '../protocol/index.ts';
import { assignBatches } from './epoch-cache.ts';
import type { EpochCache } from './epoch-cache.ts';

export interface LogScan {
  readonly batches: readonly BatchInfo[];
  /** Length of the sound prefix: the log has to be cut here. */
  readonly validBytes: number;
  /** LEO of the sound prefix. */
  readonly endOffset: number;
  /** The leader epoch cache as the kept batches tell it. */
  readonly epochs: EpochCache;
}

/** Scans the bytes of a log whose first batch starts at `baseOffset`. */
export function recoverLog(bytes: Uint8Array, baseOffset: number): LogScan {
  const sound = parseRecordSet(bytes).batches;
  let endOffset = baseOffset;
  let validBytes = 0;
  let count = 0;
  for (const batch of sound) {
    if (batch.baseOffset !== endOffset || batch.lastOffset < batch.baseOffset) break;
    endOffset = batch.lastOffset + 1;
    validBytes += batch.sizeBytes;
    count += 1;
  }
  const batches = sound.slice(0, count);
  return { batches, validBytes, endOffset, epochs: assignBatches([], batches) };
}
