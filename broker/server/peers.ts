/**
 * The connections that this node opens: to the other brokers and to the controller, one to each.
 *
 * A connection is opened by the first `send` after an `endpoint`, and ends by itself, by a `close` of the core, or
 * because the peer broke the protocol. In the first and last case the core hears `closed`, after a `close` of its own
 * it hears nothing more: the listeners of a socket that is no longer the peer's are deaf.
 *
 * Deadlines are the core's. A peer that takes nothing is bounded by the bytes that its socket holds back.
 */
import { connect, type Socket } from 'node:net';
import type { Effect, Peer, ResponseEvent, SendEffect } from '../core/step.ts';
import { decodeResponse, encodeRequest, frame, FrameSplitter, ProtocolError, type ApiName } from '../protocol/index.ts';
import { limits } from './limits.ts';

export interface PeerListener {
  response(event: ResponseEvent): void;
  closed(peer: Peer, reason: string): void;
}

interface Endpoint {
  readonly host: string;
  readonly port: number;
}

interface Link {
  readonly socket: Socket;
  readonly splitter: FrameSplitter;
  /** Requests without an answer so far. */
  readonly inFlight: Map<number, { readonly api: ApiName; readonly version: number }>;
}

export class Peers {
  readonly #clientId: string;
  readonly #listener: PeerListener;
  readonly #endpoints = new Map<Peer, Endpoint>();
  readonly #links = new Map<Peer, Link>();

  constructor(clientId: string, listener: PeerListener) {
    this.#clientId = clientId;
    this.#listener = listener;
  }

  /** From now on the peer is reached here. A connection to another address ends, and its requests with it. */
  endpoint({ peer, host, port }: Extract<Effect, { readonly type: 'endpoint' }>): void {
    const before = this.#endpoints.get(peer);
    if (before?.host === host && before.port === port) return;
    this.#endpoints.set(peer, { host, port });
    const link = this.#links.get(peer);
    if (link !== undefined) this.#fail(peer, link, `it is to be reached at ${host}:${port} now`);
  }

  send(effect: SendEffect): void {
    const { peer, correlationId, api, version } = effect;
    const link = this.#links.get(peer) ?? this.#open(peer);
    if (link === undefined) return;
    link.inFlight.set(correlationId, { api, version });
    const payload = encodeRequest(api, version, { correlationId, clientId: this.#clientId }, effect.body);
    link.socket.write(frame(payload));
    if (link.socket.writableLength > limits.unsentBytes) {
      this.#fail(peer, link, `it has not taken ${link.socket.writableLength} bytes`);
    }
  }

  /** Ends the connection. Nothing is heard of it any more. */
  close(peer: Peer): void {
    const link = this.#links.get(peer);
    this.#links.delete(peer);
    link?.socket.destroy();
  }

  #open(peer: Peer): Link | undefined {
    const endpoint = this.#endpoints.get(peer);
    if (endpoint === undefined) {
      this.#listener.closed(peer, 'its address is not known');
      return undefined;
    }
    const socket = connect({ ...endpoint, noDelay: true, keepAlive: true, keepAliveInitialDelay: limits.keepAliveMs });
    const link: Link = { socket, splitter: new FrameSplitter(limits.frameBytes), inFlight: new Map() };
    let reason = 'it closed the connection';
    socket.on('data', (chunk: Buffer) => this.#receive(peer, link, chunk));
    socket.on('error', (error) => {
      reason = error.message;
    });
    socket.on('close', () => this.#fail(peer, link, reason));
    this.#links.set(peer, link);
    return link;
  }

  #receive(peer: Peer, link: Link, chunk: Uint8Array): void {
    try {
      for (const payload of link.splitter.push(chunk)) {
        // An answer before this one may have made the core close the link.
        if (this.#links.get(peer) !== link) return;
        this.#answer(peer, link, payload);
      }
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.#fail(peer, link, error.message);
    }
  }

  #answer(peer: Peer, link: Link, payload: Uint8Array): void {
    if (payload.byteLength < 4) throw new ProtocolError('malformed', 'a response without a correlation id');
    const correlationId = new DataView(payload.buffer, payload.byteOffset).getInt32(0);
    const request = link.inFlight.get(correlationId);
    if (request === undefined) throw new ProtocolError('malformed', `a response to no request (${correlationId})`);
    link.inFlight.delete(correlationId);
    const { body } = decodeResponse(request.api, request.version, payload);
    this.#listener.response({ type: 'response', peer, correlationId, ...request, body } as ResponseEvent);
  }

  /** The connection has ended, or has to; the core is told, unless it closed the link itself. */
  #fail(peer: Peer, link: Link, reason: string): void {
    if (this.#links.get(peer) !== link) return;
    this.#links.delete(peer);
    link.socket.destroy();
    this.#listener.closed(peer, reason);
  }
}
