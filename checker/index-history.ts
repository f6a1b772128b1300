/**
 * One pass over a history: who sent what, what was acknowledged and read, and where each process reads.
 *
 * What operations say is handed to three parts that each keep one thing: {@link ValueRows} what stands where,
 * {@link Readers} how readers go on, {@link Transactions} what belongs together. Here it is decided what an operation
 * means, and whether it fits the one that its process invoked.
 *
 * Invariants: a poll of any outcome proves that its records were there; a send counts as acknowledged only by its `ok`.
 * An operation that nobody here understands changes nothing and is counted by its name.
 */
import type { FaultRecord, Key, MicroOp, Operation, Value } from './history.ts';
import {
  correlationOf,
  faultOf,
  keyOf,
  readPair,
  readSend,
  rebalancedKeys,
  seeksOf,
  type SendReading,
} from './micro-operations.ts';
import { Readers } from './readers.ts';
import { Transactions } from './transactions.ts';
import { acksAll, outcome, ValueRows, type ExtraOffset, type OffsetConflict, type ValueColumns } from './value-rows.ts';

export { acksAll, outcome, type OffsetConflict } from './value-rows.ts';

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
}

/** Everything the checker remembers of a history. */
export class HistoryIndex {
  readonly rows = new ValueRows();
  readonly readers = new Readers(this.rows);
  readonly transactions = new Transactions();
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
  /** Some send was acknowledged under acks=all. */
  acknowledgedUnderAll = false;

  readonly #options: IndexOptions;
  readonly #open = new Map<number, OpenOperation>();
  /** Of each key: the row acknowledged under acks=all with the highest offset so far. */
  readonly #highestAcked: number[] = [];

  constructor(options: IndexOptions) {
    this.#options = options;
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
    for (const { isOpen, rows } of this.#open.values()) if (isOpen && rows.length > 1) this.#noteSeveral('info', rows);
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
    return this.#invokeSends(operation, process, open) ?? early;
  }

  #invokeSends(operation: Operation, process: number, open: OpenOperation): string | null {
    if (operation.f === 'send') this.counts.sends += 1;
    if (!Array.isArray(operation.value)) return `a ${operation.f} needs a list of micro-operations`;
    let flaw: string | null = null;
    for (const micro of operation.value as readonly MicroOp[]) {
      if (operation.f === 'txn' && isPoll(micro)) continue;
      const send = readSend(micro);
      if (typeof send === 'string') flaw = send;
      else flaw = this.#invokeSend(operation, process, open, send) ?? flaw;
    }
    return flaw;
  }

