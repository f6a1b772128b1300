/** A connection that speaks the protocol, or anything else, to a server under test. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import {
  decodeResponse,
  encodeRequest,
  frame,
  FrameSplitter,
  type ApiName,
  type RequestBody,
  type ResponseBody,
} from '../../../broker/protocol/index.ts';

export class RawClient {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  readonly #clientId: string;
  readonly #frames: Uint8Array[] = [];
  #woken: (() => void)[] = [];
  #ended = false;
  #correlationId = 0;

  private constructor(socket: Socket, clientId: string) {
    this.socket = socket;
    this.#clientId = clientId;
    const splitter = new FrameSplitter();
    socket.on('data', (chunk: Buffer) => {
      this.#frames.push(...splitter.push(chunk));
      this.#wake();
    });
    socket.on('error', () => {});
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.#ended = true;
        this.#wake();
        resolve();
      });
    });
  }

  static async connect(port: number, clientId = 'test'): Promise<RawClient> {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    return new RawClient(socket, clientId);
  }

  /** Sends without waiting; returns the correlation id. */
  send<A extends ApiName>(api: A, version: number, body: RequestBody<A>): number {
    this.#correlationId += 1;
    const header = { correlationId: this.#correlationId, clientId: this.#clientId };
    this.socket.write(frame(encodeRequest(api, version, header, body)));
    return this.#correlationId;
  }

  /** The next answer, which must be one to this API. Rejects when the connection ends first. */
  async receive<A extends ApiName>(
    api: A,
    version: number,
  ): Promise<{ readonly correlationId: number; readonly body: ResponseBody<A> }> {
    for (;;) {
      const payload = this.#frames.shift();
      if (payload !== undefined) return decodeResponse(api, version, payload);
      if (this.#ended) throw new Error('the connection was closed instead of an answer');
      await new Promise<void>((resolve) => this.#woken.push(resolve));
    }
  }

  async request<A extends ApiName>(api: A, version: number, body: RequestBody<A>): Promise<ResponseBody<A>> {
    const correlationId = this.send(api, version, body);
    const answer = await this.receive(api, version);
    if (answer.correlationId !== correlationId) {
      throw new Error(`asked ${correlationId}, was answered ${answer.correlationId}`);
    }
    return answer.body;
  }

  #wake(): void {
    const woken = this.#woken;
    this.#woken = [];
    for (const resolve of woken) resolve();
  }
}
