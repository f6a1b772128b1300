/**
 * Lines of a history to operations; a history that never was text is taken as the operations that it is made of.
 *
 * The recorder writes as it goes, so a harness that was killed leaves a last line without its end: that one is dropped
 * and told. A line that cannot be read anywhere else is *malformed*: it is named by its number, and the verdict cannot
 * be better than unknown, since nobody knows what it said.
 *
 * Invariant: no input makes this throw, and at most {@link maxNamed} bad lines are kept, however many there are.
 */
import type { Operation } from './history.ts';

/** A line, or a part of one, that says nothing usable. */
export interface Malformation {
  /** Counted from 1. */
  readonly line: number;
  readonly detail: string;
}

export interface HistoryReading {
  readonly lines: number;
  /** The last line broke off. */
  readonly torn: boolean;
}

/** So many malformed lines are named; the others are only counted. */
const maxNamed = 20;

/** Collects malformed lines: the first few by name, all by number. */
export class Malformations {
  readonly named: Malformation[] = [];
  count = 0;

  add(line: number, detail: string): void {
    this.count += 1;
    if (this.named.length < maxNamed) this.named.push({ line, detail });
  }
}

/** Hands every sound operation to `visit`, in order; `visit` answers with what is wrong inside of it, or null. */
export function readHistory(
  lines: Iterable<string | Operation>,
  malformed: Malformations,
  visit: (operation: Operation, line: number) => string | null,
): HistoryReading {
  let line = 0;
  /** `index` counts the lines from 0: anything else means that some are missing, stand twice or have changed places. */
  let nextIndex = 0;
  // A bad line is held back until the next one comes: only then is it known not to be the torn end.
  let held: Malformation | null = null;
  for (const text of lines) {
    line += 1;
    if (held !== null) {
      malformed.add(held.line, held.detail);
      held = null;
    }
    if (text === '' || text === '\r') continue;
    const expected = nextIndex;
    nextIndex += 1;
    let parsed: unknown;
    try {
      parsed = typeof text === 'string' ? JSON.parse(text) : text;
    } catch {
      held = { line, detail: 'not JSON' };
      continue;
    }
    if (!isOperation(parsed)) {
      malformed.add(line, 'not an operation: it needs index, time, process, type and f');
      continue;
    }
    const { index } = parsed;
    nextIndex = index + 1;
    const gap = index === expected ? null : `its index is ${index}, not ${expected}: lines are missing or out of place`;
    const flaw = visit(parsed, line) ?? gap;
    if (flaw !== null) malformed.add(line, flaw);
  }
  return { lines: line, torn: held !== null };
}

/** Only the fields that every operation has; micro-operations are looked at by the index. */
function isOperation(value: unknown): value is Operation {
  if (typeof value !== 'object' || value === null) return false;
  const { index, time, process, type, f } = value as Partial<Record<keyof Operation, unknown>>;
  return (
    Number.isSafeInteger(index) &&
    typeof time === 'number' &&
    Number.isFinite(time) &&
    (process === 'nemesis' || Number.isSafeInteger(process)) &&
    (type === 'invoke' || type === 'ok' || type === 'fail' || type === 'info') &&
    typeof f === 'string'
  );
}
