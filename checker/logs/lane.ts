/** One replica on its way through its log: the stream, what was learnt so far, and where it stands among the others. */
import { Contents, inspect, type Decompressors } from './contents.ts';
import { isSound } from './frame.ts';
import { Ledger } from './ledger.ts';
import type { ReplicaCopy } from './source.ts';
import { BatchStream } from './stream.ts';

/** What is handed in to look at bytes. */
export interface ByteTools {
  readonly decompressors: Decompressors;
  /** True if `length` bytes of both are equal. */
  readonly sameBytes: (one: Uint8Array, at: number, other: Uint8Array, otherAt: number, length: number) => boolean;
}

export class Lane {
  readonly copy: ReplicaCopy;
  readonly ledger: Ledger;
  readonly stream: BatchStream;
  readonly contents = new Contents();
  /** Its next batch is loaded. */
  settled = false;
  ended = false;
  /** The checksum of the batch at which it stands is right; known after {@link inspect}. */
  sound = false;
  #inspected = false;
  readonly #tools: ByteTools;

  constructor(copy: ReplicaCopy, isCompacted: boolean, tools: ByteTools) {
    this.copy = copy;
    this.ledger = new Ledger(copy, isCompacted);
    this.stream = new BatchStream(copy.segments);
    this.#tools = tools;
  }

  get name(): string {
    return this.copy.name;
  }

  /** Loads the next batch, unless the log ends. */
  settle(): boolean {
    if (this.settled || this.ended) return this.settled;
    this.settled = this.stream.settle((flaw) => this.ledger.flaw(flaw));
    this.#inspected = false;
    if (!this.settled) {
      this.ended = true;
      this.ledger.end();
    } else if (this.stream.frame.base === -1) {
      // The first offset of packed messages is known only after they were unpacked.
      this.inspect();
    }
    return this.settled;
  }

  /** Checks the batch at which it stands, and looks into it. */
  inspect(): void {
    if (this.#inspected) return;
    this.#inspected = true;
    const { window, at, frame } = this.stream;
    this.sound = isSound(window, at, frame);
    if (this.sound) inspect(window, at, frame, this.#tools.decompressors, this.contents);
    else {
      this.contents.clear();
      if (frame.base === -1) frame.base = frame.last;
    }
  }

  /** Takes note of the batch at which it stands and steps over it; `reader` has inspected that batch, or an equal one. */
  take(reader: Lane): void {
    const { frame } = reader.stream;
    this.ledger.note(this.stream, frame, reader.contents, reader.sound);
    if (reader.sound) this.stream.advance(frame.size, frame.last + 1);
    else this.stream.advanceAfterBad();
    this.settled = false;
  }
}
