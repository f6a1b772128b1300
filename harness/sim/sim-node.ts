/**
 * A node of the kernel: one process with its core, its disk and its connections; what the server's driver is in reality.
 *
 * A process that dies, by a kill, a power loss or its own `exit`, takes its core, its connections and its waiting
 * requests with it, and leaves its disk. A paused one keeps everything, and what arrives waits for it in order.
 *
 * Invariant: the effects of a step are performed in order before anything else happens, and a request of a connection
 * reaches the core only when the one before it has been answered or released.
 */
import type { CoreEvent, Effect, Origin, Peer, RespondEffect, SendEffect } from '../../broker/core/step.ts';
import type { TraceEvent, WrittenLine } from '../../broker/core/trace.ts';
import type { RandomStream } from '../plan/random.ts';
import { performOnDisk, readRecords } from './disk-effects.ts';
import { Disk } from './disk.ts';
import type { Schedulable } from './event-queue.ts';
import type { Core, Kernel, NodeSpec } from './kernel.ts';
import type { Connection, Endpoint, Lane, Message } from './network.ts';

/** A connection that this node serves. */
interface Served extends Schedulable {
  readonly connection: Connection;
  /** A request is with the core; the next ones wait. */
  busy: boolean;
  readonly waiting: Message[];
}

export class SimNode implements Endpoint, Schedulable {
  readonly id: Peer;
  readonly name: string;
  readonly place: number;
  readonly disk = new Disk();
  readonly #kernel: Kernel;
  readonly #spec: NodeSpec;
  /** Null while no process runs. */
  #core: Core | null = null;
  #paused = false;
  /** The process that ran last ended by its own `exit`. */
  #exited = false;
  /** Arrived while the process was paused. */
  #backlog: { readonly lane: Lane; readonly message: Message }[] = [];
  #diskDraws: RandomStream | null = null;
  #traceSeq = 0;
  /** Wake-ups in the event queue, the earliest last. */
  readonly #wakes: number[] = [];
  readonly #endpoints = new Map<Peer, string>();
  /** Connections to peers, opened by this node. */
  readonly #toPeers = new Map<Peer, Connection>();
  /** Connections that this node serves, by their id. */
  readonly #served = new Map<number, Served>();

  constructor(kernel: Kernel, spec: NodeSpec, place: number) {
    this.#kernel = kernel;
    this.#spec = spec;
    this.id = spec.id;
    this.name = String(spec.id);
    this.place = place;
  }

