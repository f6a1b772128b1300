/**
 * One partition's log as a core sees it: the headers of its batches and where each stands in the file.
 *
 * The bytes are the driver's. An append tells it at which position to write, a read names a range of positions, a
 * truncation a position to cut at. Offsets name records; positions name bytes, counted from the first byte of the log.
 *
 * Invariant: batches are contiguous in offset and position, from `startOffset` (which may fall into the first batch) to
 * the end offset; the log ends where a batch ends, because a batch is never cut in two.
 */
import type { BatchInfo, LogRange } from '../protocol/records.ts';

export interface Log {
  /** `<topic>-<partition>`. */
  readonly name: string;
  /** First offset that may be read (`logStartOffset`). */
  startOffset: number;
  /** LEO: the offset that the next record gets. */
  endOffset: number;
  /** Size in bytes. */
  endPosition: number;
  readonly batches: BatchInfo[];
  /** Position of each batch. */
  readonly positions: number[];
}

/** Some whole batches of a log, and where they stand. */
export interface LogRead {
  readonly batches: readonly BatchInfo[];
  readonly range: LogRange;
  readonly sizeBytes: number;
}

export function createLog(name: string, startOffset: number, batches: readonly BatchInfo[]): Log {
  const log: Log = { name, startOffset, endOffset: startOffset, endPosition: 0, batches: [], positions: [] };
  appendBatches(log, batches);
  return log;
}

/** Appends batches whose offsets follow the end; returns the position at which they belong. */
export function appendBatches(log: Log, batches: readonly BatchInfo[]): number {
  const position = log.endPosition;
  for (const batch of batches) {
    if (batch.baseOffset !== log.endOffset && log.batches.length > 0) {
      throw new Error(`${log.name} ends at ${log.endOffset}, a batch at ${batch.baseOffset} cannot follow`);
    }
    log.batches.push(batch);
    log.positions.push(log.endPosition);
    log.endPosition += batch.sizeBytes;
    log.endOffset = batch.lastOffset + 1;
  }
  return position;
}

/** Cuts the log so that it ends at `offset`, or, where a batch straddles it, at that batch's base. */
export function truncateLog(log: Log, offset: number): void {
  if (offset >= log.endOffset) return;
  const kept = indexOfBatchWith(log, offset);
  const first = log.batches[kept];
  log.endPosition = log.positions[kept] ?? 0;
  // Where the whole log goes, the log start bounds the end: the first batch may begin before it.
  log.endOffset = Math.max(first?.baseOffset ?? log.startOffset, log.startOffset);
  log.batches.length = kept;
  log.positions.length = kept;
}

/** Empties the log; it starts, and ends, at `offset`. */
export function resetLog(log: Log, offset: number): void {
  log.batches.length = 0;
  log.positions.length = 0;
  log.endPosition = 0;
  log.startOffset = offset;
  log.endOffset = offset;
}

/**
 * The batches from the one that holds `offset` on, as far as they end below `limitOffset` and fit into `maxBytes`. The
 * first may start before `offset`: readers skip what they have. With `atLeastOne` it is given even if it is larger than
 * `maxBytes`, so that a reader always makes progress (KIP-74).
 */
export function readLog(log: Log, offset: number, limitOffset: number, maxBytes: number, atLeastOne: boolean): LogRead {
  const first = indexOfBatchWith(log, offset);
  const startPosition = log.positions[first] ?? log.endPosition;
  let end = first;
  let endPosition = startPosition;
  for (let batch = log.batches[end]; batch !== undefined; batch = log.batches[end]) {
    const fits = endPosition + batch.sizeBytes - startPosition <= maxBytes || (atLeastOne && end === first);
    if (batch.lastOffset >= limitOffset || !fits) break;
    endPosition += batch.sizeBytes;
    end += 1;
  }
  return {
    batches: log.batches.slice(first, end),
    range: { log: log.name, startPosition, endPosition },
    sizeBytes: endPosition - startPosition,
  };
}

/** How many bytes of whole batches below `limitOffset` a read at `offset` could give. */
export function readableBytes(log: Log, offset: number, limitOffset: number): number {
  if (offset >= limitOffset) return 0;
  const from = log.positions[indexOfBatchWith(log, offset)] ?? log.endPosition;
  const to = log.positions[indexOfBatchWith(log, limitOffset)] ?? log.endPosition;
  return Math.max(0, to - from);
}

/** Index of the batch that holds `offset`; the number of batches when it lies at or beyond the end. */
function indexOfBatchWith(log: Log, offset: number): number {
  let low = 0;
  let high = log.batches.length;
  // Nearly everybody reads at the end.
  const last = log.batches[high - 1];
  if (last === undefined || last.lastOffset < offset) return high;
  if (last.baseOffset <= offset) return high - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const batch = log.batches[middle];
    if (batch !== undefined && batch.lastOffset < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
