/**
 * Operations of several micro-operations: who wrote what, who read what, and in what order they came.
 *
 * Of a history of single sends and polls nothing is kept here: an operation that only sends or only polls is part of no
 * cycle but by time, and a value that is read before it was sent is noted by itself. From the first operation on that may
 * hold both, every completed operation and every read is kept, as two or three integers each.
 *
 * An operation is named by the index of its invocation.
 */
import { Ints } from './tables.ts';

export class Transactions {
  /** Some operation may both send and poll. */
  seen = false;
  /** Operations that completed since, in that order: invocation, completion, process, and whether it is known to count. */
  readonly invoked = new Ints();
  readonly completed = new Ints();
  readonly process = new Ints();
  readonly ok = new Ints();
  /** Of each: its first read in {@link reads}; the next one's is its end. */
  readonly firstRead = new Ints();
  /** Rows read. */
  readonly reads = new Ints();
  /** Rows that an operation polled and had sent itself, with its completion. */
  readonly ownReads: { readonly row: number; readonly index: number }[] = [];
  /** Rows that were read before their send was invoked. */
  readonly earlyReads: number[] = [];
  /** Rows of indefinite operations with several sends, one list for each. */
  readonly indefinite: (readonly number[])[] = [];
  /** Pairs of rows that one operation sent to the same key, one after the other. */
  readonly sendPairs = new Ints();

  complete(invoked: number, completed: number, process: number, ok: boolean): void {
    this.invoked.push(invoked);
    this.completed.push(completed);
    this.process.push(process);
    this.ok.push(ok ? 1 : 0);
    this.firstRead.push(this.reads.length);
  }

  /** Rows that the operation at `place` read: their bounds in {@link reads}. */
  readsOf(place: number): readonly [start: number, end: number] {
    const start = this.firstRead.get(place);
    return [start, place + 1 < this.firstRead.length ? this.firstRead.get(place + 1) : this.reads.length];
  }
}
