/**
 * The harness's end of the stream to a pod's agent: opened once, kept for the whole run.
 *
 * An exec for each change would cost a process in the engine and some 60 to 90 ms, several at once far more; a line on
 * an open stream costs nothing. When this process dies the engine closes the stream, and the agent heals.
 */
import type { Duplex } from 'node:stream';
import type { Container } from 'dockerode';
import type { AgentEvent, Command, Reply, SegmentEvent, WatchRequest } from './agent/messages.ts';
import { heartbeatIntervalMs, heartbeatTimeoutMs, readyId } from './agent/messages.ts';
import { attach, hear, LineSplitter } from './attach.ts';

type DropRequest = Omit<Extract<Command, { do: 'drop' }>, 'id'>;
type ProbeRequest = Omit<Extract<Command, { do: 'probe' }>, 'id'>;
type WatchCommand = { readonly do: 'watch' } & WatchRequest;
type Dropped = Extract<Reply, { dropped: unknown }>;
type Probed = Extract<Reply, { probes: unknown }>;

export interface Agent {
  /** Starts its container, and waits until the agent says that it is ready. */
  start(): Promise<void>;
  /** Rejects when the agent fails, is gone, or does not answer in time. */
  ask(request: DropRequest, timeoutMs?: number): Promise<Dropped>;
  ask(request: ProbeRequest, timeoutMs?: number): Promise<Probed>;
  /**
   * Watches segments, instead of whatever was watched before: `listener` hears of what is there, and then of every
   * change. It hears an error when segments cannot be read any more.
   */
  watch(request: WatchRequest, listener: (event: SegmentEvent | Error) => void): Promise<void>;
  /** True once, after the agent has healed without being asked. */
  tookOver(): boolean;
  close(): void;
}

const replyTimeoutMs = 10_000;
const complaintMax = 2_000;

/** Opens the stream to a created container that is yet to be started. */
export async function attachAgent(container: Container, name: string): Promise<Agent> {
  const stream = await attach(container, { stdin: true, stdout: true, stderr: true });
  return new AgentLink(container, stream, name);
}

interface Waiting {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

class AgentLink implements Agent {
  readonly #container: Container;
  readonly #stream: Duplex;
  readonly #name: string;
  readonly #waiting = new Map<number, Waiting>();
  readonly #beat: NodeJS.Timeout;
  #ids = readyId;
  #complaint = '';
  #healed = false;
  #watcher: (event: SegmentEvent | Error) => void = () => {};
  #closed = false;

  constructor(container: Container, stream: Duplex, name: string) {
    this.#container = container;
    this.#stream = stream;
    this.#name = name;
    const lines = new LineSplitter((line) => this.#hear(line));
    hear(stream, (output, bytes) => {
      if (output === 'stdout') lines.push(bytes);
      else this.#complaint = (this.#complaint + bytes.toString('utf8')).slice(-complaintMax);
    });
    for (const end of ['error', 'close', 'end']) stream.on(end, () => this.#gone());
    this.#beat = setInterval(() => this.#write({ do: 'beat' }), heartbeatIntervalMs);
    this.#beat.unref();
  }

  async start(): Promise<void> {
    const ready = this.#reply(readyId, heartbeatTimeoutMs, 'did not start');
    await Promise.all([ready, this.#container.start()]);
  }

  ask(request: DropRequest, timeoutMs?: number): Promise<Dropped>;
  ask(request: ProbeRequest, timeoutMs?: number): Promise<Probed>;
  ask(request: WatchCommand): Promise<Reply>;
  async ask(request: DropRequest | ProbeRequest | WatchCommand, timeoutMs = replyTimeoutMs): Promise<Reply> {
    const id = ++this.#ids;
    const reply = this.#reply(id, timeoutMs, `did not answer \`${request.do}\``);
    if (this.#stream.destroyed) this.#gone();
    else this.#write({ ...request, id });
    return reply;
  }

  async watch(request: WatchRequest, listener: (event: SegmentEvent | Error) => void): Promise<void> {
    this.#watcher = listener;
    await this.ask({ do: 'watch', ...request });
  }

  tookOver(): boolean {
    const healed = this.#healed;
    this.#healed = false;
    return healed;
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#beat);
    this.#stream.destroy();
  }

  async #reply(id: number, timeoutMs: number, failure: string): Promise<Reply> {
    const waiting = Promise.withResolvers<Reply>();
    this.#waiting.set(id, waiting);
    const late = new Error(`the agent of ${this.#name} ${failure} within ${timeoutMs} ms`);
    const timer = setTimeout(() => waiting.reject(late), timeoutMs);
    try {
      const reply = await waiting.promise;
      if ('error' in reply) throw new Error(`the agent of ${this.#name} failed: ${reply.error}`);
      return reply;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
    }
  }

  #write(command: Command): void {
    if (!this.#stream.destroyed) this.#stream.write(`${JSON.stringify(command)}\n`);
  }

  #hear(line: string): void {
    const message = JSON.parse(line) as Reply | AgentEvent;
    if ('id' in message) this.#waiting.get(message.id)?.resolve(message);
    else if (message.event === 'ready') this.#waiting.get(readyId)?.resolve({ id: readyId, dropped: {} });
    else if (message.event === 'segments') this.#watcher(message);
    else if (message.event === 'blind')
      this.#watcher(new Error(`the segments of ${this.#name} cannot be read: ${message.reason}`));
    else this.#healed = true;
  }

  #gone(): void {
    clearInterval(this.#beat);
    const complaint = this.#complaint.trim();
    const error = new Error(`the agent of ${this.#name} is gone${complaint === '' ? '' : `: ${complaint}`}`);
    for (const waiting of this.#waiting.values()) waiting.reject(error);
    this.#waiting.clear();
    // Of a stream that breaks several signs come.
    const watcher = this.#watcher;
    this.#watcher = () => {};
    if (!this.#closed) watcher(error);
  }
}
