/** What callers and nodes see through a fault proxy while links are cut. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HELD_BYTES_MAX } from '../../../harness/local/flow.ts';
import { LOOPBACK, findFreePorts } from '../../../harness/local/ports.ts';
import { FaultProxy, IN_FLIGHT_MS } from '../../../harness/local/proxy.ts';
import { call } from './caller.ts';

/** Node 1 behind its proxy: it answers each frame with the frame's correlation id, unless told to be silent. */
interface Node {
  readonly server: Server;
  readonly sockets: Socket[];
  readonly received: number[];
  /** Waits until a condition of the node or of the test holds; looked at whenever something happened. */
  until(condition: () => boolean): Promise<void>;
}

let proxy: FaultProxy;
let node: Node;

beforeEach(async () => {
  const [front, back] = await findFreePorts(2);
  node = listen(back ?? 0);
  proxy = new FaultProxy(1, { host: LOOPBACK, port: front ?? 0 }, { host: LOOPBACK, port: back ?? 0 });
  await Promise.all([proxy.open(), once(node.server, 'listening')]);
});

afterEach(() => {
  proxy.close();
  node.server.close();
  for (const socket of node.sockets) socket.destroy();
});

function listen(port: number): Node {
  const watchers = new Set<() => void>();
  const changed = () => {
    for (const watch of watchers) watch();
  };
  const sockets: Socket[] = [];
  const received: number[] = [];
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.push(socket);
    socket.on('error', changed);
    socket.on('close', changed);
    let rest = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= 4 && rest.length >= 4 + rest.readInt32BE(0)) {
        const correlationId = rest.readInt32BE(8);
        received.push(correlationId);
        rest = rest.subarray(4 + rest.readInt32BE(0));
        const answer = Buffer.alloc(8);
        answer.writeInt32BE(4, 0);
        answer.writeInt32BE(correlationId, 4);
        socket.write(answer);
      }
      changed();
    });
    changed();
  });
  server.listen(port, LOOPBACK);
  const until = async (condition: () => boolean) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const watch = () => {
      if (condition()) resolve();
    };
    watchers.add(watch);
    watch();
    await promise;
    watchers.delete(watch);
  };
  return { server, sockets, received, until };
}

/** A caller whose first request was answered, so that its connection stands. */
async function connected(clientId: string) {
  const caller = call(proxy.address, clientId);
  caller.send(1);
  await caller.answered(1);
  return caller;
}

