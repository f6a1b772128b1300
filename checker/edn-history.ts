/**
 * A Jepsen history (`history.edn`) as operations: one map after the other, or vectors of maps.
 *
 * Names of fields, types and functions lose their colon; keys and values of records keep theirs if they are keywords, and
 * keys of any kind become text. Lines that are no EDN are handed on as {@link Unreadable}, with what is wrong.
 */
import { EdnError, EdnReader, ednText, type Edn } from './edn.ts';
import type { Operation } from './history.ts';
import type { Unreadable } from './parse-history.ts';

/** After so many broken forms nobody reads on: it is no history. */
const maxBroken = 100;

/** Operations one by one; `line` is where the last one stood. */
export class EdnHistory implements Iterable<Operation | Unreadable> {
  readonly #lines: Iterable<string>;
  #reader: EdnReader | null = null;

  constructor(lines: Iterable<string>) {
    this.#lines = lines;
  }

  get line(): number {
    return this.#reader?.line ?? 0;
  }

  *[Symbol.iterator](): Generator<Operation | Unreadable, void, undefined> {
    const reader = new EdnReader(this.#lines);
    this.#reader = reader;
    let entered = false;
    for (let broken = 0; broken < maxBroken;) {
      try {
        if (entered ? reader.leave() : reader.enter()) {
          entered = !entered;
          continue;
        }
        const form = reader.next();
        if (form === undefined) {
          if (entered) yield { unreadable: 'the history ends within a vector', line: reader.line };
          return;
        }
        yield operationOf(form) ?? { unreadable: 'not an operation: it is no map', line: reader.line };
      } catch (error) {
        if (!(error instanceof EdnError)) throw error;
        broken += 1;
        yield { unreadable: `not EDN: ${error.message}`, line: error.line };
        reader.recover();
      }
    }
  }
}

/** The fields of one map under our names; null for what is no map. */
export function operationOf(form: Edn): Operation | null {
  if (typeof form !== 'object' || form === null || Array.isArray(form)) return null;
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(form)) fields[bare(name)] = value;
  const { type, f, process, acks, error, value } = fields;
  if (typeof type === 'string') fields['type'] = bare(type);
  if (typeof process === 'string') fields['process'] = bare(process);
  if (typeof acks === 'string') fields['acks'] = bare(acks);
  if (f !== undefined) fields['f'] = bare(ednText(f as Edn));
  if (error !== undefined && error !== null) fields['error'] = ednText(error as Edn);
  else delete fields['error'];
  fields['value'] = valueOf(String(fields['f']), value as Edn | undefined);
  const log = fields['rebalance-log'];
  if (Array.isArray(log)) fields['rebalance-log'] = log.map((entry: Edn) => plainMap(entry));
  return fields as unknown as Operation;
}

function valueOf(f: string, value: Edn | undefined): unknown {
  if (value === undefined) return null;
  if (!Array.isArray(value)) return plainMap(value);
  if (f === 'assign' || f === 'subscribe') return value.map(ednText);
  return value.map((micro) => (Array.isArray(micro) ? microOf(micro) : micro));
}

/** `[:send k v]` and `[:poll {k [[o v] …]}]`. */
function microOf(micro: readonly Edn[]): unknown {
  const [name, key, value] = micro;
  if (name === ':poll') return key === undefined ? ['poll'] : ['poll', key];
  if (name !== ':send') return micro;
  const sent = Array.isArray(value) ? [value[0] ?? null, textOfValue(value[1])] : textOfValue(value);
  return ['send', key === undefined ? null : ednText(key), sent];
}

/** Values are numbers or text; anything else is told by its text. */
function textOfValue(value: Edn | undefined): unknown {
  return value === undefined || typeof value === 'number' ? value : ednText(value);
}

/** A map with bare keys, as nemesis values and rebalance logs have. */
function plainMap(form: Edn): unknown {
  if (typeof form !== 'object' || form === null) return typeof form === 'string' ? bare(form) : form;
  if (Array.isArray(form)) return form.map(plainMap);
  return Object.fromEntries(Object.entries(form).map(([key, value]) => [bare(key), plainMap(value)]));
}

function bare(keyword: string): string {
  return keyword.startsWith(':') ? keyword.slice(1) : keyword;
}
