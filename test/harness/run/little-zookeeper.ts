/**
 * A real TCP server that speaks just enough of ZooKeeper's protocol to keep a few nodes, with a controller beside it that
 * takes Kafka's orders away as it is told to.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { FrameSplitter, frame } from '../../../broker/protocol/index.ts';

export interface LittleZooKeeper {
  readonly address: { readonly host: string; readonly port: number };
  readonly nodes: Map<string, string>;
  /** Called after each change of a node; a controller may change others. */
  onWrite: (path: string) => void;
  mood: 'answer' | 'silent' | 'garbage' | 'refuse';
  /** How often somebody has asked what a node holds. */
  reads: number;
  connections(): number;
  close(): Promise<void>;
}

export async function startLittleZooKeeper(): Promise<LittleZooKeeper> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const splitter = new FrameSplitter();
    let connected = false;
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      for (const message of splitter.push(chunk)) {
        if (keeper.mood === 'silent') continue;
        if (keeper.mood === 'garbage') socket.write(frame(Buffer.alloc(3)));
        else socket.write(frame(connected ? answerTo(keeper, Buffer.from(message)) : Buffer.alloc(37)));
        connected = true;
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const keeper: LittleZooKeeper = {
    address: { host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    nodes: new Map(),
    onWrite: () => {},
    mood: 'answer',
    reads: 0,
    connections: () => sockets.size,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return keeper;
}

function answerTo(keeper: LittleZooKeeper, message: Buffer): Buffer {
  const operation = message.readInt32BE(4);
  const pathEnd = 12 + message.readInt32BE(8);
  const path = message.toString('utf8', 12, pathEnd);
  const data = (): string => message.toString('utf8', pathEnd + 4, pathEnd + 4 + message.readInt32BE(pathEnd));
  const there = keeper.nodes.get(path);
  if (operation === 4) keeper.reads += 1;
  if (keeper.mood === 'refuse') return header(message, -102);
  if (operation === 1) {
    if (there !== undefined) return header(message, -110);
    keeper.nodes.set(path, data());
  } else if (there === undefined) return header(message, -101);
  else if (operation === 2) keeper.nodes.delete(path);
  else if (operation === 5) keeper.nodes.set(path, data());
  if (operation !== 4) {
    keeper.onWrite(path);
    return header(message, 0);
  }
  const bytes = Buffer.from(there ?? '');
  const length = Buffer.alloc(4);
  length.writeInt32BE(bytes.length);
  return Buffer.concat([header(message, 0), length, bytes, Buffer.alloc(68)]);
}

/** The xid of the request, a zxid, the error. */
function header(message: Buffer, error: number): Buffer {
  const bytes = Buffer.alloc(16);
  message.copy(bytes, 0, 0, 4);
  bytes.writeInt32BE(error, 12);
  return bytes;
}
