/**
 * Replicas of a compacted topic, compared by decoded records, two by two.
 *
 * Each broker's cleaner removes what a later record of the same key has replaced, at its own time, and writes the batches
 * anew. So where both hold an offset the records must be the same; what only one holds is right if a later record of its
 * key stands in either log, or if it is one that cleaners remove anyway: a tombstone, a marker, a record without a key, a
 * part of an aborted transaction.
 *
 * Memory: one entry for each key whose last known record is missing on the other side, up to {@link pendingMax}.
 */
import { decode, type LogRecord } from './contents.ts';
import { Frame, isSound } from './frame.ts';
import type { ByteTools, Lane } from './lane.ts';
import type { Difference, Outcome, Pair, Side } from './report.ts';
import { differencesOf, shownRecord } from './shown.ts';
import type { SegmentSource } from './source.ts';
import { BatchStream } from './stream.ts';

const pendingMax = 200_000;
const kept = 100;

/** Checks each log for itself, then every two of them against each other. */
export function compareCompacted(lanes: readonly Lane[], tools: ByteTools, mostPending = pendingMax): Outcome {
  for (const lane of lanes) {
    while (lane.settle()) {
      lane.inspect();
      lane.take(lane);
    }
  }
  const differences: Difference[] = [];
  const pairs: Pair[] = [];
  const notes: string[] = [];
  let total = 0;
  for (const [index, one] of lanes.entries()) {
    for (const other of lanes.slice(index + 1)) {
      const comparison = new PairComparison(one, other, tools, mostPending);
      comparison.run();
      differences.push(...comparison.differing, ...comparison.missing);
      total += comparison.total;
      pairs.push({
        copies: [one.name, other.name],
        from: comparison.from,
        agreeUntil: Math.min(comparison.lowest, Math.max(comparison.from, comparison.end)),
      });
      if (comparison.overflowed) {
        notes.push(
          `${one.name} and ${other.name}: more than ${mostPending} keys are missing on one side; those beyond were not judged`,
        );
      }
    }
  }
  differences.sort((x, y) => x.offset - y.offset);
  return { differences: differences.slice(0, kept), differencesTotal: total, pairs, notes };
}

/** The records of one log, one after the other. */
class RecordReader {
  readonly lane: Lane;
  readonly stream: BatchStream;
  /** The batch of the current record. */
  readonly frame = new Frame();
  record: LogRecord | undefined;
  file = '';
  position = 0;
  #records: LogRecord[] = [];
  /** Of the record after the current one. */
  #index = 0;
  readonly #tools: ByteTools;

  constructor(lane: Lane, tools: ByteTools) {
    this.lane = lane;
    this.stream = new BatchStream(lane.copy.segments);
    this.#tools = tools;
    this.next();
  }

  next(): void {
    while (this.#index === this.#records.length) {
      if (!this.#load()) {
        this.record = undefined;
        return;
      }
      this.#index = 0;
    }
    this.record = this.#records[this.#index];
    this.#index += 1;
  }

  /** Unpacks the next batch. False at the end. What is wrong with batches was told before. */
  #load(): boolean {
    const { stream } = this;
    if (!stream.settle(() => undefined)) return false;
    const { frame, window, at } = stream;
    this.file = (stream.segment as SegmentSource).file;
    this.position = stream.position;
    Object.assign(this.frame, frame);
    if (!isSound(window, at, frame)) {
      this.#records = [];
      stream.advanceAfterBad();
      return true;
    }
    // Records outlive the window that they were read from.
    const bytes = window.slice(at, at + frame.size);
    this.#records = decode(bytes, 0, frame, this.#tools.decompressors).records;
    stream.advance(frame.size, frame.last + 1);
    return true;
  }
}

interface Pending {
  readonly offset: number;
  readonly producerId: number;
  readonly holder: RecordReader;
  readonly side: Side;
}

