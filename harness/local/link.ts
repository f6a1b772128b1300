/**
 * One connection through a fault proxy: its caller, the node that it wants, and a flow each way.
 *
 * The caller is connected to the node only if nothing is cut between them: a handshake needs both directions. Until
 * then it hangs, and if it gives up it is forgotten, and what it sent never was. Once connected, a cut holds its own
 * direction at once, and the other after a moment, since TCP sends only so much without acknowledgements.
 *
 * Invariant: bytes and attempts count as swallowed only under the name of a cut that held them.
 */
import type { Socket } from 'node:net';
import type { Cut } from '../../nemesis/ports.ts';
import type { Place } from './caller.ts';
import { Flow } from './flow.ts';

/** What a link needs from its proxy. */
export interface LinkOptions {
  readonly caller: Socket;
  readonly place: Place;
  /** What the caller has sent so far. */
  readonly first: Buffer;
  /** Opens a connection to the node. */
  readonly dial: () => Socket;
  readonly swallow: (cut: Cut, count: number) => void;
  /** Both ends are closed. */
  readonly onClose: (link: Link) => void;
}

export class Link {
  readonly place: Place;
  readonly #options: LinkOptions;
  readonly #caller: Socket;
  readonly #there: Flow;
  #callee: Socket | null = null;
  #back: Flow | null = null;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.place = options.place;
    this.#caller = options.caller;
    this.#there = new Flow(options.caller, options.first);
    this.#caller.on('end', () => {
      /* Gave up while it hung. */
      if (this.#callee === null) this.#caller.destroy();
    });
    this.#caller.on('close', () => this.#closed());
  }

  /** An attempt to connect that meets these cuts. */
  attempt(cuts: readonly Cut[]): void {
    for (const cut of cuts) this.#options.swallow(cut, cut.from === this.place ? this.#options.first.length : 1);
    this.apply(cuts, false);
  }

  /** These cuts are in force between caller and node. `isStalled`: long enough to stall both directions. */
  apply(cuts: readonly Cut[], isStalled: boolean): void {
    if (cuts.some(({ mode }) => mode === 'reset')) {
      this.#caller.resetAndDestroy();
      this.#callee?.resetAndDestroy();
      return;
    }
    if (this.#callee === null || this.#back === null) {
      if (cuts.length === 0 && !this.#caller.destroyed) this.#connect();
      return;
    }
    const cutThere = cuts.find(({ from }) => from === this.place);
    const cutBack = cuts.find(({ to }) => to === this.place);
    this.#shape(this.#there, cutThere, cutBack !== undefined && isStalled);
    this.#shape(this.#back, cutBack, cutThere !== undefined && isStalled);
  }

  #shape(flow: Flow, cut: Cut | undefined, isStalled: boolean): void {
    if (cut !== undefined) flow.hold((bytes) => this.#options.swallow(cut, bytes));
    else if (isStalled) flow.hold(() => undefined);
    else flow.release();
  }

  #connect(): void {
    const callee = this.#options.dial();
    this.#callee = callee;
    this.#back = new Flow(callee);
    this.#back.connect(this.#caller);
    callee.on('close', () => this.#closed());
    callee.once('connect', () => this.#there.connect(callee));
  }

  #closed(): void {
    if (this.#caller.destroyed && (this.#callee === null || this.#callee.destroyed)) this.#options.onClose(this);
  }
}
