/**
 * What stands where: a row for each value of each key, with what was said of it, and the surprises.
 *
 * A value that is read a thousand times at the same offset costs nothing after the first time. What is kept beside the
 * rows is what differs: an offset with a second value, a value at a second offset. So memory follows the number of
 * distinct records, not the number of operations that saw them, and never the size of an offset.
 *
 * Invariant: −1 means unknown or none, in every column.
 */
import type { Key, Value } from './history.ts';
import { canonicalValue } from './micro-operations.ts';
import { Doubles, Ints, NumberTable } from './tables.ts';

/** What became of a send. `unsent`: the value was only read so far. */
export const outcome = { unsent: 0, open: 1, ok: 2, fail: 3, info: 4 } as const;

/** `acks` as a number: −1 is all. */
export const acksAll = -1;

/** Rows of values, by key and value. */
export interface ValueColumns {
  readonly key: Ints;
  readonly outcome: Ints;
  readonly acks: Ints;
  /** Offset that the completion named. */
  readonly offset: Doubles;
  readonly invoked: Ints;
  readonly completed: Ints;
  readonly process: Ints;
  /** Correlation id of the produce request, from `msg`. */
  readonly correlation: Doubles;
  /** The acknowledged row with the highest offset of its key when this one's send was invoked. */
  readonly floor: Ints;
  /** Where, and by which operation, it was first read. */
  readonly readOffset: Doubles;
  readonly readBy: Ints;
  /** 1 when a reader read it that began after settling. */
  readonly readFinally: Ints;
  /** Offset in the final leader's log; filled in when the logs are read. */
  readonly finalOffset: Doubles;
}

/** A value seen at another offset than the first one. */
export interface ExtraOffset {
  readonly row: number;
  readonly offset: number;
  /** Operation that saw it; −1 when it was seen in a log. */
  readonly index: number;
}

/** An offset at which more than one value was seen, with the operation that first saw each. */
export interface OffsetConflict {
  readonly key: number;
  readonly offset: number;
  readonly sightings: { readonly row: number; readonly index: number }[];
}

/** A value at more offsets than this is as wrong as it can be: no more are kept. */
const maxExtraOffsets = 100;

/** An offset with more values than this is as wrong as it can be: no more are kept. */
const maxSightings = 100;

export class ValueRows {
  readonly keys: Key[] = [];
  readonly columns: ValueColumns = {
    key: new Ints(),
    outcome: new Ints(outcome.unsent),
    acks: new Ints(acksAll),
    offset: new Doubles(-1),
    invoked: new Ints(-1),
    completed: new Ints(-1),
    process: new Ints(-1),
    correlation: new Doubles(-1),
    floor: new Ints(-1),
    readOffset: new Doubles(-1),
    readBy: new Ints(-1),
    readFinally: new Ints(),
    finalOffset: new Doubles(-1),
  };
  /** By row: the offsets beyond the first. */
  readonly extraOffsets = new Map<number, ExtraOffset[]>();
  readonly conflicts = new Map<string, OffsetConflict>();

  readonly #keyIds = new Map<Key, number>();
  /** Values of each row: numbers in a column, the others by row. */
  readonly #numbers = new Doubles();
  readonly #texts = new Map<number, string>();
  readonly #rowsByNumber: NumberTable[] = [];
  readonly #rowsByText: Map<string, number>[] = [];
  /** Of each key: the row that was first seen at an offset, and when the highest offset known so far became known. */
  readonly #rowsByOffset: NumberTable[] = [];
  readonly #highest: { readonly offset: Doubles; readonly time: Doubles }[] = [];

  get count(): number {
    return this.columns.key.length;
  }

  keyId(key: Key): number {
    let id = this.#keyIds.get(key);
    if (id === undefined) {
      id = this.keys.push(key) - 1;
      this.#keyIds.set(key, id);
      this.#rowsByNumber.push(new NumberTable());
      this.#rowsByText.push(new Map());
      this.#rowsByOffset.push(new NumberTable());
      this.#highest.push({ offset: new Doubles(), time: new Doubles() });
    }
    return id;
  }

  valueOf(row: number): Value {
    return this.#texts.get(row) ?? this.#numbers.get(row);
  }

  /** The row of a value, or −1 if neither a send nor a poll ever named it. */
  findRow(key: number, value: Value): number {
    const canonical = canonicalValue(value);
    if (typeof canonical === 'number') return this.#rowsByNumber[key]?.get(canonical) ?? -1;
    return this.#rowsByText[key]?.get(canonical) ?? -1;
  }

