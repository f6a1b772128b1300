/**
 * Lines of a history, as texts or bytes, to operations; a history that never was text is taken as the operations that it
 * is made of.
 *
 * The recorder writes as it goes, so a harness that was killed leaves a last line without its end: that one is dropped
 * and told. A line that cannot be read anywhere else is *malformed*: it is named by its number, and the verdict cannot
 * be better than unknown, since nobody knows what it said.
 *
 * Keys and values of others may be ids of 64 bits. A number that `JSON.parse` would round stays the text of its digits, as
 * in EDN, so that two ids never become one.
 *
 * Invariant: no input makes this throw, and at most {@link maxNamed} bad lines are kept, however many there are.
 */
import { HistoryLineReader } from './history-line.ts';
import type { Operation } from './history.ts';

/** A line, or a part of one, that says nothing usable. */
export interface Malformation {
  /** Counted from 1. */
  readonly line: number;
  readonly detail: string;
}

/** Something in the place of an operation that its own reader could not read. */
export interface Unreadable {
  readonly unreadable: string;
  /** Counted from 1. */
  readonly line: number;
}

/** A line of JSON where it lies, in UTF-8 and without its end. It may change once it has been looked at. */
export interface ByteLine {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

export type HistoryLine = string | ByteLine | Operation | Unreadable;

/** Lines of JSON, or operations; where these come from text, `line` tells at which line the last one stood. */
export interface HistorySource extends Iterable<HistoryLine> {
  readonly line?: number;
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
  lines: HistorySource,
  malformed: Malformations,
  visit: (operation: Operation, line: number) => string | null,
): HistoryReading {
  let line = 0;
  /** `index` counts the lines from 0: anything else means that some are missing, stand twice or have changed places. */
  let nextIndex = 0;
  /** The last index that came in its place; what is not above it has been read. One number that is wrong moves nothing. */
  let reached = -1;
  // A bad line is held back until the next one comes: only then is it known not to be the torn end.
  let held: Malformation | null = null;
  const reader = new HistoryLineReader();
  for (const text of lines) {
    line += 1;
    const place = lines.line ?? line;
    if (held !== null) {
      malformed.add(held.line, held.detail);
      held = null;
    }
    if (isEmptyLine(text)) continue;
    const expected = nextIndex;
    nextIndex += 1;
    // Nearly all lines are of our own recorder, and what its reader understands is an operation.
    let operation = typeof text !== 'string' && isByteLine(text) ? reader.read(text.bytes, text.start, text.end) : null;
    if (operation === null) {
      const parsed = parsedLine(text);
      if (parsed === notJson) {
        held = { line: place, detail: 'not JSON' };
        continue;
      }
      if (isUnreadable(parsed)) {
        held = { line: parsed.line, detail: parsed.unreadable };
        continue;
      }
      operation = isOperation(parsed) ? parsed : completed(parsed, expected);
    }
    if (operation === null) {
      malformed.add(place, 'not an operation: it needs index, time, process, type and f');
      continue;
    }
    const { index } = operation;
    if (index <= reached) {
      // Read again it would be a reader that goes back, or a value that was sent twice: nobody did that.
      nextIndex = expected;
      malformed.add(place, `its index is ${index}, and there was one before: it stands twice, or out of place`);
      continue;
    }
    if (index === expected) reached = index;
    nextIndex = index + 1;
    const gap = index === expected ? null : `its index is ${index}, not ${expected}: lines are missing or out of place`;
    const flaw = visit(operation, place) ?? gap;
    if (flaw !== null) malformed.add(place, flaw);
  }
  return { lines: line, torn: held !== null };
}

/** Nothing stands in it. */
export function isEmptyLine(line: HistoryLine): boolean {
  if (typeof line === 'string') return line === '' || line === '\r';
  if (!isByteLine(line)) return false;
  const { bytes, start, end } = line;
  return start === end || (end - start === 1 && bytes[start] === 0x0d);
}

/** Only the fields that every operation has; micro-operations are looked at by the index. */
function isOperation(value: unknown): value is Operation {
  if (typeof value !== 'object' || value === null) return false;
  const { index, time, process, type, f } = value as Partial<Record<keyof Operation, unknown>>;
  return (
    Number.isSafeInteger(index) &&
    Number.isFinite(time) &&
    (process === 'nemesis' || Number.isSafeInteger(process)) &&
    (type === 'invoke' || type === 'ok' || type === 'fail' || type === 'info') &&
    typeof f === 'string'
  );
}

const notJson = Symbol('not JSON');

function parsedLine(line: HistoryLine): unknown {
  if (typeof line !== 'string' && !isByteLine(line)) return line;
  try {
    const text = typeof line === 'string' ? line : textOf(line);
    return mayBeRounded.test(text) ? JSON.parse(text, exactly) : JSON.parse(text);
  } catch {
    return notJson;
  }
}

/**
 * More digits than are always exact, or an exponent that may be too large: in a line or in a number. The digits are spelt
 * out, since an engine that counts them takes four times as long, for every line.
 */
const mayBeRounded = new RegExp(`${'[\\d.]'.repeat(16)}|\\d[eE][+-]?\\d{3}`);

/** A moment judges nothing: it may be rounded, and has to be a number. */
function exactly(name: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== 'number' || source === undefined || name === 'time' || !mayBeRounded.test(source)) return value;
  const isExact = digitsOf(String(value)) === digitsOf(source);
  return isExact && (Number.isSafeInteger(value) || !Number.isInteger(value)) ? value : source;
}

/** However it is written: `1.50e3` and `1500` have the digits 15. */
function digitsOf(number: string): string {
  return number.replace(/[eE].*|[-.]/g, '').replace(/^0+|0+$/g, '');
}

function textOf({ bytes, start, end }: ByteLine): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(start, end));
}

/** A field of that name alone proves nothing: histories of others have fields of any name. */
function isByteLine(line: ByteLine | Operation | Unreadable): line is ByteLine {
  return 'bytes' in line && line.bytes instanceof Uint8Array;
}

function isUnreadable(value: unknown): value is Unreadable {
  return typeof value === 'object' && value !== null && 'unreadable' in value && 'line' in value;
}

/** Exports of other testers may leave `index` out, since lines count themselves, and `time`, which judges nothing. */
function completed(value: unknown, index: number): Operation | null {
  if (typeof value !== 'object' || value === null) return null;
  const { index: given, time } = value as Partial<Record<keyof Operation, unknown>>;
  const whole = { ...value, index: given ?? index, time: time ?? 0 };
  return isOperation(whole) ? whole : null;
}
