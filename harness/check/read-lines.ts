/**
 * The lines of a file as a synchronous sequence, in bounded memory: as bytes where they lie, or as text.
 *
 * A last line without its end is handed out like any other: whether it broke off is for the reader to judge. Of a line
 * that is longer than any that we write only the beginning is handed out: it is then no JSON, and told as such.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import type { ByteLine } from '../../checker/parse-history.ts';
import { demandFile } from '../regular-file.ts';

/** What is read at once lives as long as its lines are looked at: larger chunks cost memory and save no time. */
const chunkBytes = 1 << 16;
const lineMax = 1 << 26;
const lineEnd = 0x0a;

/** The lines of a file as text. */
export function readLines(path: string): Generator<string, void, undefined> {
  return textLines(fileChunks(path));
}

/** The lines of bytes that come in pieces, as text. */
export function* textLines(chunks: Iterable<Uint8Array>): Generator<string, void, undefined> {
  for (const { bytes, start, end } of byteLines(chunks)) {
    yield Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
  }
}

/** The same as bytes, in one place: each line takes that of the one before. A piece may be overwritten by the next. */
export function byteLines(chunks: Iterable<Uint8Array>): Iterable<ByteLine> {
  return { [Symbol.iterator]: () => new ByteLines(chunks[Symbol.iterator]()) };
}

/** An iterator by hand: a generator costs as much for each line as looking at it. */
class ByteLines implements Iterator<ByteLine, undefined>, ByteLine {
  bytes: Uint8Array = new Uint8Array(0);
  start = 0;
  end = 0;
  readonly #chunks: Iterator<Uint8Array>;
  readonly #result: IteratorYieldResult<ByteLine> = { done: false, value: this };
  #chunk: Uint8Array = new Uint8Array(0);
  #at = 0;
  /** The beginning of a line whose end has not come yet: joining it for each chunk would be quadratic. */
  #pieces: Uint8Array[] = [];
  #length = 0;

  constructor(chunks: Iterator<Uint8Array>) {
    this.#chunks = chunks;
  }

  next(): IteratorResult<ByteLine, undefined> {
    for (;;) {
      const from = this.#at;
      const end = this.#chunk.indexOf(lineEnd, from);
      if (end !== -1) {
        if (this.#pieces.length > 0) {
          this.#keep(end);
          this.#at = end + 1;
          return this.#joined();
        }
        this.#at = end + 1;
        this.bytes = this.#chunk;
        this.start = from;
        this.end = Math.min(end, from + lineMax);
        return this.#result;
      }
      this.#keep(this.#chunk.length);
      const next = this.#chunks.next();
      if (next.done === true) return this.#pieces.length > 0 ? this.#joined() : { done: true, value: undefined };
      this.#chunk = next.value;
      this.#at = 0;
    }
  }

  /** Whoever stops early closes the file. */
  return(): IteratorResult<ByteLine, undefined> {
    this.#chunks.return?.();
    return { done: true, value: undefined };
  }

  /** A copy of what is left up to `end`: the place where the chunk lies is filled anew. */
  #keep(end: number): void {
    const size = end - this.#at;
    if (size > 0 && this.#length < lineMax)
      this.#pieces.push(Uint8Array.prototype.slice.call(this.#chunk, this.#at, end));
    this.#length += size;
    this.#at = end;
  }

  #joined(): IteratorYieldResult<ByteLine> {
    this.bytes = Buffer.concat(this.#pieces);
    this.start = 0;
    this.end = Math.min(this.bytes.length, lineMax);
    this.#pieces = [];
    this.#length = 0;
    return this.#result;
  }
}

/** A file, piece by piece. */
export function* fileChunks(path: string): Generator<Uint8Array, void, undefined> {
  demandFile(path, Infinity);
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.allocUnsafe(chunkBytes);
    for (;;) {
      const size = readSync(file, buffer, 0, chunkBytes, null);
      if (size === 0) return;
      yield buffer.subarray(0, size);
    }
  } finally {
    closeSync(file);
  }
}
