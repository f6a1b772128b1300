/**
 * One pass over a history into columns: a row for each value of each key, and the reads reduced to what differs.
 *
 * A value that is read a thousand times at the same offset costs nothing after the first time. What is kept beside the
 * rows are the surprises: an offset with a second value, a value at a second offset, offsets that a reader passed over.
 * So memory follows the number of distinct records, not the number of operations that saw them.
 *
 * Invariant: a poll of any outcome proves that its records were there; a send counts as acknowledged only by its `ok`.
 * Left out: transactions and consumer groups.
 */
import type { FaultRecord, Key, MicroOp, Operation, Value } from './history.ts';
import { canonicalValue, correlationOf, isFaultRecord, readPair, readSend } from './micro-operations.ts';
import { Doubles, Ints, NumberTable } from './tables.ts';

/** What became of a send. `unsent`: the value was only read so far. */
export const outcome = { unsent: 0, open: 1, ok: 2, fail: 3, info: 4 } as const;

/** `acks` as a number: −1 is all. */
export const acksAll = -1;

/** Rows of values, by key and value; −1 means unknown or none, everywhere. */
export interface ValueRows {
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

/** Offsets strictly between `after` and `before` were passed over by one reader. */
export interface PassedOver {
  readonly key: number;
  readonly after: number;
  readonly before: number;
  readonly index: number;
  /** The operation with which this reader began to read. */
  readonly since: number;
  /** The reader began after settling. */
  readonly final: boolean;
}

export interface FaultLine {
  readonly time: number;
  readonly kind: string;
  readonly record: FaultRecord;
}

export interface HistoryCounts {
  invoked: number;
  ok: number;
  fail: number;
  info: number;
  sends: number;
  sendsOk: number;
  sendsFail: number;
  sendsInfo: number;
  polls: number;
  polledRecords: number;
}

export interface IndexOptions {
  /** For sends that do not say. */
  readonly acks: 'all' | 0 | 1;
  /** Keep what readers passed over: needed only where there are no final logs. */
  readonly keepPassedOver: boolean;
}

/** Everything the checker remembers of a history. */
export class HistoryIndex {
  readonly keys: Key[] = [];
  readonly values: ValueRows = {
    key: new Ints(),
    outcome: new Ints(),
    acks: new Ints(),
    offset: new Doubles(),
    invoked: new Ints(),
    completed: new Ints(),
    process: new Ints(),
    correlation: new Doubles(),
    readOffset: new Doubles(),
    readBy: new Ints(),
    readFinally: new Ints(),
    finalOffset: new Doubles(),
  };
  /** By row: the offsets beyond the first. */
  readonly extraOffsets = new Map<number, ExtraOffset[]>();
  readonly conflicts = new Map<string, OffsetConflict>();
  readonly passedOver: PassedOver[] = [];
  readonly faults: FaultLine[] = [];
  readonly counts: HistoryCounts = {
    invoked: 0,
    ok: 0,
    fail: 0,
    info: 0,
    sends: 0,
    sendsOk: 0,
    sendsFail: 0,
    sendsInfo: 0,
    polls: 0,
    polledRecords: 0,
  };
  /** Some process read everything back after settling. */
  finalRead = false;
  /** Some send was acknowledged under acks=all. */
  acknowledgedUnderAll = false;

  readonly #options: IndexOptions;
  readonly #keyIds = new Map<Key, number>();
  /** Values of each row: numbers in a column, the others by row. */
  readonly #numbers = new Doubles();
  readonly #texts = new Map<number, string>();
  readonly #rowsByNumber: NumberTable[] = [];
  readonly #rowsByText: Map<string, number>[] = [];
  /** Of each key: the row that was first seen at an offset. */
  readonly #rowsByOffset: NumberTable[] = [];
  readonly #open = new Map<number, OpenOperation>();
  readonly #readers = new Map<number, Reader>();

  constructor(options: IndexOptions) {
    this.#options = options;
  }

  get rowCount(): number {
    return this.values.key.length;
  }

  keyName(key: number): Key {
    return this.keys[key] as Key;
  }

