/**
 * A *stay*: one batch in the log of one node, from the line that appended it to the line that removed it. A batch that is
 * truncated and fetched again has two.
 *
 * Memory is proportional to the batches appended, on all nodes together; a look-up costs as much as the longest batch.
 */
import { Doubles, Ints, NumberTable } from './tables.ts';

/** All stays of one partition on all nodes; −1 means never. */
export class Stays {
  readonly base = new Doubles();
  readonly last = new Doubles();
  readonly epoch = new Ints();
  readonly hash = new Ints();
  readonly node = new Ints();
  readonly appended = new Ints();
  readonly removed = new Ints();
  /** The line by which a leader that held it first had its high watermark above it. */
  readonly committed = new Ints();
  /** Pairs of one (base, epoch) with different hashes. */
  readonly contradictions: (readonly [number, number])[] = [];
  readonly #next = new Ints();
  readonly #heads = new NumberTable();
  #longest = 0;

  get count(): number {
    return this.base.length;
  }

  add(node: number, base: number, last: number, epoch: number, hash: number, row: number): number {
    this.last.push(last);
    this.epoch.push(epoch);
    this.hash.push(hash);
    this.node.push(node);
    this.appended.push(row);
    this.removed.push(-1);
    this.committed.push(-1);
    const head = this.#heads.get(base);
    this.#next.push(head);
    const stay = this.base.push(base);
    this.#heads.set(base, stay);
    this.#longest = Math.max(this.#longest, last - base);
    for (let other = head; other !== -1; other = this.#next.get(other)) {
      if (this.epoch.get(other) === epoch && this.hash.get(other) !== hash) this.contradictions.push([other, stay]);
    }
    return stay;
  }

  /** Stays of any node that cover `offset`, the oldest addition first. */
  at(offset: number): number[] {
    const found: number[] = [];
    if (this.#longest > this.count) {
      for (let stay = 0; stay < this.count; stay += 1) {
        if (this.base.get(stay) <= offset && this.last.get(stay) >= offset) found.push(stay);
      }
      return found;
    }
    for (let base = offset; base >= offset - this.#longest && base >= 0; base -= 1) {
      for (let stay = this.#heads.get(base); stay !== -1; stay = this.#next.get(stay)) {
        if (this.last.get(stay) >= offset) found.push(stay);
      }
    }
    return found.sort((x, y) => x - y);
  }

  /** The stays that begin at one offset, of each offset at which not all are the same batch, in rising order. */
  differing(): number[][] {
    const found: number[][] = [];
    for (let stay = 0; stay < this.count; stay += 1) {
      // Of each offset once: where its chain begins.
      if (this.#heads.get(this.base.get(stay)) !== stay) continue;
      const together: number[] = [];
      for (let other = stay; other !== -1; other = this.#next.get(other)) together.push(other);
      if (together.some((other) => !this.isSameBatch(stay, other))) found.push(together);
    }
    return found.sort(([x], [y]) => this.base.get(x as number) - this.base.get(y as number));
  }

  /** Whether both hold the same records, as one leader wrote them. */
  isSameBatch(one: number, other: number): boolean {
    return this.epoch.get(one) === this.epoch.get(other) && this.hash.get(one) === this.hash.get(other);
  }

  /** Pairs of stays that cover a common offset with records of different epochs, the lower epoch first. */
  *contested(): Generator<readonly [older: number, newer: number], void, undefined> {
    const order = Int32Array.from({ length: this.count }, (_, stay) => stay);
    order.sort((x, y) => this.base.get(x) - this.base.get(y) || x - y);
    // Stays that reach the base at hand; one of each (base, epoch) would do, but there are only as many as brokers.
    let open: number[] = [];
    for (const stay of order) {
      open = open.filter((other) => this.last.get(other) >= this.base.get(stay));
      for (const other of open) {
        const difference = this.epoch.get(other) - this.epoch.get(stay);
        if (difference < 0) yield [other, stay];
        if (difference > 0) yield [stay, other];
      }
      open.push(stay);
    }
  }
}
