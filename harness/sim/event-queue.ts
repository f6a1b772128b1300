/**
 * What is to happen, in the one order in which it happens: by virtual time, and at one time by the order of scheduling.
 *
 * A binary heap in three arrays, so that an event costs no object of its own: what is scheduled is the thing itself that
 * will be due (a node, one direction of a connection), and it looks at its own state when its time has come.
 *
 * Invariant: no two events compare equal, so the order never depends on the heap.
 */

/** Something that can be scheduled. It may be due more often than it expects, and then has nothing to do. */
export interface Schedulable {
  due(): void;
}

export class EventQueue {
  readonly #times: number[] = [];
  readonly #sequences: number[] = [];
  readonly #targets: Schedulable[] = [];
  #nextSequence = 0;

  get size(): number {
    return this.#times.length;
  }

  /** Time of the earliest event; infinite when there is none. */
  get nextTimeNs(): number {
    return this.#times[0] ?? Infinity;
  }

  push(timeNs: number, target: Schedulable): void {
    const sequence = this.#nextSequence++;
    let hole = this.#times.length;
    while (hole > 0) {
      const parent = (hole - 1) >>> 1;
      /* The new event has the highest sequence number: at an equal time it comes last. */
      if (this.#times[parent]! <= timeNs) break;
      this.#move(parent, hole);
      hole = parent;
    }
    this.#times[hole] = timeNs;
    this.#sequences[hole] = sequence;
    this.#targets[hole] = target;
  }

  /** Takes the earliest event out. */
  pop(): Schedulable | undefined {
    const first = this.#targets[0];
    const time = this.#times.pop();
    const sequence = this.#sequences.pop();
    const target = this.#targets.pop();
    if (time !== undefined && sequence !== undefined && target !== undefined && this.#times.length > 0) {
      this.#sink(time, sequence, target);
    }
    return first;
  }

  /** Puts an event into the place of the first and lets it sink to where it belongs. */
  #sink(time: number, sequence: number, target: Schedulable): void {
    const size = this.#times.length;
    let hole = 0;
    for (let child = 1; child < size; child = 2 * hole + 1) {
      if (child + 1 < size && this.#isBefore(child + 1, this.#times[child]!, this.#sequences[child]!)) child += 1;
      if (!this.#isBefore(child, time, sequence)) break;
      this.#move(child, hole);
      hole = child;
    }
    this.#times[hole] = time;
    this.#sequences[hole] = sequence;
    this.#targets[hole] = target;
  }

  #isBefore(index: number, time: number, sequence: number): boolean {
    const own = this.#times[index]!;
    return own < time || (own === time && this.#sequences[index]! < sequence);
  }

  #move(from: number, to: number): void {
    this.#times[to] = this.#times[from]!;
    this.#sequences[to] = this.#sequences[from]!;
    this.#targets[to] = this.#targets[from]!;
  }
}
