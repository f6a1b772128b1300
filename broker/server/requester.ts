/**
 * One connection of somebody who asks: a client, another broker, the controller.
 *
 * Requests are delivered one at a time; the others wait, and when too many do, or when the answers are not taken, the
 * socket is not read any further (as Kafka mutes a channel). So answers are in order by construction, and a requester
 * can fill nothing but its own buffers.
 *
 * Invariant: whatever bytes arrive, they become a request or the end of this connection, and touch no other.
 */
import type { Socket } from 'node:net';
import {
  apis,
  decodeRequest,
  decodeRequestHeader,
  frame,
  FrameSplitter,
  isSpoken,
  ProtocolError,
  servedVersions,
  unsupportedApiVersions,
  type RequestHeader,
} from '../protocol/index.ts';
import type { RequestEvent } from '../core/step.ts';
import { limits } from './limits.ts';

export interface RequesterListener {
  request(event: RequestEvent): void;
  /** Told once, when the connection has ended for whatever reason. */
  closed(connection: number): void;
  refused(connection: number, reason: string): void;
  /** The bytes that this connection holds have become so many more, or fewer. */
  held(byBytes: number): void;
}

export class Requester {
  readonly #connection: number;
  readonly #socket: Socket;
  readonly #listener: RequesterListener;
  readonly #splitter = new FrameSplitter(limits.frameBytes);
  readonly #waiting: Uint8Array[] = [];
  /** A request has been delivered and not been answered or released yet. */
  #busy = false;
  #open = true;
  #waitingBytes = 0;
  #heldBytes = 0;

  constructor(connection: number, socket: Socket, listener: RequesterListener) {
    this.#connection = connection;
    this.#socket = socket;
    this.#listener = listener;
    socket.setNoDelay(true);
    socket.setKeepAlive(true, limits.keepAliveMs);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('drain', () => this.#deliverNext());
    // An error is followed by `close`, which says all that matters.
    socket.on('error', () => {});
    socket.on('close', () => this.#end());
  }

  /** Bytes that have arrived and wait: for the rest of their frame, or for their turn. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** The answer to the request under way, without its size prefix. */
  respond(payload: Uint8Array): void {
    this.#write(payload);
    this.release();
  }

  /** The request under way needs no answer. */
  release(): void {
    if (!this.#busy) throw new Error(`connection ${this.#connection} has no request under way`);
    this.#busy = false;
    this.#deliverNext();
  }

  close(): void {
    this.#socket.destroy();
    this.#end();
  }

  /** Ends the connection because of what was said on it. */
  refuse(reason: string): void {
    this.#listener.refused(this.#connection, reason);
    this.close();
  }

  #receive(chunk: Uint8Array): void {
    try {
      for (const payload of this.#splitter.push(chunk)) {
        this.#waiting.push(payload);
        this.#waitingBytes += payload.length;
      }
    } catch (error) {
      return this.#refuse(error);
    }
    this.#deliverNext();
    this.#count();
    if (this.#waiting.length > limits.queuedFrames) this.#socket.pause();
  }

  #deliverNext(): void {
    while (!this.#busy && this.#open && !this.#socket.writableNeedDrain) {
      const payload = this.#waiting.shift();
      if (payload === undefined) break;
      this.#waitingBytes -= payload.length;
      if (this.#waiting.length <= limits.queuedFrames) this.#socket.resume();
      try {
        this.#deliver(payload);
      } catch (error) {
        this.#refuse(error);
      }
    }
    this.#count();
  }

  #count(): void {
    const before = this.#heldBytes;
    this.#heldBytes = this.#open ? this.#waitingBytes + this.#splitter.bufferedBytes : 0;
    if (this.#heldBytes !== before) this.#listener.held(this.#heldBytes - before);
  }

  #deliver(payload: Uint8Array): void {
    const header = decodeRequestHeader(payload);
    if (asksUnsupportedApiVersions(header)) return this.#write(unsupportedApiVersions(header.correlationId));
    const { api, version, correlationId, clientId, body } = decodeRequest(payload, servedVersions);
    const origin = { connection: this.#connection, correlationId, clientId };
    this.#busy = true;
    // The decoder pairs `api` with its own body, which the type of a union cannot tell.
    this.#listener.request({ type: 'request', origin, api, version, body } as RequestEvent);
  }

  #write(payload: Uint8Array): void {
    if (!this.#open) return;
    this.#socket.write(frame(payload));
    if (this.#socket.writableLength > limits.unsentBytes) this.close();
  }

  #refuse(error: unknown): void {
    if (!(error instanceof ProtocolError)) throw error;
    this.refuse(error.message);
  }

  #end(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#waiting.length = 0;
    this.#count();
    this.#listener.closed(this.#connection);
  }
}

/** Whether this is an ApiVersions request of a version that is not served: the one refusal that gets an answer (KIP-511). */
function asksUnsupportedApiVersions({ apiKey, apiVersion }: RequestHeader): boolean {
  return apiKey === apis.ApiVersions.key && !isSpoken('ApiVersions', apiVersion);
}
