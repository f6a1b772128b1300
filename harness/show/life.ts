/**
 * The life of one record, as `tidemark show` tells it: events in the order of the run's clock, each with who, what and
 * where it stands written.
 *
 * What was seen at an offset may be several records, one after the other. A record is told by its epoch and checksum
 * until somebody says its value; {@link Names} then knows it by that.
 *
 * Bounds: each source keeps {@link eventsMax} events at most, and says how many it left out.
 */
import type { Key } from '../../checker/history.ts';
import type { Reference } from '../../checker/results.ts';

export type LifeReference = Reference | { readonly source: 'file'; readonly path: string; readonly line: number };

export interface LifeEvent {
  /** Nanoseconds on the run's clock; null for what stands after everything. */
  readonly time: number | null;
  /** `broker 2`, `controller`, `process 5`, `nemesis`. */
  readonly who: string;
  /** The name of the event in the trace or the observations, or `invoke`, `ok`, `fail`, `info`, `read`, `passed-over`, `fault`, `final-log`, `log-line`. */
  readonly event: string;
  readonly text: string;
  readonly reference: LifeReference;
}

export interface Life {
  readonly schemaVersion: 1;
  readonly type: 'record';
  readonly key: Key;
  readonly offset: number;
  /** Values that were sent to, acknowledged at, read from or found at the offset. */
  readonly values: readonly string[];
  readonly events: readonly LifeEvent[];
  /** What is missing or was left out, in words. */
  readonly notes: readonly string[];
}

/** So many events of one source are kept. */
export const eventsMax = 2000;

/** Collects the events of one source. */
export class Events {
  readonly kept: LifeEvent[] = [];
  left = 0;

  add(event: LifeEvent): void {
    if (this.kept.length < eventsMax) this.kept.push(event);
    else this.left += 1;
  }
}

/** Records by what the trace knows of them, and the values that others know. */
export class Names {
  readonly #byRecord = new Map<string, string>();

  /** The batch with this epoch and checksum holds `value` at the offset. */
  learn(epoch: number, hash: string, value: string): void {
    this.#byRecord.set(`${epoch} ${hash}`, value);
  }

  of(epoch: number, hash: string): string {
    const known = this.#byRecord.get(`${epoch} ${hash}`);
    if (known !== undefined) return known;
    // Of brokers that tell no trace no checksum is seen.
    return /^[\da-f]{8}$/.test(hash) ? `a record (checksum ${hash})` : 'a record';
  }
}

/** In the order of time; at one moment what is invoked comes first and what completes last, as causes and effects do. */
export function inOrder(events: readonly LifeEvent[]): LifeEvent[] {
  const rank = ({ event, reference }: LifeEvent): number =>
    event === 'invoke' ? 0 : reference.source === 'history' ? 2 : 1;
  return events.toSorted((one, other) => {
    if (one.time === null || other.time === null) return Number(one.time === null) - Number(other.time === null);
    return one.time - other.time || rank(one) - rank(other);
  });
}
