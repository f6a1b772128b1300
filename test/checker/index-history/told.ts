/** An index that is told a history by hand. */
import type { Operation } from '../../../checker/history.ts';
import { HistoryIndex } from '../../../checker/index-history.ts';

export const key = 'a-0';

/** An index that is told operations one after the other; index n for the n-th. */
export class Told {
  readonly index: HistoryIndex;
  readonly flaws: (string | null)[] = [];
  #count = 0;

  constructor(acks: 'all' | 0 | 1 = 'all') {
    this.index = new HistoryIndex({ acks });
  }

  op(process: number | 'nemesis', type: string, f: string, value: unknown, more: object = {}): this {
    const operation = { index: this.#count, time: this.#count * 10, process, type, f, value, ...more };
    this.#count += 1;
    this.flaws.push(this.index.add(operation as unknown as Operation));
    return this;
  }

  /** Invoked and completed. */
  both(process: number, f: string, invoked: unknown, completed: unknown, type = 'ok', more: object = {}): this {
    return this.op(process, 'invoke', f, invoked, more).op(process, type, f, completed, more);
  }

  send(process: number, value: number | string, offset: number | null, type = 'ok', more: object = {}): this {
    return this.both(process, 'send', [['send', key, value]], [['send', key, [offset, value]]], type, more);
  }

  poll(
    process: number,
    records: readonly (readonly [number, number | string])[],
    type = 'ok',
    more: object = {},
  ): this {
    return this.both(process, 'poll', [['poll']], [['poll', { [key]: records }]], type, more);
  }

  get lastFlaw(): string | null {
    return this.flaws.at(-1) ?? null;
  }

  row(value: number | string, of = key): Record<string, number> {
    const { index } = this;
    const row = index.findRow(index.keyId(of), value);
    return Object.fromEntries(Object.entries(index.values).map(([name, column]) => [name, column.get(row)]));
  }

  /** Gaps that somebody passed over between two operations. */
  get gaps(): string[] {
    const { gaps } = this.index.readers;
    const rows = Array.from({ length: gaps.count }, (_, row) => row).filter((row) => gaps.between.get(row) !== -1);
    return rows.map((row) => `${gaps.after.get(row)}-${gaps.before.get(row)}`);
  }
}

export const told = (acks: 'all' | 0 | 1 = 'all'): Told => new Told(acks);
