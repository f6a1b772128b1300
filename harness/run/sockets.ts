/**
 * The client's driver: real sockets and a real clock around the pure client, and single round trips for everyone else.
 *
 * A driver holds one connection per broker, opened when something is to be sent. It tells the client the difference
 * that decides a verdict: `connect-failed` when no connection came about, so that nothing was written, and `closed` when
 * one ended that may have carried the request. Closing drops what a broker may still answer.
 *
 * Invariant: after `close` no socket and no timer of the driver is left, and its client hears nothing any more. No
 * connection is opened to an address that `reach` refuses: to the client it is one that nobody answers at.
 */
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { FrameSplitter, ProtocolError, decodeResponse, encodeRequest, frame } from '../../broker/protocol/index.ts';
import type { ApiName, RequestBody, ResponseBody, Unpackers } from '../../broker/protocol/index.ts';
import { unpackLz4 } from '../../checker/logs/lz4.ts';
import { unpackSnappy } from '../../checker/logs/snappy.ts';
import type { Address } from '../../nemesis/ports.ts';
import { clientId, createClient, nextDeadlineNs, step } from '../client/client.ts';
import type { ClientConfig, ClientEffect, ClientEvent, ClientResponse, ClientSend } from '../client/contract.ts';
import type { Completion } from '../client/operations.ts';
import type { ClientDriver } from '../workload/thread.ts';
import { reachOf } from './reach.ts';

/** Node has none of its own. */
const unpackers: Unpackers = { snappy: unpackSnappy, lz4: unpackLz4 };

/** No answer to our clients is larger: a fetch is bounded to 1 MiB, and metadata is small. */
const maxResponseBytes = 16 * 1024 * 1024;

/** Nanoseconds since the origin that all processes of a run share. */
export type Clock = () => number;

export function clockFrom(originNs: bigint): Clock {
  return () => Number(process.hrtime.bigint() - originNs);
}

/** One client on real sockets, which speaks to its bootstrap list only, or to whom `reach` allows. `onComplete` must not throw. */
export function driveClient(
  config: ClientConfig,
  clock: Clock,
  onComplete: (completion: Completion) => void,
  reach = reachOf(config.bootstrap),
): ClientDriver {
  const state = createClient({ unpackers, ...config });
  const endpoints = new Map<number, Address>();
  const connections = new Map<number, Connection>();
  const events: ClientEvent[] = [];
  let timer: NodeJS.Timeout | undefined;
  let draining = false;
  let closed = false;

  /** One event at a time, each with all its effects, whatever happens meanwhile. */
  const take = (event: ClientEvent): void => {
    if (closed) return;
    events.push(event);
    if (draining) return;
    draining = true;
    for (let next = events.shift(); next !== undefined; next = events.shift()) {
      if (closed) return;
      for (const effect of step(state, next, clock())) perform(effect);
    }
    draining = false;
    setTimer();
  };

  const perform = (effect: ClientEffect): void => {
    if (closed) return;
    switch (effect.type) {
      case 'endpoint':
        endpoints.set(effect.node, effect);
        break;
      case 'send':
        send(effect);
        break;
      case 'close':
        connections.get(effect.node)?.end();
        connections.delete(effect.node);
        break;
      case 'complete':
        onComplete(effect.completion);
        break;
    }
  };

  const send = (request: ClientSend): void => {
    const { node } = request;
    const endpoint = endpoints.get(node);
    if (endpoint === undefined) throw new Error(`${clientId(config.process)} has no endpoint of broker ${node}`);
    if (reach(endpoint) === null) connectionTo(node, endpoint).send(request);
    else take({ type: 'connect-failed', node });
  };

  const connectionTo = (node: number, endpoint: Address): Connection => {
    const open = connections.get(node);
    if (open !== undefined) return open;
    const connection = openConnection(endpoint, clientId(config.process), (event) => {
      if (event.type !== 'sent' && event.type !== 'response') connections.delete(node);
      take(event.type === 'response' ? ({ ...event, node } as ClientResponse) : { ...event, node });
    });
    connections.set(node, connection);
    return connection;
  };

  const setTimer = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const deadlineNs = nextDeadlineNs(state);
    if (closed || deadlineNs === null) return;
    timer = setTimeout(() => take({ type: 'deadline' }), Math.max(0, Math.ceil((deadlineNs - clock()) / 1e6)));
  };

  return {
    invoke: (operation) => take({ type: 'invoke', operation }),
    positions: () => state.consumer.positions,
    close() {
      closed = true;
      clearTimeout(timer);
      for (const connection of connections.values()) connection.end();
      connections.clear();
    },
  };
}

/** What a connection tells of itself. After any but `sent` and `response` it is over. */
type ConnectionEvent =
  | { readonly type: 'sent'; readonly correlationId: number }
  | {
      readonly type: 'response';
      readonly correlationId: number;
      readonly api: ApiName;
      readonly version: number;
      readonly body: unknown;
    }
  | { readonly type: 'malformed'; readonly detail: string; readonly heard: Uint8Array }
  | { readonly type: 'closed' | 'connect-failed'; readonly detail: string };

