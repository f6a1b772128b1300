/**
 * Messages between endpoints, as TCP carries them: connections, each with two lanes that keep their order.
 *
 * A connection belongs to the endpoint that opened it and sends requests; answers come back on its other lane, and so
 * does the notice that it ended. Opening one costs a round trip, which the first message has to wait for.
 *
 * A cut keeps what is sent from arriving until it is healed; nothing is lost, since TCP would send it again. A cut of one
 * direction delivers what the other had in flight and then nothing more, as missing acknowledgements stall it. A held
 * message stops its lane, and whatever was sent after it on the same lane waits behind it.
 *
 * Invariant: each lane has at most one entry in the event queue, for its first message.
 */
import type { ApiName } from '../../broker/protocol/index.ts';
import type { EventQueue, Schedulable } from './event-queue.ts';
import type { Journal } from './journal.ts';

/** One end of connections: a node or a client. */
export interface Endpoint {
  /** `1`, `controller`, or a client's name. */
  readonly name: string;
  /** Its row and column in the matrix of links; all clients share one. */
  readonly place: number;
  /** Counts the lives of a node's process: a connection belongs to one life. */
  readonly boot: number;
  readonly running: boolean;
  /** A message arrived on a lane that ends here. */
  arrive(lane: Lane, message: Message): void;
}

export interface Message {
  /** `end`: the sender closed the connection, or died. */
  readonly kind: 'request' | 'response' | 'end';
  readonly api: ApiName;
  readonly version: number;
  readonly correlationId: number;
  readonly clientId: string;
  readonly body: unknown;
  readonly sentNs: number;
  readonly dueNs: number;
}

/** Stops messages until they are let through. */
export interface Hold {
  readonly matches: (lane: Lane, message: Message) => boolean;
  /** Those that may pass nevertheless. */
  readonly exempt: Set<Message>;
}

/** A message that is first on its lane, and stopped. */
export interface HeldMessage {
  readonly lane: Lane;
  readonly message: Message;
}

export interface Connection {
  /** Names the connection to the core that serves it. */
  readonly id: number;
  readonly requester: Endpoint;
  readonly responder: Endpoint;
  readonly requests: Lane;
  readonly responses: Lane;
  /** Life of the responder that accepted it; none as long as nothing arrived. */
  acceptedBy: number | null;
  requesterOpen: boolean;
  responderOpen: boolean;
}

/** One direction of one connection. */
export class Lane implements Schedulable {
  readonly connection: Connection;
  readonly from: Endpoint;
  readonly to: Endpoint;
  readonly #network: Network;
  readonly #messages: Message[] = [];
  #lastDueNs = 0;
  #scheduled = false;

  constructor(network: Network, connection: Connection, from: Endpoint, to: Endpoint) {
    this.#network = network;
    this.connection = connection;
    this.from = from;
    this.to = to;
  }

  get first(): Message | undefined {
    return this.#messages[0];
  }

  /** When a message that is sent now would arrive: never before the one sent last. */
  dueNs(nowNs: number, delayNs: number): number {
    this.#lastDueNs = Math.max(this.#lastDueNs, nowNs + delayNs);
    return this.#lastDueNs;
  }

