/**
 * The bytes of one direction of a proxied connection, which can be held.
 *
 * A held flow behaves as a network that drops packets does under TCP. The sender goes on sending until its window is
 * full; nothing arrives, not even the end of the connection; when the hold ends, what was sent arrives in order, as
 * after a retransmission, and the end after it. A sender that was reset meanwhile is found reset then.
 *
 * Invariant: bytes are never dropped, reordered or invented; about {@link HELD_BYTES_MAX} wait at most.
 */
import type { Socket } from 'node:net';

/** What a flow keeps while it is held. Then it stops reading, and the sender's own buffers fill. */
export const HELD_BYTES_MAX = 1024 * 1024;

export class Flow {
  readonly #source: Socket;
  /** Null until there is somewhere to send them. */
  #sink: Socket | null = null;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #swallow: ((bytes: number) => void) | null = null;
  #end: 'open' | 'ended' | 'reset' = 'open';

  /** `first` was read from the source before. */
  constructor(source: Socket, first?: Buffer) {
    this.#source = source;
    if (first !== undefined) this.#keep(first);
    source.on('data', (chunk: Buffer) => this.#take(chunk));
    source.on('end', () => this.#finish('ended'));
    source.on('error', () => this.#finish('reset'));
    source.on('close', () => this.#finish('ended'));
  }

  /** From now on nothing arrives. `swallow` is told how many bytes were sent in vain. */
  hold(swallow: (bytes: number) => void): void {
    this.#swallow = swallow;
  }

  /** What was held arrives, and everything after it. */
  release(): void {
    this.#swallow = null;
    this.#flush();
  }

  /** From now on there is somewhere to send to. */
  connect(sink: Socket): void {
    this.#sink = sink;
    this.#flush();
  }

  #take(chunk: Buffer): void {
    this.#swallow?.(chunk.length);
    this.#keep(chunk);
    this.#flush();
    if (this.#waitingBytes > HELD_BYTES_MAX) this.#source.pause();
  }

  #keep(chunk: Buffer): void {
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
  }

  #finish(end: 'ended' | 'reset'): void {
    if (this.#end !== 'open') return;
    this.#end = end;
    this.#flush();
  }

  #flush(): void {
    const sink = this.#sink;
    if (this.#swallow !== null || sink === null) return;
    if (this.#end === 'reset') {
      sink.resetAndDestroy();
      return;
    }
    let hasRoom = true;
    for (const chunk of this.#waiting) hasRoom = sink.write(chunk);
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (this.#end === 'ended') {
      sink.end();
    } else if (hasRoom) {
      this.#source.resume();
    } else {
      this.#source.pause();
      sink.once('drain', () => this.#source.resume());
    }
  }
}
