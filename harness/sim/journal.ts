/**
 * The journal of a kernel: what each event was, as a rolling hash, so that two runs can be held against each other.
 *
 * Into the hash go, for every event, its time and number, what it was (a message that arrived, with its name; a process
 * that was woken), and every trace line that came of it. Of the lines that come by the thousand only what says something
 * goes in, field by field: the message that they name has arrived, and is in the hash already. Whoever listens is told
 * each event with the hash so far and can have it described; a description is only made when it is asked for.
 *
 * Invariant: two runs of the same program that have equal hashes after an event took the same events up to it.
 */
import { told } from '../../broker/core/trace.ts';
import type { TraceEvent } from '../../broker/core/trace.ts';
import { messageText } from '../../broker/protocol/index.ts';
import type { Endpoint, Lane, Message } from './network.ts';
import { RollingHash } from './rolling-hash.ts';

/** One event of a kernel, as it is told after it has happened. */
export interface KernelEvent {
  /** Counts from 1. */
  readonly sequence: number;
  readonly timeNs: number;
  /** Over this event and all before it; 53 bits, as a number. */
  readonly hash: number;
  /** One line for people: the time, what happened, and the trace lines that came of it. */
  readonly describe: () => string;
}

/** What an event was; as numbers, they go into the hash. */
const [WAKE, DELIVERY, TAKEN, TIMER, APPEND, FETCH, HIGH_WATERMARK, ACK, OTHER] = [1, 2, 3, 4, 5, 6, 7, 8, 9];
const NS_PER_MS = 1e6;

export class Journal {
  /** Events so far. */
  sequence = 0;
  readonly #hash = new RollingHash();
  readonly #onEvent: ((event: KernelEvent) => void) | undefined;
  /** What happens in the event under way, told only if somebody listens. */
  #happened: (() => string)[] = [];

  constructor(onEvent: ((event: KernelEvent) => void) | undefined) {
    this.#onEvent = onEvent;
  }

  /** Over all events so far; 16 hexadecimal digits. */
  get hash(): string {
    return this.#hash.hex;
  }

  begin(timeNs: number): void {
    this.sequence += 1;
    this.#hash.word(this.sequence);
    this.#hash.number64(timeNs);
  }

  /** A process is woken at its deadline. */
  woken(node: Endpoint): void {
    this.#hash.word(WAKE);
    this.#hash.word(node.place);
    if (this.#onEvent !== undefined) this.#happened.push(() => `${node.name} is woken`);
  }

  /** A message arrives at the end of its lane. */
  delivered(lane: Lane, message: Message): void {
    this.#message(DELIVERY, lane, message);
    if (this.#onEvent !== undefined) this.#happened.push(() => `${describeMessage(lane, message)} arrives`);
  }

  /** A request that had waited for the one before it is taken in. */
  taken(lane: Lane, message: Message): void {
    this.#message(TAKEN, lane, message);
    if (this.#onEvent !== undefined) this.#happened.push(() => `${describeMessage(lane, message)} is taken in`);
  }

  /** Something of the harness's own was due. */
  timer(what: string): void {
    this.#hash.word(TIMER);
    this.#hash.text(what);
    if (this.#onEvent !== undefined) this.#happened.push(() => what);
  }

  /** A trace line is written. */
  traced(node: Endpoint, line: TraceEvent): void {
    this.#hash.word(node.place);
    this.#line(line);
    if (this.#onEvent !== undefined) this.#happened.push(() => `${node.name} writes ${JSON.stringify(told(line))}`);
  }

  /** Tells the event that began last. */
  end(timeNs: number): void {
    const listener = this.#onEvent;
    if (listener === undefined) return;
    const { sequence } = this;
    const happened = this.#happened;
    this.#happened = [];
    const describe = (): string => {
      const what = happened.length === 0 ? 'nothing to do' : happened.map((tell) => tell()).join('; ');
      return `event ${sequence} at ${(timeNs / NS_PER_MS).toFixed(3)} ms: ${what}`;
    };
    listener({ sequence, timeNs, hash: this.#hash.number, describe });
  }

  #line(line: TraceEvent): void {
    const hash = this.#hash;
    if (line.event === 'append') {
      this.#onPartition(APPEND, line.partition, line.leaderEpoch);
      for (const { base, last, epoch, crc } of line.batches) {
        hash.number64(base);
        hash.number64(last);
        hash.word(epoch);
        hash.word(crc);
      }
    } else if (line.event === 'fetch') {
      this.#onPartition(FETCH, line.partition, line.leaderEpoch);
      hash.word(line.follower);
      hash.number64(line.offset);
      hash.number64(line.leo);
    } else if (line.event === 'hw') {
      this.#onPartition(HIGH_WATERMARK, line.partition, line.leaderEpoch);
      hash.number64(line.from);
      hash.number64(line.to);
      if (line.isr !== undefined) this.#nodes(line.isr);
    } else if (line.event === 'ack') {
      this.#onPartition(ACK, line.partition, line.leaderEpoch);
      hash.number64(line.base);
      hash.number64(line.last);
      hash.word(line.acks);
      this.#nodes(line.isr);
    } else {
      hash.word(OTHER);
      hash.value(told(line));
    }
  }

  #onPartition(what: number, partition: string, leaderEpoch: number): void {
    this.#hash.word(what);
    this.#hash.text(partition);
    this.#hash.word(leaderEpoch);
  }

  #nodes(nodes: readonly number[]): void {
    this.#hash.word(nodes.length);
    for (const node of nodes) this.#hash.word(node);
  }

  #message(what: number, { connection, from, to }: Lane, message: Message): void {
    this.#hash.word(what);
    this.#hash.word(connection.id);
    this.#hash.word(from.place * 65_536 + to.place);
    this.#hash.word(message.kind === 'end' ? -1 : message.correlationId);
  }
}

function describeMessage({ from, to }: Lane, { kind, api, clientId, correlationId }: Message): string {
  if (kind === 'end') return `the end of a connection from ${from.name} to ${to.name}`;
  const name = kind === 'request' ? messageText(clientId, correlationId) : `#${correlationId}`;
  return `${api} ${kind} ${name} from ${from.name} to ${to.name}`;
}