  /** The row of a value, a new one if it is the first that is heard of it. */
  rowOf(key: number, given: Value): number {
    const value = canonicalValue(given);
    const table = this.#rowsByNumber[key] as NumberTable;
    const texts = this.#rowsByText[key] as Map<string, number>;
    const found = typeof value === 'number' ? table.get(value) : (texts.get(value) ?? -1);
    if (found !== -1) return found;
    const row = this.#addRow(key);
    if (typeof value === 'number') {
      this.#numbers.push(value);
      table.set(value, row);
    } else {
      this.#numbers.push(Number.NaN);
      this.#texts.set(row, value);
      texts.set(value, row);
    }
    return row;
  }

  /** A poll, completed by the operation `index` at `time`, gave `row` at `offset`. */
  readAt(row: number, offset: number, index: number, time: number): void {
    const { readOffset, readBy, key } = this.columns;
    const first = readOffset.get(row);
    if (first === -1) {
      readOffset.set(row, offset);
      readBy.set(row, index);
      this.sawAt(key.get(row), offset, row, index, time);
    } else if (first !== offset) this.#addExtra(row, offset, index, time);
  }

  /** An acknowledgement or a read puts `row` at `offset`: the first such row owns it, any other is a conflict. */
  sawAt(key: number, offset: number, row: number, index: number, time: number): void {
    const table = this.#rowsByOffset[key] as NumberTable;
    const owner = table.get(offset);
    if (owner === -1) {
      table.set(offset, row);
      this.#noteHighest(key, offset, time);
      return;
    }
    if (owner === row) return;
    const name = `${key}:${offset}`;
    let conflict = this.conflicts.get(name);
    if (conflict === undefined) {
      conflict = { key, offset, sightings: [{ row: owner, index: this.#firstSighting(owner, offset) }] };
      this.conflicts.set(name, conflict);
    }
    const { sightings } = conflict;
    if (sightings.length === maxSightings || sightings.some((sighting) => sighting.row === row)) return;
    sightings.push({ row, index });
  }

  /** Notes that `row` stands at `offset` in the final leader's log. */
  sawInFinalLog(row: number, offset: number): void {
    const { finalOffset } = this.columns;
    if (finalOffset.get(row) === -1) finalOffset.set(row, offset);
    else this.#addExtra(row, offset, -1, 0);
  }

  /** The row first seen at an offset, by an acknowledgement under acks=all or a poll; −1 for none. */
  ownerOf(key: number, offset: number): number {
    return this.#rowsByOffset[key]?.get(offset) ?? -1;
  }

  /** All offsets of a key that {@link ownerOf} knows, ascending. */
  knownOffsets(key: number): Float64Array {
    return (this.#rowsByOffset[key] as NumberTable).keys().sort();
  }

  /** When it was first known that the key reaches beyond `offset`; Infinity for never. */
  knownBeyondAt(key: number, offset: number): number {
    const highest = this.#highest[key];
    if (highest === undefined) return Number.POSITIVE_INFINITY;
    let low = 0;
    let high = highest.offset.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (highest.offset.get(middle) <= offset) low = middle + 1;
      else high = middle;
    }
    return low < highest.offset.length ? highest.time.get(low) : Number.POSITIVE_INFINITY;
  }

  #noteHighest(key: number, offset: number, time: number): void {
    const highest = this.#highest[key] as { readonly offset: Doubles; readonly time: Doubles };
    const { length } = highest.offset;
    if (length > 0 && highest.offset.get(length - 1) >= offset) return;
    highest.offset.push(offset);
    highest.time.push(time);
  }

  /** The operation that first saw the owner of an offset there; −1 where it was seen at too many to keep. */
  #firstSighting(owner: number, offset: number): number {
    const { columns } = this;
    const acknowledged = columns.offset.get(owner) === offset ? columns.completed.get(owner) : -1;
    const read = columns.readOffset.get(owner) === offset ? columns.readBy.get(owner) : -1;
    const extras = (this.extraOffsets.get(owner) ?? []).filter((extra) => extra.offset === offset);
    const seen = [acknowledged, read, ...extras.map(({ index }) => index)].filter((index) => index !== -1);
    return seen.length === 0 ? -1 : Math.min(...seen);
  }

  #addExtra(row: number, offset: number, index: number, time: number): void {
    const extras = this.extraOffsets.get(row) ?? [];
    const inLog = index === -1;
    if (extras.some((extra) => extra.offset === offset && (extra.index === -1) === inLog)) return;
    if (extras.length < maxExtraOffsets) this.extraOffsets.set(row, [...extras, { row, offset, index }]);
    if (!inLog) this.sawAt(this.columns.key.get(row), offset, row, index, time);
  }

  #addRow(key: number): number {
    const { columns } = this;
    columns.outcome.add();
    columns.acks.add();
    columns.offset.add();
    columns.invoked.add();
    columns.completed.add();
    columns.process.add();
    columns.correlation.add();
    columns.floor.add();
    columns.readOffset.add();
    columns.readBy.add();
    columns.readFinally.add();
    columns.finalOffset.add();
    return columns.key.push(key);
  }
}