interface Outgoing<A extends ApiName = ApiName> {
  readonly correlationId: number;
  readonly api: A;
  readonly version: number;
  readonly body: RequestBody<A>;
  readonly expectsResponse: boolean;
}

interface Connection {
  send(request: ClientSend | Outgoing): void;
  /** No event follows. */
  end(): void;
}

function openConnection(endpoint: Address, from: string, listener: (event: ConnectionEvent) => void): Connection {
  const waiting: (ClientSend | Outgoing)[] = [];
  const unanswered = new Map<number, { readonly api: ApiName; readonly version: number }>();
  const splitter = new FrameSplitter(maxResponseBytes);
  let phase: 'connecting' | 'open' | 'over' = 'connecting';
  const socket: Socket = connect({ host: endpoint.host, port: endpoint.port, noDelay: true });

  const over = (event: Extract<ConnectionEvent, { readonly detail: string }>): void => {
    if (phase === 'over') return;
    phase = 'over';
    socket.destroy();
    listener(event);
  };
  const lost = (detail: string): void => over({ type: phase === 'connecting' ? 'connect-failed' : 'closed', detail });

  const write = (request: ClientSend | Outgoing): void => {
    const { api, version, correlationId, body } = request;
    socket.write(frame(encodeRequest(api, version, { correlationId, clientId: from }, body as RequestBody<ApiName>)));
    if (request.expectsResponse) unanswered.set(correlationId, { api, version });
    listener({ type: 'sent', correlationId });
  };

  const read = (chunk: Buffer): void => {
    try {
      for (const payload of splitter.push(chunk)) {
        if (phase === 'open') listener(answer(payload, unanswered));
      }
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      over({ type: 'malformed', detail: error.message, heard: chunk });
    }
  };

  socket.on('connect', () => {
    if (phase !== 'connecting') return;
    phase = 'open';
    for (const request of waiting.splice(0)) write(request);
  });
  socket.on('data', read);
  socket.on('error', (error) => lost(error.message));
  socket.on('end', () => lost('the broker closed the connection'));
  socket.on('close', () => lost('the connection ended'));

  return {
    send(request) {
      if (phase === 'open') write(request);
      else waiting.push(request);
    },
    end() {
      phase = 'over';
      socket.destroy();
    },
  };
}

/** Which request a frame answers, and what it says. */
function answer(
  payload: Uint8Array,
  unanswered: Map<number, { readonly api: ApiName; readonly version: number }>,
): ConnectionEvent {
  if (payload.byteLength < 4) throw new ProtocolError('malformed', 'a response shorter than its header');
  const correlationId = new DataView(payload.buffer, payload.byteOffset).getInt32(0);
  const request = unanswered.get(correlationId);
  if (request === undefined) throw new ProtocolError('malformed', `an answer to a request that was not made`);
  unanswered.delete(correlationId);
  const { body } = decodeResponse(request.api, request.version, payload);
  return { type: 'response', correlationId, ...request, body };
}

/** What answered does not speak the protocol, or not as it was asked to. */
export class StrangeAnswer extends Error {
  /** The bytes that came last. */
  readonly heard: Uint8Array;

  constructor(message: string, heard: Uint8Array) {
    super(message);
    this.heard = heard;
  }
}

/**
 * One request on a connection of its own. Rejects with one clear line when there is no answer within `timeoutMs`, or when
 * `signal` aborts: then the connection is closed at once, since its network may be about to go.
 */
export function roundTrip<A extends ApiName>(
  endpoint: Address,
  from: string,
  request: { readonly api: A; readonly version: number; readonly body: RequestBody<A> },
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<ResponseBody<A>> {
  return new Promise((resolve, reject) => {
    const where = `${request.api} to ${endpoint.host}:${endpoint.port}`;
    if (signal?.aborted === true) {
      reject(new Error(`${where}: interrupted`));
      return;
    }
    const finish = (settle: () => void): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      connection.end();
      settle();
    };
    const abort = (): void => finish(() => reject(new Error(`${where}: interrupted`)));
    signal?.addEventListener('abort', abort);
    const timer = setTimeout(() => {
      finish(() => reject(new Error(`${where}: no answer within ${timeoutMs} ms`)));
    }, timeoutMs);
    const connection = openConnection(endpoint, from, (event) => {
      if (event.type === 'sent') return;
      if (event.type === 'response') finish(() => resolve(event.body as ResponseBody<A>));
      else if (event.type === 'malformed')
        finish(() => reject(new StrangeAnswer(`${where}: ${event.detail}`, event.heard)));
      else finish(() => reject(new Error(`${where}: ${event.detail}`)));
    });
    connection.send({ correlationId: 0, ...request, expectsResponse: true } as unknown as Outgoing);
  });
}