  #invokeSend(operation: Operation, process: number, open: OpenOperation, send: SendReading): string | null {
    const key = this.keyId(send.key);
    const row = this.rows.rowOf(key, send.value);
    const { values } = this;
    if (values.outcome.get(row) !== outcome.unsent)
      return `the value ${String(send.value)} is sent twice to ${send.key}: values must be unique per key`;
    if (operation.f === 'txn') this.counts.sends += 1;
    if (values.readBy.get(row) !== -1) this.transactions.earlyReads.push(row);
    values.outcome.set(row, outcome.open);
    values.acks.set(row, acksNumber(operation.acks ?? this.#options.acks));
    values.invoked.set(row, operation.index);
    values.process.set(row, process);
    values.floor.set(row, this.#highestAcked[key] ?? -1);
    open.rows.push(row);
    return null;
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
        flaw = this.#completeSends(operation, type, open) ?? flaw;
        break;
      case 'poll':
        flaw = this.#completePolls(operation, process, type, open) ?? flaw;
        break;
      case 'txn':
        flaw = this.#completeSends(operation, type, open) ?? flaw;
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
    const { f, value } = operation;
    if (open.f !== f) return `process ${process} completes a ${f}, and had invoked a ${open.f}`;
    if ((f !== 'send' && f !== 'txn') || value === null || value === undefined) return null;
    if (!Array.isArray(value)) return `a ${f} needs a list of micro-operations`;
    for (const micro of value as readonly MicroOp[]) {
      const send = readSend(micro);
      if (typeof send === 'string') continue;
      if (this.#rowOfSend(open, send) === -1)
        return `the completion names ${String(send.value)} of ${send.key}, which its invocation does not`;
    }
    return null;
  }

  /** The row of a send that the open operation invoked; −1 if it invoked no such one. */
  #rowOfSend({ index, rows }: OpenOperation, { key, value }: SendReading): number {
    const only = rows.length === 1 ? (rows[0] as number) : -1;
    if (only !== -1 && this.valueOf(only) === value && this.keyName(this.values.key.get(only)) === key) return only;
    const row = this.findRow(this.keyId(key), value);
    return row !== -1 && this.values.invoked.get(row) === index ? row : -1;
  }

  #openOf(process: number): OpenOperation {
    let open = this.#open.get(process);
    if (open === undefined) {
      open = { isOpen: false, f: '', index: -1, time: 0, rows: [], seeks: false, final: false };
      this.#open.set(process, open);
    }
    return open;
  }

  #completeSends(operation: Operation, type: 'ok' | 'fail' | 'info', open: OpenOperation | undefined): string | null {
    const rows = open?.rows ?? [];
    const count = operation.f === 'send' ? 1 : rows.length;
    this.counts[type === 'ok' ? 'sendsOk' : type === 'fail' ? 'sendsFail' : 'sendsInfo'] += count;
    const { values } = this;
    const correlation = correlationOf(operation.msg);
    for (const row of rows) {
      values.outcome.set(row, outcome[type]);
      values.completed.set(row, operation.index);
      values.correlation.set(row, correlation);
      if (type === 'ok' && values.acks.get(row) === acksAll) this.acknowledgedUnderAll = true;
    }
    if (type !== 'fail' && rows.length > 1) this.#noteSeveral(type, rows);
    if (!Array.isArray(operation.value) || type === 'fail') return null;
    let flaw: string | null = null;
    for (const micro of operation.value as readonly MicroOp[]) {
      if (operation.f === 'txn' && isPoll(micro)) continue;
      const send = readSend(micro);
      if (typeof send === 'string') {
        flaw = send;
        continue;
      }
      const row = send.offset === -1 || open === undefined ? -1 : this.#rowOfSend(open, send);
      if (row === -1) continue;
      values.offset.set(row, send.offset);
      if (type === 'ok' && values.acks.get(row) === acksAll) this.#acknowledged(row, operation);
    }
    return flaw;
  }

  #acknowledged(row: number, operation: Operation): void {
    const { values } = this;
    const key = values.key.get(row);
    const offset = values.offset.get(row);
    this.rows.sawAt(key, offset, row, operation.index, operation.time);
    const highest = this.#highestAcked[key];
    if (highest === undefined || values.offset.get(highest) < offset) this.#highestAcked[key] = row;
  }

  /** Sends of one operation to one key follow each other; an indefinite one counts as a whole or not at all. */
  #noteSeveral(type: 'ok' | 'info', rows: readonly number[]): void {
    const last = new Map<number, number>();
    for (const row of rows) {
      const key = this.values.key.get(row);
      const before = last.get(key);
      last.set(key, row);
      if (before === undefined) continue;
      this.transactions.sendPairs.push(before);
      this.transactions.sendPairs.push(row);
    }
    if (type === 'info') this.transactions.indefinite.push(rows);
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
interface OpenOperation {
  isOpen: boolean;
  f: string;
  index: number;
  time: number;
  rows: number[];
  seeks: boolean;
  final: boolean;
}

function isPoll(micro: unknown): micro is readonly unknown[] {
  return Array.isArray(micro) && micro[0] === 'poll';
}

function acksNumber(acks: 'all' | 0 | 1): number {
  return acks === 'all' ? acksAll : acks;
}
