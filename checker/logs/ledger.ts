/**
 * What is known of one replica's log: what it holds, where it begins and ends, and what is wrong with it.
 *
 * It is told of every batch in the order of the files, and judges what only the order can show: offsets that are
 * missing or go back, epochs that fall, transactions that never end. Whether a batch is sound and what it holds is
 * handed in, since replicas with equal bytes share that work.
 *
 * One cause is one finding: after a batch whose checksum is wrong, or a file that is not what its name says, offsets are
 * not judged until the next batch.
 */
import type { Contents, Marker } from './contents.ts';
import { Epochs } from './epochs.ts';
import { Findings } from './findings.ts';
import type { Codec, Frame } from './frame.ts';
import type { ReplicaCopy, SegmentSource } from './source.ts';
import type { BatchStream, Flaw } from './stream.ts';

/** Markers and open transactions that are kept for the report. */
const markersMax = 1_000;
/** What stands in for an offset that no checkpoint tells. */
const belowAll = Number.NEGATIVE_INFINITY;

export interface ControlRecord extends Marker {
  readonly producerId: number;
}

export class Ledger {
  readonly findings = new Findings();
  /** Offsets below are deleted, even where the files still hold them. */
  readonly logStart: number;
  records = 0;
  batches = 0;
  bytes = 0;
  /** Offsets of the first and the last record in the files; −1 for none. */
  first = -1;
  last = -1;
  /** The log end offset so far. */
  leo: number;
  readonly formats = new Set<string>();
  readonly codecs = new Set<Codec>();
  readonly control: ControlRecord[] = [];
  readonly epochs: Epochs;
  readonly #copy: ReplicaCopy;
  readonly #isCompacted: boolean;
  readonly #open = new Map<number, number>();
  /** Of the last batch. Both hardly ever change, and a log of small batches has millions of them. */
  #magic: number | undefined;
  #codec: Codec | undefined;
  /** The offset that is to come next. */
  #next: number;
  /** The next batch's offsets are not judged. */
  #lenient = false;
  /** The file before held what its name does not allow. */
  #strayed = false;

  /** `isCompacted`: known from outside, so that no gap is a finding. */
  constructor(copy: ReplicaCopy, isCompacted: boolean) {
    const { checkpoints, segments } = copy;
    const firstBase = segments[0]?.baseOffset ?? 0;
    this.#copy = copy;
    this.#isCompacted = isCompacted;
    this.logStart = Math.max(checkpoints.logStart ?? 0, firstBase);
    this.leo = firstBase;
    this.#next = firstBase;
    this.epochs = new Epochs(checkpoints.leaderEpochs, this.logStart, this.findings);
    for (const { file, reason } of copy.unreadable) {
      this.findings.add({ name: 'unreadable', offset: null, file, position: null, reason });
    }
  }

