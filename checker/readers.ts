/**
 * Where each process reads, and what it passes over or reads again.
 *
 * A process reads a key forwards, from the record that it read last. Two ways of going on are remembered: *gaps*, the
 * offsets strictly between two records that were read one after the other, and *steps back*. A gap says nothing yet: a
 * log has holes (control records, aborted batches). What stood in it is looked up when the whole history is known. Equal
 * gaps of many readers are one row, so that memory follows the number of records.
 *
 * Places are compared by offset, not by value, so that a value that stands twice sends no reader back.
 *
 * What moves a reader lawfully: an assignment that seeks, or that takes a key anew; a change between assign and
 * subscribe; OFFSET_OUT_OF_RANGE, after which a consumer starts over; a poll that failed, which may or may not have moved
 * it past what it read; within one operation, a rebalance of the key. Who has subscribed may be moved by its group at any
 * time: what it skips or repeats is a measure.
 */
import { Doubles, Ints, NumberTable } from './tables.ts';
import type { ValueRows } from './value-rows.ts';

/** A step of one reader from one record of a key to the next that is not forwards. */
export interface StepBack {
  readonly key: number;
  /** Row and offset that it had read last. */
  readonly row: number;
  readonly from: number;
  readonly to: number;
  readonly index: number;
  /** The operation that read `from`; `index` itself for a step within one operation. */
  readonly before: number;
}

/** More steps back than these are only counted. */
const maxStepsBack = 10_000;

/** Gaps, by key and ends; −1 means never. */
export class Gaps {
  readonly key = new Ints();
  readonly after = new Doubles();
  readonly before = new Doubles();
  /** The operation that first passed over it: between two operations, within one, by a reader that proves a loss. */
  readonly between = new Ints();
  readonly within = new Ints();
  readonly proof = new Ints();
  /** Of the readers that prove a loss: the one that began last to read, and where it passed over. */
  readonly since = new Ints();
  readonly sinceIndex = new Ints();
  /** By a reader that began after settling. */
  readonly final = new Ints();
  readonly #next = new Ints();
  readonly #heads: (NumberTable | undefined)[] = [];

  get count(): number {
    return this.key.length;
  }

  /** The row of the gap, a new one if nobody passed over it before. */
  rowOf(key: number, after: number, before: number): number {
    let heads = this.#heads[key];
    if (heads === undefined) {
      heads = new NumberTable();
      this.#heads[key] = heads;
    }
    const head = heads.get(after);
    for (let row = head; row !== -1; row = this.#next.get(row)) if (this.before.get(row) === before) return row;
    this.key.push(key);
    this.after.push(after);
    this.before.push(before);
    for (const column of [this.between, this.within, this.proof, this.since, this.sinceIndex, this.final])
      column.push(-1);
    const row = this.#next.push(head);
    heads.set(after, row);
    return row;
  }
}

/** Where a reader stands in one key. */
interface Place {
  /** Row and offset that an ok poll read last, and that poll; −1 for none. */
  row: number;
  offset: number;
  index: number;
  /** The furthest that failed polls have read since. */
  failed: number;
  /** The operation that read here last, of any outcome, with its last offset and row. */
  operation: number;
  operationOffset: number;
  operationRow: number;
  /** Last offset read without a break, for {@link Gaps.proof}; −2 when it is not known. */
  track: number;
  trackedSince: number;
}

interface Reader {
  /** The invocation of its first poll; −1 before. */
  since: number;
  final: boolean;
  /** It began at the start of the log, and nothing has come between. */
  fromStart: boolean;
  subscribed: boolean;
  /** Counts the breaks: failed polls, after which what it passes over proves nothing. */
  breaks: number;
  /** When its last ok poll was invoked. */
  polledAt: number;
  readonly places: Map<number, Place>;
}

/** What a poll says about itself. */
export interface PollContext {
  readonly process: number;
  readonly type: 'ok' | 'fail' | 'info';
  readonly index: number;
  readonly invokedAt: number;
  readonly time: number;
  /** An ok poll without any error. */
  readonly clean: boolean;
  /** Keys that were taken from, or given to, this consumer during the operation. */
  readonly rebalanced: ReadonlySet<number> | null;
}

/** What an assignment or a subscription says about itself. */
export interface AssignContext {
  readonly sought: boolean;
  readonly subscribes: boolean;
  /** With it a process begins that reads everything back after settling. */
  readonly final: boolean;
}

export class Readers {
  readonly gaps = new Gaps();
  readonly stepsBack: StepBack[] = [];
  readonly stepsBackWithin: StepBack[] = [];
  /** What those who had subscribed passed over or read again, and positions that a broker denied. */
  readonly counts = { stepsBack: 0, subscribedGaps: 0, subscribedStepsBack: 0, outOfRange: 0 };
  /** The longest that a reader went on polling without a record that was already known, in nanoseconds. */
  longestLag = 0;

  readonly #values: ValueRows;
  readonly #readers = new Map<number, Reader>();
  #reader: Reader | null = null;
  #poll: PollContext | null = null;

  constructor(values: ValueRows) {
    this.#values = values;
  }

  /** A process that reads everything back after settling begins. */
  beginFinal(process: number): void {
    const reader = this.#readerOf(process);
    reader.final = true;
    if (reader.breaks === 0 && reader.places.size === 0) reader.fromStart = true;
  }

  /** A process invokes a poll. */
  begin(process: number, index: number): void {
    const reader = this.#readerOf(process);
    if (reader.since === -1) reader.since = index;
  }

  /** The process is gone, or begins anew. */
  end(process: number): void {
    const reader = this.#readers.get(process);
    if (reader === undefined) return;
    this.#noteLags(reader);
    this.#readers.delete(process);
  }

