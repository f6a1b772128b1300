/**
 * The output of a container, as it comes through an attached stream.
 *
 * The engine joins standard output and standard error into one stream of frames: a byte that tells which, three empty
 * bytes, the length, the bytes. Frames know nothing of lines, and a line knows nothing of frames. Both splitters here
 * take the bytes in any pieces.
 *
 * Invariant: every byte comes out once, in order; a line is decoded as a whole, so that no character is torn.
 */

import type { TraceLine } from '../nemesis/ports.ts';
import type { Duplex, Readable } from 'node:stream';
import type { Container } from 'dockerode';

export type Output = 'stdout' | 'stderr';

const headerBytes = 8;
const newline = 0x0a;
/** No line of a trace comes near it; whatever prints more without an end is cut there. */
const lineBytesMax = 16 << 20;

/** The streams of a container's process to attach to; with `stdin` the connection is kept open for writing. */
export interface Streams {
  readonly stdin?: true;
  readonly stdout: true;
  readonly stderr: true;
}

export async function attach(container: Container, streams: Streams): Promise<Duplex> {
  const query = { stream: true, ...streams };
  // The engine may leave a request's body unread, and the connection would then end as a broken one. So there is none,
  // unless we write: then dockerode sends the request only together with a body.
  const options = streams.stdin ? { ...query, hijack: true } : { ...query, _query: query, _body: {} };
  return (await container.attach(options)) as unknown as Duplex;
}

/** Passes on what arrives. A stream that is out of step is destroyed with that error. */
export function hear(stream: Readable, onBytes: (output: Output, bytes: Buffer) => void): void {
  const frames = new FrameSplitter(onBytes);
  stream.on('data', (chunk: Buffer) => {
    try {
      frames.push(chunk);
    } catch (error) {
      stream.destroy(error as Error);
    }
  });
}

/** Null for a line that was torn by a kill, or that is none of ours. */
export function parseTraceLine(line: string): TraceLine | null {
  try {
    const value = JSON.parse(line) as Partial<TraceLine> | null;
    return typeof value?.event === 'string' && typeof value.seq === 'number' ? (value as TraceLine) : null;
  } catch {
    return null;
  }
}

/** Takes the engine's frames apart. */
export class FrameSplitter {
  readonly #onBytes: (output: Output, bytes: Buffer) => void;
  #header = Buffer.alloc(0);
  #output: Output = 'stdout';
  #left = 0;

  constructor(onBytes: (output: Output, bytes: Buffer) => void) {
    this.#onBytes = onBytes;
  }

  push(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) rest = this.#left > 0 ? this.#takeBytes(rest) : this.#takeHeader(rest);
  }

  #takeHeader(chunk: Buffer): Buffer {
    const missing = headerBytes - this.#header.length;
    this.#header = Buffer.concat([this.#header, chunk.subarray(0, missing)]);
    if (this.#header.length === headerBytes) {
      const kind = this.#header[0]!;
      if (kind > 2) throw new Error(`the engine's stream is out of step: a frame of kind ${kind}`);
      this.#output = kind === 2 ? 'stderr' : 'stdout';
      this.#left = this.#header.readUInt32BE(4);
      this.#header = Buffer.alloc(0);
    }
    return chunk.subarray(missing);
  }

  #takeBytes(chunk: Buffer): Buffer {
    const bytes = chunk.subarray(0, this.#left);
    this.#left -= bytes.length;
    this.#onBytes(this.#output, bytes);
    return chunk.subarray(bytes.length);
  }
}

/** Joins bytes to lines. What stands behind the last line end comes out of {@link LineSplitter.end}. */
export class LineSplitter {
  readonly #onLine: (line: string) => void;
  #pieces: Buffer[] = [];
  #bytes = 0;
  readonly #bytesMax: number;

  constructor(onLine: (line: string) => void, bytesMax = lineBytesMax) {
    this.#onLine = onLine;
    this.#bytesMax = bytesMax;
  }

  push(bytes: Buffer): void {
    let start = 0;
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, start)) {
      this.#keep(bytes.subarray(start, end));
      this.#emit();
      start = end + 1;
    }
    if (start < bytes.length) this.#keep(bytes.subarray(start));
    if (this.#bytes > this.#bytesMax) this.#emit();
  }

  /** The unfinished last line, if there is one: its writer died within it. */
  end(): string | null {
    const rest = this.#take();
    return rest === '' ? null : rest;
  }

  #keep(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
  }

  #emit(): void {
    this.#onLine(this.#take());
  }

  #take(): string {
    const line = Buffer.concat(this.#pieces).toString('utf8');
    this.#pieces = [];
    this.#bytes = 0;
    return line;
  }
}
