/**
 * What clients say of one offset: two passes over the history.
 *
 * The first finds the values that have to do with the offset: acknowledged there, read there, or sent by a request that
 * the trace says was written there. The second tells everything about these values, wherever it was, and who read
 * over the offset without seeing anything.
 */
import type { FaultRecord, Operation } from '../../checker/history.ts';
import { keyOf, readSend } from '../../checker/micro-operations.ts';
import { counted, plain, rolesInWords } from '../report/words.ts';
import { Events } from './life.ts';

/** Readers that saw a value, or nothing: so many of each are told one by one. */
const readersMax = 12;

/** The values at an offset, and whose requests they were. */
export class ValuesAt {
  readonly values = new Set<string>();
  /** By the name of a produce request: the value that it sent to the key, null for several. */
  readonly byMessage = new Map<string, string | null>();
  /** By value: where it was acknowledged or read, for looking up an offset. */
  readonly offsets = new Map<string, number>();
  readonly keys = new Set<string>();
  highest = -1;
  readonly #key: string;
  readonly #wanted: { readonly offset: number } | { readonly value: string };
  readonly #messages: ReadonlySet<string>;

  constructor(
    key: string,
    wanted: { readonly offset: number } | { readonly value: string },
    messages: ReadonlySet<string>,
  ) {
    this.#key = key;
    this.#wanted = wanted;
    this.#messages = messages;
  }

  take(operation: Operation): void {
    if (operation.process === 'nemesis' || operation.type === 'invoke') return;
    for (const micro of microsOf(operation)) {
      const send = readSend(micro);
      if (typeof send !== 'string') {
        this.keys.add(send.key);
        if (send.key === this.#key) this.#sent(operation, String(send.value), send.offset);
      }
      for (const [key, records] of polledIn(micro)) {
        this.keys.add(key);
        if (key === this.#key) for (const [offset, value] of records) this.#saw(String(value), offset);
      }
    }
  }

  #sent({ type, msg }: Operation, value: string, offset: number): void {
    if (offset !== -1 && type !== 'fail') this.#saw(value, offset);
    if (msg === undefined || !this.#messages.has(msg)) return;
    this.byMessage.set(msg, this.byMessage.has(msg) ? null : value);
    this.values.add(value);
  }

  #saw(value: string, offset: number): void {
    this.highest = Math.max(this.highest, offset);
    if ('offset' in this.#wanted ? offset === this.#wanted.offset : value === this.#wanted.value) {
      this.values.add(value);
      if (!this.offsets.has(value)) this.offsets.set(value, offset);
    }
  }
}

/** The second pass. */
export class HistoryLife {
  readonly events = new Events();
  readonly #key: string;
  readonly #offset: number;
  readonly #values: ReadonlySet<string>;
  readonly #counts = new Map<string, number>();
  readonly #final = new Set<number | 'nemesis'>();
  readonly #faults: Operation[] = [];

  constructor(key: string, offset: number, values: ReadonlySet<string>) {
    this.#key = key;
    this.#offset = offset;
    this.#values = values;
  }

