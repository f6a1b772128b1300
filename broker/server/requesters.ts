/**
 * All connections of those who ask, by number, and the server socket that takes them in.
 *
 * Numbers are never used again, so that a late answer cannot find somebody else's connection.
 */
import type { Server, Socket } from 'node:net';
import type { CoreEvent } from '../core/step.ts';
import type { AnswerPort } from './driver.ts';
import { limits } from './limits.ts';
import type { Logger } from './logger.ts';
import { Requester } from './requester.ts';

export class Requesters implements AnswerPort {
  readonly #open = new Map<number, Requester>();
  readonly #deliver: (event: CoreEvent) => void;
  readonly #logger: Logger;
  #accepted = 0;
  #heldBytes = 0;

  constructor(deliver: (event: CoreEvent) => void, logger: Logger) {
    this.#deliver = deliver;
    this.#logger = logger;
  }

  /** Takes in every connection that comes, up to the limit. */
  listenOn(server: Server): void {
    server.maxConnections = limits.connections;
    server.on('connection', (socket) => this.#accept(socket));
    server.on('drop', (dropped) => {
      this.#logger.warn({ remote: dropped?.remoteAddress }, `refused a connection: ${limits.connections} are open`);
    });
  }

  has(connection: number): boolean {
    return this.#open.has(connection);
  }

  respond(connection: number, payload: Uint8Array): void {
    this.#open.get(connection)?.respond(payload);
  }

  release(connection: number): void {
    this.#open.get(connection)?.release();
  }

  disconnect(connection: number): void {
    this.#open.get(connection)?.close();
  }

  /** Many who each hold little less than they may would hold everything: the one who holds most has to go. */
  #hold(byBytes: number): void {
    this.#heldBytes += byBytes;
    if (byBytes < 0 || this.#heldBytes <= limits.heldBytes) return;
    let greediest: Requester | undefined;
    for (const each of this.#open.values()) {
      if (greediest === undefined || each.heldBytes > greediest.heldBytes) greediest = each;
    }
    greediest?.refuse(`it held ${greediest.heldBytes} of more than ${limits.heldBytes} bytes that wait`);
  }

  #accept(socket: Socket): void {
    this.#accepted += 1;
    const connection = this.#accepted;
    const remote = socket.remoteAddress;
    this.#open.set(
      connection,
      new Requester(connection, socket, {
        request: (event) => this.#deliver(event),
        closed: () => {
          this.#open.delete(connection);
          this.#deliver({ type: 'requester-closed', connection });
        },
        held: (byBytes) => this.#hold(byBytes),
        refused: (_, reason) => this.#logger.warn({ connection, remote }, `closed a connection: ${reason}`),
      }),
    );
  }
}
