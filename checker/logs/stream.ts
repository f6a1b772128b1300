/**
 * The batches of one replica as a stream: segment after segment, through one window that slides over files of any size.
 *
 * A batch never spans two files, so the stream of batches does not depend on where segments were cut. What is no whole
 * batch is a {@link Flaw}: the stream says where, looks for the next sound batch in the same file and goes on there, or
 * with the next file.
 *
 * Bounds: the window grows to the largest batch, and that to {@link frameMax}; a search checks so many bytes and no more.
 */
import { Frame, batchHeader, frameHead, frameMax, isSound, readFrame, type FrameState } from './frame.ts';
import { UnreadableError, type SegmentSource } from './source.ts';

/** Bytes that are no batch. */
export interface Flaw {
  readonly kind: 'torn-tail' | 'unreadable';
  readonly file: string;
  readonly position: number;
  readonly bytes: number;
  readonly reason: string;
}

const windowSize = 1 << 18;
/** Bytes under checksums that all searches for sound batches in one log may cost: no bytes at all may take forever. */
const searchMax = 8 * frameMax;

export class BatchStream {
  /** The batch that comes next, after {@link settle} said that there is one. */
  readonly frame = new Frame();
  /** It is the first one of its file. */
  isFirstInSegment = true;
  window = new Uint8Array(windowSize);
  /** Where the next batch begins in the window. */
  at = 0;
  readonly #segments: readonly SegmentSource[];
  #index = 0;
  #filled = 0;
  /** Position in the file of the window's first byte. */
  #origin = 0;
  /** The next offset, for searches: nothing lower is believed. */
  #floor = 0;
  #budget: number;
  /** Where files turn out to end before they were said to. */
  #ends: number[];

  constructor(segments: readonly SegmentSource[], budget = searchMax) {
    this.#segments = segments;
    this.#budget = budget;
    this.#ends = segments.map(({ size }) => size);
  }

  get segment(): SegmentSource | undefined {
    return this.#segments[this.#index];
  }

  get nextSegment(): SegmentSource | undefined {
    return this.#segments[this.#index + 1];
  }

  /** Position of the next batch in its file. */
  get position(): number {
    return this.#origin + this.at;
  }

