/**
 * Opening a connection in the kernel, and ending it, for whoever is no node: clients, the admin client, probes.
 *
 * The first packet of a connection and its answer take the time of a round trip. Where a cut swallows one of them, it is
 * sent again after a second, after two more, after four more, as Linux does; so a link that heals is not noticed at once.
 */
import type { Kernel } from './kernel.ts';
import type { Connection, Endpoint } from './network.ts';

const FIRST_RETRY_NS = 1_000_000_000;

export class Dialling {
  readonly #kernel: Kernel;
  readonly #connection: Connection;
  readonly #opened: (connection: Connection | null) => void;
  #retryNs = FIRST_RETRY_NS;
  #phase: 'connecting' | 'open' | 'over' = 'connecting';

  /** Tells `opened` the connection when it is open, or null when nobody listens at the address. */
  constructor(kernel: Kernel, from: Endpoint, address: string, opened: (connection: Connection | null) => void) {
    const node = kernel.nodeAt(address);
    if (node === undefined) throw new Error(`nobody was ever at ${address}, where ${from.name} seeks a broker`);
    this.#kernel = kernel;
    this.#opened = opened;
    this.#connection = kernel.network.connect(from, node);
    this.#knock();
  }

  /** The connection is not wanted any more. */
  end(): void {
    const connection = this.#connection;
    if (this.#phase === 'open' && connection.requesterOpen) {
      connection.requesterOpen = false;
      this.#kernel.network.sendEnd(connection.requests);
    }
    connection.requesterOpen = false;
    this.#phase = 'over';
  }

  #knock(): void {
    const { network } = this.#kernel;
    const { place: here } = this.#connection.requester;
    const { place: there } = this.#connection.responder;
    const answerNs = network.nowNs + network.delayNs(here, there) + network.delayNs(there, here);
    this.#kernel.at(answerNs, 'handshake', () => this.#answered());
  }

  #answered(): void {
    if (this.#phase !== 'connecting') return;
    const { network } = this.#kernel;
    const connection = this.#connection;
    const { requester, responder } = connection;
    const there = network.links.between(requester.place, responder.place);
    const back = network.links.between(responder.place, requester.place);
    const cut = there.isCut ? there : back.isCut ? back : null;
    if (cut !== null) cut.swallowed += 1;
    if (cut?.resets === true || (cut === null && !responder.running)) {
      this.end();
      this.#opened(null);
      return;
    }
    if (cut !== null) {
      this.#kernel.at(network.nowNs + this.#retryNs, 'handshake again', () => {
        if (this.#phase === 'connecting') this.#knock();
      });
      this.#retryNs *= 2;
      return;
    }
    this.#phase = 'open';
    connection.acceptedBy = responder.boot;
    this.#opened(connection);
  }
}
