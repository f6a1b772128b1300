/**
 * The trace of a simulated run as it is kept: nearly all lines as rows of numbers, each made into its object again when
 * somebody reads it.
 *
 * A run writes more lines than it has events, and most of what it keeps would be these objects: the collector of garbage
 * would copy each of them twice. So the four kinds that make up nearly all lines (`append`, `fetch`, `hw`, `ack`) are put
 * into columns, and all others are kept as they came.
 *
 * Invariant: what is read is what was put in, field by field and in the same order, however often. A line that was handed
 * out is the reader's own; what hangs on it, such as the list of an ISR, is shared with the core, and nobody changes it.
 */
import { ackLine, appendLine, fetchLine, hashOf, hwLine, told } from '../../broker/core/trace.ts';
import type { Peer } from '../../broker/core/step.ts';
import type {
  EmittedBatch,
  MessageName,
  ToldEvent,
  TracedBatch,
  TraceEvent,
  TraceLine,
  WrittenLine,
} from '../../broker/core/trace.ts';
import { messageText } from '../../broker/protocol/index.ts';

const APPEND = 0;
const FETCH = 1;
const HIGH_WATERMARK = 2;
const ACK = 3;
const OTHER = 4;

/** Rows come in blocks, so that nothing is copied as a trace grows. */
const ROWS_IN_BLOCK = 4_096;
/** Of each row: kind, node (0 for the controller), boot, seq, partition, leader epoch, two that depend on the kind, client. */
const SMALL = 9;
/** Of each row: time, two that depend on the kind, correlation id. */
const LARGE = 4;
const NONE = -1;

interface Block {
  readonly small: Int32Array;
  readonly large: Float64Array;
}

type Line<E extends TraceEvent['event']> = WrittenLine & { readonly event: E };

export class KeptTrace implements Iterable<TraceLine> {
  #length = 0;
  readonly #blocks: Block[] = [];
  #newest: Block = emptyBlock(0);
  readonly #partitions = new Names<string>();
  readonly #clients = new Names<string>();
  readonly #isrs = new Names<readonly number[]>();
  readonly #batches = new KeptBatches();
  readonly #others: WrittenLine[] = [];

  get length(): number {
    return this.#length;
  }

  /** Keeps a line; the object is not held, unless it is of a rare kind, and then it is not to be changed any more. */
  push(line: WrittenLine): void {
    if (line.event === 'append') this.#append(line);
    else if (line.event === 'fetch') this.#fetch(line);
    else if (line.event === 'hw') this.#highWatermark(line);
    else if (line.event === 'ack') this.#ack(line);
    else this.#other(line);
  }

