/**
 * The consuming half of a client: positions of the assigned keys, and what a Fetch makes of them.
 *
 * It stands for a naive consumer, the kind that most libraries are: it knows no leader epochs (KIP-320), so that after
 * a lossy election it reads on at its old offset, and sees another record there than another consumer saw before. That
 * is what a history is for. OFFSET_OUT_OF_RANGE is an observation, reported and answered by a reset.
 *
 * Invariant: a position never moves back but by an assignment or a reset; nothing that a broker sends makes it throw.
 */
import {
  ErrorCode,
  ProtocolError,
  decodeMessageSet,
  decodeRecords,
  errorName,
  isMetadataStale,
  parseRecordSet,
} from '../../broker/protocol/index.ts';
import type { DecodedRecord, RequestBody, ResponseBody, Unpackers } from '../../broker/protocol/index.ts';
import type { RecordSet } from '../../broker/protocol/records.ts';
import type { Key, Value } from '../../checker/history.ts';
import { keyOf, splitKey } from './operations.ts';
import type { Seek, TopicPartition } from './operations.ts';

/** The next offset to read, or where to start once the broker has been asked for that offset. */
export type Position = number | 'earliest' | 'latest';

export interface ConsumerConfig {
  /** Where to start without a position, and after OFFSET_OUT_OF_RANGE (`auto.offset.reset`). */
  readonly autoOffsetReset: 'earliest' | 'latest';
  readonly fetchMaxWaitMs: number;
  readonly fetchMaxBytes: number;
  readonly partitionMaxBytes: number;
  /** For records that somebody else has packed with what Node does not bring along. */
  readonly unpackers?: Unpackers;
}

/** A key that a consumer reads, taken apart once. */
export interface Assigned extends TopicPartition {
  readonly key: Key;
}

export interface ConsumerState {
  readonly positions: Map<Key, Position>;
  /** The keys of the positions, in their order. */
  keys: readonly Key[];
  assigned: readonly Assigned[];
  /** The broker that the last poll asked: the next poll asks the one after it. */
  lastAsked: number;
}

export interface FetchReading {
  /** Keys without records are left out, as in Jepsen. */
  readonly polled: Readonly<Record<Key, readonly (readonly [offset: number, value: Value])[]>>;
  readonly errors: Readonly<Record<Key, string>>;
  /** Some key was answered without an error. */
  readonly served: boolean;
  /** The answer held batches that cannot be believed. */
  readonly flaw: 'corrupt' | 'malformed' | null;
  readonly staleMetadata: boolean;
}

/** A broker to be polled, and which of the assigned keys it leads. */
export interface Chosen {
  readonly node: number;
  readonly assigned: readonly Assigned[];
}

/** Of an answer without any. */
export const noErrors: Readonly<Record<Key, string>> = {};

export function createConsumer(): ConsumerState {
  return { positions: new Map(), keys: [], assigned: [], lastAsked: -1 };
}

export function assign(
  consumer: ConsumerState,
  keys: readonly Key[],
  seek: Seek | undefined,
  config: ConsumerConfig,
): void {
  const before = new Map(consumer.positions);
  consumer.positions.clear();
  for (const key of keys) {
    const kept = seek === undefined ? before.get(key) : undefined;
    const sought = typeof seek === 'object' ? seek[key] : seek;
    consumer.positions.set(key, kept ?? sought ?? config.autoOffsetReset);
  }
  consumer.keys = [...consumer.positions.keys()];
  consumer.assigned = consumer.keys.map((key) => ({ key, ...splitKey(key) }));
}

/** The broker whose turn it is among the leaders of the assigned keys, and the keys that it leads. */
export function chooseBroker(consumer: ConsumerState, leaders: ReadonlyMap<Key, number>): Chosen | null {
  let [first, next] = [Infinity, Infinity];
  for (const key of consumer.keys) {
    const leader = leaders.get(key);
    if (leader === undefined) continue;
    first = Math.min(first, leader);
    if (leader > consumer.lastAsked) next = Math.min(next, leader);
  }
  const node = next === Infinity ? first : next;
  if (node === Infinity) return null;
  consumer.lastAsked = node;
  return { node, assigned: consumer.assigned.filter(({ key }) => leaders.get(key) === node) };
}

/**
 * Asks where the keys start or end, for those among `assigned` whose position is not an offset yet, and that have not
 * been answered with an error; null if none.
 */
export function listOffsetsRequest(
  consumer: ConsumerState,
  assigned: readonly Assigned[],
  errors: Readonly<Record<Key, string>>,
): RequestBody<'ListOffsets'> | null {
  const unresolved = assigned.filter(
    ({ key }) => typeof consumer.positions.get(key) === 'string' && errors[key] === undefined,
  );
  if (unresolved.length === 0) return null;
  const topics = inTopics(unresolved, ({ key, partition }) => ({
    partitionIndex: partition,
    currentLeaderEpoch: -1,
    timestamp: consumer.positions.get(key) === 'earliest' ? -2 : -1,
  })).map(({ topic, partitions }) => ({ name: topic, partitions }));
  return { replicaId: -1, isolationLevel: 0, topics };
}