  get running(): boolean {
    return this.#core !== null;
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** Whether the process that ran last ended in good order; false while one runs. */
  get exited(): boolean {
    return this.#exited;
  }

  /** Connections that it opened or serves. */
  get connections(): number {
    return this.#toPeers.size + this.#served.size;
  }

  /** Counts the starts; the life of the process that runs, or ran last. */
  get boot(): number {
    return this.disk.boots;
  }

  start(): void {
    if (this.#core !== null) throw new Error(`node ${this.name} runs already`);
    this.disk.boots += 1;
    this.#traceSeq = 0;
    this.#exited = false;
    let born: ReturnType<NodeSpec['boot']>;
    try {
      born = this.#spec.boot(this.disk, this.disk.boots, this.#kernel.nowNs);
    } catch (error) {
      this.#crash(error);
      return;
    }
    this.#core = born.core;
    this.#perform(born.effects);
  }

  /** Ends the process at once; what it wrote stays in the page cache. */
  kill(): void {
    this.#core = null;
    this.#paused = false;
    const backlog = this.#backlog;
    this.#backlog = [];
    this.#endpoints.clear();
    const { network } = this.#kernel;
    for (const connection of this.#toPeers.values()) {
      connection.requesterOpen = false;
      network.sendEnd(connection.requests);
    }
    for (const { connection } of this.#served.values()) {
      connection.responderOpen = false;
      network.sendEnd(connection.responses);
    }
    this.#toPeers.clear();
    this.#served.clear();
    /* Its system had accepted these, though the process never heard of them. */
    for (const { lane } of backlog) if (lane === lane.connection.requests) this.#refuse(lane.connection);
  }

  /**
   * Ends the process and loses the page cache but for `keepBytes` of each log. Where none are given, what is kept is drawn
   * from the stream `disk:<node>`, or is nothing where nothing is random.
   */
  powerOff(keepBytes?: number): void {
    this.kill();
    const { random } = this.#kernel.options;
    if (keepBytes === undefined && random !== undefined) {
      this.#diskDraws ??= random.stream(`disk:${this.name}`);
      this.disk.losePowerAtRandom(this.#diskDraws);
    } else {
      this.disk.losePower(keepBytes ?? 0);
    }
  }

  pause(): void {
    this.#paused = this.running;
  }

  /** Lets the process go on with all that has arrived meanwhile. */
  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    const backlog = this.#backlog;
    this.#backlog = [];
    for (const served of this.#served.values()) this.#kernel.queue.push(this.#kernel.nowNs, served);
    for (const { lane, message } of backlog) this.arrive(lane, message);
    this.#scheduleWake();
  }

  /** Hands an event of the driver's own to the core: `stop` or `checkpoint-now`. */
  tell(event: CoreEvent): void {
    this.#step(event);
  }

  /** The core asked to be woken. */
  due(): void {
    const { nowNs } = this.#kernel;
    this.#wakes.pop();
    if (this.#core === null || this.#paused) return;
    if (this.#core.nextDeadlineNs() > nowNs) {
      this.#scheduleWake();
      return;
    }
    this.#kernel.journal.woken(this);
    this.#step({ type: 'deadline' });
  }

  arrive(lane: Lane, message: Message): void {
    if (this.#paused) {
      this.#backlog.push({ lane, message });
      return;
    }
    const { connection } = lane;
    if (lane === connection.requests) this.#arriveRequest(connection, message);
    else this.#arriveResponse(connection, message);
  }

  #arriveRequest(connection: Connection, message: Message): void {
    if (this.running) connection.acceptedBy ??= this.boot;
    if (!this.running || connection.acceptedBy !== this.boot) {
      if (message.kind !== 'end') this.#refuse(connection);
      return;
    }
    if (!connection.responderOpen) return;
    const served = this.#accept(connection);
    if (message.kind === 'end') {
      this.#served.delete(connection.id);
      connection.responderOpen = false;
      this.#step({ type: 'requester-closed', connection: connection.id });
    } else if (served.busy || served.waiting.length > 0) {
      served.waiting.push(message);
    } else {
      this.#takeRequest(served, message);
    }
  }

  #accept(connection: Connection): Served {
    const known = this.#served.get(connection.id);
    if (known !== undefined) return known;
    const served: Served = {
      connection,
      busy: false,
      waiting: [],
      due: () => {
        const next =
          this.#served.has(connection.id) && !served.busy && !this.#paused ? served.waiting.shift() : undefined;
        if (next === undefined) return;
        this.#kernel.journal.taken(connection.requests, next);
        this.#takeRequest(served, next);
      },
    };
    this.#served.set(connection.id, served);
    return served;
  }

  /** No process is at this end of the connection, or not any more; whoever sends is told so once. */
  #refuse(connection: Connection): void {
    if (!connection.responderOpen) return;
    connection.responderOpen = false;
    this.#kernel.network.sendEnd(connection.responses);
  }

  #takeRequest(served: Served, message: Message): void {
    served.busy = true;
    const { api, version, correlationId, clientId, body } = message;
    this.#kernel.options.onMessage?.(served.connection.requests, message);
    const origin = { connection: served.connection.id, correlationId, clientId };
    this.#step({ type: 'request', origin, api, version, body } as CoreEvent);
  }

  #arriveResponse(connection: Connection, message: Message): void {
    const peer = (connection.responder as SimNode).id;
    if (!connection.requesterOpen || this.#toPeers.get(peer) !== connection) return;
    if (message.kind === 'end') {
      this.#toPeers.delete(peer);
      connection.requesterOpen = false;
      this.#step({ type: 'closed', peer });
      return;
    }
    this.#kernel.options.onMessage?.(connection.responses, message);
    const { api, version, correlationId, body } = message;
    this.#step({ type: 'response', peer, correlationId, api, version, body } as CoreEvent);
  }

  #step(event: CoreEvent): void {
    if (this.#core === null) throw new Error(`node ${this.name} does not run, it cannot take ${event.type}`);
    let effects: readonly Effect[];
    try {
      effects = this.#core.step(event, this.#kernel.nowNs);
    } catch (error) {
      this.#crash(error);
      return;
    }
    this.#perform(effects);
  }

