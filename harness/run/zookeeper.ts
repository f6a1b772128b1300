/**
 * Just enough of ZooKeeper's protocol to read and write a few nodes: how Kafka before 2.4 is told to move a leader.
 *
 * A session is one connection, used for one errand of a few seconds and closed again, so there are no pings, watches or
 * reconnections. Messages are jute records: big-endian numbers, strings and buffers after their int32 length, each
 * message after its own. Requests are answered in order.
 *
 * Source: zookeeper.jute and ZooDefs of ZooKeeper 3.4 and later. Left out: ACLs beyond "everybody may", multi, SASL.
 *
 * Invariant: after `close`, or when an errand fails, no socket and no timer is left.
 */
import { connect } from 'node:net';
import { FrameSplitter, frame } from '../../broker/protocol/index.ts';
import type { Address } from '../../nemesis/ports.ts';

export interface ZooKeeper {
  /** What the node holds; null when there is none. */
  get(path: string): Promise<string | null>;
  /** False when it is there already. */
  create(path: string, data: string): Promise<boolean>;
  /** False when it is not there. */
  set(path: string, data: string): Promise<boolean>;
  /** False when it is not there. */
  remove(path: string): Promise<boolean>;
  close(): void;
}

const operations = { create: 1, remove: 2, get: 4, set: 5 } as const;
const noNode = -101;
const nodeExists = -110;
/** Nodes that we read are small; this is ZooKeeper's own bound (jute.maxbuffer). */
const maxMessageBytes = 1024 * 1024;
const sessionTimeoutMs = 4_000;

/**
 * Opens a session. Rejects with one clear line when there is none within `timeoutMs`, which also bounds each request. When
 * `signal` aborts, the session ends at once, whatever it is doing.
 */
export async function openZooKeeper(address: Address, timeoutMs: number, signal?: AbortSignal): Promise<ZooKeeper> {
  const channel = openChannel(address, timeoutMs, signal);
  await channel.ask(
    Buffer.concat([int32(0), int64(0n), int32(sessionTimeoutMs), int64(0n), buffer(Buffer.alloc(16)), Buffer.of(0)]),
  );
  let xid = 0;
  const call = async (kind: keyof typeof operations, path: string, rest: readonly Buffer[]): Promise<Answer> => {
    xid += 1;
    const request = Buffer.concat([int32(xid), int32(operations[kind]), text(path), ...rest]);
    return readAnswer(await channel.ask(request), xid, `${kind} ${path}`);
  };
  const found = async (answer: Promise<Answer>, absent: number): Promise<boolean> => (await answer).error !== absent;
  return {
    async get(path) {
      const { error, body } = await call('get', path, [Buffer.of(0)]);
      return error === noNode ? null : body.subarray(4, 4 + Math.max(0, body.readInt32BE(0))).toString();
    },
    create: (path, data) => found(call('create', path, [text(data), everybody, int32(0)]), nodeExists),
    set: (path, data) => found(call('set', path, [text(data), anyVersion]), noNode),
    remove: (path) => found(call('remove', path, [anyVersion]), noNode),
    close: () => channel.close(),
  };
}

interface Answer {
  readonly error: number;
  readonly body: Buffer;
}

/** Header: xid, zxid, error. Throws what nobody here expects. */
function readAnswer(message: Buffer, xid: number, what: string): Answer {
  if (message.length < 16 || message.readInt32BE(0) !== xid)
    throw new Error(`ZooKeeper answers ${what} with something else`);
  const error = message.readInt32BE(12);
  if (error !== 0 && error !== noNode && error !== nodeExists) {
    throw new Error(`ZooKeeper refuses ${what}: error ${error}`);
  }
  return { error, body: message.subarray(16) };
}

interface Channel {
  /** Sends a message and waits for the next one that comes. */
  ask(message: Buffer): Promise<Buffer>;
  close(): void;
}

function openChannel({ host, port }: Address, timeoutMs: number, signal?: AbortSignal): Channel {
  const socket = connect({ host, port, noDelay: true });
  const splitter = new FrameSplitter(maxMessageBytes);
  let waiting: PromiseWithResolvers<Buffer> | null = null;
  let failure: Error | null = null;

  const fail = (detail: string): void => {
    failure ??= new Error(`ZooKeeper at ${host}:${port}: ${detail}`);
    signal?.removeEventListener('abort', giveUp);
    socket.destroy();
    waiting?.reject(failure);
    waiting = null;
  };
  const giveUp = (): void => fail('nobody waits for it any longer');
  signal?.addEventListener('abort', giveUp);
  if (signal?.aborted === true) giveUp();
  socket.on('error', (error) => fail(error.message));
  socket.on('close', () => fail('the connection ended'));
  socket.on('data', (chunk: Buffer) => {
    try {
      for (const message of splitter.push(chunk)) {
        waiting?.resolve(Buffer.from(message));
        waiting = null;
      }
    } catch (error) {
      fail(error instanceof Error ? error.message : String(error));
    }
  });

  return {
    async ask(message) {
      if (failure !== null) throw failure;
      if (waiting !== null) throw new Error('a ZooKeeper session is asked one thing at a time');
      waiting = Promise.withResolvers();
      const { promise } = waiting;
      const timer = setTimeout(() => fail(`no answer within ${timeoutMs} ms`), timeoutMs);
      socket.write(frame(message));
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
      }
    },
    close() {
      failure ??= new Error('this ZooKeeper session is closed');
      socket.destroy();
    },
  };
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function int64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}

function buffer(bytes: Buffer): Buffer {
  return Buffer.concat([int32(bytes.length), bytes]);
}

function text(value: string): Buffer {
  return buffer(Buffer.from(value));
}

/** One entry: all permissions for world:anyone. */
const everybody = Buffer.concat([int32(1), int32(31), text('world'), text('anyone')]);
const anyVersion = int32(-1);
