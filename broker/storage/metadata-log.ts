/**
 * The controller's state on disk: `metadata.jsonl`, one record a line, in the order of its decisions.
 *
 * The controller tells nobody of a decision that is not on the disk, so each append is flushed. A kill in the middle of
 * one leaves a last line without its end: nobody has heard of it, and the next start cuts it.
 *
 * Invariant: the records given at the start are those of all appends that returned, and nothing else.
 */
import * as fs from 'node:fs';
import { join } from 'node:path';
import { flushDirectory, onDisk, StorageError, writeFully } from './files.ts';

export class MetadataLog {
  readonly records: readonly unknown[];
  readonly #path: string;
  readonly #fd: number;
  #sizeBytes: number;

  constructor(directory: string) {
    this.#path = join(directory, 'metadata.jsonl');
    this.#fd = onDisk('open', this.#path, () => fs.openSync(this.#path, fs.constants.O_RDWR | fs.constants.O_CREAT));
    flushDirectory(directory);
    const bytes = onDisk('read', this.#path, () => fs.readFileSync(this.#path));
    const end = bytes.lastIndexOf(0x0a) + 1;
    this.records = parse(bytes.toString('utf8', 0, end), this.#path);
    if (end < bytes.length) {
      onDisk('truncate', this.#path, () => {
        fs.ftruncateSync(this.#fd, end);
        fs.fsyncSync(this.#fd);
      });
    }
    this.#sizeBytes = end;
  }

  /** When this returns, the record is on the disk. */
  append(record: unknown): void {
    const bytes = Buffer.from(`${JSON.stringify(record)}\n`);
    onDisk('append to', this.#path, () => {
      writeFully(this.#fd, bytes, this.#sizeBytes);
      fs.fdatasyncSync(this.#fd);
    });
    this.#sizeBytes += bytes.length;
  }

  close(): void {
    fs.closeSync(this.#fd);
  }
}

function parse(text: string, path: string): unknown[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line, index) => {
      try {
        return JSON.parse(line) as unknown;
      } catch {
        throw new StorageError(
          `${path} is corrupt: line ${index + 1} is not JSON; restore the file, or delete the data directories of ` +
            'the controller and of all brokers to begin a new cluster',
        );
      }
    });
}