  keyId(key: Key): number {
    let id = this.#keyIds.get(key);
    if (id === undefined) {
      id = this.keys.push(key) - 1;
      this.#keyIds.set(key, id);
      this.#rowsByNumber.push(new NumberTable());
      this.#rowsByText.push(new Map());
      this.#rowsByOffset.push(new NumberTable());
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

  /** Takes the next operation; answers with what is malformed in it. */
  add(operation: Operation): string | null {
    if (operation.process === 'nemesis') return this.#addFault(operation);
    if (operation.type === 'invoke') return this.#invoke(operation, operation.process);
    return this.#complete(operation, operation.process);
  }

  /** Notes that `row` stands at `offset` in the final leader's log. */
  sawInFinalLog(row: number, offset: number): void {
    const { finalOffset } = this.values;
    if (finalOffset.get(row) === -1) finalOffset.set(row, offset);
    else this.#addExtra(row, offset, -1);
  }

  #addFault(operation: Operation): string | null {
    const record = operation.value;
    if (!isFaultRecord(record)) return 'a nemesis line needs a value with fault and phase';
    this.faults.push({ time: operation.time, kind: operation.f, record });
    return null;
  }

  #invoke(operation: Operation, process: number): string | null {
    const early = this.#open.has(process) ? `process ${process} is invoked again before its operation completed` : null;
    this.counts.invoked += 1;
    const open: OpenOperation = { f: operation.f, index: operation.index, rows: [] };
    this.#open.set(process, open);
    if (operation.f === 'assign' || operation.f === 'subscribe' || operation.f === 'crash')
      this.#readers.delete(process);
    if (operation.final === true) {
      this.finalRead = true;
      const reader = this.#reader(process, operation.index);
      reader.final = true;
      reader.fromStart = true;
    }
    if (operation.f === 'poll') this.#reader(process, operation.index);
    if (operation.f !== 'send') return early;
    this.counts.sends += 1;
    return this.#invokeSends(operation, process, open) ?? early;
  }

  #invokeSends(operation: Operation, process: number, open: OpenOperation): string | null {
    if (!Array.isArray(operation.value)) return 'a send needs a list of micro-operations';
    let flaw: string | null = null;
    for (const micro of operation.value as readonly MicroOp[]) {
      const send = readSend(micro);
      if (typeof send === 'string') {
        flaw = send;
        continue;
      }
      const row = this.#rowOf(this.keyId(send.key), send.value);
      const { values } = this;
      if (values.outcome.get(row) !== outcome.unsent) {
        flaw = `the value ${String(send.value)} is sent twice to ${send.key}: values must be unique per key`;
        continue;
      }
      values.outcome.set(row, outcome.open);
      values.acks.set(row, acksNumber(operation.acks ?? this.#options.acks));
      values.invoked.set(row, operation.index);
      values.process.set(row, process);
      open.rows.push(row);
    }
    return flaw;
  }

  #complete(operation: Operation, process: number): string | null {
    const open = this.#open.get(process);
    this.#open.delete(process);
    let flaw = this.#misfit(operation, process, open);
    // Of what is completed by a line that is not its own nobody knows what became.
    const type = flaw !== null || operation.type === 'invoke' ? 'info' : operation.type;
    this.counts[type] += 1;
    if (operation.f === 'send') flaw = this.#completeSends(operation, type, open) ?? flaw;
    else if (operation.f === 'poll') flaw = this.#completePoll(operation, process, type) ?? flaw;
    if (type === 'info') this.#readers.delete(process);
    return flaw;
  }

  /** Why a completion cannot be that of the operation under way, or null. */
  #misfit(operation: Operation, process: number, open: OpenOperation | undefined): string | null {
    if (open === undefined) return `process ${process} completes an operation that it did not invoke`;
    const { f, value } = operation;
    if (open.f !== f) return `process ${process} completes a ${f}, and had invoked a ${open.f}`;
    if (f !== 'send' || value === null) return null;
    if (!Array.isArray(value)) return 'a send needs a list of micro-operations';
    for (const micro of value as readonly MicroOp[]) {
      const send = readSend(micro);
      if (typeof send === 'string') continue;
      const row = this.findRow(this.keyId(send.key), send.value);
      if (row === -1 || this.values.invoked.get(row) !== open.index)
        return `the completion names ${String(send.value)} of ${send.key}, which its invocation does not`;
    }
    return null;
  }

