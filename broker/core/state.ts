/**
 * The state of one broker, and the turn: what one step works with.
 *
 * The state is mutable and owned by `step`; nothing outside of this folder may change it. A turn carries what every rule
 * needs (the time, the message that caused all this) and collects what comes of it: effects in order, and the partitions
 * that were touched, so that the requests which wait for them are looked at again when the event has been dealt with.
 *
 * Invariant: a rule that changes a partition's log, high watermark, ISR or role adds it to `touched`.
 */
import type { Build } from './builds.ts';
import type { ControllerLink } from './controller-link.ts';
import type { Defects } from './defects.ts';
import type { Fetcher } from './fetcher.ts';
import type { Metadata } from './metadata.ts';
import type { Partition } from './partition.ts';
import type { Purgatory } from './purgatory.ts';
import type { Replicas } from './replicas.ts';
import type { BrokerConfig } from './settings.ts';
import type { CoreEvent, Effect, Peer, SendEffect } from './step.ts';
import type { MessageName, TraceEvent } from './trace.ts';

export const nsPerMs = 1_000_000;
/** Pause before something that failed is tried again (`replica.fetch.backoff.ms`). */
export const retryBackoffNs = 100 * nsPerMs;

export interface BrokerState {
  readonly config: BrokerConfig;
  readonly build: Build;
  readonly defects: Defects;
  /** `broker-<node>.<boot>`. */
  readonly clientId: string;
  nextCorrelationId: number;
  /** The replicas that this broker holds, by key. */
  readonly partitions: Replicas;
  readonly metadata: Metadata;
  /** One for each leader that is followed. */
  readonly fetchers: Fetcher[];
  readonly controller: ControllerLink;
  readonly purgatory: Purgatory;
  /** Those that the turn under way changed. */
  readonly touched: TurnList<Partition>;
  nextLagCheckNs: number;
  nextCheckpointNs: number;
  /** The high watermarks as they were written last. */
  checkpointed: Readonly<Record<string, number>>;
  lifecycle: 'running' | 'stopping' | 'stopped';
  /** While stopping: when to end even if the controller never agrees. */
  stopDeadlineNs: number;
}

/** What one step works with. */
export class Turn {
  readonly state: BrokerState;
  readonly nowNs: number;
  readonly effects: Effect[] = [];
  readonly touched: TurnList<Partition>;
  readonly #event: CoreEvent | null;
  #msg: MessageName | undefined;

  /** `event` is what the turn deals with; none at the start. */
  constructor(state: BrokerState, nowNs: number, event: CoreEvent | null) {
    this.state = state;
    this.nowNs = nowNs;
    this.touched = state.touched;
    this.touched.clear();
    this.#event = event;
  }

  /** Names the message that caused this turn; none at a deadline. */
  get msg(): MessageName | undefined {
    const event = this.#event;
    if (event?.type === 'request') return event.origin;
    if (event?.type === 'response') this.#msg ??= { clientId: this.state.clientId, correlationId: event.correlationId };
    return this.#msg;
  }
}

/**
 * What one turn collects, in the order in which it was added first; it is little, so a list is the fastest set. The next
 * turn uses its room again, since every turn would have to make it.
 */
export class TurnList<T> {
  readonly #items: T[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  at(index: number): T {
    return this.#items[index]!;
  }

  /** Adds what may be in it already. */
  add(item: T): void {
    if (!this.has(item)) this.push(item);
  }

  /** Adds what is known not to be in it. */
  push(item: T): void {
    this.#items[this.#size++] = item;
  }

  has(item: T): boolean {
    for (let index = 0; index < this.#size; index += 1) if (this.#items[index] === item) return true;
    return false;
  }

  clear(): void {
    this.#size = 0;
  }
}

/** Says what is about to be done, naming the message behind it. */
export function trace(turn: Turn, line: TraceEvent): void {
  const { msg } = turn;
  if (msg !== undefined && !('msg' in line)) (line as { msg?: MessageName }).msg = msg;
  traceWhole(turn, line);
}

/** The same for a line that names its message. The line becomes the driver's, to complete it. */
export function traceWhole(turn: Turn, line: TraceEvent): void {
  turn.effects.push({ type: 'trace', line });
}

/** Sends a request under a new correlation id, and returns the id. */
export function send(
  turn: Turn,
  request: DistributiveOmit<SendEffect, 'type' | 'correlationId' | 'peer'>,
  peer: Peer,
): number {
  const correlationId = turn.state.nextCorrelationId++;
  const { api, version, body } = request;
  turn.effects.push({ type: 'send', peer, correlationId, api, version, body } as SendEffect);
  return correlationId;
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
