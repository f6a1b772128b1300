/**
 * A twin of the stream of batches, which has each file in one piece and looks at every byte, and the files on which the
 * two are held against each other: whole batches, and whatever may stand between them.
 *
 * Both say what they meet in the same form. The twin shares the frames and their checksums with the stream, and nothing of
 * how it reads, seeks and gives up.
 */
import * as fc from 'fast-check';
import { Frame, isSound, readFrame } from '../../../checker/logs/frame.ts';
import type { SegmentSource } from '../../../checker/logs/source.ts';
import type { BatchStream } from '../../../checker/logs/stream.ts';
import { batches, changed, joined, sealed } from './replicas.ts';

export interface Met {
  readonly what: string;
  readonly file: string;
  readonly position: number;
  readonly bytes: number;
  /** Of a batch: first and last offset. */
  readonly offsets?: readonly [number, number];
  readonly isFirst?: boolean;
}

const far = 2 ** 32;

/** What the twin meets in files of these bytes. */
export function byTheBook(files: readonly { readonly file: string; readonly bytes: Uint8Array }[]): Met[] {
  const met: Met[] = [];
  let floor = 0;
  for (const { file, bytes } of files) {
    let at = 0;
    let isFirst = true;
    const sought = (start: number): number | null => {
      for (let place = start; place < bytes.length; place += 1) {
        const frame = new Frame();
        if (readFrame(bytes, place, bytes.length, frame) !== 'frame' || place + frame.size > bytes.length) continue;
        if (frame.last >= floor && frame.last - floor < far && isSound(bytes, place, frame)) return place;
      }
      return null;
    };
    while (at < bytes.length) {
      const frame = new Frame();
      const state = readFrame(bytes, at, bytes.length, frame);
      const start = at;
      if (state !== 'frame' || start + frame.size > bytes.length) {
        const found = sought(start + 1);
        at = found ?? bytes.length;
        const size = at - start;
        const reason =
          found !== null
            ? `${size} bytes that are no batch`
            : state === 'strange'
              ? `${size} bytes that are no batch, up to the end of the file`
              : state === 'zeros'
                ? 'zeros where nothing was written'
                : 'a batch that breaks off';
        const kind = found !== null || state === 'strange' ? 'unreadable' : 'torn-tail';
        met.push({ what: `${kind}: ${reason}`, file, position: start, bytes: size });
        continue;
      }
      const sound = isSound(bytes, start, frame);
      const offsets = [frame.base, frame.last] as const;
      met.push({ what: sound ? 'batch' : 'bad', file, position: start, bytes: frame.size, offsets, isFirst });
      isFirst = false;
      at += frame.size;
      if (sound) {
        floor = frame.last + 1;
        continue;
      }
      const offset = frame.base === -1 ? frame.last : frame.base;
      floor = offset + 1;
      if (at === bytes.length) continue;
      const after = new Frame();
      const fits = readFrame(bytes, at, bytes.length, after) === 'frame' && at + after.size <= bytes.length;
      if (!fits || after.last <= offset || after.last - offset >= far) at = sought(start + 1) ?? bytes.length;
    }
  }
  return met;
}

/** What a stream meets. */
export function walk(stream: BatchStream): Met[] {
  const met: Met[] = [];
  const settle = (): boolean =>
    stream.settle(({ kind, file, position, bytes, reason }) => {
      met.push({ what: `${kind}: ${reason}`, file, position, bytes });
    });
  while (settle()) {
    const { frame, window, at, position, isFirstInSegment, segment } = stream;
    const sound = isSound(window, at, frame);
    met.push({
      what: sound ? 'batch' : 'bad',
      file: segment!.file,
      position,
      bytes: frame.size,
      offsets: [frame.base, frame.last],
      isFirst: isFirstInSegment,
    });
    if (sound) stream.advance(frame.size, frame.last + 1);
    else stream.advanceAfterBad();
  }
  return met;
}

/** A file that hands out at most `piece` bytes at once, and is shorter than it says by `lack`. */
export function source(file: string, bytes: Uint8Array, piece = Number.POSITIVE_INFINITY, lack = 0): SegmentSource {
  return {
    file,
    baseOffset: 0,
    size: bytes.length + lack,
    read: (position, into) => {
      const part = bytes.subarray(position, position + Math.min(piece, into.length));
      into.set(part);
      return part.length;
    },
  };
}

/** A message of format v1 that is a wrapper, by its attributes; nobody looks into it here. */
export function wrapper(offset: number, size: number): Uint8Array {
  const bytes = new Uint8Array(size).fill(7);
  const view = new DataView(bytes.buffer);
  view.setBigInt64(0, BigInt(offset));
  view.setInt32(8, size - 12);
  view.setUint8(16, 1);
  view.setUint8(17, 1);
  return bytes;
}

/** Parts of which files are made: whole batches, and what may stand between them. */
const part = fc.oneof(
  { weight: 6, arbitrary: fc.nat(9).map((at) => batches[at]!) },
  { weight: 1, arbitrary: fc.nat(9).map((at) => sealed(batches[at]!, (view) => view.setUint32(0, 1))) },
  { weight: 1, arbitrary: fc.nat(150).map((size) => new Uint8Array(size)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 100 }) },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.nat(40), fc.integer({ min: 26, max: 90 })).map(([at, size]) => wrapper(at, size)),
  },
  {
    weight: 2,
    // A batch that claims another length: its checksum is wrong, and so is where the next one begins.
    arbitrary: fc
      .tuple(fc.nat(9), fc.constantFrom(48, 49, 60, 100, 150, 250, 400, 90_000))
      .map(([at, size]) => changed(batches[at]!, (bytes) => new DataView(bytes.buffer).setInt32(8, size))),
  },
  { weight: 1, arbitrary: fc.tuple(fc.nat(9), fc.nat(120)).map(([at, size]) => batches[at]!.subarray(0, size)) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.nat(9), fc.nat(110), fc.nat(7))
      .map(([at, place, bit]) => changed(batches[at]!, (bytes) => (bytes[place % bytes.length]! ^= 1 << bit))),
  },
);
/** A file of such parts. */
export const fileBytes = fc.array(part, { maxLength: 7 }).map(joined);