/** Takes the offsets in; says which of `assigned` got an error instead, so that none is asked for twice. */
export function resolvePositions(
  consumer: ConsumerState,
  assigned: readonly Assigned[],
  answer: ResponseBody<'ListOffsets'>,
): { readonly errors: Readonly<Record<Key, string>>; readonly staleMetadata: boolean } {
  const errors: Record<Key, string> = {};
  let staleMetadata = false;
  for (const topic of answer.topics) {
    for (const partition of topic.partitions) {
      const key = keyOf(topic.name, partition.partitionIndex);
      if (partition.errorCode !== ErrorCode.NONE) {
        errors[key] = errorName(partition.errorCode);
        staleMetadata ||= isMetadataStale(partition.errorCode);
      } else if (typeof consumer.positions.get(key) === 'string' && partition.offset >= 0) {
        consumer.positions.set(key, partition.offset);
      }
    }
  }
  for (const { key } of assigned) if (typeof consumer.positions.get(key) === 'string') errors[key] ??= 'malformed';
  return { errors, staleMetadata };
}

/** Those of `assigned` that can be fetched: their position is an offset. */
export function fetchable(consumer: ConsumerState, assigned: readonly Assigned[]): readonly Assigned[] {
  return assigned.filter(({ key }) => typeof consumer.positions.get(key) === 'number');
}

export function fetchRequest(
  consumer: ConsumerState,
  assigned: readonly Assigned[],
  config: ConsumerConfig,
): RequestBody<'Fetch'> {
  return {
    replicaId: -1,
    maxWaitMs: config.fetchMaxWaitMs,
    minBytes: 1,
    maxBytes: config.fetchMaxBytes,
    isolationLevel: 0,
    sessionId: 0,
    sessionEpoch: -1,
    topics: inTopics(assigned, ({ key, partition }) => ({
      partition,
      currentLeaderEpoch: -1,
      fetchOffset: Number(consumer.positions.get(key)),
      logStartOffset: -1,
      partitionMaxBytes: config.partitionMaxBytes,
    })),
    forgottenTopicsData: [],
    rackId: '',
  };
}

/** What is said of each key, by topic, in the order in which they come. */
function inTopics<T>(
  assigned: readonly Assigned[],
  describe: (each: Assigned) => T,
): { readonly topic: string; readonly partitions: readonly T[] }[] {
  const topics: { readonly topic: string; readonly partitions: T[] }[] = [];
  for (const each of assigned) {
    let known = topics.find(({ topic }) => topic === each.topic);
    if (known === undefined) topics.push((known = { topic: each.topic, partitions: [] }));
    known.partitions.push(describe(each));
  }
  return topics;
}

/** The assigned key of that topic and number; there are few. */
function assignedAt({ assigned }: ConsumerState, topic: string, partition: number): Key | undefined {
  return assigned.find((each) => each.partition === partition && each.topic === topic)?.key;
}

/** Reads an answer and moves the positions past what was read. */
export function readFetch(
  consumer: ConsumerState,
  answer: ResponseBody<'Fetch'>,
  config: ConsumerConfig,
): FetchReading {
  const polled: Record<Key, [number, Value][]> = {};
  let errors = noErrors;
  let [served, staleMetadata] = [false, false];
  let flaw: FetchReading['flaw'] = null;
  for (const topic of answer.responses) {
    for (const partition of topic.partitions) {
      const key = assignedAt(consumer, topic.topic, partition.partitionIndex);
      const position = key === undefined ? undefined : consumer.positions.get(key);
      if (key === undefined || typeof position !== 'number') continue;
      if (partition.errorCode !== ErrorCode.NONE) {
        errors = { ...errors, [key]: errorName(partition.errorCode) };
        staleMetadata ||= isMetadataStale(partition.errorCode);
        if (partition.errorCode === ErrorCode.OFFSET_OUT_OF_RANGE) consumer.positions.set(key, config.autoOffsetReset);
        continue;
      }
      served = true;
      const read = readRecords(partition.records, position, config.unpackers);
      flaw ??= read.flaw;
      if (read.records.length > 0) polled[key] = read.records;
      consumer.positions.set(key, read.nextOffset);
    }
  }
  return { polled, errors, served, flaw, staleMetadata };
}