  #completeSends(operation: Operation, type: 'ok' | 'fail' | 'info', open: OpenOperation | undefined): string | null {
    this.counts[type === 'ok' ? 'sendsOk' : type === 'fail' ? 'sendsFail' : 'sendsInfo'] += 1;
    const { values } = this;
    const correlation = correlationOf(operation.msg);
    for (const row of open?.rows ?? []) {
      values.outcome.set(row, outcome[type]);
      values.completed.set(row, operation.index);
      values.correlation.set(row, correlation);
      if (type === 'ok' && values.acks.get(row) === acksAll) this.acknowledgedUnderAll = true;
    }
    if (!Array.isArray(operation.value) || type === 'fail') return null;
    let flaw: string | null = null;
    for (const micro of operation.value as readonly MicroOp[]) {
      const send = readSend(micro);
      if (typeof send === 'string') {
        flaw = send;
        continue;
      }
      const row = this.findRow(this.keyId(send.key), send.value);
      if (send.offset === -1 || row === -1 || values.invoked.get(row) !== open?.index) continue;
      values.offset.set(row, send.offset);
      if (type === 'ok' && values.acks.get(row) === acksAll) {
        this.#sawAt(values.key.get(row), send.offset, row, operation.index);
      }
    }
    return flaw;
  }

  #completePoll(operation: Operation, process: number, type: 'ok' | 'fail' | 'info'): string | null {
    this.counts.polls += 1;
    const reader = type === 'ok' && operation.error === undefined ? this.#reader(process, operation.index) : null;
    if (reader === null) this.#loseTrack(process);
    if (operation.value === null) return null;
    if (!Array.isArray(operation.value)) return 'a poll needs a list of micro-operations';
    let flaw: string | null = null;
    for (const micro of operation.value as readonly unknown[]) {
      if (!Array.isArray(micro) || micro[0] !== 'poll') {
        flaw = 'a poll holds only poll micro-operations';
        continue;
      }
      const polled: unknown = micro[1];
      if (polled === undefined || polled === null) continue;
      if (typeof polled !== 'object') {
        flaw = 'a poll reads an object of lists by key';
        continue;
      }
      for (const key in polled) {
        const records = (polled as Record<string, unknown>)[key];
        if (!Array.isArray(records)) flaw = `the records of ${key} are not a list`;
        else flaw = this.#addReads(this.keyId(key), records, operation.index, reader) ?? flaw;
      }
    }
    return flaw;
  }

  #addReads(key: number, records: readonly unknown[], index: number, reader: Reader | null): string | null {
    let flaw: string | null = null;
    let last = reader === null ? -2 : (reader.last.get(key) ?? (reader.fromStart ? -1 : -2));
    const { readOffset, readBy, readFinally } = this.values;
    for (const record of records) {
      const pair = readPair(record);
      if (typeof pair === 'string') {
        flaw = `${pair} in the records of ${this.keyName(key)}`;
        continue;
      }
      const [offset, value] = record as [number, Value];
      this.counts.polledRecords += 1;
      const row = this.#rowOf(key, value);
      if (reader?.final === true) readFinally.set(row, 1);
      const first = readOffset.get(row);
      if (first === -1) {
        readOffset.set(row, offset);
        readBy.set(row, index);
        this.#sawAt(key, offset, row, index);
      } else if (first !== offset) this.#addExtra(row, offset, index);
      if (this.#options.keepPassedOver && reader !== null && last > -2 && offset > last + 1) {
        const { since, final } = reader;
        this.passedOver.push({ key, after: last, before: offset, index, since, final });
      }
      last = offset;
    }
    if (records.length > 0) reader?.last.set(key, last);
    return flaw;
  }

  /** An acknowledgement or a read puts `row` at `offset`: the first such row owns it, any other is a conflict. */
  #sawAt(key: number, offset: number, row: number, index: number): void {
    const table = this.#rowsByOffset[key] as NumberTable;
    const owner = table.get(offset);
    if (owner === -1) {
      table.set(offset, row);
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

  #firstSighting(row: number, offset: number): number {
    const { values } = this;
    const acknowledged = values.offset.get(row) === offset ? values.completed.get(row) : -1;
    const read = values.readOffset.get(row) === offset ? values.readBy.get(row) : -1;
    if (acknowledged === -1) return read;
    return read === -1 ? acknowledged : Math.min(acknowledged, read);
  }

  #addExtra(row: number, offset: number, index: number): void {
    const extras = this.extraOffsets.get(row) ?? [];
    const inLog = index === -1;
    if (extras.some((extra) => extra.offset === offset && (extra.index === -1) === inLog)) return;
    if (extras.length < maxExtraOffsets) this.extraOffsets.set(row, [...extras, { row, offset, index }]);
    if (index !== -1) this.#sawAt(this.values.key.get(row), offset, row, index);
  }

  #rowOf(key: number, given: Value): number {
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

  #addRow(key: number): number {
    const { values } = this;
    values.outcome.push(outcome.unsent);
    values.acks.push(acksAll);
    values.offset.push(-1);
    values.invoked.push(-1);
    values.completed.push(-1);
    values.process.push(-1);
    values.correlation.push(-1);
    values.readOffset.push(-1);
    values.readBy.push(-1);
    values.readFinally.push(0);
    values.finalOffset.push(-1);
    return values.key.push(key);
  }

  /** After a failed poll a reader may go on anywhere: what it passes over from there on proves nothing. */
  #loseTrack(process: number): void {
    const reader = this.#readers.get(process);
    if (reader === undefined || reader.last.size === 0) return;
    reader.last.clear();
    reader.fromStart = false;
  }

  #reader(process: number, index: number): Reader {
    let reader = this.#readers.get(process);
    if (reader === undefined) {
      reader = { since: index, final: false, fromStart: false, last: new Map() };
      this.#readers.set(process, reader);
    }
    return reader;
  }
}

/** A value at more offsets than this is as wrong as it can be: no more are kept. */
const maxExtraOffsets = 100;

/** An offset with more values than this is as wrong as it can be: no more are kept. */
const maxSightings = 100;

interface OpenOperation {
  readonly f: string;
  readonly index: number;
  readonly rows: number[];
}

interface Reader {
  readonly since: number;
  final: boolean;
  /** It began at the start of the log, and nothing has come between. */
  fromStart: boolean;
  /** Last offset read, by key. */
  readonly last: Map<number, number>;
}

function acksNumber(acks: 'all' | 0 | 1): number {
  return acks === 'all' ? acksAll : acks;
}