describe('a fault proxy', () => {
  it('tells callers apart by the client id of their first frame', async () => {
    proxy.setCuts([
      { from: 2, to: 1 },
      { from: 'controller', to: 1 },
    ]);
    const cut = ['broker-2.7', 'probe-2', 'controller.3', 'probe-controller'].map((id) => call(proxy.address, id));
    for (const caller of cut) caller.send(1);
    const open = ['broker-3.1', 'probe-3', 'client-0', 'kafkajs', ''].map((id) => call(proxy.address, id));
    for (const caller of open) caller.send(2);
    await Promise.all(open.map((caller) => caller.answered(1)));
    expect(cut.flatMap(({ answers }) => answers)).toEqual([]);
    expect(node.received).toEqual([2, 2, 2, 2, 2]);
  });

  it('holds what is sent along a cut, and delivers it in order when the link heals', async () => {
    const caller = await connected('broker-2.1');
    proxy.setCuts([{ from: 2, to: 1 }]);
    for (const id of [2, 3, 4]) caller.send(id);
    const other = await connected('broker-3.1');
    other.send(9);
    await other.answered(2);
    expect(node.received).toEqual([1, 1, 9]);
    proxy.setCuts([]);
    await caller.answered(4);
    expect(caller.answers).toEqual([1, 2, 3, 4]);
    expect(proxy.takeSwallowed('2→1')).toBeGreaterThan(0);
    expect(proxy.takeSwallowed('2→1')).toBe(0);
  });

  it('holds the answers when only the way back is cut, and counts them there', async () => {
    const caller = await connected('broker-2.1');
    proxy.setCuts([{ from: 1, to: 2 }]);
    caller.send(2);
    await node.until(() => node.received.includes(2));
    /* By the time of a whole round trip of somebody else the answer has come as far as it can. */
    await connected('client-1');
    expect(caller.answers).toEqual([1]);
    proxy.setCuts([]);
    await caller.answered(2);
    expect([proxy.takeSwallowed('1→2'), proxy.takeSwallowed('2→1')]).toEqual([8, 0]);
  });

  it('stalls the other direction of a one-way cut soon after, as TCP without acknowledgements', async () => {
    const caller = await connected('broker-2.1');
    proxy.setCuts([{ from: 1, to: 2 }]);
    /* A later change elsewhere neither renews the moment of grace nor lets anything through. */
    await passed(IN_FLIGHT_MS + 20);
    proxy.setCuts([
      { from: 1, to: 2 },
      { from: 1, to: 3 },
    ]);
    caller.send(2);
    const other = await connected('client-1');
    other.send(3);
    await other.answered(2);
    expect(node.received).not.toContain(2);
    proxy.setCuts([]);
    await caller.answered(2);
  });

  it('lets a new connection under a cut hang, and connects it when the link heals', async () => {
    proxy.setCuts([{ from: 1, to: 2 }]);
    const caller = call(proxy.address, 'broker-2.1');
    caller.send(1);
    const other = await connected('client-1');
    expect(node.sockets).toHaveLength(1);
    proxy.setCuts([]);
    await caller.answered(1);
    expect(proxy.takeSwallowed('1→2')).toBe(1);
    other.socket.destroy();
  });

  it('forgets a connection that hung until its caller gave up: what it sent never was', async () => {
    proxy.setCuts([{ from: 2, to: 1 }]);
    const caller = call(proxy.address, 'broker-2.1');
    caller.send(77);
    await once(caller.socket, 'connect');
    caller.socket.destroy();
    await caller.ended;
    const other = await connected('client-1');
    proxy.setCuts([]);
    other.send(2);
    await other.answered(2);
    expect(node.received).not.toContain(77);
  });

  it('delivers what an established caller had sent before it gave up, and its end, once the link heals', async () => {
    const caller = await connected('broker-2.1');
    proxy.setCuts([{ from: 2, to: 1 }]);
    caller.send(2);
    caller.socket.end();
    await connected('client-1');
    expect(node.sockets[0]?.destroyed).toBe(false);
    proxy.setCuts([]);
    await node.until(() => node.sockets[0]?.destroyed === true);
    expect(node.received).toContain(2);
  });

  it('hides the end of a node from a caller on the far side of a cut until the link heals', async () => {
    const caller = await connected('broker-2.1');
    proxy.setCuts([
      { from: 1, to: 2 },
      { from: 2, to: 1 },
    ]);
    node.sockets[0]?.destroy();
    await connected('client-1');
    expect(caller.socket.destroyed).toBe(false);
    proxy.setCuts([]);
    expect(await caller.ended).toMatch(/^(?:end|ECONNRESET)$/);
  });

  it('resets connections where a cut says so, old ones and new ones', async () => {
    const caller = await connected('broker-2.1');
    proxy.setCuts([{ from: 2, to: 1, mode: 'reset' }]);
    expect(await caller.ended).toBe('ECONNRESET');
    const late = call(proxy.address, 'broker-2.1');
    late.send(2);
    expect(await late.ended).toBe('ECONNRESET');
    expect(proxy.takeSwallowed('2→1')).toBeGreaterThan(0);
  });

  it('keeps a bounded number of bytes of a held flow, and loses none', async () => {
    const caller = await connected('broker-2.1');
    proxy.setCuts([{ from: 2, to: 1 }]);
    const body = 'x'.repeat(1_000_000);
    for (let id = 2; id < 22; id += 1) caller.send(id, body);
    await passed(IN_FLIGHT_MS);
    const held = proxy.takeSwallowed('2→1');
    expect(held).toBeGreaterThanOrEqual(HELD_BYTES_MAX / 2);
    expect(held).toBeLessThan(2 * HELD_BYTES_MAX);
    proxy.setCuts([]);
    await caller.answered(21);
    expect(caller.answers.at(-1)).toBe(21);
  });

  it('refuses callers while its port is shut, and takes it again', async () => {
    proxy.shut();
    expect(await call(proxy.address, 'client-1').ended).toBe('ECONNREFUSED');
    await proxy.open();
    await connected('client-1');
  });

  it('resets a caller when nobody listens behind it', async () => {
    node.server.close();
    const caller = call(proxy.address, 'client-1');
    caller.send(1);
    expect(await caller.ended).toBe('ECONNRESET');
  });

  it('rejects when somebody else has its port', async () => {
    const second = new FaultProxy(2, proxy.address, proxy.address);
    await expect(second.open()).rejects.toMatchObject({ code: 'EADDRINUSE' });
    second.close();
  });
});

/** The passing of time is what is tested here. */
function passed(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