  endAll(): void {
    for (const process of this.#readers.keys()) this.end(process);
  }

  /**
   * An assignment or a subscription came about: keys that it names go on where they were, unless it seeks. What is
   * passed over from here on proves a loss only for what was written before.
   */
  assigned(process: number, keys: readonly number[], how: AssignContext): void {
    const { sought, subscribes, final } = how;
    const before = this.#readers.get(process);
    this.end(process);
    const reader = this.#readerOf(process);
    reader.subscribed = subscribes;
    reader.final = final;
    reader.fromStart = final;
    if (before === undefined || sought || before.subscribed !== subscribes) return;
    for (const key of keys) {
      const place = before.places.get(key);
      if (place !== undefined) reader.places.set(key, { ...place, operation: -1, track: -2 });
    }
  }

  /** A broker denied the position: the consumer starts over. */
  outOfRange(process: number, key: number): void {
    const reader = this.#readers.get(process);
    if (reader?.places.delete(key) === true) this.counts.outOfRange += 1;
  }

  outOfRangeEverywhere(process: number): void {
    for (const key of this.#readers.get(process)?.places.keys() ?? []) this.outOfRange(process, key);
  }

  /** A poll completes; its records follow. */
  beginPoll(poll: PollContext): void {
    this.#poll = poll;
    const known = this.#readers.get(poll.process);
    if (!poll.clean && known !== undefined) {
      known.breaks += 1;
      known.fromStart = false;
    }
    this.#reader = known ?? this.#readerOf(poll.process);
    if (poll.type === 'ok') this.#reader.polledAt = poll.invokedAt;
  }

  /** The poll gave `row` of `key` at `offset`. */
  read(key: number, offset: number, row: number): void {
    const reader = this.#reader as Reader;
    const poll = this.#poll as PollContext;
    let place = reader.places.get(key);
    if (place === undefined) {
      place = emptyPlace();
      reader.places.set(key, place);
    }
    if (poll.clean) this.#track(reader, place, key, offset, poll);
    if (place.operation === poll.index) this.#within(poll, place, key, offset);
    else this.#between(reader, poll, place, key, offset);
    place.operation = poll.index;
    place.operationOffset = offset;
    place.operationRow = row;
    if (poll.type === 'ok') {
      place.row = row;
      place.offset = offset;
      place.index = poll.index;
      place.failed = -1;
    } else if (offset > place.failed) place.failed = offset;
  }

  get readsFinally(): boolean {
    return (this.#poll as PollContext).clean && (this.#reader as Reader).final;
  }

  #between(reader: Reader, poll: PollContext, place: Place, key: number, offset: number): void {
    if (place.offset === -1) return;
    if (poll.type === 'ok') this.#noteLag(poll.invokedAt, key, place.offset);
    if (offset <= place.offset) {
      if (reader.subscribed) this.counts.subscribedStepsBack += 1;
      else this.#stepBack(this.stepsBack, key, place.row, place.offset, offset, poll.index, place.index);
      return;
    }
    const from = Math.max(place.offset, place.failed);
    if (offset <= from + 1) return;
    if (reader.subscribed) this.counts.subscribedGaps += 1;
    else first(this.gaps.between, this.gaps.rowOf(key, from, offset), poll.index);
  }

  #within(poll: PollContext, place: Place, key: number, offset: number): void {
    if (poll.rebalanced?.has(key) === true) return;
    const from = place.operationOffset;
    if (offset <= from)
      this.#stepBack(this.stepsBackWithin, key, place.operationRow, from, offset, poll.index, poll.index);
    else if (offset > from + 1) first(this.gaps.within, this.gaps.rowOf(key, from, offset), poll.index);
  }

  #stepBack(into: StepBack[], key: number, row: number, from: number, to: number, index: number, before: number): void {
    this.counts.stepsBack += 1;
    if (into.length < maxStepsBack) into.push({ key, row, from, to, index, before });
  }

  /** Follows what a reader passes over without a break: such a gap proves that nothing stands in it. */
  #track(reader: Reader, place: Place, key: number, offset: number, poll: PollContext): void {
    const known = place.trackedSince === reader.breaks ? place.track : -2;
    const last = known === -2 && reader.fromStart ? -1 : known;
    place.track = offset;
    place.trackedSince = reader.breaks;
    if (last === -2 || offset <= last + 1 || reader.subscribed) return;
    const { gaps } = this;
    const gap = gaps.rowOf(key, last, offset);
    first(gaps.proof, gap, poll.index);
    if (reader.final) first(gaps.final, gap, poll.index);
    if (reader.since > gaps.since.get(gap)) {
      gaps.since.set(gap, reader.since);
      gaps.sinceIndex.set(gap, poll.index);
    }
  }

  #noteLags(reader: Reader): void {
    for (const [key, { offset }] of reader.places) if (offset !== -1) this.#noteLag(reader.polledAt, key, offset);
  }

  #noteLag(polledAt: number, key: number, offset: number): void {
    const lag = polledAt - this.#values.knownBeyondAt(key, offset);
    if (lag > this.longestLag) this.longestLag = lag;
  }

  #readerOf(process: number): Reader {
    let reader = this.#readers.get(process);
    if (reader === undefined) {
      reader = {
        since: -1,
        final: false,
        fromStart: false,
        subscribed: false,
        breaks: 0,
        polledAt: -1,
        places: new Map(),
      };
      this.#readers.set(process, reader);
    }
    return reader;
  }
}

function first(column: Ints, row: number, index: number): void {
  if (column.get(row) === -1) column.set(row, index);
}

function emptyPlace(): Place {
  return {
    row: -1,
    offset: -1,
    index: -1,
    failed: -1,
    operation: -1,
    operationOffset: -1,
    operationRow: -1,
    track: -2,
    trackedSince: -1,
  };
}
