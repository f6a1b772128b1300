import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { probe } from '../../../docker/agent/probe.ts';
import type { ProbeResult } from '../../../docker/agent/messages.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function probeOf(serve: (socket: Socket, request: Buffer) => void): Promise<ProbeResult> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', (request) => serve(socket, request));
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return probe({ name: '2', host: '127.0.0.1', port }, 'probe-1', 200);
}

describe('a probe', () => {
  it('asks for the API versions in the words of the protocol, and takes an answer in pieces', async () => {
    let asked = '';
    const result = await probeOf((socket, request) => {
      asked = request.toString('hex');
      socket.write(Buffer.from('0000000a', 'hex'));
      setImmediate(() => socket.write(Buffer.from('00000001000000000000', 'hex')));
    });
    // Size 17; key 18, version 0; correlation id 1; client id of 7 bytes.
    expect(asked).toBe(`0000001100120000000000010007${Buffer.from('probe-1').toString('hex')}`);
    expect(result).toEqual({ name: '2', ok: true, roundTripMs: expect.any(Number) as number });
  });

  it('fails on an answer to something else, on silence, on a closed connection and on a closed port', async () => {
    const other = await probeOf((socket) => socket.write(Buffer.from('00000006000000020000', 'hex')));
    expect(other).toMatchObject({ name: '2', ok: false, error: 'the answer belongs to another request' });
    const foreign = await probeOf((socket) => socket.write('HTTP/1.1 400 Bad Request\r\n'));
    expect(foreign.error).toMatch(/^the answer is not of this protocol/);
    expect(foreign.heard).toBe('"HTTP/1.1 400 Bad Request\\r\\n"');
    const alert = await probeOf((socket) => socket.end(Buffer.from('15030300020250', 'hex')));
    expect(alert.heard).toBe('the bytes 15 03 03 00 02 02 50 (TLS)');
    expect(await probeOf(() => {})).toEqual({ name: '2', ok: false, error: 'no answer within 200 ms' });
    expect((await probeOf((socket) => socket.end())).error).toBe('the connection was closed without an answer');
    expect((await probe({ name: '2', host: '127.0.0.1', port: 1 }, 'probe-1', 200)).error).toMatch(/ECONNREFUSED/);
  });
});
