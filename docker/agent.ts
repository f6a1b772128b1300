/**
 * The harness's end of the stream to a pod's agent: opened once, kept for the whole run.
 *
 * An exec for each change would cost a process in the engine and some 60 to 90 ms, several at once far more; a line on
 * an open stream costs nothing. When this process dies the engine closes the stream, and the agent heals.
 */
import type { Duplex } from 'node:stream';
import type { Container } from 'dockerode';
import type { AgentEvent, Command, Reply } from './agent/messages.ts';
import { heartbeatIntervalMs, heartbeatTimeoutMs } from './agent/messages.ts';
import { FrameSplitter, LineSplitter } from './attach.ts';

/** A command without its id. */
type Request = Extract<Command, { id: number }> extends infer C ? (C extends unknown ? Omit<C, 'id'> : never) : never;
type Answer<R extends Request> = Exclude<
  R['do'] extends 'drop' ? Extract<Reply, { dropped: unknown }> : Extract<Reply, { probes: unknown }>,
  never
>;

export interface Agent {
  /** Rejects when the agent fails, is gone, or does not answer in time. */
  ask<R extends Request>(request: R, timeoutMs?: number): Promise<Answer<R>>;
  /** True once, after the agent has healed without being asked. */
  tookOver(): boolean;
  close(): void;
}

const replyTimeoutMs = 10_000;

/** Attaches to a created container, starts it and waits until the agent says that it is ready. */
export async function startAgent(container: Container, name: string): Promise<Agent> {
  const stream = (await container.attach({
    stream: true,
    stdin: true,
    stdout: true,
    stderr: true,
    hijack: true,
  })) as unknown as Duplex;
  const link = new AgentLink(stream, name);
  await container.start();
  await link.ready;
  return link;
}

interface Waiting {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

class AgentLink implements Agent {
  readonly ready: Promise<void>;
  readonly #stream: Duplex;
  readonly #name: string;
  readonly #waiting = new Map<number, Waiting>();
  readonly #beat: NodeJS.Timeout;
  #ids = 0;
  #complaint = '';
  #healed = false;

  constructor(stream: Duplex, name: string) {
    this.#stream = stream;
    this.#name = name;
    const started = Promise.withResolvers<Reply>();
    this.#waiting.set(0, started);
    this.ready = withDeadline(started.promise, heartbeatTimeoutMs, `the agent of ${name} did not start`).then(() => {});
    // Nobody may be waiting any more when a failing start is told.
    this.ready.catch(() => {});
    const lines = new LineSplitter((line) => this.#hear(line));
    const frames = new FrameSplitter((output, bytes) => {
      if (output === 'stdout') lines.push(bytes);
      else this.#complaint = (this.#complaint + bytes.toString('utf8')).slice(-2_000);
    });
    stream.on('data', (chunk: Buffer) => frames.push(chunk));
    stream.on('error', () => this.#gone());
    stream.on('close', () => this.#gone());
    stream.on('end', () => this.#gone());
    this.#beat = setInterval(() => this.#write({ do: 'beat' }), heartbeatIntervalMs);
    this.#beat.unref();
  }

  async ask<R extends Request>(request: R, timeoutMs = replyTimeoutMs): Promise<Answer<R>> {
    const id = ++this.#ids;
    const waiting = Promise.withResolvers<Reply>();
    this.#waiting.set(id, waiting);
    if (this.#stream.destroyed) this.#gone();
    else this.#write({ ...request, id } as Command);
    const reply = await withDeadline(
      waiting.promise,
      timeoutMs,
      `the agent of ${this.#name} did not answer \`${request.do}\` within ${timeoutMs} ms`,
    ).finally(() => this.#waiting.delete(id));
    if ('error' in reply) throw new Error(`the agent of ${this.#name} failed: ${reply.error}`);
    return reply as Answer<R>;
  }

  tookOver(): boolean {
    const healed = this.#healed;
    this.#healed = false;
    return healed;
  }

  close(): void {
    clearInterval(this.#beat);
    this.#stream.destroy();
  }

  #write(command: Command): void {
    if (!this.#stream.destroyed) this.#stream.write(`${JSON.stringify(command)}\n`);
  }

  #hear(line: string): void {
    const message = JSON.parse(line) as Reply | AgentEvent;
    if ('id' in message) {
      this.#waiting.get(message.id)?.resolve(message);
    } else if (message.event === 'ready') {
      this.#waiting.get(0)?.resolve({ id: 0, dropped: {} });
    } else {
      this.#healed = true;
    }
  }

  #gone(): void {
    clearInterval(this.#beat);
    const complaint = this.#complaint.trim();
    const error = new Error(`the agent of ${this.#name} is gone${complaint === '' ? '' : `: ${complaint}`}`);
    for (const waiting of this.#waiting.values()) waiting.reject(error);
    this.#waiting.clear();
  }
}

function withDeadline<T>(promise: Promise<T>, timeoutMs: number, message: string): Promise<T> {
  let timer: NodeJS.Timeout;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(message)), timeoutMs);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
