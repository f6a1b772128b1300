/**
 * The step kernel: drives the very same cores as the server does, in virtual time, on a network and disks of its own.
 *
 * It is the only scheduler that there is: golden traces, scripted scenarios and the simulator run on it. An event is
 * taken at its time, the core steps, its effects are performed in order, and only then comes the next event (the duties
 * of a driver stand at the head of `broker/core/step.ts`). Nothing takes time but messages. How much, and what a power
 * loss leaves, is fixed in scripted schedules and drawn from named streams in random runs: the same calls on the same
 * seed give the same trace, to the byte, and the same hash over every event.
 *
 * A message's body is handed over as an object, cut to what its version carries, so that a field that a version does not
 * have cannot be smuggled from core to core. With the option `codec` it is encoded and decoded as on a real wire, which
 * gives the same run, more slowly.
 *
 * Invariant: a node's core is stepped only while its process runs; what arrives while it is paused waits, in order.
 */
import type { CoreEvent, Effect, Peer } from '../../broker/core/step.ts';
import type { WrittenLine } from '../../broker/core/trace.ts';
import {
  carriedRequest,
  carriedResponse,
  decodeRequest,
  decodeResponse,
  encodeRequest,
  encodeResponse,
} from '../../broker/protocol/index.ts';
import type { ApiName, RequestBody, ResponseBody } from '../../broker/protocol/index.ts';
import type { Cut, SlowLink } from '../../nemesis/ports.ts';
import type { Random } from '../plan/random.ts';
import type { Disk } from './disk.ts';
import { EventQueue } from './event-queue.ts';
import { Journal } from './journal.ts';
import type { KernelEvent } from './journal.ts';
import { Links } from './links.ts';
import { Network } from './network.ts';
import type { Lane, Message } from './network.ts';
import { SimClient } from './sim-client.ts';
import { SimNode } from './sim-node.ts';

/** A core with its state, as the kernel steps it. */
export interface Core {
  /** `broker-<node>.<boot>` or `controller.<boot>`: signs its requests. */
  readonly clientId: string;
  readonly step: (event: CoreEvent, nowNs: number) => readonly Effect[];
  readonly nextDeadlineNs: () => number;
}

/** What a node is: how its process comes to life on a disk. */
export interface NodeSpec {
  readonly id: Peer;
  /** Where other nodes reach it. */
  readonly address: string;
  readonly boot: (
    disk: Disk,
    boot: number,
    nowNs: number,
  ) => { readonly core: Core; readonly effects: readonly Effect[] };
}

/** By `"1→2"`: what cuts had kept from arriving and slow links had slowed, when they were lifted. */
export interface LiftedLinks {
  readonly dropped: Record<string, number>;
  readonly slowed: Record<string, number>;
}

export interface KernelOptions {
  /** Fixed time that a message takes from one place to another; half a millisecond on average when not given. */
  readonly delayNs?: (from: number, to: number) => number;
  /** From which the network draws its times and losses, and the disks what a power loss leaves; without it, nothing is random. */
  readonly random?: Random;
  /** Told every trace line, as it is written. */
  readonly onTrace?: (line: WrittenLine) => void;
  /** Told every message that is taken in, just before. */
  readonly onMessage?: (lane: Lane, message: Message) => void;
  /** Told every event after it has happened, with the hash over all events so far. */
  readonly onEvent?: (event: KernelEvent) => void;
  /** Told that a process ended because its core broke a rule of its own; without a listener that ends the whole kernel. */
  readonly onCrash?: (node: Peer, message: string) => void;
  /** Every message is encoded and decoded. */
  readonly codec?: boolean;
}

/** Place of all clients in the matrix of links; nodes have those after it. */
const CLIENTS_PLACE = 0;
/** More events than this at one instant are a core that never comes to rest. */
const MOST_EVENTS_AT_ONE_TIME = 1_000_000;

export class Kernel {
  readonly queue = new EventQueue();
  readonly network: Network;
  readonly options: KernelOptions;
  readonly journal: Journal;
  #eventsAtThisTime = 0;
  readonly #nodes = new Map<Peer, SimNode>();
  readonly #addresses = new Map<string, SimNode>();
  readonly #clients = new Map<string, SimClient>();

  constructor(options: KernelOptions = {}) {
    this.options = options;
    this.journal = new Journal(options.onEvent);
    this.network = new Network(this.queue, this.journal, new Links(options.random, options.delayNs));
    this.network.links.addPlace('clients');
  }

  get nowNs(): number {
    return this.network.nowNs;
  }

  /** Events taken so far. */
  get events(): number {
    return this.journal.sequence;
  }

  /** Rolling hash over all events so far, in hexadecimal; equal for equal runs. */
  get hash(): string {
    return this.journal.hash;
  }

  /** Lets `act` happen at a time, as an event of its own that is named `what`. */
  at(timeNs: number, what: string, act: () => void): void {
    const due = (): void => {
      this.journal.timer(what);
      act();
    };
    this.queue.push(Math.max(timeNs, this.nowNs), { due });
  }

