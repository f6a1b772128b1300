/**
 * Which pair a night runs next: seed by seed, and within a seed cell by cell, so that a budget that ends in between leaves
 * all cells equally exercised.
 *
 * Before each pair it is estimated whether it still fits. Where one does not, the other cells still get this seed, and
 * nothing gets the next one: no cell is more than one pair ahead of another because its pairs are short. What was found
 * so far is never asked, so the size of a sample does not depend on its outcome.
 */

export interface Turn {
  /** Numbers, from 0. */
  readonly cell: number;
  readonly seed: number;
}

/** How the pairs that are left follow each other. */
export interface Order {
  readonly turns: Iterable<Turn>;
  /** Whether a pair was left out because it did not fit. */
  readonly isCut: () => boolean;
}

export function orderOfPairs(
  cells: number,
  seeds: readonly number[],
  isDone: (turn: Turn) => boolean,
  fits: (cell: number) => boolean,
): Order {
  let cut = false;
  function* turns(): Generator<Turn, void, undefined> {
    for (const seed of seeds) {
      for (let cell = 0; cell < cells; cell += 1) {
        const turn = { cell, seed };
        if (isDone(turn)) continue;
        if (fits(cell)) yield turn;
        else cut = true;
      }
      if (cut) return;
    }
  }
  return { turns: turns(), isCut: () => cut };
}

/** How long the pairs of each cell take, as far as it is known, and what of it still fits. */
export class Estimates {
  /** The longest so far: a budget that others rely on is kept, not met on average. */
  readonly #longestMs: number[];

  /** `leastMs`: what a pair of each cell takes at least, before any was run. */
  constructor(leastMs: readonly number[]) {
    this.#longestMs = [...leastMs];
  }

  /** A pair of the cell has taken so long. */
  took(cell: number, ms: number): void {
    this.#longestMs[cell] = Math.max(this.of(cell), ms);
  }

  of(cell: number): number {
    return this.#longestMs[cell] ?? 0;
  }
}
