/**
 * What a report takes from a history: sends and polls of the partitions that it tells of, and the faults.
 *
 * As with the trace, a line that cannot be understood is left out: the checker names it.
 */
import { isNumber, isObject } from './trace-events.ts';
import { plain } from './words.ts';

/** A send that has ended, or (`open`) never did. */
export interface Sent {
  readonly key: string;
  readonly value: string;
  readonly outcome: 'ok' | 'info' | 'fail' | 'open';
  readonly offset: number | null;
  readonly process: string;
  readonly node: number | null;
  readonly time: number;
  readonly msg: string | null;
  readonly error: string | null;
}

/** What one poll got of one partition. */
export interface Polled {
  readonly key: string;
  readonly process: string;
  readonly node: number | null;
  readonly time: number;
  /** By a process that reads everything back after the cluster has settled. */
  readonly final: boolean;
  readonly records: readonly (readonly [offset: number, value: string])[];
  /** Kafka's name, where the broker answered this partition with an error. */
  readonly error: string | null;
}

export interface FaultStep {
  readonly step: string;
  /** Since the start of the fault. */
  readonly ms: number;
  /** Of waits: whether what was waited for came in time. */
  readonly came: boolean | null;
}

export interface FaultSeen {
  readonly fault: string;
  readonly kind: string;
  readonly startTime: number;
  endTime: number | null;
  readonly nodes: Readonly<Record<string, unknown>>;
  readonly roles: Readonly<Record<string, unknown>>;
  effective: boolean | null;
  evidence: readonly Readonly<Record<string, unknown>>[];
  steps: readonly FaultStep[];
}

export interface HistoryPart {
  readonly sent: readonly Sent[];
  readonly polled: readonly Polled[];
  readonly faults: readonly FaultSeen[];
  /** First line of a client, first line of the final read, last line: the phases of the run. */
  readonly loadFrom: number | null;
  readonly finalFrom: number | null;
  readonly end: number | null;
}

/** Collects from lines of one history, in their order. */
export class HistoryCollector {
  readonly #keys: ReadonlySet<string>;
  readonly #sent: Sent[] = [];
  readonly #polled: Polled[] = [];
  readonly #open = new Map<string, Sent>();
  readonly #final = new Set<string>();
  readonly #faults = new Map<string, FaultSeen>();
  #loadFrom: number | null = null;
  #finalFrom: number | null = null;
  #end: number | null = null;

  constructor(keys: readonly string[]) {
    this.#keys = new Set(keys);
  }

  add(line: unknown): void {
    if (!isObject(line) || !isNumber(line['time'])) return;
    const { time, process, type, f } = line;
    this.lastedTo(time);
    if (process === 'nemesis') {
      this.#fault(line, time);
      return;
    }
    this.#loadFrom ??= time;
    const name = plain(process);
    if (line['final'] === true) {
      this.#final.add(name);
      this.#finalFrom ??= time;
    }
    if (f === 'send') this.#send(line, time, name, type);
    else if (f === 'poll' && type !== 'invoke') this.#poll(line, time, name);
  }

  /** The run is known to have lasted at least to here. */
  lastedTo(time: number): void {
    this.#end = Math.max(this.#end ?? time, time);
  }

  part(): HistoryPart {
    return {
      sent: [...this.#sent, ...this.#open.values()],
      polled: this.#polled,
      faults: [...this.#faults.values()],
      loadFrom: this.#loadFrom,
      finalFrom: this.#finalFrom,
      end: this.#end,
    };
  }

  #send(line: Fields, time: number, process: string, type: unknown): void {
    const [micro] = listOf(line['value']);
    const [, key, what] = listOf(micro);
    if (typeof key !== 'string' || !this.#keys.has(key)) return;
    const value = Array.isArray(what) ? what[1] : what;
    const offset = Array.isArray(what) && isNumber(what[0]) ? what[0] : null;
    const sent = {
      key,
      value: plain(value),
      offset,
      process,
      time,
      node: isNumber(line['node']) ? line['node'] : null,
      msg: typeof line['msg'] === 'string' ? line['msg'] : null,
      error: typeof line['error'] === 'string' ? line['error'] : null,
    };
    if (type === 'invoke') this.#open.set(process, { ...sent, outcome: 'open' });
    else if (type === 'ok' || type === 'info' || type === 'fail') {
      this.#open.delete(process);
      this.#sent.push({ ...sent, outcome: type });
    }
  }

  #poll(line: Fields, time: number, process: string): void {
    const common = {
      process,
      time,
      node: isNumber(line['node']) ? line['node'] : null,
      final: this.#final.has(process),
    };
    const errors = isObject(line['errors']) ? line['errors'] : {};
    for (const micro of listOf(line['value'])) {
      const byKey: unknown = listOf(micro)[1];
      if (!isObject(byKey)) continue;
      for (const key of this.#keys) {
        if (!Object.hasOwn(byKey, key)) continue;
        const records = listOf(byKey[key]).flatMap((record) => {
          const [offset, value] = listOf(record);
          return isNumber(offset) ? [[offset, plain(value)] as const] : [];
        });
        if (records.length > 0) this.#polled.push({ ...common, key, records, error: null });
      }
    }
    for (const key of this.#keys) {
      const error = Object.hasOwn(errors, key) ? errors[key] : undefined;
      if (typeof error === 'string') this.#polled.push({ ...common, key, records: [], error });
    }
  }

  #fault(line: Fields, time: number): void {
    const { value } = line;
    if (!isObject(value)) return;
    const fault = plain(value['fault']);
    if (value['phase'] === 'start' || !this.#faults.has(fault)) {
      this.#faults.set(fault, {
        fault,
        kind: plain(line['f']),
        startTime: time,
        endTime: null,
        nodes: isObject(value['nodes']) ? value['nodes'] : {},
        roles: isObject(value['roles']) ? value['roles'] : {},
        effective: null,
        evidence: [],
        steps: [],
      });
    }
    if (value['phase'] !== 'end') return;
    const seen = this.#faults.get(fault);
    if (seen === undefined) return;
    seen.endTime = time;
    seen.effective = value['effective'] === true;
    seen.evidence = listOf(value['evidence']).filter(isObject);
    seen.steps = listOf(value['steps'])
      .filter(isObject)
      .map((step) => ({
        step: plain(step['step']),
        ms: typeof step['ms'] === 'number' ? step['ms'] : 0,
        came: typeof step['came'] === 'boolean' ? step['came'] : null,
      }));
  }
}

type Fields = Readonly<Record<string, unknown>>;

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
