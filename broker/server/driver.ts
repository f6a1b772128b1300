/**
 * The driver: gives a core its events, one at a time, and performs the effects of each before the next.
 *
 * It serves the broker and the controller alike; they differ in their storage. Its duties stand at the head of
 * `core/step.ts`. The order is kept by there being no asynchronous step at all between an event and the last of its
 * effects: files and trace are written synchronously, a socket takes bytes in the order in which it is given them. What
 * arrives meanwhile (an effect can uncover the next request of a connection) waits in a queue.
 *
 * Bound: the queue holds at most one request for each connection and one notice for each that ended.
 */
import type { CoreEvent, Effect, RespondEffect } from '../core/step.ts';
import { encodeResponse, type LogRange, type RecordSet, type ResponseBody } from '../protocol/index.ts';
import type { Storage } from '../storage/storage.ts';
import type { ClockNs } from './clock.ts';
import type { TraceWriter } from './trace-writer.ts';

/** A core with its state inside: `broker/core/broker.ts` or `broker/controller/controller.ts`. */
export interface Core {
  step(event: CoreEvent, nowNs: number): readonly Effect[];
  /** Infinity when nothing is due. */
  nextDeadlineNs(): number;
}

/** Connections of those who ask. */
export interface AnswerPort {
  /** False when the connection has ended. */
  has(connection: number): boolean;
  respond(connection: number, payload: Uint8Array): void;
  release(connection: number): void;
  disconnect(connection: number): void;
}

/** Connections to those who are asked. */
interface PeerPort {
  send(effect: Extract<Effect, { readonly type: 'send' }>): void;
  endpoint(effect: Extract<Effect, { readonly type: 'endpoint' }>): void;
  close(peer: Extract<Effect, { readonly type: 'close' }>['peer']): void;
}

interface DriverParts {
  readonly core: Core;
  readonly storage: Storage;
  readonly trace: TraceWriter;
  readonly clock: ClockNs;
  readonly answers: AnswerPort;
  readonly peers: PeerPort;
  /** Performs `exit`, after everything is on the disk. */
  readonly exit: () => void;
}

export class Driver {
  readonly #parts: DriverParts;
  readonly #queue: CoreEvent[] = [];
  #busy = false;
  #exited = false;
  #timer: NodeJS.Timeout | undefined;
  #timerAtNs = Infinity;

  constructor(parts: DriverParts) {
    this.#parts = parts;
  }

  /** Performs what the core wants at its creation. Call it once, before any event. */
  start(effects: readonly Effect[]): void {
    this.#busy = true;
    this.#performAll(effects);
    this.#busy = false;
    this.#drain();
  }

  deliver(event: CoreEvent): void {
    this.#queue.push(event);
    this.#drain();
  }

  /** Ends in the way of a clean stop, whatever the core still waits for. */
  exitNow(): void {
    if (this.#exited) return;
    this.#exited = true;
    clearTimeout(this.#timer);
    this.#parts.storage.closeCleanly();
    this.#parts.exit();
  }

  #drain(): void {
    if (this.#busy) return;
    this.#busy = true;
    this.#takeQueued();
    if (!this.#exited && this.#parts.core.nextDeadlineNs() <= this.#parts.clock()) {
      this.#step({ type: 'deadline' });
      this.#takeQueued();
    }
    this.#busy = false;
    if (!this.#exited) this.#armTimer();
  }

  #takeQueued(): void {
    let event = this.#queue.shift();
    while (event !== undefined && !this.#exited) {
      this.#step(event);
      event = this.#queue.shift();
    }
  }

  #step(event: CoreEvent): void {
    this.#performAll(this.#parts.core.step(event, this.#parts.clock()));
  }

  #performAll(effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (this.#exited) return;
      this.#perform(effect);
    }
  }

  #perform(effect: Effect): void {
    const { answers, peers, storage, trace } = this.#parts;
    switch (effect.type) {
      case 'trace':
        return trace.write(effect.line);
      case 'respond':
        if (answers.has(effect.origin.connection)) answers.respond(effect.origin.connection, this.#encode(effect));
        return;
      case 'release':
        return answers.release(effect.origin.connection);
      case 'disconnect':
        return answers.disconnect(effect.connection);
      case 'send':
        return peers.send(effect);
      case 'endpoint':
        return peers.endpoint(effect);
      case 'close':
        return peers.close(effect.peer);
      case 'exit':
        return this.exitNow();
      case 'create-log':
      case 'delete-log':
      case 'append':
      case 'truncate':
      case 'reset-log':
      case 'flush':
      case 'epoch-checkpoint':
      case 'offset-checkpoint':
      case 'persist':
        return storage.perform(effect);
    }
  }

  #encode(effect: RespondEffect): Uint8Array {
    const { api, version, origin } = effect;
    if (api !== 'Fetch') return encodeResponse(api, version, origin.correlationId, effect.body);
    return encodeResponse(api, version, origin.correlationId, this.#withBytes(effect.body));
  }

  /** A fetch response with the bytes of its records in place of the ranges that hold them. */
  #withBytes(body: ResponseBody<'Fetch'>): ResponseBody<'Fetch'> {
    return {
      ...body,
      responses: body.responses.map((topic) => ({
        ...topic,
        partitions: topic.partitions.map((partition) => ({ ...partition, records: this.#resolve(partition.records) })),
      })),
    };
  }

  #resolve(records: RecordSet | null): RecordSet | null {
    if (records === null || !isRange(records.bytes)) return records;
    return { ...records, bytes: this.#parts.storage.read(records.bytes) };
  }

  /** A timer that fires too early does no harm: it looks, and is set again. */
  #armTimer(): void {
    const deadlineNs = this.#parts.core.nextDeadlineNs();
    if (deadlineNs >= this.#timerAtNs) return;
    clearTimeout(this.#timer);
    this.#timerAtNs = deadlineNs;
    const delayMs = Math.max(1, Math.ceil((deadlineNs - this.#parts.clock()) / 1e6));
    this.#timer = setTimeout(
      () => {
        this.#timerAtNs = Infinity;
        this.#drain();
      },
      Math.min(delayMs, timerMaxMs),
    );
  }
}

/** The longest delay that Node's timers take; a longer one is waited for in pieces. */
const timerMaxMs = 2 ** 31 - 1;

function isRange(bytes: Uint8Array | LogRange): bytes is LogRange {
  return !(bytes instanceof Uint8Array);
}