  push(message: Message): void {
    this.#messages.push(message);
    if (this.#messages.length === 1) this.schedule();
  }

  clear(): void {
    this.#messages.length = 0;
  }

  schedule(): void {
    const first = this.first;
    if (first === undefined || this.#scheduled) return;
    this.#scheduled = true;
    this.#network.queue.push(Math.max(first.dueNs, this.#network.nowNs), this);
  }

  due(): void {
    this.#scheduled = false;
    const message = this.first;
    if (message === undefined || this.#network.stops(this, message)) return;
    this.#messages.shift();
    this.schedule();
    this.#network.journal.delivered(this, message);
    this.to.arrive(this, message);
  }
}

export class Network {
  readonly queue: EventQueue;
  readonly journal: Journal;
  /** The kernel's clock. */
  nowNs = 0;
  /** Time that a message takes from one place to another. */
  readonly delayNs: (from: number, to: number) => number;
  /** Since when the link from one place to another is cut, by `from · width + to`. */
  readonly #cutSinceNs = new Map<number, number>();
  /** How often a cut has kept a message from arriving, by the same key: what proves that it took effect. */
  readonly #swallowed = new Map<number, number>();
  readonly #holds: Hold[] = [];
  /** Lanes whose first message was stopped by a cut or a hold. */
  #stopped: Lane[] = [];
  #nextConnection = 1;

  constructor(queue: EventQueue, journal: Journal, delayNs: (from: number, to: number) => number) {
    this.queue = queue;
    this.journal = journal;
    this.delayNs = delayNs;
  }

  connect(requester: Endpoint, responder: Endpoint): Connection {
    const connection = {
      id: this.#nextConnection++,
      requester,
      responder,
      acceptedBy: null,
      requesterOpen: true,
      responderOpen: true,
    } as unknown as Mutable<Connection>;
    connection.requests = new Lane(this, connection, requester, responder);
    connection.responses = new Lane(this, connection, responder, requester);
    /* The first message waits for the handshake: there and back. */
    const { place: here } = requester;
    const { place: there } = responder;
    connection.requests.dueNs(this.nowNs, 2 * this.delayNs(here, there) + this.delayNs(there, here));
    return connection;
  }

  send(lane: Lane, message: Omit<Message, 'sentNs' | 'dueNs'>): void {
    const { kind, api, version, correlationId, clientId, body } = message;
    const dueNs = lane.dueNs(this.nowNs, this.delayNs(lane.from.place, lane.to.place));
    lane.push({ kind, api, version, correlationId, clientId, body, sentNs: this.nowNs, dueNs });
  }

  /** Tells the other end of a lane that no more will come. */
  sendEnd(lane: Lane): void {
    this.send(lane, { kind: 'end', api: 'ApiVersions', version: 0, correlationId: -1, clientId: '', body: null });
  }

  cut(from: number, to: number): void {
    const link = linkOf(from, to);
    if (!this.#cutSinceNs.has(link)) this.#cutSinceNs.set(link, this.nowNs);
  }

  heal(from: number, to: number): void {
    this.#cutSinceNs.delete(linkOf(from, to));
    this.#resume();
  }

  isCut(from: number, to: number): boolean {
    return this.#cutSinceNs.has(linkOf(from, to));
  }

  /** A packet from one place to another is lost to a cut. */
  swallow(from: number, to: number): void {
    const link = linkOf(from, to);
    this.#swallowed.set(link, (this.#swallowed.get(link) ?? 0) + 1);
  }

  /** What the cut of that link has swallowed since it was asked last. */
  takeSwallowed(from: number, to: number): number {
    const link = linkOf(from, to);
    const count = this.#swallowed.get(link) ?? 0;
    this.#swallowed.delete(link);
    return count;
  }

  hold(matches: Hold['matches']): Hold {
    const hold = { matches, exempt: new Set<Message>() };
    this.#holds.push(hold);
    return hold;
  }

  /** Lets one held message through. */
  letThrough(hold: Hold, message: Message): void {
    hold.exempt.add(message);
    this.#resume();
  }

  /** Ends a hold: what it stopped is delivered. */
  release(hold: Hold): void {
    const index = this.#holds.indexOf(hold);
    if (index >= 0) this.#holds.splice(index, 1);
    this.#resume();
  }

  /** Ends a hold by ending the connections of what it stopped: those messages never arrive. */
  lose(hold: Hold): void {
    const lost = this.#stopped.filter((lane) => lane.first !== undefined && hold.matches(lane, lane.first));
    for (const lane of lost) {
      lane.clear();
      this.sendEnd(lane.connection.requests);
      this.sendEnd(lane.connection.responses);
    }
    this.release(hold);
  }

  /** What a hold stops now and somebody still waits for, in the order in which it was stopped. */
  heldBy(hold: Hold): HeldMessage[] {
    return this.#stopped.flatMap((lane) => {
      const message = lane.first;
      const waitedFor = message !== undefined && lane.connection.requesterOpen && lane.connection.responderOpen;
      return waitedFor && hold.matches(lane, message) ? [{ lane, message }] : [];
    });
  }

  /** Whether the first message of a lane has to wait; the lane is looked at again when a cut or a hold ends. */
  stops(lane: Lane, message: Message): boolean {
    if (!this.#isStalled(lane, message) && !this.#isHeld(lane, message)) return false;
    this.#stopped.push(lane);
    return true;
  }

  #isStalled(lane: Lane, message: Message): boolean {
    if (this.#cutSinceNs.size === 0) return false;
    const { place: from } = lane.from;
    const { place: to } = lane.to;
    if (this.#cutSinceNs.has(linkOf(from, to))) {
      this.swallow(from, to);
      return true;
    }
    const backwards = this.#cutSinceNs.get(linkOf(to, from));
    if (backwards === undefined || message.sentNs < backwards) return false;
    // What the cut swallows here is the acknowledgement.
    this.swallow(to, from);
    return true;
  }

  #isHeld(lane: Lane, message: Message): boolean {
    for (const hold of this.#holds) {
      if (!hold.exempt.delete(message) && hold.matches(lane, message)) return true;
    }
    return false;
  }

  #resume(): void {
    const lanes = this.#stopped;
    this.#stopped = [];
    for (const lane of lanes) lane.schedule();
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const MOST_PLACES = 1024;

function linkOf(from: number, to: number): number {
  return from * MOST_PLACES + to;
}
