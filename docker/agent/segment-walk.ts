/**
 * One replica's log as its files show it, look after look: what was written since, and what was cut away.
 *
 * Whoever looks hands in the segments that there are, as readers; nothing here opens a file. A batch that was seen is
 * remembered by its place and its header. A log was cut if its last segment is gone, is shorter than what was seen in it,
 * or holds something else at a known place: cut, and written anew between two looks. Segments that go away at the front
 * are retention's doing, and no news.
 *
 * Invariant: after each look `end` is the offset at which the log ended then. Bounded: so many batches are remembered
 * for each segment, and read at one look; where memory does not reach back far enough a cut is told as deeper than it was.
 */
import type { SegmentBatch } from './messages.ts';
import { headerBytesMax, printOf, readHeader } from './segment-headers.ts';

/** One `.log` file as it stands. */
export interface SegmentFile {
  /** Its first offset, from its name. */
  readonly base: number;
  readonly size: number;
  /** Up to `length` bytes from `position`. */
  read(position: number, length: number): Uint8Array;
}

export interface LogWalk {
  segments: WalkedSegment[];
  /** Null until a segment has been seen. */
  end: number | null;
}

export interface Look {
  readonly truncation?: { readonly from: number; readonly to: number };
  readonly batches: readonly SegmentBatch[];
  /** There is more than one look may read: look again. */
  readonly more: boolean;
}

interface WalkedSegment {
  readonly base: number;
  /** Up to which byte it was walked. */
  position: number;
  marks: Mark[];
}

interface Mark {
  readonly position: number;
  readonly last: number;
  readonly print: string;
}

export const batchesPerLookMax = 1_000;
const marksMax = 4_096;
/** Small batches come by the hundred in one read; of large ones only the header is wanted. */
const readBytes = 8 * 1_024;

export function createWalk(): LogWalk {
  return { segments: [], end: null };
}

/** Looks at the segments that there are now, in the order of their offsets. */
export function look(walk: LogWalk, files: readonly SegmentFile[]): Look {
  const before = walk.end;
  const kept = keep(walk, files);
  const cut = before !== null && kept !== null && kept < before ? { truncation: { from: before, to: kept } } : {};
  if (kept !== null) walk.end = kept;
  const batches: SegmentBatch[] = [];
  const last = walk.segments.at(-1);
  for (const file of files) {
    if (last !== undefined && file.base < last.base) continue;
    let segment = walk.segments.find(({ base }) => base === file.base);
    if (segment === undefined) {
      segment = { base: file.base, position: 0, marks: [] };
      walk.segments.push(segment);
      // A new segment begins where the last one ended, or says where the log begins.
      if (walk.end === null || file.base > walk.end) walk.end = file.base;
    }
    if (!advance(walk, segment, file, batches)) return { ...cut, batches, more: true };
  }
  return { ...cut, batches, more: false };
}

/** Forgets what is gone. Returns the end of what is left of what was known; null if nothing had been. */
function keep(walk: LogWalk, files: readonly SegmentFile[]): number | null {
  if (walk.end === null) return null;
  // An empty listing is a folder about to go, or being swapped: it says nothing about offsets.
  if (files.length === 0) return walk.end;
  const there = new Map(files.map((file) => [file.base, file]));
  const lastKnown = walk.segments.at(-1);
  walk.segments = walk.segments.filter(({ base }) => there.has(base));
  const segment = walk.segments.at(-1);
  // All that was known is gone: the log begins anew at its first file.
  if (segment === undefined) return Math.min(walk.end, files[0]?.base ?? walk.end);
  const shortened = trim(segment, there.get(segment.base) as SegmentFile);
  if (segment === lastKnown && !shortened) return walk.end;
  return endOf(segment);
}

/** Drops the marks that the file no longer bears out; whether there were any. */
function trim(segment: WalkedSegment, file: SegmentFile): boolean {
  const known = segment.marks.length;
  for (let mark = segment.marks.at(-1); mark !== undefined; mark = segment.marks.at(-1)) {
    if (standsStill(mark, file)) break;
    segment.marks.pop();
    segment.position = mark.position;
  }
  const shortened = segment.marks.length < known;
  // Nothing that is remembered is left: what may still stand before it is read again.
  if (shortened && segment.marks.length === 0) segment.position = 0;
  return shortened;
}

function standsStill({ position, print }: Mark, file: SegmentFile): boolean {
  if (position + print.length > file.size) return false;
  const bytes = file.read(position, headerBytesMax);
  const header = readHeader(bytes);
  if (header === 'none' || header === 'partial' || position + header.bytes > file.size) return false;
  return printOf(bytes) === print;
}

function endOf({ base, marks }: WalkedSegment): number {
  const last = marks.at(-1);
  return last === undefined ? base : last.last + 1;
}

/** Walks on in one segment. False when that would be too much for one look. */
function advance(walk: LogWalk, segment: WalkedSegment, file: SegmentFile, batches: SegmentBatch[]): boolean {
  let window: Uint8Array = new Uint8Array();
  let windowAt = segment.position;
  while (segment.position < file.size) {
    if (batches.length >= batchesPerLookMax) return false;
    if (segment.position + headerBytesMax > windowAt + window.length) {
      windowAt = segment.position;
      window = file.read(windowAt, readBytes);
    }
    const bytes = window.subarray(segment.position - windowAt);
    const header = readHeader(bytes);
    // What is not whole yet is being written.
    if (header === 'none' || header === 'partial' || segment.position + header.bytes > file.size) return true;
    batches.push({ base: header.base ?? walk.end ?? header.last, last: header.last, epoch: header.epoch });
    segment.marks.push({ position: segment.position, last: header.last, print: printOf(bytes) });
    if (segment.marks.length > marksMax) segment.marks.splice(0, marksMax / 2);
    segment.position += header.bytes;
    walk.end = header.last + 1;
  }
  return true;
}
