/**
 * What became of each send: who asked for what, how it ended, and where its record was said to stand.
 *
 * A send is a row of {@link ValueRows} from its invocation on; its completion must name the same value of the same key.
 * Several sends of one operation belong together: they follow each other where they go to one key, and an operation
 * whose end nobody knows counts as a whole or not at all ({@link Transactions}).
 *
 * Invariants: a value is sent once per key; a send counts as acknowledged only by its `ok`, and owns its offset only then
 * and under acks=all. What is read is told to `readers.ts`.
 */
import type { MicroOp, Operation } from './history.ts';
import { correlationOf, isPoll, readSend, type SendReading } from './micro-operations.ts';
import type { Transactions } from './transactions.ts';
import { acksAll, outcome, type ValueRows } from './value-rows.ts';

export interface SendCounts {
  sends: number;
  sendsOk: number;
  sendsFail: number;
  sendsInfo: number;
}

/** The sends of the operation that a process has under way. */
export interface OpenSends {
  /** Of the invocation. */
  readonly index: number;
  readonly rows: number[];
}

export class Sends {
  /** Some send was acknowledged under acks=all. */
  acknowledgedUnderAll = false;

  readonly #rows: ValueRows;
  readonly #transactions: Transactions;
  readonly #counts: SendCounts;
  /** For sends that do not say. */
  readonly #acks: 'all' | 0 | 1;
  /** Of each key: the row acknowledged under acks=all with the highest offset so far. */
  readonly #highestAcked: number[] = [];

  constructor(rows: ValueRows, transactions: Transactions, counts: SendCounts, acks: 'all' | 0 | 1) {
    this.#rows = rows;
    this.#transactions = transactions;
    this.#counts = counts;
    this.#acks = acks;
  }

  /** Takes what an operation asks to send; answers with what is malformed in it. */
  invoke(operation: Operation, process: number, open: OpenSends): string | null {
    if (operation.f === 'send') this.#counts.sends += 1;
    if (!Array.isArray(operation.value)) return `a ${operation.f} needs a list of micro-operations`;
    let flaw: string | null = null;
    for (const micro of operation.value as readonly MicroOp[]) {
      if (operation.f === 'txn' && isPoll(micro)) continue;
      const send = readSend(micro);
      if (typeof send === 'string') flaw = send;
      else flaw = this.#invokeOne(operation, process, open, send) ?? flaw;
    }
    return flaw;
  }

  /** Why a completion cannot be that of the sends under way, or null. */
  misfit({ f, value }: Operation, open: OpenSends): string | null {
    if (value === null || value === undefined) return null;
    if (!Array.isArray(value)) return `a ${f} needs a list of micro-operations`;
    for (const micro of value as readonly MicroOp[]) {
      const send = readSend(micro);
      if (typeof send === 'string') continue;
      if (this.#rowOf(open, send) === -1)
        return `the completion names ${String(send.value)} of ${send.key}, which its invocation does not`;
    }
    return null;
  }

  /** Takes how an operation ended, and where its records stand; answers with what is malformed in it. */
  complete(operation: Operation, type: 'ok' | 'fail' | 'info', open: OpenSends | undefined): string | null {
    const rows = open?.rows ?? [];
    const count = operation.f === 'send' ? 1 : rows.length;
    this.#counts[type === 'ok' ? 'sendsOk' : type === 'fail' ? 'sendsFail' : 'sendsInfo'] += count;
    const values = this.#rows.columns;
    const correlation = correlationOf(operation.msg);
    for (const row of rows) {
      values.outcome.set(row, outcome[type]);
      values.completed.set(row, operation.index);
      values.correlation.set(row, correlation);
      if (type === 'ok' && values.acks.get(row) === acksAll) this.acknowledgedUnderAll = true;
    }
    if (type !== 'fail' && rows.length > 1) this.noteSeveral(type, rows);
    if (!Array.isArray(operation.value) || type === 'fail') return null;
    let flaw: string | null = null;
    for (const micro of operation.value as readonly MicroOp[]) {
      if (operation.f === 'txn' && isPoll(micro)) continue;
      const send = readSend(micro);
      if (typeof send === 'string') {
        flaw = send;
        continue;
      }
      const row = send.offset === -1 || open === undefined ? -1 : this.#rowOf(open, send);
      if (row === -1) continue;
      values.offset.set(row, send.offset);
      if (type === 'ok' && values.acks.get(row) === acksAll) this.#acknowledged(row, operation);
    }
    return flaw;
  }

  /** Sends of one operation to one key follow each other; an indefinite one counts as a whole or not at all. */
  noteSeveral(type: 'ok' | 'info', rows: readonly number[]): void {
    const last = new Map<number, number>();
    for (const row of rows) {
      const key = this.#rows.columns.key.get(row);
      const before = last.get(key);
      last.set(key, row);
      if (before === undefined) continue;
      this.#transactions.sendPairs.push(before);
      this.#transactions.sendPairs.push(row);
    }
    if (type === 'info') this.#transactions.indefinite.push(rows);
  }

  #invokeOne(operation: Operation, process: number, open: OpenSends, send: SendReading): string | null {
    const key = this.#rows.keyId(send.key);
    const row = this.#rows.rowOf(key, send.value);
    const values = this.#rows.columns;
    if (values.outcome.get(row) !== outcome.unsent)
      return `the value ${String(send.value)} is sent twice to ${send.key}: values must be unique per key`;
    if (operation.f === 'txn') this.#counts.sends += 1;
    if (values.readBy.get(row) !== -1) this.#transactions.earlyReads.push(row);
    values.outcome.set(row, outcome.open);
    values.acks.set(row, acksNumber(operation.acks ?? this.#acks));
    values.invoked.set(row, operation.index);
    values.process.set(row, process);
    values.floor.set(row, this.#highestAcked[key] ?? -1);
    open.rows.push(row);
    return null;
  }

  /** The row of a send that the open operation invoked; −1 if it invoked no such one. */
  #rowOf({ index, rows }: OpenSends, { key, value }: SendReading): number {
    const { columns, keys } = this.#rows;
    const only = rows.length === 1 ? (rows[0] as number) : -1;
    if (only !== -1 && this.#rows.valueOf(only) === value && keys[columns.key.get(only)] === key) return only;
    const row = this.#rows.findRow(this.#rows.keyId(key), value);
    return row !== -1 && columns.invoked.get(row) === index ? row : -1;
  }

  #acknowledged(row: number, operation: Operation): void {
    const values = this.#rows.columns;
    const key = values.key.get(row);
    const offset = values.offset.get(row);
    this.#rows.sawAt(key, offset, row, operation.index, operation.time);
    const highest = this.#highestAcked[key];
    if (highest === undefined || values.offset.get(highest) < offset) this.#highestAcked[key] = row;
  }
}

function acksNumber(acks: 'all' | 0 | 1): number {
  return acks === 'all' ? acksAll : acks;
}
