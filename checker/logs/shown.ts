/** Records as people see them: text where it is text, else hexadecimal; long ones cut. */
import type { LogRecord } from './contents.ts';
import type { Frame } from './frame.ts';
import type { ShownRecord } from './report.ts';

const shownMax = 200;

/** A record beside the batch that holds it. */
export function shownRecord(
  { key, value, headers, timestamp }: LogRecord,
  frame: Frame,
  place: { readonly file: string; readonly position: number; readonly sound: boolean },
): ShownRecord {
  return {
    key: shown(key),
    value: shown(value),
    headers: headers.slice(0, 20).map(([name, content]) => [shown(name), shown(content)]),
    timestamp,
    epoch: frame.epoch < 0 ? null : frame.epoch,
    ...place,
  };
}

/** Bytes as text, if they are any that can be printed. */
function shown(bytes: Uint8Array | null): string | null {
  if (bytes === null) return null;
  const part = bytes.length > shownMax ? bytes.subarray(0, shownMax) : bytes;
  const text = new TextDecoder().decode(part, { stream: part !== bytes });
  const more = part === bytes ? '' : `… (${bytes.length} bytes)`;
  if (!/[\p{Cc}\uFFFD]/u.test(text)) return text + more;
  const digits = Array.from(part.subarray(0, shownMax / 4), (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `0x${digits}${bytes.length > shownMax / 4 ? `… (${bytes.length} bytes)` : ''}`;
}

/** Names in what two records at one offset differ; empty if in nothing. */
export function differencesOf(one: LogRecord, other: LogRecord): string[] {
  const what: string[] = [];
  if (!same(one.value, other.value)) what.push('value');
  if (!same(one.key, other.key)) what.push('key');
  if (one.timestamp !== other.timestamp) what.push('timestamp');
  const headers =
    one.headers.length === other.headers.length &&
    one.headers.every(([key, value], at) => {
      const [otherKey, otherValue] = other.headers[at] as (typeof other.headers)[number];
      return same(key, otherKey) && same(value, otherValue);
    });
  if (!headers) what.push('headers');
  return what;
}

function same(one: Uint8Array | null, other: Uint8Array | null): boolean {
  if (one === null || other === null) return one === other;
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}
