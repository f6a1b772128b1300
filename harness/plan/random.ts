/**
 * Randomness by name: every purpose draws from a stream of its own, all forked from the run's one seed.
 *
 * A stream is found by its name alone (`faults`, `workload:3`, `net:1→2`), never by the order in which streams are
 * asked for. So one more draw in one place never shifts what another place draws, and two builds under one seed meet
 * the same plan. The generator is Alea, which uses only multiplications and additions that every machine rounds alike.
 *
 * Invariant: the same seed and name give the same draws for ever. Asking twice for one name gives two streams that both
 * start at the beginning; whoever draws over time keeps the stream.
 */
import seedrandom from 'seedrandom';

/** One sequence of draws. */
export interface RandomStream {
  /** A fraction in [0, 1). */
  fraction(): number;
  /** A whole number from `from` to `to`, both included. */
  int(from: number, to: number): number;
  /** True with the given probability. */
  chance(probability: number): boolean;
  /** One of the items, each as likely as any other. */
  pick<T>(items: readonly T[]): T;
  /** The items in a new order, every order as likely as any other. */
  shuffle<T>(items: readonly T[]): T[];
}

/** All streams of one seed. */
export interface Random {
  readonly seed: number;
  /** The stream of that name, at its beginning. */
  stream(name: string): RandomStream;
}

export function createRandom(seed: number): Random {
  return { seed, stream: (name) => streamOf(seedrandom.alea(`${seed}/${name}`)) };
}

function streamOf(draw: () => number): RandomStream {
  const int = (from: number, to: number): number => {
    if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to) || to < from) {
      throw new RangeError(`no whole number lies between ${from} and ${to}`);
    }
    return from + Math.floor(draw() * (to - from + 1));
  };
  return {
    fraction: () => draw(),
    int,
    chance: (probability) => draw() < probability,
    pick: <T>(items: readonly T[]): T => {
      if (items.length === 0) throw new RangeError('nothing to pick from');
      return items[int(0, items.length - 1)] as T;
    },
    shuffle: <T>(items: readonly T[]): T[] => {
      /* Fisher and Yates, from the end. */
      const shuffled = [...items];
      for (let last = shuffled.length - 1; last > 0; last -= 1) {
        const other = int(0, last);
        [shuffled[last], shuffled[other]] = [shuffled[other] as T, shuffled[last] as T];
      }
      return shuffled;
    },
  };
}
