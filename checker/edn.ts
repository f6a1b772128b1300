/**
 * EDN, as far as histories need it: a reader of one form after the other from text that comes in pieces.
 *
 * Forms become what JSON would make of them: maps are objects whose keys are text, vectors, lists and sets are arrays, nil
 * is null. A keyword keeps its colon (`:ok`), so that it is told from a string; a whole number beyond 2^53−1 stays text
 * rather than be rounded; a tagged literal is what stands behind its tag; a character is a string of one.
 *
 * Invariants: depth and size of a form are bounded, and no input takes more than linear time; what is no EDN is an
 * {@link EdnError} with its line, and nothing else is thrown. Left out: symbols mean nothing (they become text), metadata
 * is skipped.
 */

export type Edn = null | boolean | number | string | Edn[] | { [key: string]: Edn };

export class EdnError extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

const maxDepth = 100;
/** A form that is longer than this many characters is refused. */
const maxForm = 1 << 26;

/** Reads forms from lines, which come without their ends. */
export class EdnReader {
  /** The line at which the last form began; counted from 1. */
  line = 1;
  readonly #lines: Iterator<string>;
  #text = '';
  #at = 0;
  #ended = false;
  /** Where the form at hand begins; the text before it is not needed any more. */
  #start = 0;
  /** Lines are counted up to here. */
  #counted = 0;
  #lineAtCounted = 1;

  constructor(lines: Iterable<string>) {
    this.#lines = lines[Symbol.iterator]();
  }

