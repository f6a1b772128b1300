/**
 * The connections of a broker to its peers: opened by the first message, closed and opened again as the core and the peer
 * would have it; an answer reaches the core with what was asked, or not at all.
 */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { CoreEvent, Effect, Peer } from '../../../broker/core/step.ts';
import { FrameSplitter } from '../../../broker/protocol/index.ts';
import { freePort } from './node-process.ts';
import { echoCore, eventQueue, move, smallServer } from './small-server.ts';

describe('a peer', () => {
  const peer: Peer = 2;
  const ask = (correlationId: number): Effect => {
    return { type: 'send', peer, correlationId, api: 'MoveLeader', version: 0, body: move(correlationId) };
  };
  const at = (port: number): Effect => ({ type: 'endpoint', peer, host: '127.0.0.1', port });

  /** A core that performs what a test hands to it, and the events that it gets. */
  async function puppet(): Promise<{
    perform: (...effects: readonly Effect[]) => void;
    next: () => Promise<CoreEvent>;
  }> {
    const events = eventQueue();
    let wanted: readonly Effect[] = [];
    const { driver } = await smallServer((event) => {
      if (event.type === 'checkpoint-now') return wanted;
      events.push(event);
      return [];
    });
    return {
      next: events.next,
      perform(...effects) {
        wanted = effects;
        driver.deliver({ type: 'checkpoint-now' });
      },
    };
  }

  /** Takes connections and answers nothing by itself. */
  async function silentServer(): Promise<{ port: number; accepted: () => Promise<Socket> }> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    return {
      port: (server.address() as AddressInfo).port,
      async accepted() {
        const [socket] = (await once(server, 'connection')) as [Socket];
        return socket.on('error', () => {});
      },
    };
  }

  test('is connected to by the first message, and its answers come back with what was asked', async () => {
    const { port } = await smallServer(echoCore);
    const { perform, next } = await puppet();
    perform(at(port), ask(1), ask(2));
    const answer = { type: 'response', peer, api: 'MoveLeader', version: 0 };
    expect(await next()).toEqual({ ...answer, correlationId: 1, body: { errorCode: 1, errorMessage: null } });
    expect(await next()).toEqual({ ...answer, correlationId: 2, body: { errorCode: 2, errorMessage: null } });
  });

  test('whose address is unknown, or refuses, is closed', async () => {
    const { perform, next } = await puppet();
    perform(ask(1));
    expect(await next()).toEqual({ type: 'closed', peer });
    perform(at(await freePort()), ask(2));
    expect(await next()).toEqual({ type: 'closed', peer });
  });

  test('that ends the connection, or answers what was not asked, is closed, and connected to again', async () => {
    const silent = await silentServer();
    const { perform, next } = await puppet();
    let connection = silent.accepted();
    perform(at(silent.port), ask(1));
    (await connection).destroy();
    expect(await next()).toEqual({ type: 'closed', peer });
    connection = silent.accepted();
    perform(ask(2));
    (await connection).write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 99]));
    expect(await next()).toEqual({ type: 'closed', peer });
  });

  test('that the core has closed is not heard of any more, however late its answer', async () => {
    const silent = await silentServer();
    const { port } = await smallServer(echoCore);
    const { perform, next } = await puppet();
    const connection = silent.accepted();
    perform(at(silent.port), ask(1));
    const socket = await connection;
    const splitter = new FrameSplitter();
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    expect(splitter.push(chunk)).toHaveLength(1);
    socket.write(Buffer.from([0, 0, 0, 8, 0, 0, 0, 1, 0, 42, 0xff, 0xff]));
    perform({ type: 'close', peer }, at(port), ask(2));
    expect(await next()).toMatchObject({ type: 'response', correlationId: 2 });
  });

  test('that moves to another address is closed at the old one', async () => {
    const silent = await silentServer();
    const { port } = await smallServer(echoCore);
    const { perform, next } = await puppet();
    perform(at(silent.port), ask(1));
    perform(at(port));
    expect(await next()).toEqual({ type: 'closed', peer });
    perform(ask(2));
    expect(await next()).toMatchObject({ type: 'response', correlationId: 2 });
  });
});