  /** Moves to the next batch and loads all of it; false at the end of the log. Flaws on the way are handed out. */
  settle(onFlaw: (flaw: Flaw) => void): boolean {
    for (;;) {
      const { segment } = this;
      if (segment === undefined) return false;
      try {
        const state = this.#read();
        if (this.#remaining() === 0) {
          this.#enter(this.#index + 1);
          continue;
        }
        const { size } = this.frame;
        if (state === 'frame' && size <= this.#remaining() && this.#load(size)) return true;
        onFlaw(this.#stumble(segment, state));
      } catch (error) {
        if (!(error instanceof UnreadableError)) throw error;
        const { position } = this;
        onFlaw({ kind: 'unreadable', file: segment.file, position, bytes: 0, reason: error.message });
        this.#enter(this.#index + 1);
      }
    }
  }

  /** Loads as much of the current file as fits, and `size` bytes at the least if it has them; answers with bytes there. */
  ready(size: number): number {
    try {
      for (; this.segment !== undefined; this.#enter(this.#index + 1)) {
        this.#load(size);
        if (this.available > 0) return this.available;
      }
      return 0;
    } catch (error) {
      // Whoever settles next meets it again, and says so.
      if (error instanceof UnreadableError) return 0;
      throw error;
    }
  }

  /** Bytes that are there, without reading any. */
  get available(): number {
    return this.#filled - this.at;
  }

  /** Steps over `size` bytes, which were a batch that ended before offset `next`. */
  advance(size: number, next: number): void {
    this.at += size;
    this.#floor = next;
    this.isFirstInSegment = false;
  }

  /** Steps over a batch whose checksum was wrong. Its length may have been what was wrong: then the next one is sought. */
  advanceAfterBad(): void {
    const { frame } = this;
    const offset = frame.base === -1 ? frame.last : frame.base;
    const start = this.position;
    this.advance(frame.size, offset + 1);
    try {
      const state = this.#read();
      if (this.#remaining() === 0) return;
      const whole = state === 'frame' && frame.size <= this.#remaining() && this.#load(frame.size);
      if (whole && frame.last > offset && frame.last - offset < believable) return;
      this.#seek(start + 1);
    } catch (error) {
      if (!(error instanceof UnreadableError)) throw error;
    }
  }

  #enter(index: number): void {
    this.#index = index;
    this.at = 0;
    this.#filled = 0;
    this.#origin = 0;
    this.isFirstInSegment = true;
  }

  #remaining(): number {
    return (this.#ends[this.#index] as number) - this.position;
  }

  #read(): FrameState {
    this.#load(batchHeader);
    return readFrame(this.window, this.at, this.#filled, this.frame);
  }

  /** Makes `size` bytes from `at` on available. False if the file does not have them. */
  #load(size: number): boolean {
    if (this.#filled - this.at >= size) return true;
    this.window = this.#roomFor(Math.min(size, this.#remaining()));
    const limit = Math.min(this.window.length, this.#remaining());
    while (this.#filled < limit) {
      const into = this.window.subarray(this.#filled, limit);
      const count = (this.segment as SegmentSource).read(this.#origin + this.#filled, into);
      if (count <= 0) {
        this.#ends[this.#index] = this.#origin + this.#filled;
        break;
      }
      this.#filled += count;
    }
    return this.#filled >= size;
  }

  /** The window with what it still needs at its beginning, large enough for `size` bytes. */
  #roomFor(size: number): Uint8Array<ArrayBuffer> {
    const target = size > this.window.length ? new Uint8Array(size) : this.window;
    target.set(this.window.subarray(this.at, this.#filled));
    this.#origin += this.at;
    this.#filled -= this.at;
    this.at = 0;
    return target;
  }

  /** Names what is no batch, and moves to the next sound one of this file, or to its end. */
  #stumble(segment: SegmentSource, state: FrameState): Flaw {
    const { position } = this;
    const found = this.#seek(position + 1);
    const bytes = this.position - position;
    const flaw = { file: segment.file, position, bytes };
    if (found) return { ...flaw, kind: 'unreadable', reason: `${bytes} bytes that are no batch` };
    if (state === 'strange') {
      return { ...flaw, kind: 'unreadable', reason: `${bytes} bytes that are no batch, up to the end of the file` };
    }
    const reason = state === 'zeros' ? 'zeros where nothing was written' : 'a batch that breaks off';
    return { ...flaw, kind: 'torn-tail', reason };
  }

  /** Looks for a sound batch from `start` on, and stands there; else at the end of the file. */
  #seek(start: number): boolean {
    this.at = 0;
    this.#filled = 0;
    this.#origin = start;
    const candidate = new Frame();
    for (this.#load(batchHeader); this.available !== 0; this.#load(batchHeader)) {
      this.at += this.#zeros();
      if (this.#mayBegin(candidate)) {
        this.#budget -= candidate.size;
        if (this.#budget < 0) break;
        if (this.#load(candidate.size) && isSound(this.window, this.at, candidate)) return true;
      }
      this.at += 1;
    }
    this.at = 0;
    this.#filled = 0;
    this.#origin = this.#ends[this.#index] as number;
    return false;
  }

  /** So many bytes from here on are zeros with as many behind each that no batch can begin there: its length is none. */
  #zeros(): number {
    let end = this.at;
    while (end < this.#filled && this.window[end] === 0) end += 1;
    return Math.max(0, end - this.at - frameHead);
  }

  #mayBegin(candidate: Frame): boolean {
    if (readFrame(this.window, this.at, this.#filled, candidate) !== 'frame') return false;
    return (
      candidate.size <= this.#remaining() && candidate.last >= this.#floor && candidate.last - this.#floor < believable
    );
  }
}

/** No two batches of one file are further apart: segments store offsets relative to their own in 32 bits. */
const believable = 2 ** 32;