  /** Adds a node; its process does not run before {@link SimNode.start}. */
  addNode(spec: NodeSpec): SimNode {
    const node = new SimNode(this, spec, this.network.links.addPlace(String(spec.id)));
    this.#nodes.set(spec.id, node);
    this.#addresses.set(spec.address, node);
    return node;
  }

  node(id: Peer): SimNode {
    const node = this.#nodes.get(id);
    if (node === undefined) throw new Error(`there is no node ${id}`);
    return node;
  }

  /** The node at an address, as an `endpoint` effect names it. */
  nodeAt(address: string): SimNode | undefined {
    return this.#addresses.get(address);
  }

  /** The client of that name; it exists from the first call on. */
  client(name: string): SimClient {
    let client = this.#clients.get(name);
    if (client === undefined) {
      client = new SimClient(this, name, CLIENTS_PLACE);
      this.#clients.set(name, client);
    }
    return client;
  }

  /** Place of a node, or of all clients, for cuts. */
  placeOf(who: Peer | 'clients'): number {
    return who === 'clients' ? CLIENTS_PLACE : this.node(who).place;
  }

  /** Packets from `from` do not reach `to` until that link is healed. */
  cut(from: Peer | 'clients', to: Peer | 'clients'): void {
    this.network.cut(this.placeOf(from), this.placeOf(to));
  }

  heal(from: Peer | 'clients', to: Peer | 'clients'): void {
    this.network.heal(this.placeOf(from), this.placeOf(to));
  }

  /** Sets exactly these cuts and slow links, and tells what those that are lifted had kept from arriving or slowed. */
  setLinks(cuts: readonly Cut[], slow: readonly SlowLink[] = []): LiftedLinks {
    const { network } = this;
    const lifted: LiftedLinks = { dropped: {}, slowed: {} };
    const cutBy = new Map(cuts.map((cut) => [`${cut.from}→${cut.to}`, cut]));
    const slowBy = new Map(slow.map((link) => [`${link.from}→${link.to}`, link]));
    const places = ['clients', ...this.#nodes.keys()] as const;
    for (const from of places) {
      for (const to of places) {
        const name = `${from}→${to}`;
        const link = network.links.between(this.placeOf(from), this.placeOf(to));
        const cut = cutBy.get(name);
        if (link.isCut && cut === undefined) lifted.dropped[name] = link.takeSwallowed();
        if (link.isSlow && !slowBy.has(name)) lifted.slowed[name] = link.takeSlowed();
        link.slowDown(slowBy.get(name) ?? null);
        if (cut !== undefined) network.cut(this.placeOf(from), this.placeOf(to), cut.mode === 'reset');
        else if (link.isCut) network.heal(this.placeOf(from), this.placeOf(to));
      }
    }
    return lifted;
  }

  /** Takes the next event. False when there is none up to `untilNs`. */
  next(untilNs = Infinity): boolean {
    const timeNs = this.queue.nextTimeNs;
    if (timeNs > untilNs || timeNs === Infinity) return false;
    if (timeNs > this.nowNs) {
      this.network.nowNs = timeNs;
      this.#eventsAtThisTime = 0;
    }
    this.#eventsAtThisTime += 1;
    if (this.#eventsAtThisTime > MOST_EVENTS_AT_ONE_TIME) throw new Error(`time stands still at ${timeNs} ns`);
    this.journal.begin(timeNs);
    this.queue.pop()?.due();
    this.journal.end(timeNs);
    return true;
  }

  /** Lets that much time pass. */
  runFor(durationNs: number): void {
    const endNs = this.nowNs + durationNs;
    while (this.next(endNs));
    this.network.nowNs = endNs;
  }

  /** Takes events until `reached` holds. False when it still does not after `limitNs`. */
  runUntil(reached: () => boolean, limitNs: number): boolean {
    const endNs = this.nowNs + limitNs;
    while (!reached()) if (!this.next(endNs)) return false;
    return true;
  }

  /** Sends a request. */
  sendRequest<A extends ApiName>(
    lane: Lane,
    header: { readonly correlationId: number; readonly clientId: string },
    api: A,
    version: number,
    body: RequestBody<A>,
  ): void {
    const arriving =
      this.options.codec === true
        ? decodeRequest(encodeRequest(api, version, header, body)).body
        : carriedRequest(api, version, body);
    this.network.send(lane, 'request', api, version, header.correlationId, header.clientId, arriving);
  }

  /** Sends a response. */
  sendResponse<A extends ApiName>(
    lane: Lane,
    correlationId: number,
    api: A,
    version: number,
    body: ResponseBody<A>,
  ): void {
    const arriving =
      this.options.codec === true
        ? decodeResponse(api, version, encodeResponse(api, version, correlationId, body)).body
        : carriedResponse(api, version, body);
    this.network.send(lane, 'response', api, version, correlationId, '', arriving);
  }
}
