/**
 * What stands inside of an operation: sends, polled records, faults, each looked at before it is believed.
 *
 * Offsets and whole-number values must lie within 2^53-1, since anything above has been rounded before we see it.
 */
import type { FaultRecord, Key, Value } from './history.ts';

/** `1` and `"1"` are one value: a record holds its decimal text. */
export function canonicalValue(value: Value): Value {
  if (typeof value === 'number') return value;
  if (value.length > 16 || !/^(?:0|-?[1-9][0-9]*)$/.test(value)) return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

export function readSend(micro: unknown): { key: Key; value: Value; offset: number } | string {
  if (!Array.isArray(micro) || micro[0] !== 'send' || typeof micro[1] !== 'string') {
    return 'a send holds only ["send", key, value]';
  }
  const third: unknown = micro[2];
  if (!Array.isArray(third)) return isValue(third) ? { key: micro[1], value: third, offset: -1 } : badValue;
  const offset: unknown = third[0];
  const value: unknown = third[1];
  if (!isValue(value)) return badValue;
  if (offset === null || offset === undefined) return { key: micro[1], value, offset: -1 };
  return isOffset(offset) ? { key: micro[1], value, offset } : badOffset;
}

/** Null when `record` is a sound [offset, value]; otherwise what is wrong. */
export function readPair(record: unknown): string | null {
  if (!Array.isArray(record)) return 'something that is not [offset, value]';
  if (!isOffset(record[0])) return badOffset;
  return isValue(record[1]) ? null : badValue;
}

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
  const id = Number(msg.slice(msg.lastIndexOf('#') + 1));
  return Number.isSafeInteger(id) ? id : -1;
}

export function isFaultRecord(value: unknown): value is FaultRecord {
  if (typeof value !== 'object' || value === null) return false;
  const { fault, phase } = value as Partial<Record<keyof FaultRecord, unknown>>;
  return typeof fault === 'string' && (phase === 'start' || phase === 'end');
}
