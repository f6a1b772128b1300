/**
 * One pass over a history: who sent what, what was acknowledged and read, and where each process reads.
 *
 * What operations say is handed to four parts that each keep one thing: {@link ValueRows} what stands where,
 * {@link Sends} what became of what was sent, {@link Readers} how readers go on, {@link Transactions} what belongs
 * together. Here it is decided what an operation means, and whether it fits the one that its process invoked.
 *
 * Invariants: a poll of any outcome proves that its records were there. An operation that nobody here understands changes
 * nothing and is counted by its name.
 */
import type { FaultRecord, Key, Operation, Value } from './history.ts';
import { faultOf, isPoll, keyOf, readPair, rebalancedKeys, seeksOf } from './micro-operations.ts';
import { Readers } from './readers.ts';
import { Sends, type OpenSends, type SendCounts } from './sends.ts';
import { Transactions } from './transactions.ts';
import { ValueRows, type ExtraOffset, type OffsetConflict, type ValueColumns } from './value-rows.ts';

export { acksAll, outcome, type OffsetConflict } from './value-rows.ts';

export interface FaultLine {
  readonly time: number;
  readonly kind: string;
  readonly record: FaultRecord;
}

export interface HistoryCounts extends SendCounts {
  invoked: number;
  ok: number;
  fail: number;
  info: number;
  polls: number;
  polledRecords: number;
}

export interface IndexOptions {
  /** For sends that do not say. */
  readonly acks: 'all' | 0 | 1;
}

/** Everything the checker remembers of a history. */
export class HistoryIndex {
  readonly rows = new ValueRows();
  readonly readers = new Readers(this.rows);
  readonly transactions = new Transactions();
  readonly sends: Sends;
  readonly faults: FaultLine[] = [];
  /** Operations that are not understood, by their name. */
  readonly unknown = new Map<string, number>();
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
  /** When the last operation that was added is noted to be; 0 where there is none. */
  lastTime = 0;

  readonly #open = new Map<number, OpenOperation>();

  constructor({ acks }: IndexOptions) {
    this.sends = new Sends(this.rows, this.transactions, this.counts, acks);
  }

  get keys(): readonly Key[] {
    return this.rows.keys;
  }

  get values(): ValueColumns {
    return this.rows.columns;
  }

  get extraOffsets(): ReadonlyMap<number, readonly ExtraOffset[]> {
    return this.rows.extraOffsets;
  }

  get conflicts(): ReadonlyMap<string, OffsetConflict> {
    return this.rows.conflicts;
  }

  get rowCount(): number {
    return this.rows.count;
  }

  keyName(key: number): Key {
    return this.rows.keys[key] as Key;
  }

  keyId(key: Key): number {
    return this.rows.keyId(key);
  }

  valueOf(row: number): Value {
    return this.rows.valueOf(row);
  }

  findRow(key: number, value: Value): number {
    return this.rows.findRow(key, value);
  }

  sawInFinalLog(row: number, offset: number): void {
    this.rows.sawInFinalLog(row, offset);
  }

  /** Takes the next operation; answers with what is malformed in it. */
  add(operation: Operation): string | null {
    this.lastTime = operation.time;
    if (operation.process === 'nemesis') return this.#addFault(operation);
    if (operation.type === 'invoke') return this.#invoke(operation, operation.process);
    return this.#complete(operation, operation.process);
  }

  /** The history is over. */
  finish(): void {
    // Nobody knows what became of an operation that never completed.
    for (const { isOpen, rows } of this.#open.values())
      if (isOpen && rows.length > 1) this.sends.noteSeveral('info', rows);
    this.readers.endAll();
  }

  #addFault(operation: Operation): string | null {
    const record = faultOf(operation);
    if (typeof record === 'string') return record;
    this.faults.push({ time: operation.time, kind: operation.f, record });
    return null;
  }

