/**
 * A rolling hash: 64 bits that depend on everything that was mixed into them, and on its order.
 *
 * Two lanes of 32 bits each, with whole-number operations only, so that every machine and every version of an engine
 * comes to the same result. Every step of a lane can be undone, so that no difference is ever forgotten in both at once
 * but by chance; and neither waits for the other, since a run mixes a few dozen words for each event. It tells two runs
 * apart; it keeps no secret.
 *
 * Invariant: equal calls in equal order give equal hashes. Fractions count down to 2^-32.
 */

const WORD = 4_294_967_296;
/** Lengths of texts are told from numbers. */
const TEXT = 0x5a00_0000;

export class RollingHash {
  #high = 0x9747b28c | 0;
  #low = 0x3c6ef372;

  /** 16 hexadecimal digits. */
  get hex(): string {
    return hexOf(this.#high) + hexOf(this.#low);
  }

  /** The hash as one number, 53 bits of it. */
  get number(): number {
    return (this.#high & 0x1f_ffff) * WORD + (this.#low >>> 0);
  }

  /** Mixes 32 bits in. */
  word(value: number): void {
    const high = Math.imul(this.#high ^ value, 0x9e3779b1);
    this.#high = (high << 13) | (high >>> 19);
    const low = Math.imul((this.#low + value) | 0, 0x85ebca6b);
    this.#low = low ^ (low >>> 15);
  }

  /** Mixes a number in: one word for small whole ones, three for all others. */
  number64(value: number): void {
    const small = value | 0;
    this.word(small);
    if (small === value) return;
    const whole = Math.floor(value);
    this.word((whole / WORD) | 0);
    this.word(((value - whole) * WORD) | 0);
  }

  text(value: string): void {
    const { length } = value;
    this.word(TEXT + length);
    for (let at = 1; at < length; at += 2) this.word(value.charCodeAt(at - 1) | (value.charCodeAt(at) << 16));
    if (length % 2 === 1) this.word(value.charCodeAt(length - 1));
  }

  /** Mixes in numbers, texts, truth values, and lists and records of those; names of fields do not count. */
  value(value: unknown): void {
    if (typeof value === 'number') this.number64(value);
    else if (typeof value === 'string') this.text(value);
    else if (Array.isArray(value)) {
      this.word(value.length);
      for (const each of value) this.value(each);
    } else if (typeof value === 'object' && value !== null) {
      /* In the order in which they were written, on every machine. */
      for (const name in value) this.value((value as Readonly<Record<string, unknown>>)[name]);
    } else this.word(value === true ? 1 : value === false ? 2 : 3);
  }
}

function hexOf(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0');
}
