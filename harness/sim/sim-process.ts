/**
 * The client's driver in the kernel: what `harness/run/sockets.ts` is on real sockets.
 *
 * The very same client, one connection per broker. A connection is opened as TCP does it: the first packet and its
 * answer must get through, and are sent again after a second, after two more and so on while the link is cut; a node
 * whose process does not run refuses; a paused one does not, since its system answers for it. What is to be sent waits
 * for that, and only then counts as sent. That difference decides verdicts.
 *
 * Invariant: after `close` the client hears nothing any more, and everybody it spoke with is told that it has gone.
 */
import { clientId, createClient, nextDeadlineNs, step } from '../client/client.ts';
import type { ClientConfig, ClientEffect, ClientEvent, ClientResponse, ClientSend } from '../client/contract.ts';
import type { Completion } from '../client/operations.ts';
import type { ClientDriver } from '../workload/thread.ts';
import { Dialling } from './dialling.ts';
import type { Kernel } from './kernel.ts';
import type { Connection, Endpoint, Lane, Message } from './network.ts';

/** A connection to a broker that is open, or about to be. */
interface Line {
  readonly dialling: Dialling;
  /** Null until it is open. */
  connection: Connection | null;
  readonly waiting: ClientSend[];
}

/** One client in the kernel, at the place `place` of the matrix of links. `onComplete` is told of each operation's end. */
export function driveInKernel(
  kernel: Kernel,
  place: number,
  config: ClientConfig,
  onComplete: (completion: Completion) => void,
): ClientDriver {
  const name = clientId(config.process);
  const state = createClient(config);
  const endpoints = new Map<number, string>();
  const lines = new Map<number, Line>();
  const events: ClientEvent[] = [];
  let timerNs = Infinity;
  let draining = false;
  let closed = false;

  /** One event at a time, each with all its effects, whatever happens meanwhile. */
  const take = (event: ClientEvent): void => {
    if (closed) return;
    events.push(event);
    if (draining) return;
    draining = true;
    for (let next = events.shift(); next !== undefined; next = events.shift()) {
      for (const effect of step(state, next, kernel.nowNs)) perform(effect);
      if (closed) return;
    }
    draining = false;
    setTimer();
  };

  const perform = (effect: ClientEffect): void => {
    if (closed) return;
    switch (effect.type) {
      case 'endpoint':
        endpoints.set(effect.node, `${effect.host}:${effect.port}`);
        return;
      case 'send':
        send(lines.get(effect.node) ?? dial(effect.node), effect);
        return;
      case 'close':
        hangUp(effect.node);
        return;
      case 'complete':
        onComplete(effect.completion);
    }
  };

  const send = ({ connection, waiting }: Line, request: ClientSend): void => {
    if (connection === null) {
      waiting.push(request);
      return;
    }
    const { correlationId, api, version, body, node } = request;
    kernel.sendRequest(connection.requests, { correlationId, clientId: name }, api, version, body);
    take({ type: 'sent', node, correlationId });
  };

  const dial = (node: number): Line => {
    const dialling = new Dialling(kernel, endpoint, endpoints.get(node) ?? '', (connection) => {
      if (connection === null) {
        lines.delete(node);
        take({ type: 'connect-failed', node });
        return;
      }
      line.connection = connection;
      for (const request of line.waiting.splice(0)) send(line, request);
    });
    const line: Line = { dialling, connection: null, waiting: [] };
    lines.set(node, line);
    return line;
  };

  const hangUp = (node: number): void => {
    lines.get(node)?.dialling.end();
    lines.delete(node);
  };

  const setTimer = (): void => {
    const deadlineNs = nextDeadlineNs(state);
    if (closed || deadlineNs === null || deadlineNs >= timerNs) return;
    timerNs = deadlineNs;
    kernel.at(deadlineNs, name, () => {
      // One that was set for an operation that is over has nothing to do, but to look for the next.
      if (timerNs === deadlineNs) timerNs = Infinity;
      const due = nextDeadlineNs(state);
      if (due !== null && due <= kernel.nowNs) take({ type: 'deadline' });
      else setTimer();
    });
  };

  const endpoint: Endpoint = {
    name,
    place,
    boot: 1,
    running: true,
    arrive(lane: Lane, message: Message) {
      const { connection } = lane;
      if (closed || !connection.requesterOpen) return;
      const node = Number(connection.responder.name);
      if (lines.get(node)?.connection !== connection) return;
      if (message.kind === 'end') {
        hangUp(node);
        take({ type: 'closed', node });
        return;
      }
      kernel.options.onMessage?.(lane, message);
      const { correlationId, api, version, body } = message;
      take({ type: 'response', node, correlationId, api, version, body } as ClientResponse);
    },
  };

  return {
    invoke: (operation) => take({ type: 'invoke', operation }),
    positions: () => state.consumer.positions,
    close() {
      closed = true;
      for (const { dialling } of lines.values()) dialling.end();
      lines.clear();
    },
  };
}