  /** Transactions that have begun and not ended, by rising offset. */
  get openTransactions(): { producerId: number; firstOffset: number }[] {
    return [...this.#open]
      .map(([producerId, firstOffset]) => ({ producerId, firstOffset }))
      .sort((one, other) => one.firstOffset - other.firstOffset);
  }

  /** Takes note of the batch at which `stream` stands. What it holds may have been read from an equal one. */
  note(stream: BatchStream, frame: Frame, contents: Contents, sound: boolean): void {
    const { file } = stream.segment as SegmentSource;
    const { position } = stream;
    this.#judgeOffsets(stream, frame.base, file, position);
    this.batches += 1;
    this.bytes += frame.size;
    if (!sound) {
      this.findings.add({ name: 'crc-mismatch', offset: frame.base, file, position, stored: frame.crc });
      this.#reach(Math.max(this.#next, frame.base + 1));
      this.#lenient = true;
      return;
    }
    this.#reach(frame.last + 1);
    this.epochs.note(frame.epoch, frame.base, frame.last, file, position);
    if (frame.magic !== this.#magic || frame.codec !== this.#codec) this.#noteKind(frame);
    this.#noteContents(frame, contents, file, position);
  }

  /** Takes note of bytes that are no batch. */
  flaw({ kind, file, position, bytes, reason }: Flaw): void {
    if (kind === 'torn-tail') this.findings.add({ name: kind, offset: this.#next, file, position, bytes });
    else this.findings.add({ name: kind, offset: this.#next, file, position, reason });
  }

  /** Takes note that there is nothing more. */
  end(): void {
    const { segments, checkpoints } = this.#copy;
    const lastSegment = segments.at(-1);
    if (lastSegment !== undefined && lastSegment.baseOffset > this.leo) {
      this.#gap(this.leo, lastSegment.baseOffset, lastSegment.file, 0);
      this.leo = lastSegment.baseOffset;
    }
    this.epochs.end(this.leo);
    for (const [file, offset] of [
      ['replication-offset-checkpoint', checkpoints.highWatermark ?? belowAll],
      ['recovery-point-offset-checkpoint', checkpoints.recoveryPoint ?? belowAll],
      ['log-start-offset-checkpoint', checkpoints.logStart ?? belowAll],
    ] as const) {
      if (offset > this.leo) this.findings.add({ name: 'checkpoint-beyond-log', offset, file, leo: this.leo });
    }
  }

  #reach(next: number): void {
    this.#next = next;
    this.leo = Math.max(this.leo, next);
  }

  #judgeOffsets(stream: BatchStream, base: number, file: string, position: number): void {
    const lenient = this.#lenient;
    this.#lenient = false;
    if (stream.isFirstInSegment) {
      const { baseOffset } = stream.segment as SegmentSource;
      const { nextSegment } = stream;
      const above = nextSegment !== undefined && base >= nextSegment.baseOffset;
      if (base < baseOffset || above) {
        this.findings.add({
          name: 'segment-mismatch',
          offset: base,
          expected: baseOffset,
          file,
          position,
        });
        this.#strayed = true;
        this.epochs.restart();
        return;
      }
      if (this.#strayed) {
        this.#strayed = false;
        this.epochs.restart();
        return;
      }
    }
    if (base > this.#next && !lenient) this.#gap(this.#next, base, file, position);
    if (base < this.#next) {
      this.findings.add({ name: 'offset-regression', offset: base, expected: this.#next, file, position });
    }
  }

  /** Offsets without a record: the work of compaction below what was cleaned, or a finding. */
  #gap(from: number, to: number, file: string, position: number): void {
    if (this.#isCompacted || from < (this.#copy.checkpoints.cleaner ?? belowAll)) return;
    this.findings.add({ name: 'offset-gap', offset: from, last: to - 1, file, position });
  }

  #noteKind({ magic, codec }: Frame): void {
    this.#magic = magic;
    this.#codec = codec;
    this.formats.add(`v${magic}`);
    if (codec !== undefined) this.codecs.add(codec);
  }

  #noteContents(frame: Frame, contents: Contents, file: string, position: number): void {
    const { problem } = contents;
    if (problem !== null) {
      const reason = `the records of a sound batch cannot be read: ${problem}`;
      this.findings.add({ name: 'unreadable', offset: frame.base, file, position, reason });
    } else if (contents.gapFrom !== -1) {
      this.#gap(contents.gapFrom, contents.gapTo, file, position);
    }
    this.records += contents.records;
    if (this.first === -1) this.first = contents.first;
    if (contents.last !== -1) this.last = contents.last;
    if (frame.isControl) this.#noteMarkers(frame, contents);
    else if (frame.isTransactional && !this.#open.has(frame.producerId) && this.#open.size < markersMax) {
      this.#open.set(frame.producerId, frame.base);
    }
  }

  #noteMarkers(frame: Frame, contents: Contents): void {
    for (const { offset, type } of contents.markers) {
      if (this.control.length < markersMax) this.control.push({ offset, type, producerId: frame.producerId });
      if (type === 'commit' || type === 'abort') this.#open.delete(frame.producerId);
    }
  }
}
