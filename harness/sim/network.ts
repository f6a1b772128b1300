/**
 * Messages between endpoints, as TCP carries them: connections, each with two lanes that keep their order.
 *
 * A connection belongs to the endpoint that opened it and sends requests; answers come back on its other lane, and so
 * does the notice that it ended. Opening one costs a round trip, which the first message has to wait for.
 *
 * A cut keeps what is sent from arriving until it is healed; nothing is lost, since TCP sends it again (`links.ts` says
 * when). A cut of one direction delivers what the other had in flight and then nothing more, as missing acknowledgements
 * stall it. A cut that resets ends the connection of whatever is sent. A held message stops its lane, and whatever was
 * sent after it on the same lane waits behind it.
 *
 * Invariant: each lane has at most one entry in the event queue, for its first message.
 */
import type { ApiName } from '../../broker/protocol/index.ts';
import type { EventQueue, Schedulable } from './event-queue.ts';
import type { Journal } from './journal.ts';
import type { Link, Links } from './links.ts';

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
  /** `end`: the sender closed the connection, or died, or the network reset it. */
  readonly kind: 'request' | 'response' | 'end';
  readonly api: ApiName;
  readonly version: number;
  readonly correlationId: number;
  readonly clientId: string;
  readonly body: unknown;
  readonly sentNs: number;
  /** When it arrives, if nothing stops it. */
  dueNs: number;
  /** A notice of the network's own, which no cut stops. */
  readonly forced: boolean;
  /** The one behind it on its lane. */
  next: Message | null;
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
  /** Life of the requester that it belongs to: what was sent may arrive when the next one has begun. */
  readonly requesterBoot: number;
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
  readonly link: Link;
  /** On which acknowledgements come back. */
  readonly backLink: Link;
  readonly #network: Network;
  #first: Message | null = null;
  #last: Message | null = null;
  #lastDueNs = 0;
  #scheduled = false;

  constructor(network: Network, connection: Connection, from: Endpoint, to: Endpoint) {
    this.#network = network;
    this.connection = connection;
    this.from = from;
    this.to = to;
    this.link = network.links.between(from.place, to.place);
    this.backLink = network.links.between(to.place, from.place);
  }

  get first(): Message | null {
    return this.#first;
  }

  /** When a message that is sent now would arrive: never before the one sent last. */
  dueNs(nowNs: number, delayNs: number): number {
    if (nowNs + delayNs > this.#lastDueNs) this.#lastDueNs = nowNs + delayNs;
    return this.#lastDueNs;
  }

  push(message: Message): void {
    if (this.#last === null) this.#first = message;
    else this.#last.next = message;
    this.#last = message;
    if (this.#first === message) this.schedule();
  }

  clear(): void {
    this.#first = null;
    this.#last = null;
  }

  schedule(): void {
    if (this.#first === null || this.#scheduled) return;
    this.#scheduled = true;
    this.#network.queue.push(Math.max(this.#first.dueNs, this.#network.nowNs), this);
  }

  due(): void {
    this.#scheduled = false;
    const message = this.#first;
    if (message === null || this.#network.stops(this, message)) return;
    this.#first = message.next;
    if (this.#first === null) this.#last = null;
    this.schedule();
    this.#network.journal.delivered(this, message);
    this.to.arrive(this, message);
  }
}

export class Network {
  readonly queue: EventQueue;
  readonly journal: Journal;
  readonly links: Links;
  /** The kernel's clock. */
  nowNs = 0;
  /** Asked of each message that is sent: how much later than else it is to arrive. */
  lateness: ((lane: Lane, message: Pick<Message, 'kind' | 'correlationId'>) => number) | null = null;
  readonly #holds: Hold[] = [];
  /** Lanes whose first message was stopped by a cut or a hold. */
  #stopped: Lane[] = [];
  #nextConnection = 1;

  constructor(queue: EventQueue, journal: Journal, links: Links) {
    this.queue = queue;
    this.journal = journal;
    this.links = links;
  }

  /** Time that a packet takes from one place to another if it is sent now. */
  delayNs(from: number, to: number): number {
    return this.links.between(from, to).delayNs();
  }

  connect(requester: Endpoint, responder: Endpoint): Connection {
    const connection = {
      id: this.#nextConnection++,
      requester,
      requesterBoot: requester.boot,
      responder,
      acceptedBy: null,
      requesterOpen: true,
      responderOpen: true,
    } as unknown as Mutable<Connection>;
    const requests = new Lane(this, connection, requester, responder);
    connection.requests = requests;
    connection.responses = new Lane(this, connection, responder, requester);
    /* The first message waits for the handshake: there and back. */
    const thereNs = requests.link.delayNs();
    requests.dueNs(this.nowNs, thereNs + requests.backLink.delayNs() + requests.link.delayNs());
    return connection;
  }

  send(
    lane: Lane,
    kind: 'request' | 'response',
    api: ApiName,
    version: number,
    correlationId: number,
    clientId: string,
    body: unknown,
  ): void {
    const sentNs = this.nowNs;
    const laterNs = this.lateness === null ? 0 : this.lateness(lane, { kind, correlationId });
    const dueNs = lane.dueNs(sentNs, lane.link.delayNs() + laterNs);
    lane.push({ kind, api, version, correlationId, clientId, body, sentNs, dueNs, forced: false, next: null });
  }

  /** Tells the other end of a lane that no more will come. */
  sendEnd(lane: Lane): void {
    lane.push(endOf(this.nowNs, lane.dueNs(this.nowNs, lane.link.delayNs()), false));
  }

  /** Keeps packets from arriving; with `resets`, whoever sends on that link loses the connection. */
  cut(from: number, to: number, resets = false): void {
    const link = this.links.between(from, to);
    if (!link.isCut) link.cutSinceNs = this.nowNs;
    link.resets = resets;
    if (resets) this.#resume();
  }

  heal(from: number, to: number): void {
    this.links.between(from, to).cutSinceNs = Infinity;
    this.#resume();
  }

  isCut(from: number, to: number): boolean {
    return this.links.between(from, to).isCut;
  }

  /** A packet from one place to another is lost to a cut. */
  swallow(from: number, to: number): void {
    this.links.between(from, to).swallowed += 1;
  }

  /** What the cut of that link has swallowed since it was asked last. */
  takeSwallowed(from: number, to: number): number {
    return this.links.between(from, to).takeSwallowed();
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
    for (const lane of this.#stopped) {
      if (lane.first !== null && hold.matches(lane, lane.first)) this.loseOn(lane);
    }
    this.release(hold);
  }

  /** Ends the connection of a lane: what is on it never arrives. */
  loseOn(lane: Lane): void {
    lane.clear();
    this.sendEnd(lane.connection.requests);
    this.sendEnd(lane.connection.responses);
  }

  /** What of this is stopped now and somebody still waits for, in the order in which it was stopped. */
  heldBy(matches: Hold['matches']): HeldMessage[] {
    return this.#stopped.flatMap((lane) => {
      const message = lane.first;
      const waitedFor = message !== null && lane.connection.requesterOpen && lane.connection.responderOpen;
      return waitedFor && matches(lane, message) ? [{ lane, message }] : [];
    });
  }

  /** Whether the first message of a lane has to wait; the lane is looked at again when a cut or a hold ends. */
  stops(lane: Lane, message: Message): boolean {
    const cut = stallOf(lane, message);
    if (cut !== null) {
      cut.swallowed += 1;
      if (cut.resets) this.#reset(lane.connection);
      else this.#stopped.push(lane);
      return true;
    }
    if (this.#holds.length === 0 || !this.#isHeld(lane, message)) return false;
    this.#stopped.push(lane);
    return true;
  }

  /** Both ends are told that the connection is gone; what was under way never arrives. */
  #reset({ requests, responses }: Connection): void {
    for (const lane of [requests, responses]) {
      lane.clear();
      lane.push(endOf(this.nowNs, this.nowNs, true));
    }
  }

  #isHeld(lane: Lane, message: Message): boolean {
    for (const hold of this.#holds) {
      if (hold.matches(lane, message) && !hold.exempt.has(message)) return true;
    }
    return false;
  }

  /** Looks at the stopped lanes again; what a cut kept from arriving comes when TCP sends it again. */
  #resume(): void {
    const lanes = this.#stopped;
    this.#stopped = [];
    for (const lane of lanes) {
      const { first } = lane;
      if (first === null) continue;
      const isFirst = lane.connection.acceptedBy === null;
      first.dueNs = lane.link.retransmittedNs(first.sentNs, this.nowNs, isFirst);
      lane.schedule();
    }
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** The cut that keeps a message from arriving, or that swallows its acknowledgement. */
function stallOf({ link, backLink }: Lane, { forced, sentNs }: Message): Link | null {
  if (forced) return null;
  if (link.isCut) return link;
  return sentNs >= backLink.cutSinceNs ? backLink : null;
}

function endOf(sentNs: number, dueNs: number, forced: boolean): Message {
  return {
    kind: 'end',
    api: 'ApiVersions',
    version: 0,
    correlationId: -1,
    clientId: '',
    body: null,
    sentNs,
    dueNs,
    forced,
    next: null,
  };
}
