/**
 * Anomalies by intention: a few operations behind a random history, by processes of their own, at places of their own,
 * that show a kind or miss it by one condition. So every kind is in a tenth of the histories, and nearly in another tenth.
 */
import type { Operation } from '../../../checker/history.ts';
import type { Draws } from './random.ts';

/** Of each kind: how to plant it, and how to miss it narrowly. */
export type Plants = Readonly<Record<string, readonly [present: (plot: Plot) => void, near: (plot: Plot) => void]>>;

/** Up to two kinds are planted, present or nearly. */
export function withPlants(draws: Draws, history: Operation[], plants: Plants): Operation[] {
  const kinds = Object.keys(plants);
  for (let count = 0; count < 2; count += 1) {
    if (draws.chance(0.1)) continue;
    const pair = plants[draws.pick(kinds)];
    pair?.[draws.below(2)]?.(new Plot(history, count));
  }
  return history;
}

type Records = readonly (readonly [offset: number, value: number])[];
type Type = 'ok' | 'fail' | 'info';

const key = 'a-0';

/** Processes, values and offsets count from what no random history reaches. */
export class Plot {
  readonly #history: Operation[];
  readonly #place: number;

  constructor(history: Operation[], count: number) {
    this.#history = history;
    this.#place = 40 + 10 * count;
  }

  /** One send, acknowledged at an offset. */
  send(process: number, value: number, offset: number | null, type: Type = 'ok', acks: 'all' | 1 = 'all'): void {
    this.sends(process, [[value, offset]], type, acks);
  }

  sends(
    process: number,
    all: readonly (readonly [number, number | null])[],
    type: Type = 'ok',
    acks: 'all' | 1 = 'all',
  ): void {
    this.begin(
      process,
      'send',
      all.map(([value]) => ['send', key, value + this.#place]),
      { acks },
    );
    this.end(
      process,
      'send',
      all.map((each) => this.#sent(...each)),
      type,
    );
  }

  invokeSend(process: number, value: number): void {
    this.begin(process, 'send', [['send', key, value + this.#place]], { acks: 'all' });
  }

  completeSend(process: number, value: number, offset: number): void {
    this.end(process, 'send', [this.#sent(value, offset)], 'ok');
  }

  poll(process: number, records: Records, type: Type = 'ok', extra: object = {}): void {
    this.begin(process, 'poll', [['poll']], 'final' in extra ? extra : {});
    this.end(process, 'poll', [this.#polled(records)], type, 'final' in extra ? {} : extra);
  }

  polls(process: number, ...all: readonly Records[]): void {
    this.begin(
      process,
      'poll',
      all.map(() => ['poll']),
    );
    this.end(
      process,
      'poll',
      all.map((records) => this.#polled(records)),
      'ok',
    );
  }

  assign(process: number, f: 'assign' | 'subscribe', extra: object = {}): void {
    this.begin(process, f, [key], extra);
    this.end(process, f, [key], 'ok');
  }

  /** Sends, and reads, of one transaction; opened and closed apart. */
  invokeTransaction(process: number, sends: readonly number[], polls: number): void {
    const micros = [
      ...sends.map((value) => ['send', key, value + this.#place]),
      ...Array.from({ length: polls }, () => ['poll']),
    ];
    this.begin(process, 'txn', micros, { acks: 'all' });
  }

  completeTransaction(process: number, sends: Records, reads: readonly Records[], type: Type = 'ok'): void {
    const micros = [
      ...sends.map(([offset, value]) => this.#sent(value, offset)),
      ...reads.map((each) => this.#polled(each)),
    ];
    this.end(process, 'txn', micros, type);
  }

  begin(process: number, f: string, value: unknown, extra: object = {}): void {
    this.#add({ process: this.#process(process), type: 'invoke', f, value, ...extra });
  }

  end(process: number, f: string, value: unknown, type: Type, extra: object = {}): void {
    const error = type === 'ok' ? {} : { error: 'timeout' };
    this.#add({ process: this.#process(process), type, f, value, ...extra, ...error });
  }

  #sent(value: number, offset: number | null): unknown[] {
    return ['send', key, [offset === null ? null : offset + this.#place, value + this.#place]];
  }

  #polled(records: Records): unknown[] {
    if (records.length === 0) return ['poll', {}];
    return ['poll', { [key]: records.map(([offset, value]) => [offset + this.#place, value + this.#place]) }];
  }

  #process(process: number): number {
    return 1000 + 10 * this.#place + process;
  }

  #add(fields: object): void {
    const index = this.#history.length;
    this.#history.push({ index, time: index, ...fields } as unknown as Operation);
  }
}
