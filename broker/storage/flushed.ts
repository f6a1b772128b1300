/**
 * The side file of flushed lengths: per log, up to which byte its file has been flushed.
 *
 * On the machine of a test the page cache survives what the nemesis calls a power loss, so the loss is played: whoever
 * pulls the plug kills the process and leaves a marker in the data directory, and the next start cuts each log to the
 * length that stands here. The file itself need not survive a real power loss (then the disk tells the truth by
 * itself), so it is left to the page cache; it is replaced whole, so that a kill never tears it.
 *
 * Invariant: never more than has been flushed *and is still in the file*. So it is lowered before a log is cut, and
 * raised after the flush.
 */
import { formatOffsets, readOffsets, type NumbersByLog } from './checkpoints.ts';
import { replaceFileUnflushed } from './files.ts';

export const flushedLengthsFile = 'flushed-lengths';

export class FlushedLengths {
  readonly #path: string;
  readonly #lengths: NumbersByLog;

  constructor(path: string) {
    this.#path = path;
    this.#lengths = readOffsets(path, 'flushed-lengths');
  }

  /** In bytes; nothing of an unknown log is flushed. */
  of(log: string): number {
    return this.#lengths.get(log) ?? 0;
  }

  /** After a flush of the whole file. */
  raise(log: string, sizeBytes: number): void {
    if (this.of(log) === sizeBytes) return;
    this.#lengths.set(log, sizeBytes);
    this.#write();
  }

  /** Before the file is cut. */
  lower(log: string, sizeBytes: number): void {
    if (this.of(log) <= sizeBytes) return;
    this.#lengths.set(log, sizeBytes);
    this.#write();
  }

  /** Before the log is deleted. */
  forget(log: string): void {
    if (this.#lengths.delete(log)) this.#write();
  }

  #write(): void {
    replaceFileUnflushed(this.#path, formatOffsets(this.#lengths));
  }
}
