/**
 * An operation as a line of EDN, as Jepsen writes and reads it.
 *
 * Fields, types and functions become keywords, micro-operations are vectors of keywords. A key that is a whole number as
 * text becomes that number, one that begins with a colon a keyword; so a history of Jepsen's comes back as it was.
 */
import type { Operation } from './history.ts';

/** Functions of Jepsen's Kafka workload whose value is a list of micro-operations. */
const transactional: ReadonlySet<string> = new Set(['send', 'poll', 'txn']);

export function operationToEdn(operation: Operation): string {
  const { index, time, process, type, f, value, ...more } = operation;
  const fields: [string, string][] = [
    [':index', String(index)],
    [':time', String(Math.round(time))],
    [':type', keyword(type)],
    [':process', process === 'nemesis' ? ':nemesis' : String(process)],
    [':f', keyword(f)],
    [':value', transactional.has(f) && Array.isArray(value) ? microsOf(value) : keysOr(f, value)],
  ];
  for (const [name, extra] of Object.entries(more)) {
    // Jepsen's own word for the start, which its checker knows.
    if (name === 'seek' && extra === 'earliest') fields.push([':seek-to-beginning?', 'true']);
    else if (extra !== undefined) fields.push([keyword(name), extraOf(name, extra)]);
  }
  return `{${fields.map(([name, text]) => `${name} ${text}`).join(', ')}}`;
}

/** Other fields; those of ours that go by key keep their keys. */
function extraOf(name: string, value: unknown): string {
  if (name === 'acks' && value === 'all') return ':all';
  const byKey = (name === 'seek' || name === 'errors') && typeof value === 'object' && value !== null;
  if (!byKey) return edn(value);
  return `{${Object.entries(value)
    .map(([key, each]) => `${keyOf(key)} ${edn(each)}`)
    .join(', ')}}`;
}

function microsOf(micros: readonly unknown[]): string {
  return `[${micros.map(microOf).join(' ')}]`;
}

function microOf(micro: unknown): string {
  if (!Array.isArray(micro)) return edn(micro);
  const [name, key, value] = micro as readonly unknown[];
  if (name === 'send') return `[:send ${keyOf(key)} ${edn(value)}]`;
  if (name !== 'poll') return edn(micro);
  if (typeof key !== 'object' || key === null) return '[:poll]';
  const read = Object.entries(key).map(([each, records]) => `${keyOf(each)} ${edn(records)}`);
  return `[:poll {${read.join(', ')}}]`;
}

function keysOr(f: string, value: unknown): string {
  if ((f !== 'assign' && f !== 'subscribe') || !Array.isArray(value)) return edn(value);
  return `[${value.map(keyOf).join(' ')}]`;
}

function keyOf(key: unknown): string {
  if (typeof key !== 'string') return edn(key);
  if (/^-?(?:0|[1-9][0-9]{0,14})$/.test(key)) return key;
  return isKeyword(key) ? key : quoted(key);
}

function edn(value: unknown): string {
  if (value === null || value === undefined) return 'nil';
  if (typeof value === 'string') return isKeyword(value) ? value : quoted(value);
  if (typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(edn).join(' ')}]`;
  const entries = Object.entries(value).map(([key, each]) => `${keyword(key)} ${edn(each)}`);
  return `{${entries.join(', ')}}`;
}

/** Also true of a keyword that was read from EDN. */
function isKeyword(text: string): boolean {
  return /^:[A-Za-z*!_?<>=.+-][\w*!?<>=.+/-]*$/.test(text);
}

/** A name that no keyword can have stays a string. */
function keyword(name: string): string {
  return isKeyword(`:${name}`) ? `:${name}` : quoted(name);
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\n').replace(/\r/g, '\\r').replace(/\t/g, '\\t')}"`;
}
