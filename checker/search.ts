/** Binary search and a heap: the loops that are easy to get wrong, written once. */

/** The first index below `length` for which `isBefore` is false, or `length`; those for which it is true come first. */
export function firstNotBefore(length: number, isBefore: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Rows by a weight, the heaviest first. */
export class Heap {
  readonly #rows: number[] = [];
  readonly #weight: (row: number) => number;

  constructor(weight: (row: number) => number) {
    this.#weight = weight;
  }

  /** The heaviest row, or −1. */
  get top(): number {
    return this.#rows[0] ?? -1;
  }

  push(row: number): void {
    const rows = this.#rows;
    let at = rows.push(row) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (this.#weight(rows[above] as number) >= this.#weight(row)) break;
      rows[at] = rows[above] as number;
      at = above;
    }
    rows[at] = row;
  }

  pop(): void {
    const rows = this.#rows;
    const row = rows.pop();
    if (row === undefined || rows.length === 0) return;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= rows.length) break;
      if (below + 1 < rows.length && this.#weight(rows[below + 1] as number) > this.#weight(rows[below] as number))
        below += 1;
      if (this.#weight(rows[below] as number) <= this.#weight(row)) break;
      rows[at] = rows[below] as number;
      at = below;
    }
    rows[at] = row;
  }
}
