/**
 * The links between places: how long a packet takes from one to the other, and whether it gets there at all.
 *
 * Each direction is a link of its own with a stream of its own, `net:<from>→<to>`, so that one more message on one link
 * shifts nothing on another. A packet takes a fixed time and a jitter with a tail. What a slow link loses is sent again
 * by TCP, after 200 ms and then after twice as long each time: a loss is a delay. What a cut keeps is sent again in the
 * same way, so that a link that heals is noticed only at the next attempt.
 *
 * Without random draws, as in scripted schedules, a link takes its fixed time, and a healed one delivers at once.
 */
import type { SlowLink } from '../../nemesis/ports.ts';
import type { Random } from '../plan/random.ts';
import { SmallRandom } from './small-random.ts';

/** What a link is wanted to be, beyond its nature. */
export type Slowness = Pick<SlowLink, 'delayMs' | 'jitterMs' | 'loss'>;

const NS_PER_MS = 1e6;
/** As packets of a healthy network of one room take: a quarter of a millisecond, and seldom more than a whole one. */
const FIXED_NS = 250_000;
const TAIL_NS = 1_000_000;
/** TCP's timeout for a packet without an acknowledgement, and for the first packet of a connection. */
const RETRANSMIT_NS = 200_000_000;
const RETRANSMIT_FIRST_NS = 1_000_000_000;
/** Linux doubles the timeout up to two minutes; here a link is noticed to have healed after four seconds at most. */
const RETRANSMIT_MAX_NS = 4_000_000_000;
/** After so many losses in a row a packet gets through. */
const MOST_LOSSES = 12;

/** One direction between two places. */
export class Link {
  readonly #fixedNs: number;
  readonly #random: SmallRandom | null;
  #slow: Slowness | null = null;
  /** Since when it is cut; Infinity while it is not. */
  cutSinceNs = Infinity;
  /** While cut: whoever sends is told at once that the connection is gone. */
  resets = false;
  /** How often a cut has kept a message from arriving, and how many messages were slowed. */
  swallowed = 0;
  slowed = 0;

  constructor(fixedNs: number, random: SmallRandom | null) {
    this.#fixedNs = fixedNs;
    this.#random = random;
  }

  get isCut(): boolean {
    return this.cutSinceNs !== Infinity;
  }

  get isSlow(): boolean {
    return this.#slow !== null;
  }

  takeSwallowed(): number {
    const { swallowed } = this;
    this.swallowed = 0;
    return swallowed;
  }

  takeSlowed(): number {
    const { slowed } = this;
    this.slowed = 0;
    return slowed;
  }

  /** How long a packet takes that is sent now. */
  delayNs(): number {
    const random = this.#random;
    const slow = this.#slow;
    if (slow !== null) this.slowed += 1;
    if (random === null) return this.#fixedNs + (slow === null ? 0 : slow.delayMs * NS_PER_MS);
    const delayNs = this.#fixedNs + Math.floor(random.fraction() * random.fraction() * TAIL_NS);
    return slow === null ? delayNs : delayNs + this.#slownessNs(slow, random);
  }

  slowDown(slow: Slowness | null): void {
    this.#slow = slow;
  }

  /** When a packet that was sent at `sentNs` and never arrived comes, now that the link has healed. */
  retransmittedNs(sentNs: number, nowNs: number, isFirst: boolean): number {
    if (this.#random === null) return nowNs;
    let timeoutNs = isFirst ? RETRANSMIT_FIRST_NS : RETRANSMIT_NS;
    let attemptNs = sentNs;
    while (attemptNs < nowNs) {
      attemptNs += timeoutNs;
      timeoutNs = Math.min(2 * timeoutNs, RETRANSMIT_MAX_NS);
    }
    return attemptNs + this.delayNs();
  }

  #slownessNs({ delayMs, jitterMs, loss }: Slowness, random: SmallRandom): number {
    let slowNs = Math.floor((delayMs + random.fraction() * jitterMs) * NS_PER_MS);
    let timeoutNs = RETRANSMIT_NS;
    for (let losses = 0; losses < MOST_LOSSES && random.fraction() < loss; losses += 1) {
      slowNs += timeoutNs;
      timeoutNs = Math.min(2 * timeoutNs, RETRANSMIT_MAX_NS);
    }
    return slowNs;
  }
}

/** All links; each exists from the first look at it on. */
export class Links {
  readonly #fixedNs: ((from: number, to: number) => number) | undefined;
  readonly #random: Random | undefined;
  /** Names of the places, as streams are named after them. */
  readonly #names: string[] = [];
  readonly #rows: Link[][] = [];

  constructor(random: Random | undefined, fixedNs: ((from: number, to: number) => number) | undefined) {
    this.#random = random;
    this.#fixedNs = fixedNs;
  }

  /** Adds a place, and returns its number: its row and column in the matrix of links. */
  addPlace(name: string): number {
    this.#rows.push([]);
    return this.#names.push(name) - 1;
  }

  between(from: number, to: number): Link {
    const row = this.#rows[from] ?? [];
    return (row[to] ??= this.#create(from, to));
  }

  #create(from: number, to: number): Link {
    const stream = this.#random?.stream(`net:${this.#names[from]}→${this.#names[to]}`);
    const fixedNs = this.#fixedNs?.(from, to) ?? (stream === undefined ? 2 * FIXED_NS : FIXED_NS);
    return new Link(fixedNs, stream === undefined ? null : new SmallRandom(stream));
  }
}