  #invoke(operation: Operation, process: number): string | null {
    const open = this.#openOf(process);
    const early = open.isOpen ? `process ${process} is invoked again before its operation completed` : null;
    this.counts.invoked += 1;
    const { f, index, time } = operation;
    open.isOpen = true;
    open.f = f;
    open.index = index;
    open.time = time;
    if (open.rows.length > 0) open.rows = [];
    open.seeks = seeksOf(operation);
    open.final = operation.final === true;
    if (operation.final === true) {
      this.finalRead = true;
      if (f !== 'poll') this.readers.end(process);
      this.readers.beginFinal(process);
    }
    if (f === 'poll' || f === 'txn') this.readers.begin(process, index);
    if (f === 'txn') this.transactions.seen = true;
    if (f !== 'send' && f !== 'txn') return early;
    return this.sends.invoke(operation, process, open) ?? early;
  }

  #complete(operation: Operation, process: number): string | null {
    const last = this.#openOf(process);
    const open = last.isOpen ? last : undefined;
    last.isOpen = false;
    let flaw = this.#misfit(operation, process, open);
    // Of what is completed by a line that is not its own nobody knows what became, nor who read it after what: a line that
    // stands there twice is no reader who went back.
    if (flaw !== null) this.readers.end(process);
    const type = flaw !== null || operation.type === 'invoke' ? 'info' : operation.type;
    this.counts[type] += 1;
    if (this.transactions.seen && open !== undefined)
      this.transactions.complete(open.index, operation.index, process, type === 'ok');
    switch (operation.f) {
      case 'send':
        flaw = this.sends.complete(operation, type, open) ?? flaw;
        break;
      case 'poll':
        flaw = this.#completePolls(operation, process, type, open) ?? flaw;
        break;
      case 'txn':
        flaw = this.sends.complete(operation, type, open) ?? flaw;
        flaw = this.#completePolls(operation, process, type, open) ?? flaw;
        break;
      case 'assign':
      case 'subscribe':
        if (type === 'ok') this.#assign(operation, process, open);
        break;
      case 'crash':
      case 'debug-topic-partitions':
        break;
      default:
        this.unknown.set(operation.f, (this.unknown.get(operation.f) ?? 0) + 1);
    }
    if (type === 'info') {
      // Such a process is not used again.
      this.#open.delete(process);
      this.readers.end(process);
    }
    return flaw;
  }

  /** Why a completion cannot be that of the operation under way, or null. */
  #misfit(operation: Operation, process: number, open: OpenOperation | undefined): string | null {
    if (open === undefined) return `process ${process} completes an operation that it did not invoke`;
    const { f } = operation;
    if (open.f !== f) return `process ${process} completes a ${f}, and had invoked a ${open.f}`;
    return f === 'send' || f === 'txn' ? this.sends.misfit(operation, open) : null;
  }

  #openOf(process: number): OpenOperation {
    let open = this.#open.get(process);
    if (open === undefined) {
      open = { isOpen: false, f: '', index: -1, time: 0, rows: [], seeks: false, final: false };
      this.#open.set(process, open);
    }
    return open;
  }

  #completePolls(
    operation: Operation,
    process: number,
    type: 'ok' | 'fail' | 'info',
    open: OpenOperation | undefined,
  ): string | null {
    const { f, index, time, value, error, errors } = operation;
    if (f === 'poll') this.counts.polls += 1;
    this.readers.beginPoll({
      process,
      type,
      index,
      time,
      invokedAt: open?.time ?? time,
      clean: type === 'ok' && error === undefined,
      rebalanced: rebalancedKeys(operation, this.rows),
    });
    let flaw: string | null = null;
    if (value !== null && value !== undefined) {
      if (!Array.isArray(value)) flaw = 'a poll needs a list of micro-operations';
      else
        for (const micro of value as readonly unknown[])
          flaw = this.#completePoll(operation, micro, open?.index ?? -1) ?? flaw;
    }
    if (error === 'OFFSET_OUT_OF_RANGE' && errors === undefined) this.readers.outOfRangeEverywhere(process);
    for (const key in errors)
      if (errors[key] === 'OFFSET_OUT_OF_RANGE') this.readers.outOfRange(process, this.keyId(key));
    return flaw;
  }

  #completePoll(operation: Operation, micro: unknown, invoked: number): string | null {
    if (operation.f === 'txn' && !isPoll(micro)) return null;
    if (!isPoll(micro)) return 'a poll holds only poll micro-operations';
    if (operation.f === 'txn') this.counts.polls += 1;
    const polled: unknown = micro[1];
    if (polled === undefined) return null;
    if (typeof polled !== 'object') return 'a poll reads an object of lists by key';
    let flaw: string | null = null;
    for (const key in polled) {
      const records = (polled as Record<string, unknown>)[key];
      if (!Array.isArray(records)) flaw = `the records of ${key} are not a list`;
      else flaw = this.#addReads(this.keyId(key), records, operation, invoked) ?? flaw;
    }
    return flaw;
  }

  #addReads(key: number, records: readonly unknown[], operation: Operation, invoked: number): string | null {
    let flaw: string | null = null;
    const { rows, readers, transactions } = this;
    const { readFinally, invoked: invocations } = rows.columns;
    const { index, time } = operation;
    for (const record of records) {
      const pair = readPair(record);
      if (typeof pair === 'string') {
        flaw = `${pair} in the records of ${this.keyName(key)}`;
        continue;
      }
      const [offset, value] = record as [number, Value];
      this.counts.polledRecords += 1;
      const row = rows.rowOf(key, value);
      rows.readAt(row, offset, index, time);
      readers.read(key, offset, row);
      if (readers.readsFinally) readFinally.set(row, 1);
      if (transactions.seen) transactions.reads.push(row);
      if (invoked !== -1 && invocations.get(row) === invoked) transactions.ownReads.push({ row, index });
    }
    return flaw;
  }

  #assign(operation: Operation, process: number, open: OpenOperation | undefined): void {
    const keys = Array.isArray(operation.value) ? operation.value.map((key) => keyOf(key)) : [];
    const ids = keys.flatMap((key) => (key === null ? [] : [this.keyId(key)]));
    const sought = open?.seeks === true || seeksOf(operation);
    this.readers.assigned(process, ids, {
      sought,
      subscribes: operation.f === 'subscribe',
      final: open?.final === true,
    });
  }
}

/** What a process does, or did last: kept from one operation to the next, since there are millions of them. */
interface OpenOperation extends OpenSends {
  isOpen: boolean;
  f: string;
  index: number;
  time: number;
  rows: number[];
  seeks: boolean;
  final: boolean;
}