  #append({ node, boot, seq, time, partition, leaderEpoch, msg, batches }: Line<'append'>): void {
    const row = this.#row(APPEND, node, boot, seq, time, partition, leaderEpoch, msg);
    this.#newest.small[row * SMALL + 6] = batches.length;
    this.#newest.large[row * LARGE + 1] = this.#batches.add(batches);
  }

  #fetch({ node, boot, seq, time, partition, leaderEpoch, msg, follower, offset, leo }: Line<'fetch'>): void {
    const row = this.#row(FETCH, node, boot, seq, time, partition, leaderEpoch, msg);
    this.#newest.small[row * SMALL + 6] = follower;
    this.#newest.large[row * LARGE + 1] = offset;
    this.#newest.large[row * LARGE + 2] = leo;
  }

  #highWatermark({ node, boot, seq, time, partition, leaderEpoch, msg, from, to, isr }: Line<'hw'>): void {
    const row = this.#row(HIGH_WATERMARK, node, boot, seq, time, partition, leaderEpoch, msg);
    this.#newest.small[row * SMALL + 6] = isr === undefined ? NONE : this.#isrs.idOf(isr);
    this.#newest.large[row * LARGE + 1] = from;
    this.#newest.large[row * LARGE + 2] = to;
  }

  #ack({ node, boot, seq, time, partition, leaderEpoch, msg, base, last, acks, isr }: Line<'ack'>): void {
    const row = this.#row(ACK, node, boot, seq, time, partition, leaderEpoch, msg);
    this.#newest.small[row * SMALL + 6] = this.#isrs.idOf(isr);
    this.#newest.small[row * SMALL + 7] = acks;
    this.#newest.large[row * LARGE + 1] = base;
    this.#newest.large[row * LARGE + 2] = last;
  }

  #other(line: WrittenLine): void {
    const row = this.#nextRow();
    this.#newest.small[row * SMALL] = OTHER;
    this.#newest.small[row * SMALL + 6] = this.#others.length;
    this.#others.push(line);
  }

  #row(
    kind: number,
    node: Peer,
    boot: number,
    seq: number,
    time: number,
    partition: string,
    leaderEpoch: number,
    message: MessageName | undefined,
  ): number {
    const row = this.#nextRow();
    const { small, large } = this.#newest;
    const at = row * SMALL;
    small[at] = kind;
    small[at + 1] = node === 'controller' ? 0 : node;
    small[at + 2] = boot;
    small[at + 3] = seq;
    small[at + 4] = this.#partitions.idOf(partition);
    small[at + 5] = leaderEpoch;
    large[row * LARGE] = time;
    if (message === undefined) small[at + 8] = NONE;
    else {
      small[at + 8] = this.#clients.idOf(message.clientId);
      large[row * LARGE + 3] = message.correlationId;
    }
    return row;
  }

  #nextRow(): number {
    const row = this.#length % ROWS_IN_BLOCK;
    if (row === 0) this.#blocks.push((this.#newest = emptyBlock(ROWS_IN_BLOCK)));
    this.#length += 1;
    return row;
  }

  *[Symbol.iterator](): Generator<TraceLine> {
    for (let index = 0; index < this.#length; index += 1) yield this.#line(index);
  }

  #line(index: number): TraceLine {
    const { small, large } = this.#blocks[Math.floor(index / ROWS_IN_BLOCK)]!;
    const row = index % ROWS_IN_BLOCK;
    const at = row * SMALL;
    if (small[at] === OTHER) return told(this.#others[small[at + 6]!]!);
    const line = this.#event(small, at, large, row * LARGE) as Writable<TraceLine>;
    const node = small[at + 1]!;
    line.seq = small[at + 3]!;
    line.time = large[row * LARGE]!;
    line.node = node === 0 ? 'controller' : node;
    line.boot = small[at + 2]!;
    return line;
  }

  #event(small: Int32Array, at: number, large: Float64Array, wide: number): ToldEvent {
    const partition = this.#partitions.named(small[at + 4]!);
    const leaderEpoch = small[at + 5]!;
    const one = small[at + 6]!;
    const from = large[wide + 1]!;
    const to = large[wide + 2]!;
    const client = small[at + 8]!;
    const message = client === NONE ? undefined : messageText(this.#clients.named(client), large[wide + 3]!);
    const kind = small[at];
    if (kind === APPEND) return appendLine(partition, leaderEpoch, this.#batches.some(from, one), message);
    if (kind === FETCH) return fetchLine(partition, leaderEpoch, one, from, to, message);
    if (kind === HIGH_WATERMARK) {
      const isr = one === NONE ? undefined : this.#isrs.named(one);
      return hwLine(partition, leaderEpoch, from, to, isr, message);
    }
    const acks = small[at + 7] as -1 | 0 | 1;
    return ackLine(partition, leaderEpoch, from, to, acks, this.#isrs.named(one), message);
  }
}

function emptyBlock(rows: number): Block {
  return {
    small: new Int32Array(rows * SMALL),
    large: new Float64Array(rows * LARGE),
  };
}

/** A line while what a driver adds is put into it. */
type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Batches of `append` lines, one after the other. */
class KeptBatches {
  /** Of each batch: base, last, epoch, CRC. */
  readonly #blocks: Float64Array[] = [];
  #length = 0;

  /** Place of the first of them. */
  add(batches: readonly EmittedBatch[]): number {
    const first = this.#length;
    for (const { base, last, epoch, crc } of batches) {
      const at = (this.#length % ROWS_IN_BLOCK) * 4;
      if (at === 0) this.#blocks.push(new Float64Array(ROWS_IN_BLOCK * 4));
      const block = this.#blocks[this.#blocks.length - 1]!;
      block[at] = base;
      block[at + 1] = last;
      block[at + 2] = epoch;
      block[at + 3] = crc;
      this.#length += 1;
    }
    return first;
  }

  some(first: number, count: number): TracedBatch[] {
    const found: TracedBatch[] = [];
    for (let place = first; place < first + count; place += 1) {
      const block = this.#blocks[Math.floor(place / ROWS_IN_BLOCK)]!;
      const at = (place % ROWS_IN_BLOCK) * 4;
      found.push({ base: block[at]!, last: block[at + 1]!, epoch: block[at + 2]!, hash: hashOf(block[at + 3]!) });
    }
    return found;
  }
}

/** Numbers for what is named again and again. */
class Names<T> {
  readonly #ids = new Map<T, number>();
  readonly #names: T[] = [];
  /** Most often it is the same as before. */
  #lastId = -1;

  idOf(name: T): number {
    if (this.#names[this.#lastId] === name) return this.#lastId;
    let id = this.#ids.get(name);
    if (id === undefined) {
      id = this.#names.length;
      this.#ids.set(name, id);
      this.#names.push(name);
    }
    this.#lastId = id;
    return id;
  }

  named(id: number): T {
    return this.#names[id]!;
  }
}
