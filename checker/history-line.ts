/**
 * One line of a history, from its bytes: the shapes that our recorder writes, several times faster than `JSON.parse`.
 *
 * Only what needs no second thought is read here: the fields in their usual order, plain ASCII texts without escapes,
 * whole numbers of at most fifteen digits, no white space. Anything else is `null`, which says nothing about the line:
 * the caller hands it to `JSON.parse`. So this file can make checking faster or slower, and never wrong.
 *
 * Invariant: what is read here is what `JSON.parse` reads in the same bytes. Numbers above 2^53 are not, which is why
 * none is read that could be rounded. Texts are remembered, up to {@link rememberedMax}, since a history has few.
 */
import type { MicroOp, Operation } from './history.ts';

/** Reads lines, one after the other; remembers texts from line to line. */
export class HistoryLineReader {
  #bytes: Uint8Array = new Uint8Array(0);
  #at = 0;
  /** By a hash of their bytes: the text that was seen last. */
  readonly #remembered: (string | undefined)[] = Array.from({ length: rememberedMax });

  /** The operation in the bytes from `start` to `end`, without the line's end; null for a line of another shape. */
  read(bytes: Uint8Array, start: number, end: number): Operation | null {
    // The last byte of a line that is whole is its brace: nothing below reads beyond it.
    if (end - start < shortest || bytes[end - 1] !== brace) return null;
    this.#bytes = bytes;
    this.#at = start;
    if (!this.#skip(fields.index)) return null;
    const index = this.#number();
    if (index === -1 || !this.#skip(fields.time)) return null;
    const time = this.#number();
    if (time === -1 || !this.#skip(fields.process)) return null;
    const process = this.#number();
    if (process === -1 || !this.#skip(fields.type)) return null;
    const type = this.#oneOf(types);
    if (type === null || !this.#skip(fields.f)) return null;
    const f = this.#oneOf(functions);
    if (f === null || !this.#skip(fields.value)) return null;
    const value = this.#value(f);
    if (value === undefined) return null;
    const operation: Mutable<Operation> = { index, time, process, type, f, value };
    return this.#rest(operation) && this.#at === end ? operation : null;
  }

  /** The fields after `value`, in any order, up to the line's brace. */
  #rest(operation: Mutable<Operation>): boolean {
    const bytes = this.#bytes;
    while (bytes[this.#at] === comma) {
      // Their third bytes differ: ac, er, fi, ms, no.
      switch (bytes[this.#at + 2] as number) {
        case 0x61: {
          if (!this.#skip(fields.acks)) return false;
          const acks = bytes[this.#at] === quote ? this.#text() : this.#number();
          if (acks !== 'all' && acks !== 0 && acks !== 1) return false;
          operation.acks = acks;
          break;
        }
        case 0x65: {
          const error = this.#skip(fields.error) ? this.#text() : null;
          if (error === null) return false;
          operation.error = error;
          break;
        }
        case 0x66:
          if (!this.#skip(fields.final)) return false;
          operation.final = true;
          break;
        case 0x6d: {
          const msg = this.#skip(fields.msg) ? this.#message() : null;
          if (msg === null) return false;
          operation.msg = msg;
          break;
        }
        case 0x6e: {
          const node = this.#skip(fields.node) ? this.#number() : -1;
          if (node === -1) return false;
          operation.node = node;
          break;
        }
        default:
          return false;
      }
    }
    return this.#take(brace);
  }

  /** Undefined for a value of another shape. */
  #value(f: string): Operation['value'] | undefined {
    if (!this.#take(bracket)) return undefined;
    if (f === 'assign' || f === 'subscribe') return this.#keys();
    const found: MicroOp[] = [];
    if (this.#take(closing)) return found;
    do {
      const micro = this.#micro();
      if (micro === null) return undefined;
      found.push(micro);
    } while (this.#take(comma));
    return this.#take(closing) ? found : undefined;
  }

  #keys(): string[] | undefined {
    const keys: string[] = [];
    if (this.#take(closing)) return keys;
    do {
      const key = this.#text();
      if (key === null) return undefined;
      keys.push(key);
    } while (this.#take(comma));
    return this.#take(closing) ? keys : undefined;
  }

  #micro(): MicroOp | null {
    if (!this.#take(bracket)) return null;
    const name = this.#oneOf(micros);
    if (name === 'send') return this.#send();
    if (name === null) return null;
    if (this.#take(closing)) return ['poll'];
    if (!this.#take(comma) || !this.#take(opening)) return null;
    const polled: Record<string, [number, number][]> = {};
    if (!this.#take(brace)) {
      do {
        const key = this.#text();
        // An assignment to `__proto__` makes no field.
        if (key === null || key === '__proto__' || !this.#take(colon)) return null;
        const records = this.#records();
        if (records === null) return null;
        polled[key] = records;
      } while (this.#take(comma));
      if (!this.#take(brace)) return null;
    }
    return this.#take(closing) ? ['poll', polled] : null;
  }

  /** After `["send"`. */
  #send(): MicroOp | null {
    if (!this.#take(comma)) return null;
    const key = this.#text();
    if (key === null || !this.#take(comma)) return null;
    if (!this.#take(bracket)) {
      const value = this.#number();
      return value !== -1 && this.#take(closing) ? ['send', key, value] : null;
    }
    const known = this.#bytes[this.#at] !== letterN;
    const offset = known ? this.#number() : null;
    if (offset === -1 || (!known && !this.#skip(words.null)) || !this.#take(comma)) return null;
    const value = this.#number();
    if (value === -1 || !this.#take(closing) || !this.#take(closing)) return null;
    return ['send', key, [offset, value]];
  }

  #records(): [number, number][] | null {
    const records: [number, number][] = [];
    if (!this.#take(bracket)) return null;
    if (this.#take(closing)) return records;
    do {
      if (!this.#take(bracket)) return null;
      const offset = this.#number();
      if (offset === -1 || !this.#take(comma)) return null;
      const value = this.#number();
      if (value === -1 || !this.#take(closing)) return null;
      records.push([offset, value]);
    } while (this.#take(comma));
    return this.#take(closing) ? records : null;
  }

  /** A whole number from 0 to 10^15 − 1, or −1. */
  #number(): number {
    const bytes = this.#bytes;
    let at = this.#at;
    let number = (bytes[at] as number) - zero;
    if (!(number >= 0 && number <= 9)) return -1;
    at += 1;
    if (number !== 0) {
      const most = this.#at + mostDigits;
      for (;;) {
        const digit = (bytes[at] as number) - zero;
        if (!(digit >= 0 && digit <= 9)) break;
        if (at === most) return -1;
        number = number * 10 + digit;
        at += 1;
      }
    }
    this.#at = at;
    return number;
  }

  /** A text in quotes of printable ASCII without escapes, or null. */
  #text(): string | null {
    const bytes = this.#bytes;
    if (bytes[this.#at] !== quote) return null;
    const from = this.#at + 1;
    let at = from;
    let hash = 0;
    for (;;) {
      const byte = bytes[at] as number;
      if (byte === quote) break;
      if (!(byte >= 0x20 && byte < 0x7f) || byte === backslash || at - from === longestText) return null;
      hash = (Math.imul(hash, 31) + byte) | 0;
      at += 1;
    }
    this.#at = at + 1;
    return this.#remember(hash, from, at);
  }

  /** The name of a message: all but its number is the same from line to line. */
  #message(): string | null {
    const bytes = this.#bytes;
    const from = this.#at + 1;
    let at = from;
    let hash = 0;
    for (; bytes[at] !== hashSign; at += 1) {
      const byte = bytes[at] as number;
      if (byte === quote) return this.#text();
      if (!(byte >= 0x20 && byte < 0x7f) || byte === backslash || at - from === longestText) return null;
      hash = (Math.imul(hash, 31) + byte) | 0;
    }
    if (bytes[from - 1] !== quote) return null;
    const sender = this.#remember(hash, from, at);
    this.#at = at + 1;
    const number = this.#number();
    return number === -1 || !this.#take(quote) ? null : `${sender}#${number}`;
  }

  #remember(hash: number, from: number, to: number): string {
    const slot = (hash ^ (hash >>> 12)) & (rememberedMax - 1);
    const known = this.#remembered[slot];
    if (known !== undefined && this.#isText(known, from, to)) return known;
    let text = '';
    for (let at = from; at < to; at += 1) text += String.fromCharCode(this.#bytes[at] as number);
    this.#remembered[slot] = text;
    return text;
  }

  #isText(text: string, from: number, to: number): boolean {
    if (text.length !== to - from) return false;
    for (let at = from; at < to; at += 1) if (text.charCodeAt(at - from) !== this.#bytes[at]) return false;
    return true;
  }

  /** One of a few texts, or null. */
  #oneOf<Text extends string>(texts: Words<Text>): Text | null {
    const bytes = this.#bytes;
    const from = this.#at;
    const candidates = texts[bytes[from + 1] as number];
    if (candidates === undefined) return null;
    for (const { text, quoted } of candidates) {
      let at = 0;
      while (at < quoted.length && bytes[from + at] === quoted[at]) at += 1;
      if (at < quoted.length) continue;
      this.#at = from + at;
      return text;
    }
    return null;
  }

  #take(byte: number): boolean {
    if (this.#bytes[this.#at] !== byte) return false;
    this.#at += 1;
    return true;
  }

  #skip(expected: Uint8Array): boolean {
    const bytes = this.#bytes;
    const from = this.#at;
    for (let at = 0; at < expected.length; at += 1) if (bytes[from + at] !== expected[at]) return false;
    this.#at = from + expected.length;
    return true;
  }
}

const rememberedMax = 4096;
/** Texts that are longer are not worth remembering. */
const longestText = 256;
/** All numbers of so many digits are exact. */
const mostDigits = 15;

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

const quote = 0x22;
const hashSign = 0x23;
const comma = 0x2c;
const zero = 0x30;
const colon = 0x3a;
const bracket = 0x5b;
const backslash = 0x5c;
const closing = 0x5d;
const letterN = 0x6e;
const opening = 0x7b;
const brace = 0x7d;

const fields = {
  index: ascii('{"index":'),
  time: ascii(',"time":'),
  process: ascii(',"process":'),
  type: ascii(',"type":'),
  f: ascii(',"f":'),
  value: ascii(',"value":'),
  acks: ascii(',"acks":'),
  error: ascii(',"error":'),
  final: ascii(',"final":true'),
  msg: ascii(',"msg":'),
  node: ascii(',"node":'),
};
const words = { null: ascii('null') };
const types = quotedWords('ok', 'invoke', 'info', 'fail');
const functions = quotedWords('poll', 'send', 'txn', 'assign', 'subscribe', 'crash');
const micros = quotedWords('poll', 'send');
const shortest = 48;

interface Word<Text extends string> {
  readonly text: Text;
  readonly quoted: Uint8Array;
}

/** By their first letter. */
type Words<Text extends string> = readonly (readonly Word<Text>[] | undefined)[];

function quotedWords<Text extends string>(...texts: readonly Text[]): Words<Text> {
  const words: Word<Text>[][] = [];
  for (const text of texts) (words[text.charCodeAt(0)] ??= []).push({ text, quoted: ascii(`"${text}"`) });
  return words;
}

function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}
