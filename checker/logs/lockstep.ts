/**
 * All replicas of a partition, walked through side by side, batch by batch.
 *
 * The replicas whose next batch has the lowest offset are at the front. Those among them with the same bytes form a side;
 * one of each side is checked, and all of it take note. As long as everybody stands at the same place with the same bytes
 * whole windows are compared at once, and only one replica's checksums are computed: equal bytes have equal checksums.
 *
 * Invariant: every byte of every replica is looked at, either under a checksum or beside a byte that was. Each step moves
 * one replica forward, so any bytes at all come to an end.
 */
import { Differences, type Standing } from './differences.ts';
import type { Lane, ByteTools } from './lane.ts';

export class Lockstep {
  readonly differences: Differences;
  readonly #lanes: readonly Lane[];
  readonly #sameBytes: ByteTools['sameBytes'];
  /** The side that each replica was last seen on. */
  readonly #sides = new Map<Lane, number>();
  #sidesSeen = 0;
  /** All that have not ended stand at the same place and agree. */
  #inStep = false;
  /** So many bytes are compared batch by batch, since somewhere in them is a difference. */
  #cautious = 0;

  constructor(lanes: readonly Lane[], tools: ByteTools) {
    this.#lanes = lanes;
    this.#sameBytes = tools.sameBytes;
    this.differences = new Differences(lanes, tools.decompressors);
  }

  /** Walks to the end of all logs. */
  run(): Differences {
    do {
      if (this.#inStep && this.#cautious <= 0) this.#hurry();
    } while (this.#step());
    return this.differences;
  }

  /** Takes batch after batch as long as all replicas that are left hold the same bytes. */
  #hurry(): void {
    // One at least has just stood at a batch.
    const [leader, ...followers] = this.#lanes.filter(({ ended }) => !ended) as [Lane, ...Lane[]];
    let equal = 0;
    while (leader.settle()) {
      const { size } = leader.stream.frame;
      if (equal < size) {
        equal = this.#compareWindows(leader, followers, size);
        if (equal < size) return;
      }
      leader.inspect();
      // What follows a bad batch has to be sought, by each replica for itself.
      if (!leader.sound) return;
      for (const follower of followers) follower.take(leader);
      leader.take(leader);
      equal -= size;
    }
  }

  /** Bytes that are equal in all; 0 if there is a difference somewhere in their windows. */
  #compareWindows(leader: Lane, followers: readonly Lane[], size: number): number {
    const { window, at, available } = leader.stream;
    let length = available;
    for (const { stream } of followers) length = Math.min(length, stream.ready(size));
    if (length < size) return 0;
    for (const { stream } of followers) {
      if (this.#sameBytes(window, at, stream.window, stream.at, length)) continue;
      this.#cautious = length;
      return 0;
    }
    return length;
  }

  /** One batch of those at the front. False when all have ended. */
  #step(): boolean {
    const active = this.#lanes.filter((lane) => lane.settle());
    if (active.length === 0) return false;
    const offset = Math.min(...active.map(({ stream }) => stream.frame.base));
    const front = active.filter(({ stream }) => stream.frame.base === offset);
    const readers = this.#formSides(front);
    const standings = this.#standingsAt(offset, front);
    this.differences.note(standings, offset);
    this.#inStep = front.length === active.length && new Set(readers).size === 1 && !this.differences.isOpen;
    this.#cautious -= (front[0] as Lane).stream.frame.size;
    this.#takeAll(front, readers);
    return true;
  }

  /** For each replica at the front the one that reads its batch: the first with the same bytes. */
  #formSides(front: readonly Lane[]): Lane[] {
    const readers: Lane[] = [];
    const reading = front.map((lane) => {
      const { window, at, frame } = lane.stream;
      const reader = readers.find(
        ({ stream }) =>
          stream.frame.size === frame.size && this.#sameBytes(stream.window, stream.at, window, at, frame.size),
      );
      if (reader !== undefined) return reader;
      lane.inspect();
      readers.push(lane);
      return lane;
    });
    for (const reader of readers) {
      this.#sidesSeen += 1;
      for (const [index, lane] of front.entries()) {
        if (reading[index] === reader) this.#sides.set(lane, this.#sidesSeen);
      }
    }
    return reading;
  }

  /** The replicas that can be compared at `offset`. */
  #standingsAt(offset: number, front: readonly Lane[]): Standing[] {
    const standings: Standing[] = [];
    const last = Math.max(...front.map(({ stream }) => stream.frame.last));
    for (const lane of this.#lanes) {
      const { ledger, stream } = lane;
      const side = this.#sides.get(lane) as number;
      if (front.includes(lane)) {
        // Deleted, though the file still holds it; or offsets that go back, which is a finding of its own.
        if (stream.frame.last < ledger.logStart || offset < ledger.leo) continue;
        standings.push({ lane, side, holds: 'batch' });
      } else if (ledger.logStart <= offset && ledger.leo > offset) {
        standings.push({ lane, side, holds: 'past' });
      } else if (ledger.logStart <= last && !lane.ended && stream.frame.base > ledger.logStart) {
        // Its log may begin within the batches at the front.
        standings.push({ lane, side: 0, holds: 'nothing' });
      }
    }
    return standings;
  }

  #takeAll(front: readonly Lane[], readers: readonly Lane[]): void {
    // A reader moves last: the others take note of what it has in its window.
    for (const [index, lane] of front.entries()) {
      if (readers[index] !== lane) lane.take(readers[index] as Lane);
    }
    for (const [index, lane] of front.entries()) {
      if (readers[index] === lane) lane.take(lane);
    }
  }
}