  take(operation: Operation): void {
    const { process, type, final } = operation;
    if (process === 'nemesis') {
      this.#faults.push(operation);
      return;
    }
    if (final === true) this.#final.add(process);
    for (const micro of microsOf(operation)) {
      const send = readSend(micro);
      if (typeof send !== 'string') {
        if (send.key === this.#key && this.#values.has(String(send.value))) this.#send(operation, send);
      } else if (type !== 'invoke') {
        for (const [key, records] of polledIn(micro)) if (key === this.#key) this.#poll(operation, records);
      }
    }
  }

  /** Faults that were under way at some time between the two moments. */
  tellFaults(from: number, to: number): void {
    const ends = new Map<string, number>();
    for (const { time, value } of this.#faults)
      if (isFault(value) && value.phase === 'end') ends.set(value.fault, time);
    for (const { time, f, index, value } of this.#faults) {
      if (!isFault(value)) continue;
      const { fault, phase, nodes } = value;
      const begins = phase === 'start';
      const over = begins ? (ends.get(fault) ?? Number.POSITIVE_INFINITY) < from : time < from;
      if (over || time > to) continue;
      const text = begins ? `${fault} begins: ${f} (${rolesInWords(nodes ?? {})})` : `${fault} ends`;
      this.events.add({ time, who: 'nemesis', event: 'fault', text, reference: { source: 'history', index } });
    }
  }

  /** How many more readers there were than were told. */
  notes(): string[] {
    return [...this.#counts].flatMap(([what, count]) =>
      count > readersMax ? [`${counted(count - readersMax, 'more operation')} ${what}`] : [],
    );
  }

  #send(operation: Operation, { value, offset }: { readonly value: string | number; readonly offset: number }): void {
    const { type, error, msg, acks, node } = operation;
    const to = node === undefined ? '' : ` by broker ${node}`;
    const request = msg === undefined ? '' : ` (${msg})`;
    const why = error === undefined ? '' : `: ${error}`;
    const at = offset === -1 ? 'at an offset that is not told' : `at offset ${offset}`;
    const outcomes = {
      invoke: `sends ${value} to ${this.#key}${acks === undefined ? '' : `, acks=${acks}`}`,
      ok: `${value} is acknowledged ${at}${to}${request}`,
      fail: `${value} is refused${to}${why}${request}`,
      info: `nobody knows whether ${value} was written${offset === -1 ? '' : ` ${at}`}${why}${request}`,
    };
    this.#tell(operation, type, outcomes[type]);
  }

  #poll(operation: Operation, records: readonly (readonly [number, string | number])[]): void {
    const by = operation.node === undefined ? '' : ` from broker ${operation.node}`;
    const finally_ = this.#final.has(operation.process) ? ', reading everything back' : '';
    let before = false;
    let after = false;
    let here = false;
    for (const [offset, value] of records) {
      before ||= offset < this.#offset;
      after ||= offset > this.#offset;
      here ||= offset === this.#offset;
      if (offset !== this.#offset && !this.#values.has(String(value))) continue;
      const what = `read ${value} at offset ${offset}`;
      if (this.#few(what)) this.#tell(operation, 'read', `reads ${value} at offset ${offset}${by}${finally_}`);
    }
    const over = `read over offset ${this.#offset}`;
    if (before && after && !here && this.#few(over))
      this.#tell(operation, 'passed-over', `reads over offset ${this.#offset} and sees nothing there${by}${finally_}`);
  }

  #few(what: string): boolean {
    const count = (this.#counts.get(what) ?? 0) + 1;
    this.#counts.set(what, count);
    return count <= readersMax;
  }

  #tell({ time, process, index }: Operation, event: string, text: string): void {
    const reference = { source: 'history', index } as const;
    this.events.add({ time, who: `process ${process}`, event, text, reference });
  }
}

function isFault(value: Operation['value']): value is FaultRecord {
  return typeof value === 'object' && value !== null && 'fault' in value;
}

function microsOf({ value }: Operation): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

/** The keys and sound records of a poll's micro-operation. */
function* polledIn(micro: unknown): Generator<[string, (readonly [number, string | number])[]], void, undefined> {
  if (!Array.isArray(micro) || micro[0] !== 'poll') return;
  const polled: unknown = micro[1];
  if (typeof polled !== 'object' || polled === null) return;
  for (const [key, records] of Object.entries(polled)) {
    if (!Array.isArray(records)) continue;
    yield [
      keyOf(key) ?? key,
      records.flatMap((record: unknown) =>
        Array.isArray(record) && Number.isSafeInteger(record[0])
          ? [[record[0] as number, typeof record[1] === 'number' ? record[1] : plain(record[1])] as const]
          : [],
      ),
    ];
  }
}
