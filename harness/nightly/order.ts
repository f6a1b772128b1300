/**
 * Which pair a night runs next: seed by seed, and within a seed cell by cell, so that a budget that ends in between leaves
 * all cells equally exercised.
 *
 * Before each pair it is estimated whether it still fits. Where one does not, the other cells still get this seed, and
 * nothing gets the next one: no cell is more than one pair ahead of another because its pairs are short.
 *
 * Invariant: what was found so far is never asked, and a pair that was begun counts however long it takes. So the outcome
 * reaches the size of the sample through time alone (a run that breaks may take longer to settle): `docs/nightly.md` says
 * what that does to the intervals.
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

/** So many of a cell's last pairs say how long its next may take: the very first ones are slow for reasons of their own. */
const LOOKED_BACK = 5;

/** How long the next pair of each cell may take: as long as the longest of its last ones. */
export class Estimates {
  readonly #lastMs: readonly number[][];
  readonly #leastMs: readonly number[];

  /** `leastMs`: what a pair of each cell takes at least, before any was run. */
  constructor(leastMs: readonly number[]) {
    this.#leastMs = leastMs;
    this.#lastMs = leastMs.map(() => []);
  }

  /** A pair of the cell has taken so long. */
  took(cell: number, ms: number): void {
    const last = this.#lastMs[cell];
    last?.push(ms);
    if (last !== undefined && last.length > LOOKED_BACK) last.shift();
  }

  of(cell: number): number {
    return Math.max(this.#leastMs[cell] ?? 0, ...(this.#lastMs[cell] ?? []));
  }
}
