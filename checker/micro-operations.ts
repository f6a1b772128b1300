/**
 * What stands inside of an operation: sends, polled records, faults, each looked at before it is believed.
 *
 * Offsets and values that are numbers must lie within 2^53-1, since a number above may have been rounded; from text such a
 * number comes as the text of its digits, which is a value and no offset.
 */
import type { FaultRecord, Key, Operation, Value } from './history.ts';
import type { ValueRows } from './value-rows.ts';

/** `1` and `"1"` are one value: a record holds its decimal text. */
export function canonicalValue(value: Value): Value {
  if (typeof value === 'number') return value;
  if (!/^(?:0|-?[1-9][0-9]*)$/.test(value)) return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

export interface SendReading {
  readonly key: Key;
  readonly value: Value;
  /** −1 when it is not known. */
  readonly offset: number;
}

export function readSend(micro: unknown): SendReading | string {
  if (!Array.isArray(micro) || micro[0] !== 'send') return badSend;
  const key = keyOf(micro[1]);
  if (key === null) return badSend;
  const third: unknown = micro[2];
  if (!Array.isArray(third)) return isValue(third) ? { key, value: third, offset: -1 } : badValue;
  const offset: unknown = third[0];
  const value: unknown = third[1];
  if (!isValue(value)) return badValue;
  if (offset === null || offset === undefined) return { key, value, offset: -1 };
  return isOffset(offset) ? { key, value, offset } : badOffset;
}

/** A key of any kind as text: ours are texts, Jepsen's are numbers, others have several parts. */
export function keyOf(key: unknown): Key | null {
  if (typeof key === 'string') return key;
  if (typeof key === 'number' || typeof key === 'boolean') return String(key);
  return typeof key === 'object' && key !== null ? JSON.stringify(key) : null;
}

/** A micro-operation that reads, whatever it read. */
export function isPoll(micro: unknown): micro is readonly unknown[] {
  return Array.isArray(micro) && micro[0] === 'poll';
}

/** Null when `record` is a sound [offset, value]; otherwise what is wrong. */
export function readPair(record: unknown): string | null {
  if (!Array.isArray(record)) return 'something that is not [offset, value]';
  if (!isOffset(record[0])) return badOffset;
  return isValue(record[1]) ? null : badValue;
}

const hashSign = 0x23;
const zero = 0x30;
/** Of fifteen digits, which are always exact. */
const mostScale = 1e14;

const badSend = 'a send holds only ["send", key, value]';
const badOffset = 'an offset that is not a whole number from 0 to 2^53-1';
const badValue = 'a value that is neither a text nor a whole number within 2^53';

function isOffset(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isValue(value: unknown): value is Value {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

/** The correlation id in `client-3#17`, or −1. */
export function correlationOf(msg: unknown): number {
  if (typeof msg !== 'string') return -1;
  let id = 0;
  let scale = 1;
  for (let at = msg.length - 1; at >= 0; at -= 1) {
    const digit = msg.charCodeAt(at) - zero;
    if (digit === hashSign - zero) return scale > 1 ? id : -1;
    if (!(digit >= 0 && digit <= 9) || scale > mostScale) return -1;
    id += digit * scale;
    scale *= 10;
  }
  return -1;
}

/** Whether an assignment says where to read on; Jepsen's only word for it is the beginning. */
export function seeksOf(operation: Operation): boolean {
  const fields = operation as unknown as Readonly<Record<string, unknown>>;
  return operation.seek !== undefined || fields['seek-to-beginning?'] === true || fields['seek-to-beginning'] === true;
}

/** Keys that Jepsen's `rebalance-log` names: they changed hands while the operation ran. */
export function rebalancedKeys(operation: Operation, rows: ValueRows): ReadonlySet<number> | null {
  const log = (operation as unknown as Readonly<Record<string, unknown>>)['rebalance-log'];
  if (!Array.isArray(log)) return null;
  const found = new Set<number>();
  for (const entry of log as readonly unknown[]) {
    const keys: unknown = typeof entry === 'object' && entry !== null && 'keys' in entry ? entry.keys : null;
    for (const each of Array.isArray(keys) ? (keys as readonly unknown[]) : []) {
      const key = keyOf(each);
      if (key !== null) found.add(rows.keyId(key));
    }
  }
  return found;
}

/** A nemesis line of ours, or one of another tester's, of which only the name is understood. */
export function faultOf({ index, value, type }: Operation): FaultRecord | string {
  if (isFaultRecord(value)) return value;
  const ours = typeof value === 'object' && value !== null && ('fault' in value || 'phase' in value);
  if (ours || type === 'invoke') return 'a nemesis line needs a value with fault and phase';
  return { fault: `line-${index}`, phase: 'start', roles: {}, nodes: {} };
}

function isFaultRecord(value: unknown): value is FaultRecord {
  if (typeof value !== 'object' || value === null) return false;
  const { fault, phase } = value as Partial<Record<keyof FaultRecord, unknown>>;
  return typeof fault === 'string' && (phase === 'start' || phase === 'end');
}
