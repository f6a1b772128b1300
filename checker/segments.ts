/**
 * The segment files of a replica as the verdicts look at them: held in memory, batch by batch, with columns of their
 * headers.
 *
 * Frames and records are read by the decoder in `logs/`, which `verify-logs` streams with as well. Here reading stops at
 * the first thing that is not a whole, sound batch, and that *flaw* is named. Records are decoded only when somebody
 * asks for their values.
 *
 * Invariant: no bytes make this throw.
 */
import { Contents, decode, inspect, type Decompressors, type LogRecord } from './logs/contents.ts';
import { Frame, isSound, readFrame } from './logs/frame.ts';
import { firstNotBefore } from './search.ts';

export type { Decompressors } from './logs/contents.ts';

export interface SegmentFile {
  /** From its name. */
  readonly baseOffset: number;
  readonly bytes: Uint8Array;
}

export interface Batch {
  /** Of the message format: 2 for a record batch, 0 or 1 for an entry of a message set. */
  readonly magic: number;
  readonly base: number;
  readonly last: number;
  /** −1 for none. */
  readonly epoch: number;
  readonly crc: number;
  readonly attributes: number;
  readonly isControl: boolean;
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

/** Reads the headers of all batches of a log; `logStart` is the checkpointed one, where there is one. */
export function decodeLog(
  files: readonly SegmentFile[],
  logStart: number | null,
  decompressors: Decompressors = {},
): DecodedLog {
  const segments = [...files].sort((a, b) => a.baseOffset - b.baseOffset);
  const batches: Batch[] = [];
  const firstBase = segments[0]?.baseOffset ?? 0;
  let end = firstBase;
  let flaw: LogFlaw | null = null;
  for (const [segment, file] of segments.entries()) {
    end = Math.max(end, file.baseOffset);
    let position = 0;
    while (position < file.bytes.length) {
      const batch = readBatch(file.bytes, segment, position, end, decompressors);
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

function readBatch(
  bytes: Uint8Array,
  segment: number,
  position: number,
  offset: number,
  decompressors: Decompressors,
): Batch | LogFlaw {
  const flaw = (kind: LogFlaw['kind']): LogFlaw => ({ kind, segment, position, offset });
  const frame = new Frame();
  const state = readFrame(bytes, position, bytes.length, frame);
  if (state === 'strange') return flaw(strangeness(bytes, position));
  if (state !== 'frame' || frame.size > bytes.length - position) return flaw('torn-tail');
  if (!isSound(bytes, position, frame)) return flaw('crc-mismatch');
  // The first offset of packed messages is known only after they were unpacked.
  if (frame.base === -1) inspect(bytes, position, frame, decompressors, new Contents());
  if (frame.base < offset) return flaw('offset-regression');
  const { magic, base, last, epoch, crc, attributes, isControl, size } = frame;
  return { magic, base, last, epoch, crc, attributes, isControl, segment, position, size };
}

function strangeness(bytes: Uint8Array, position: number): LogFlaw['kind'] {
  if ((bytes[position + 16] as number) > 2) return 'unsupported-format';
  const high = ((bytes[position] as number) << 8) | (bytes[position + 1] as number);
  return high >= 0x20 ? 'offset-too-large' : 'torn-tail';
}

/** The batch that covers `offset`; null for none. */
export function batchAt(log: DecodedLog, offset: number): Batch | null {
  const first = firstNotBefore(log.batches.length, (at) => (log.batches[at] as Batch).last < offset);
  const batch = log.batches[first];
  return batch !== undefined && batch.base <= offset ? batch : null;
}

/** The records of one batch, or null when its codec cannot be unpacked here or its records do not parse. */
export function decodeRecords(log: DecodedLog, batch: Batch, decompressors: Decompressors): LogRecord[] | null {
  const file = log.segments[batch.segment];
  const frame = new Frame();
  if (file === undefined || readFrame(file.bytes, batch.position, file.bytes.length, frame) !== 'frame') return null;
  const { records, problem } = decode(file.bytes, batch.position, frame, decompressors);
  return problem === null ? records : null;
}
