/**
 * The fault proxy before one node: everybody reaches the node through it, so that its links can be cut.
 *
 * It listens at the node's advertised address, learns from the first frame who calls, and lets each connection know
 * which cuts are in force between that caller and its node. While the node's process is down the port is closed, so
 * that callers are refused, as by a machine on which nothing listens.
 *
 * What it cannot imitate: the kernel accepts a connection before anybody can know who calls, so under a cut a caller
 * sees itself connected, and then hears nothing, where a real one would wait for the handshake.
 */
import { createConnection, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import type { Address, Cut, NodeName } from '../../nemesis/ports.ts';
import { nameOfCut } from '../../nemesis/topologies.ts';
import { callerOf } from './caller.ts';
import type { Place } from './caller.ts';
import { Link } from './link.ts';

/** For so long the other direction of a one-way cut still delivers. */
export const IN_FLIGHT_MS = 200;
const CONNECTIONS_MAX = 10_000;

export class FaultProxy {
  readonly node: NodeName;
  readonly address: Address;
  readonly #target: Address;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #links = new Set<Link>();
  #cuts: readonly Cut[] = [];
  /** Since when something is cut between a place and this node. */
  readonly #cutSinceMs = new Map<Place, number>();
  #stallTimer: NodeJS.Timeout | undefined;
  readonly #swallowed = new Map<string, number>();

  /** `address` is where everybody calls, `target` where the node listens. */
  constructor(node: NodeName, address: Address, target: Address) {
    this.node = node;
    this.address = address;
    this.#target = target;
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (caller) => this.#accept(caller));
    this.#server.maxConnections = CONNECTIONS_MAX;
  }

  /** Opens the port. Rejects when somebody else has it. */
  async open(): Promise<void> {
    if (this.#server.listening) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once('error', reject);
    this.#server.listen({ ...this.address, backlog: 1_024 }, resolve);
    await promise;
    this.#server.off('error', reject);
  }

  /** Closes the port. Connections that exist go on. */
  shut(): void {
    if (this.#server.listening) this.#server.close();
  }

  /** Exactly these cuts from now on; those that do not touch this node are none of its business. */
  setCuts(cuts: readonly Cut[]): void {
    const nowMs = performance.now();
    this.#cuts = cuts.filter(({ from, to }) => from === this.node || to === this.node);
    const places = new Set(this.#cuts.map(({ from, to }) => (from === this.node ? to : from)));
    for (const place of this.#cutSinceMs.keys()) if (!places.has(place)) this.#cutSinceMs.delete(place);
    for (const place of places) if (!this.#cutSinceMs.has(place)) this.#cutSinceMs.set(place, nowMs);
    this.#applyCuts();
    clearTimeout(this.#stallTimer);
    if (places.size > 0) this.#stallTimer = setTimeout(() => this.#applyCuts(), IN_FLIGHT_MS + 1);
  }

  /** Bytes and attempts to connect that the cut of that name held back since it was last asked. */
  takeSwallowed(name: string): number {
    const count = this.#swallowed.get(name) ?? 0;
    this.#swallowed.delete(name);
    return count;
  }

  /** Ends everything. */
  close(): void {
    clearTimeout(this.#stallTimer);
    this.shut();
    for (const socket of this.#sockets) socket.destroy();
  }

  #applyCuts(): void {
    for (const link of this.#links) link.apply(this.#cutsOf(link.place), this.#isStalled(link.place));
  }

  #cutsOf(place: Place): readonly Cut[] {
    return this.#cuts.filter(({ from, to }) => from === place || to === place);
  }

  #isStalled(place: Place): boolean {
    return performance.now() - (this.#cutSinceMs.get(place) ?? Number.POSITIVE_INFINITY) >= IN_FLIGHT_MS;
  }

  /** Reads until it is known who calls. */
  #accept(caller: Socket): void {
    this.#track(caller);
    let first = Buffer.alloc(0);
    const giveUp = (): void => void caller.destroy();
    const read = (chunk: Buffer): void => {
      first = Buffer.concat([first, chunk]);
      const place = callerOf(first);
      if (place === null) return;
      caller.off('data', read);
      caller.off('end', giveUp);
      this.#admit(caller, place, first);
    };
    caller.on('data', read);
    caller.on('end', giveUp);
  }

  #admit(caller: Socket, place: Place, first: Buffer): void {
    const link = new Link({
      caller,
      place,
      first,
      dial: () => this.#dial(),
      swallow: (cut, count) => this.#count(cut, count),
      onClose: (closed) => this.#links.delete(closed),
    });
    this.#links.add(link);
    link.attempt(this.#cutsOf(place));
  }

  #dial(): Socket {
    const callee = createConnection({ ...this.#target, noDelay: true, allowHalfOpen: true });
    this.#track(callee);
    return callee;
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    /* What an error means is up to the flow that reads from the socket. */
    socket.on('error', () => undefined);
    socket.on('close', () => this.#sockets.delete(socket));
  }

  #count(cut: Cut, count: number): void {
    const name = nameOfCut(cut);
    this.#swallowed.set(name, (this.#swallowed.get(name) ?? 0) + count);
  }
}
