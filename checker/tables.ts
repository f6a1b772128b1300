/**
 * Columns and tables: how the checker holds millions of records in a few typed arrays.
 *
 * A column grows by doubling. A {@link NumberTable} maps numbers (offsets, values) to row numbers by open addressing,
 * in twelve bytes a slot. Memory follows the number of records, never the size of an offset: a partition with two
 * records at offsets 3 and 10^15 costs two slots.
 */

/** Of a key: so many of its lowest bits say where it stands within its block of slots. */
const blockBits = 4;

/** A growing column of 32-bit integers; `blank` is what a row holds that was made by {@link Ints.add}. */
export class Ints {
  #values: Int32Array;
  readonly #blank: number;
  length = 0;

  constructor(blank = 0) {
    this.#blank = blank;
    this.#values = new Int32Array(64).fill(blank);
  }

  push(value: number): number {
    const row = this.add();
    this.#values[row] = value;
    return row;
  }

  /** A blank row. */
  add(): number {
    if (this.length === this.#values.length) this.#values = doubled(this.#values, Int32Array, this.#blank);
    this.length += 1;
    return this.length - 1;
  }

  get(row: number): number {
    return this.#values[row] as number;
  }

  set(row: number, value: number): void {
    this.#values[row] = value;
  }
}

/** A growing column of numbers: offsets, times. */
export class Doubles {
  #values: Float64Array;
  readonly #blank: number;
  length = 0;

  constructor(blank = 0) {
    this.#blank = blank;
    this.#values = new Float64Array(64).fill(blank);
  }

  push(value: number): number {
    const row = this.add();
    this.#values[row] = value;
    return row;
  }

  /** A blank row. */
  add(): number {
    if (this.length === this.#values.length) this.#values = doubled(this.#values, Float64Array, this.#blank);
    this.length += 1;
    return this.length - 1;
  }

  get(row: number): number {
    return this.#values[row] as number;
  }

  set(row: number, value: number): void {
    this.#values[row] = value;
  }
}

/** Maps whole numbers to rows (0 and up). A row is never removed. */
export class NumberTable {
  #keys = new Float64Array(16);
  #rows = new Int32Array(16).fill(-1);
  size = 0;

  /** The row of `key`, or −1. */
  get(key: number): number {
    return this.#rows[this.#slot(key)] as number;
  }

  /** All keys, in no order. */
  keys(): Float64Array {
    const found = new Float64Array(this.size);
    let count = 0;
    for (let slot = 0; slot < this.#keys.length; slot += 1) {
      if (this.#rows[slot] === -1) continue;
      found[count] = this.#keys[slot] as number;
      count += 1;
    }
    return found;
  }

  set(key: number, row: number): void {
    let slot = this.#slot(key);
    if (this.#rows[slot] === -1) {
      if (this.size * 4 >= this.#keys.length * 3) {
        this.#grow();
        slot = this.#slot(key);
      }
      this.size += 1;
      this.#keys[slot] = key;
    }
    this.#rows[slot] = row;
  }

  /**
   * The slot that holds `key`, or the empty one where it belongs. Values and offsets come one after the other, so
   * neighbours share a block of slots, which a processor fetches at once; blocks are scattered, so that no pattern of
   * keys makes long rows of full slots.
   */
  #slot(key: number): number {
    const keys = this.#keys;
    const rows = this.#rows;
    const mask = keys.length - 1;
    const low = key | 0;
    let block = low >>> blockBits;
    if (low !== key) block ^= Math.imul(((key - (low >>> 0)) / 4294967296) | 0, 0x9e3779b1);
    let hash = Math.imul(block, 0x85ebca6b);
    hash ^= hash >>> 15;
    let slot = ((hash << blockBits) | (low & ((1 << blockBits) - 1))) & mask;
    while (rows[slot] !== -1 && keys[slot] !== key) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const keys = this.#keys;
    const rows = this.#rows;
    this.#keys = new Float64Array(keys.length * 2);
    this.#rows = new Int32Array(keys.length * 2).fill(-1);
    for (let from = 0; from < keys.length; from += 1) {
      const row = rows[from] as number;
      if (row === -1) continue;
      const slot = this.#slot(keys[from] as number);
      this.#keys[slot] = keys[from] as number;
      this.#rows[slot] = row;
    }
  }
}

function doubled<T extends Int32Array | Float64Array>(from: T, Column: new (length: number) => T, blank: number): T {
  const into = new Column(from.length * 2);
  into.set(from);
  if (blank !== 0) into.fill(blank, from.length);
  return into;
}