/** Records from `position` on. A broker answers whole batches, so the first may begin before it, and the last be cut. */
function readRecords(set: RecordSet | null, position: number, unpackers: Unpackers = {}): PartitionReading {
  if (set === null) return { records: [], nextOffset: position, flaw: null };
  if (!(set.bytes instanceof Uint8Array)) throw new Error('a fetch response reached the client without its bytes');
  const reading = readWhole(set, position, unpackers);
  if (reading !== null) return reading;
  const records: [number, Value][] = [];
  let nextOffset = position;
  let rest = set.bytes;
  // A topic whose format was raised answers with entries of the old one before batches of the new one.
  for (let part = partOf(set, unpackers); ; part = partOf(parseRecordSet(rest), unpackers)) {
    take(records, part.records, position);
    nextOffset = Math.max(nextOffset, part.nextOffset);
    rest = rest.subarray(part.sizeBytes);
    // What ends beyond the size that was asked for is legal, and ignored (KIP-74).
    if (rest.length === 0 || part.flaw === 'partial') return { records, nextOffset, flaw: null };
    if (part.flaw !== 'unsupported-format' || part.sizeBytes === 0) break;
  }
  return { records, nextOffset, flaw: hasImpossibleOffset(rest) ? 'malformed' : 'corrupt' };
}

interface Part {
  readonly records: readonly DecodedRecord[];
  readonly nextOffset: number;
  readonly sizeBytes: number;
  /** What follows, if not the end. */
  readonly flaw: RecordSet['flaw'];
}

/** Batches, or the messages of a set, as far as one of the formats goes and is sound. */
function partOf(set: RecordSet, unpackers: Unpackers): Part {
  const bytes = set.bytes as Uint8Array;
  if (set.batches.length === 0 && set.flaw === 'unsupported-format') {
    const { records, sizeBytes, flaw } = decodeMessageSet(bytes, unpackers);
    return { records, sizeBytes, flaw, nextOffset: (records.at(-1)?.offset ?? -1) + 1 };
  }
  const records: DecodedRecord[] = [];
  let [nextOffset, sizeBytes] = [0, 0];
  for (const batch of set.batches) {
    const only = { batches: [batch], bytes: bytes.subarray(sizeBytes, sizeBytes + batch.sizeBytes) };
    try {
      records.push(...decodeRecords(only, undefined, unpackers));
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      return { records, nextOffset, sizeBytes, flaw: 'corrupt' };
    }
    nextOffset = batch.lastOffset + 1;
    sizeBytes += batch.sizeBytes;
  }
  return { records, nextOffset, sizeBytes, flaw: set.flaw };
}

/** All batches at once, which costs least; null where one of them has a flaw, up to which the others count. */
function readWhole(set: RecordSet, position: number, unpackers: Unpackers): PartitionReading | null {
  if (set.flaw !== undefined) return null;
  const records: [number, Value][] = [];
  try {
    take(records, decodeRecords(set, undefined, unpackers), position);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    return null;
  }
  const last = set.batches.at(-1);
  return { records, nextOffset: last === undefined ? position : Math.max(position, last.lastOffset + 1), flaw: null };
}

function take(into: [number, Value][], decoded: readonly DecodedRecord[], position: number): void {
  for (const { offset, control, value } of decoded) {
    if (offset >= position && !control) into.push([offset, valueOf(value)]);
  }
}

interface PartitionReading {
  readonly records: [number, Value][];
  readonly nextOffset: number;
  readonly flaw: 'corrupt' | 'malformed' | null;
}

/** The checksum does not cover a batch's offset, and one that a number cannot hold is reported, never rounded. */
function hasImpossibleOffset(batch: Uint8Array): boolean {
  if (batch.byteLength < 8) return false;
  const offset = new DataView(batch.buffer, batch.byteOffset).getBigInt64(0);
  return offset < 0n || offset > BigInt(Number.MAX_SAFE_INTEGER);
}

const text = new TextDecoder();

/** Our own values are decimal text; anything else stays text, so that a foreign record is shown and not mistaken. */
function valueOf(bytes: Uint8Array | null): Value {
  if (bytes === null) return '(null)';
  const plain = decimalOf(bytes);
  if (plain >= 0) return plain;
  const decoded = text.decode(bytes);
  const number = Number(decoded);
  return Number.isSafeInteger(number) && String(number) === decoded ? number : decoded;
}

/** The whole number that these digits are, or −1 where they are anything else; without a text in between. */
function decimalOf(bytes: Uint8Array): number {
  const { length } = bytes;
  if (length === 0 || length > SAFE_DIGITS || (bytes[0] === ZERO && length > 1)) return -1;
  let number = 0;
  for (const byte of bytes) {
    if (byte < ZERO || byte > ZERO + 9) return -1;
    number = number * 10 + byte - ZERO;
  }
  return number;
}

const ZERO = 0x30;
/** Every number of so many digits is exact. */
const SAFE_DIGITS = 15;
