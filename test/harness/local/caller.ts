/** A caller of a node: a socket that speaks frames with a client id of its own, and remembers what came back. */
import { createConnection } from 'node:net';
import type { Socket } from 'node:net';
import type { Address } from '../../../nemesis/ports.ts';

export interface Caller {
  readonly socket: Socket;
  /** Correlation ids of the answers, in order. */
  readonly answers: number[];
  /** `end`, `ECONNRESET` and the like, once it has ended. */
  readonly ended: Promise<string>;
  send(correlationId: number, body?: string): void;
  /** Resolves when so many answers are there. */
  answered(count: number): Promise<void>;
}

export function call(address: Address, clientId: string): Caller {
  const socket = createConnection({ ...address, noDelay: true });
  const answers: number[] = [];
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  let received = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    for (; received.length >= 8; received = received.subarray(8)) answers.push(received.readInt32BE(4));
    for (const { count, resolve } of waiting) if (answers.length >= count) resolve();
  });
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  socket.on('error', (error: Error & { readonly code?: string }) => resolve(error.code ?? error.message));
  socket.on('end', () => resolve('end'));
  socket.on('close', () => resolve('closed'));
  return {
    socket,
    answers,
    ended,
    send: (correlationId, body = '') => void socket.write(request(clientId, correlationId, body)),
    answered: (count) => {
      const { promise, resolve: done } = Promise.withResolvers<void>();
      if (answers.length >= count) done();
      waiting.push({ count, resolve: done });
      return promise;
    },
  };
}

function request(clientId: string, correlationId: number, body: string): Buffer {
  const name = Buffer.from(clientId);
  const bytes = Buffer.from(body);
  const frame = Buffer.alloc(14 + name.length + bytes.length);
  frame.writeInt32BE(frame.length - 4, 0);
  frame.writeInt16BE(18, 4);
  frame.writeInt32BE(correlationId, 8);
  frame.writeInt16BE(name.length, 12);
  name.copy(frame, 14);
  bytes.copy(frame, 14 + name.length);
  return frame;
}
