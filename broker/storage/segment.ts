/**
 * One file of record batches, back to back, named by the offset of its first: `00000000000000000000.log`.
 *
 * A partition's log is one such file. It knows bytes and positions, never offsets within: those are the core's. An
 * append is one positional write into the page cache, so a process killed at any instant loses nothing that it wrote,
 * and a write that was cut short leaves a torn tail which the next start removes.
 *
 * Invariant: `sizeBytes` is the size of the file, and every append begins there.
 */
import * as fs from 'node:fs';
import { basename, join } from 'node:path';
import { flushDirectory, onDisk, writeFully } from './files.ts';

const namePattern = /^(\d{20})\.log$/;

/** The base offset that a file's name tells, or undefined when it is no segment. */
export function baseOffsetOf(name: string): number | undefined {
  const digits = namePattern.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

function segmentName(baseOffset: number): string {
  return `${String(baseOffset).padStart(20, '0')}.log`;
}

export class Segment {
  readonly path: string;
  readonly baseOffset: number;
  readonly #fd: number;
  #sizeBytes: number;

  private constructor(path: string, baseOffset: number, fd: number, sizeBytes: number) {
    this.path = path;
    this.baseOffset = baseOffset;
    this.#fd = fd;
    this.#sizeBytes = sizeBytes;
  }

  /** A new, empty segment. Its name is flushed, its content is not. */
  static create(directory: string, baseOffset: number): Segment {
    const path = join(directory, segmentName(baseOffset));
    const fd = onDisk('create', path, () => fs.openSync(path, 'wx+'));
    flushDirectory(directory);
    return new Segment(path, baseOffset, fd, 0);
  }

  static open(path: string): Segment {
    const baseOffset = baseOffsetOf(basename(path));
    if (baseOffset === undefined) throw new Error(`${path} is not named like a segment`);
    return onDisk('open', path, () => {
      const fd = fs.openSync(path, 'r+');
      return new Segment(path, baseOffset, fd, fs.fstatSync(fd).size);
    });
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  append(position: number, bytes: Uint8Array): void {
    if (position !== this.#sizeBytes) {
      throw new Error(`append at ${position} to ${this.path}, which ends at ${this.#sizeBytes}`);
    }
    onDisk('append to', this.path, () => writeFully(this.#fd, bytes, position));
    this.#sizeBytes += bytes.byteLength;
  }

  read(startPosition: number, endPosition: number): Uint8Array {
    if (startPosition < 0 || startPosition > endPosition || endPosition > this.#sizeBytes) {
      throw new Error(
        `read of [${startPosition}, ${endPosition}) from ${this.path}, which holds ${this.#sizeBytes} bytes`,
      );
    }
    const bytes = Buffer.allocUnsafe(endPosition - startPosition);
    let filled = 0;
    while (filled < bytes.length) {
      const count = onDisk('read', this.path, () =>
        fs.readSync(this.#fd, bytes, filled, bytes.length - filled, startPosition + filled),
      );
      if (count === 0) throw new Error(`${this.path} ends before ${endPosition}: somebody else has cut it`);
      filled += count;
    }
    return bytes;
  }

  truncate(position: number): void {
    if (position > this.#sizeBytes) {
      throw new Error(`truncation of ${this.path} to ${position}, which ends at ${this.#sizeBytes}`);
    }
    onDisk('truncate', this.path, () => fs.ftruncateSync(this.#fd, position));
    this.#sizeBytes = position;
  }

  flush(): void {
    onDisk('flush', this.path, () => fs.fsyncSync(this.#fd));
  }

  close(): void {
    fs.closeSync(this.#fd);
  }
}