  /** The next form, or undefined at the end of the text. */
  next(): Edn | undefined {
    this.#skipBetween();
    if (this.#peek() === '') return undefined;
    return this.#form(0);
  }

  /** If the next form is a vector or a list, goes into it: what follows are its elements, up to {@link leave}. */
  enter(): boolean {
    this.#skipBetween();
    const opening = this.#peek();
    if (opening !== '[' && opening !== '(') return false;
    this.#at += 1;
    return true;
  }

  /** True at the end of what was entered. */
  leave(): boolean {
    this.#skipBetween();
    if (this.#peek() !== ']' && this.#peek() !== ')') return false;
    this.#at += 1;
    return true;
  }

  /** After an error: goes on at the line behind the one on which the broken form began. */
  recover(): void {
    this.#counted = this.#start;
    this.#lineAtCounted = this.line;
    this.#at = Math.min(endOfLine(this.#text, this.#start) + 1, this.#text.length);
  }

  #form(depth: number): Edn {
    if (depth > maxDepth) throw this.#error(`forms are nested more than ${maxDepth} deep`);
    this.#skipSpace();
    const character = this.#peek();
    switch (character) {
      case '':
        throw this.#error('the text ends within a form');
      case '[':
      case '(':
        this.#at += 1;
        return this.#sequence(character === '[' ? ']' : ')', depth);
      case '{':
        this.#at += 1;
        return this.#map(depth);
      case '"':
        this.#at += 1;
        return this.#string();
      case '\\':
        return this.#character();
      case '#':
        return this.#dispatch(depth);
      case '^':
        this.#at += 1;
        this.#form(depth + 1);
        return this.#form(depth + 1);
      case "'":
        this.#at += 1;
        return this.#form(depth + 1);
      case ']':
      case ')':
      case '}':
        throw this.#error(`${character} closes nothing`);
      default:
        return atom(this.#token());
    }
  }

  #sequence(closing: string, depth: number): Edn[] {
    const items: Edn[] = [];
    for (;;) {
      this.#skipSpace();
      if (this.#peek() === closing) {
        this.#at += 1;
        return items;
      }
      if (this.#skipDiscarded(depth)) continue;
      items.push(this.#form(depth + 1));
    }
  }

  #map(depth: number): Edn {
    const flat = this.#sequence('}', depth);
    if (flat.length % 2 !== 0) throw this.#error('a map has a key without a value');
    const map = Object.create(null) as Record<string, Edn>;
    for (let at = 0; at < flat.length; at += 2) map[ednText(flat[at] as Edn)] = flat[at + 1] as Edn;
    return map;
  }

  #dispatch(depth: number): Edn {
    this.#at += 1;
    switch (this.#peek()) {
      case '{':
        this.#at += 1;
        return this.#sequence('}', depth);
      case '_':
        this.#at += 1;
        this.#form(depth + 1);
        return this.#form(depth + 1);
      case '#':
        // ##NaN, ##Inf
        this.#at += 1;
        return `##${this.#token()}`;
      default:
        // A tag; a regular expression has none, and is read as its text.
        this.#token();
        return this.#form(depth + 1);
    }
  }

  #skipDiscarded(depth: number): boolean {
    if (this.#peek() !== '#' || this.#peek(1) !== '_') return false;
    this.#at += 2;
    this.#form(depth + 1);
    return true;
  }

  #string(): string {
    const parts: string[] = [];
    let from = this.#at;
    for (;;) {
      const character = this.#peek();
      if (character === '') throw this.#error('the text ends within a string');
      if (character === '"') {
        parts.push(this.#text.slice(from, this.#at));
        this.#at += 1;
        return parts.join('');
      }
      if (character === '\\') {
        parts.push(this.#text.slice(from, this.#at), this.#escape());
        from = this.#at;
      } else this.#at += 1;
    }
  }

  #escape(): string {
    const character = this.#peek(1);
    if (character === 'u') {
      const digits = this.#text.slice(this.#at + 2, this.#at + 6);
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw this.#error('a broken \\u escape');
      this.#at += 6;
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
    this.#at += 2;
    const plain = escapes[character];
    if (plain === undefined) throw this.#error(`there is no escape \\${character}`);
    return plain;
  }

  #character(): string {
    this.#at += 1;
    const first = this.#peek();
    this.#at += 1;
    const name = first + this.#token();
    return characters.get(name) ?? name;
  }

  /** Characters up to the next that ends a token. */
  #token(): string {
    const from = this.#at;
    while (!isDelimiter(this.#text.charCodeAt(this.#at))) this.#at += 1;
    return this.#text.slice(from, this.#at);
  }

  #skipSpace(): void {
    for (;;) {
      const character = this.#peek();
      if (character === ';') this.#at = endOfLine(this.#text, this.#at);
      else if (isSpace(this.#text.charCodeAt(this.#at))) this.#at += 1;
      else return;
    }
  }

  /** Skips to the next form, and forgets the text before it. */
  #skipBetween(): void {
    this.#start = this.#at;
    this.#skipSpace();
    this.#start = this.#at;
    this.line = this.#lineHere();
    if (this.#at < 1 << 16) return;
    this.#text = this.#text.slice(this.#at);
    this.#counted -= this.#at;
    this.#start = 0;
    this.#at = 0;
  }

  /** The character at hand, or some way behind it; more text is fetched where there is none. '' at the end. */
  #peek(ahead = 0): string {
    while (this.#at + ahead >= this.#text.length) if (!this.#refill()) return '';
    return this.#text[this.#at + ahead] as string;
  }

  /** Fetches as much again as the form at hand has already, so that a long one is not copied for each of its lines. */
  #refill(): boolean {
    const length = this.#text.length - this.#start;
    if (length > maxForm) throw this.#error(`a form is longer than ${maxForm} characters`);
    const fetched: string[] = [];
    for (let size = 0; !this.#ended && (fetched.length === 0 || size < length);) {
      const next = this.#lines.next();
      if (next.done === true) this.#ended = true;
      else {
        fetched.push(next.value, '\n');
        size += next.value.length + 1;
      }
    }
    if (fetched.length === 0) return false;
    this.#text += fetched.join('');
    return true;
  }

  #lineHere(): number {
    for (;;) {
      const end = this.#text.indexOf('\n', this.#counted);
      if (end === -1 || end >= this.#at) return this.#lineAtCounted;
      this.#counted = end + 1;
      this.#lineAtCounted += 1;
    }
  }

  #error(message: string): EdnError {
    return new EdnError(this.#lineHere(), message);
  }
}

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  '"': '"',
  '\\': '\\',
  '/': '/',
};
const characters: ReadonlyMap<string, string> = new Map([
  ['newline', '\n'],
  ['space', ' '],
  ['tab', '\t'],
  ['return', '\r'],
]);

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

/** A comma is white space. */
function isSpace(code: number): boolean {
  return code <= 32 || code === 44 || code === 0xa0 || code === 0xfeff;
}

/** Also NaN, beyond the text: a token never crosses a line. */
function isDelimiter(code: number): boolean {
  if (Number.isNaN(code) || isSpace(code)) return true;
  return (
    code === 34 ||
    code === 40 ||
    code === 41 ||
    code === 59 ||
    code === 91 ||
    code === 93 ||
    code === 123 ||
    code === 125
  );
}

function atom(token: string): Edn {
  switch (token) {
    case 'nil':
      return null;
    case 'true':
      return true;
    case 'false':
      return false;
    default:
      return numberOrText(token);
  }
}

/** Whole numbers may end in N, others in M; a ratio stays text, as all does that is no number. */
function numberOrText(token: string): number | string {
  const plain = token.replace(/[NM]$/, '');
  if (!/^[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?$/.test(plain)) return token;
  const value = Number(plain);
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? plain.replace(/^\+/, '') : value;
}

/** A form as text: the name of a key, whatever its kind. */
export function ednText(form: Edn): string {
  if (form === null) return 'nil';
  if (typeof form !== 'object') return String(form);
  if (Array.isArray(form)) return `[${form.map(ednText).join(' ')}]`;
  const entries = Object.entries(form).map(([key, value]) => `${key} ${ednText(value)}`);
  return `{${entries.join(', ')}}`;
}
