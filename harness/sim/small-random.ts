/**
 * A small generator for draws by the million: xoshiro128** (Blackman and Vigna), seeded from a named stream.
 *
 * Streams of the plan are drawn from a few times; the network draws for every message. This one works on whole numbers
 * of 32 bits only, so every machine and every version of an engine draws the same.
 *
 * Invariant: the same stream gives the same draws; it is drawn from exactly four times, when the generator is made.
 */
import type { RandomStream } from '../plan/random.ts';

const WORD = 4_294_967_296;

export class SmallRandom {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  constructor(stream: RandomStream) {
    this.#a = stream.int(1, WORD - 1) | 0;
    this.#b = stream.int(0, WORD - 1) | 0;
    this.#c = stream.int(0, WORD - 1) | 0;
    this.#d = stream.int(0, WORD - 1) | 0;
  }

  /** A fraction in [0, 1), of 32 bits. */
  fraction(): number {
    const times5 = Math.imul(this.#b, 5);
    const drawn = Math.imul((times5 << 7) | (times5 >>> 25), 9);
    const shifted = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= shifted;
    this.#d = (this.#d << 11) | (this.#d >>> 21);
    return (drawn >>> 0) / WORD;
  }

  /** A whole number from `from` to `to`, both included. */
  int(from: number, to: number): number {
    return from + Math.floor(this.fraction() * (to - from + 1));
  }
}