  /** A core that breaks a rule of its own takes its process down, and nothing else. */
  #crash(error: unknown): void {
    const { onCrash } = this.#kernel.options;
    if (onCrash === undefined) throw error;
    this.kill();
    onCrash(this.id, error instanceof Error ? error.message : String(error));
  }

  /** One entry of the queue is enough for as long as it comes early enough: whoever wakes too early schedules again. */
  #scheduleWake(): void {
    if (this.#core === null) return;
    const deadlineNs = Math.max(this.#core.nextDeadlineNs(), this.#kernel.nowNs);
    const nextNs = this.#wakes.at(-1) ?? Infinity;
    if (deadlineNs === Infinity || nextNs <= deadlineNs) return;
    this.#wakes.push(deadlineNs);
    this.#kernel.queue.push(deadlineNs, this);
  }

  #perform(effects: readonly Effect[]): void {
    const core = this.#core;
    for (const effect of effects) {
      this.#performOne(effect);
      if (this.#core !== core) return;
    }
    this.#scheduleWake();
  }

  #performOne(effect: Effect): void {
    switch (effect.type) {
      case 'trace':
        this.#trace(effect.line);
        return;
      case 'respond':
        this.#respond(effect);
        return;
      case 'release':
        this.#unmute(effect.origin);
        return;
      case 'send':
        this.#send(effect);
        return;
      case 'close':
        this.#closePeer(effect.peer);
        return;
      case 'disconnect':
        this.#disconnect(effect.connection);
        return;
      case 'endpoint':
        this.#endpoints.set(effect.peer, `${effect.host}:${effect.port}`);
        return;
      case 'exit':
        for (const { name } of this.disk.logs) this.disk.flush(name);
        this.kill();
        this.#exited = true;
        return;
      case 'append':
      case 'truncate':
      case 'reset-log':
      case 'flush':
      case 'epoch-checkpoint':
      case 'offset-checkpoint':
      case 'create-log':
      case 'delete-log':
      case 'persist':
        try {
          performOnDisk(this.disk, effect);
        } catch (error) {
          this.#crash(error);
        }
    }
  }

  /** Completes the line that the core made, which is cheaper than a copy: there are more lines than events. */
  #trace(line: TraceEvent): void {
    const { nowNs, options, journal } = this.#kernel;
    journal.traced(this, line);
    if (options.onTrace === undefined) return;
    const completed = line as Writable<WrittenLine>;
    completed.seq = this.#traceSeq++;
    completed.time = nowNs;
    completed.node = this.id;
    completed.boot = this.boot;
    options.onTrace(completed);
  }

  #respond(effect: RespondEffect): void {
    const served = this.#served.get(effect.origin.connection);
    if (served === undefined) return;
    const { correlationId } = effect.origin;
    const { api, version } = effect;
    if (api === 'Fetch') readRecords(this.disk, effect.body);
    this.#kernel.sendResponse(served.connection.responses, correlationId, api, version, effect.body);
    this.#unmute(effect.origin);
  }

  /** The connection may deliver its next request, after this step. */
  #unmute(origin: Origin): void {
    const served = this.#served.get(origin.connection);
    if (served === undefined) return;
    served.busy = false;
    if (served.waiting.length > 0) this.#kernel.queue.push(this.#kernel.nowNs, served);
  }

  #send({ peer, correlationId, api, version, body }: SendEffect): void {
    const connection = this.#toPeers.get(peer) ?? this.#connect(peer);
    const { clientId } = this.#core ?? { clientId: `${this.name}.${this.boot}` };
    this.#kernel.sendRequest(connection.requests, { correlationId, clientId }, api, version, body);
  }

  #connect(peer: Peer): Connection {
    const address = this.#endpoints.get(peer);
    if (address === undefined) throw new Error(`node ${this.name} sends to ${peer}, of which it has no endpoint`);
    const responder = this.#kernel.nodeAt(address);
    if (responder === undefined)
      throw new Error(`nobody was ever at ${address}, where node ${this.name} seeks ${peer}`);
    const connection = this.#kernel.network.connect(this, responder);
    this.#toPeers.set(peer, connection);
    return connection;
  }

  #closePeer(peer: Peer): void {
    const connection = this.#toPeers.get(peer);
    if (connection === undefined) return;
    this.#toPeers.delete(peer);
    connection.requesterOpen = false;
    this.#kernel.network.sendEnd(connection.requests);
  }

  #disconnect(id: number): void {
    const served = this.#served.get(id);
    if (served === undefined) return;
    this.#served.delete(id);
    served.connection.responderOpen = false;
    this.#kernel.network.sendEnd(served.connection.responses);
  }
}

/** A line before and while the fields of the driver are put into it. */
type Writable<T> = { -readonly [K in keyof T]: T[K] };