class PairComparison {
  /** The first records that differ, and the first that are missing: each by rising offset. */
  readonly differing: Difference[] = [];
  readonly missing: Difference[] = [];
  total = 0;
  /** The lowest offset of all. */
  lowest = Number.POSITIVE_INFINITY;
  readonly from: number;
  readonly end: number;
  overflowed = false;
  readonly #mostPending: number;
  readonly #readers: readonly [RecordReader, RecordReader];
  /** By key: its last record, which only one side holds. */
  readonly #pending = new Map<string, Pending>();
  readonly #latin = new TextDecoder('latin1');

  constructor(one: Lane, other: Lane, tools: ByteTools, mostPending: number) {
    this.#mostPending = mostPending;
    this.from = Math.max(one.ledger.logStart, other.ledger.logStart);
    this.end = Math.min(one.ledger.leo, other.ledger.leo);
    this.#readers = [new RecordReader(one, tools), new RecordReader(other, tools)];
  }

  run(): void {
    const [one, other] = this.#readers;
    for (;;) {
      const [mine, theirs] = [one.record, other.record];
      const [at, otherAt] = [mine, theirs].map((record) => record?.offset ?? Number.POSITIVE_INFINITY) as [
        number,
        number,
      ];
      if (at < otherAt) {
        this.#alone(one, mine as LogRecord);
        one.next();
      } else if (otherAt < at) {
        this.#alone(other, theirs as LogRecord);
        other.next();
      } else if (at === Number.POSITIVE_INFINITY) break;
      else {
        this.#meet(mine as LogRecord, theirs as LogRecord);
        one.next();
        other.next();
      }
    }
    for (const pending of this.#pending.values()) this.#missing(pending);
  }

  #meet(mine: LogRecord, theirs: LogRecord): void {
    const [one, other] = this.#readers;
    this.#supersede(one, mine);
    if (mine.offset < this.from) return;
    const epoch = one.frame.epoch === other.frame.epoch ? [] : ['epoch'];
    const what = [...differencesOf(mine, theirs), ...epoch];
    if (what.length === 0) return;
    this.#add(this.differing, mine.offset, what, [sideOf(one, mine), sideOf(other, theirs)]);
  }

  #alone(reader: RecordReader, record: LogRecord): void {
    const key = this.#supersede(reader, record);
    if (record.offset < this.from || record.offset >= this.end) return;
    if (key === null || record.value === null) return;
    if (this.#pending.size >= this.#mostPending) {
      this.overflowed = true;
      return;
    }
    const producerId = reader.frame.isTransactional ? reader.frame.producerId : -1;
    this.#pending.set(key, { offset: record.offset, producerId, holder: reader, side: sideOf(reader, record) });
  }

  /** A later record explains why earlier ones of its key are gone, and an abort why those of its producer are. */
  #supersede(reader: RecordReader, record: LogRecord): string | null {
    if (reader.frame.isControl) {
      if (record.key?.[3] === 0) {
        for (const [key, { producerId }] of this.#pending) {
          if (producerId === reader.frame.producerId) this.#pending.delete(key);
        }
      }
      return null;
    }
    if (record.key === null) return null;
    const key = this.#latin.decode(record.key);
    this.#pending.delete(key);
    return key;
  }

  #missing({ offset, holder, side }: Pending): void {
    const [one, other] = this.#readers;
    const without = holder === one ? other : one;
    const empty: Side = { copies: [without.lane.name], record: null };
    this.#add(this.missing, offset, ['missing'], holder === one ? [side, empty] : [empty, side]);
  }

  #add(list: Difference[], offset: number, what: readonly string[], sides: readonly Side[]): void {
    this.total += 1;
    this.lowest = Math.min(this.lowest, offset);
    if (list.length === kept) return;
    const committed = this.#readers.every(({ lane }) => (lane.copy.checkpoints.highWatermark ?? 0) > offset);
    list.push({ offset, what, committed, sides, agreeAgainAt: null });
  }
}

function sideOf({ lane, frame, file, position }: RecordReader, record: LogRecord): Side {
  return { copies: [lane.name], record: shownRecord(record, frame, { file, position, sound: true }) };
}
