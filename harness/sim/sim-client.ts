/**
 * A scripted client of the kernel: sends single requests to brokers and hears their answers.
 *
 * It has no metadata, no retries and no deadlines of its own; whoever scripts it decides whom to ask, and when to give up.
 */
import type { NodeId } from '../../broker/core/step.ts';
import { messageText } from '../../broker/protocol/index.ts';
import type { ApiName, RequestBody, ResponseBody } from '../../broker/protocol/index.ts';
import type { Kernel } from './kernel.ts';
import type { Connection, Endpoint, Lane, Message } from './network.ts';

/** A request under way or done. */
export interface Call<A extends ApiName> {
  readonly node: NodeId;
  /** The name of the request. */
  readonly msg: string;
  /** The answer; null as long as there is none. */
  answer: ResponseBody<A> | null;
  /** The connection ended before the answer came. */
  closed: boolean;
}

export class SimClient implements Endpoint {
  readonly name: string;
  readonly place: number;
  readonly boot = 1;
  readonly running = true;
  readonly clientId: string;
  readonly #kernel: Kernel;
  readonly #connections = new Map<NodeId, Connection>();
  readonly #calls = new Map<number, Call<ApiName>>();
  #nextCorrelationId = 0;

  constructor(kernel: Kernel, name: string, place: number) {
    this.#kernel = kernel;
    this.name = name;
    this.place = place;
    this.clientId = `client-${name}`;
  }

  /** Sends one request to a broker. */
  call<A extends ApiName>(node: NodeId, api: A, version: number, body: RequestBody<A>): Call<A> {
    const correlationId = this.#nextCorrelationId++;
    const call: Call<A> = { node, msg: messageText(this.clientId, correlationId), answer: null, closed: false };
    this.#calls.set(correlationId, call as Call<ApiName>);
    let connection = this.#connections.get(node);
    if (connection === undefined) {
      connection = this.#kernel.network.connect(this, this.#kernel.node(node));
      this.#connections.set(node, connection);
    }
    this.#kernel.sendRequest(connection.requests, { correlationId, clientId: this.clientId }, api, version, body);
    return call;
  }

  /** Ends the connection to a broker; what was under way has no answer. */
  close(node: NodeId): void {
    const connection = this.#connections.get(node);
    if (connection === undefined) return;
    connection.requesterOpen = false;
    this.#kernel.network.sendEnd(connection.requests);
    this.#forget(node);
  }

  arrive(lane: Lane, message: Message): void {
    const { connection } = lane;
    if (!connection.requesterOpen) return;
    const node = Number(connection.responder.name);
    if (this.#connections.get(node) !== connection) return;
    if (message.kind === 'end') {
      connection.requesterOpen = false;
      this.#forget(node);
      return;
    }
    this.#kernel.options.onMessage?.(lane, message);
    const call = this.#calls.get(message.correlationId);
    this.#calls.delete(message.correlationId);
    if (call !== undefined) call.answer = message.body as ResponseBody<ApiName>;
  }

  #forget(node: NodeId): void {
    this.#connections.delete(node);
    for (const [correlationId, call] of this.#calls) {
      if (call.node !== node) continue;
      call.closed = true;
      this.#calls.delete(correlationId);
    }
  }
}
