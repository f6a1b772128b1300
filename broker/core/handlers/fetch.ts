/**
 * Fetch, for consumers and followers.
 *
 * A consumer sees what lies below the high watermark, a follower all there is. A follower's fetch is also a report: it
 * says how far the follower got, and may move the high watermark. The answer carries the high watermark as it was
 * *before* that report (KAFKA-7104), so a follower always hears of an advance one round late: with the next answer that
 * brings data, or when its empty long poll completes and is read again. This delay is the whole window of KIP-101.
 */
import { ErrorCode } from '../../protocol/index.ts';
import type { RecordSet, RequestBody } from '../../protocol/index.ts';
import { noteFetch, progressOf } from '../leader.ts';
import type { Led } from '../leader.ts';
import { readLog, readableBytes } from '../log.ts';
import type { FetchAnswer as Answer } from '../partition.ts';
import { isFull, park } from '../purgatory.ts';
import type { AskedPartition, WaitingFetch } from '../purgatory.ts';
import { nsPerMs } from '../state.ts';
import type { Turn } from '../state.ts';
import type { RequestEvent } from '../step.ts';
import { joined, leadership, replicaOf } from './leadership.ts';
import type { Caller } from './leadership.ts';

type Body = RequestBody<'Fetch'>;

/** Nobody is given more at once, whatever the request says. */
const maxResponseBytes = 50 * 1024 * 1024;
const noRecords: RecordSet = { batches: [], bytes: new Uint8Array(0) };

export function handleFetch(turn: Turn, event: RequestEvent & { readonly api: 'Fetch' }): void {
  const { origin, version, body } = event;
  const { purgatory } = turn.state;
  const asked = resolve(turn, body);
  const request: WaitingFetch = {
    kind: 'fetch',
    origin,
    version,
    deadlineNs: turn.nowNs + body.maxWaitMs * nsPerMs,
    body,
    asked,
    isCandidate: false,
  };
  const mayWait = body.maxWaitMs > 0 && asked.length > 0 && !isFull(purgatory);
  const answers = mayWait && !isEnough(turn, request) ? null : readAll(turn, asked, body, event);
  // Reported after everything was read: see above.
  if (body.replicaId >= 0) reportFetches(turn, asked, answers, body.replicaId);
  if (answers === null) park(purgatory, request);
  else respond(turn, request, answers);
}

/** Answers a waiting fetch when there is enough to read, when it has become an error, or when its time is up. */
export function completeFetch(turn: Turn, request: WaitingFetch, expired: boolean): boolean {
  if (!expired && !isReady(turn, request)) return false;
  const caller: Caller = { api: 'Fetch', origin: request.origin };
  respond(turn, request, readAll(turn, request.asked, request.body, caller));
  return true;
}

/** The request's partitions in its order, with the replicas that this broker holds of them. */
function resolve(turn: Turn, body: Body): AskedPartition[] {
  return joined(
    body.topics.map(({ topic, partitions }) =>
      partitions.map((of) => ({ topic, of, partition: replicaOf(turn, topic, of.partition) })),
    ),
  );
}

/** Only what this turn touched can have become readable, or an error; all the others count once something has. */
function isReady(turn: Turn, request: WaitingFetch): boolean {
  for (const each of request.asked) {
    if (each.partition !== undefined && !turn.touched.has(each.partition)) continue;
    const bytes = readable(turn, each, request.body);
    if (bytes > 0) return bytes >= request.body.minBytes || isEnough(turn, request);
  }
  return false;
}

/** Whether there is as much to read as the fetch waits for, or an error to tell. */
function isEnough(turn: Turn, { asked, body }: WaitingFetch): boolean {
  let bytes = 0;
  for (const each of asked) {
    bytes += readable(turn, each, body);
    if (bytes >= body.minBytes) return true;
  }
  return bytes >= body.minBytes;
}

/** How many bytes a fetch would bring of one partition; infinitely many where it would bring an error. */
function readable(turn: Turn, asked: AskedPartition, body: Body): number {
  const { fetchOffset, partitionMaxBytes } = asked.of;
  const led = leaderOf(turn, asked);
  if (typeof led === 'number' || isOutOfRange(led, fetchOffset) || !isServed(led, body)) return Infinity;
  return Math.min(readableBytes(led.log, fetchOffset, limitFor(turn, led, body)), partitionMaxBytes);
}

function leaderOf(turn: Turn, { topic, of, partition }: AskedPartition, caller?: Caller): Led | number {
  // A replica that was deleted while the request waited is none any more.
  return leadership(
    turn,
    partition?.deleted === true ? undefined : partition,
    topic,
    of.partition,
    of.currentLeaderEpoch,
    caller,
  );
}

/** What may still be read for one answer. */
interface Allowance {
  bytesLeft: number;
  /** Nothing was read yet: the first batch is given whatever its size. */
  empty: boolean;
}

function readAll(turn: Turn, asked: readonly AskedPartition[], body: Body, caller: Caller): Answer[] {
  const allowance = { bytesLeft: Math.min(body.maxBytes, maxResponseBytes), empty: true };
  return asked.map((each) => readOne(turn, each, body, caller, allowance));
}

function readOne(turn: Turn, asked: AskedPartition, body: Body, caller: Caller, allowance: Allowance): Answer {
  const { partition: partitionIndex, fetchOffset, partitionMaxBytes } = asked.of;
  const led = leaderOf(turn, asked, caller);
  if (typeof led === 'number') return failed(partitionIndex, led);
  if (isOutOfRange(led, fetchOffset)) return failed(partitionIndex, ErrorCode.OFFSET_OUT_OF_RANGE);
  if (!isServed(led, body)) return failed(partitionIndex, ErrorCode.NOT_LEADER_OR_FOLLOWER);
  const limit = limitFor(turn, led, body);
  if (fetchOffset >= limit) return nothingNew(led);
  const { bytesLeft, empty } = allowance;
  const read = readLog(led.log, fetchOffset, limit, Math.min(bytesLeft, partitionMaxBytes), empty);
  if (read.sizeBytes === 0) return nothingNew(led);
  allowance.bytesLeft -= read.sizeBytes;
  allowance.empty = false;
  return answerOf(led, { batches: read.batches, bytes: read.range });
}

/** The same object for as long as nothing changes: most partitions of a fetch have nothing new. */
function nothingNew(led: Led): Answer {
  const last = led.lastEmptyAnswer;
  const isSame = last?.highWatermark === led.highWatermark && last.logStartOffset === led.log.startOffset;
  if (isSame) return last;
  led.lastEmptyAnswer = answerOf(led, noRecords);
  return led.lastEmptyAnswer;
}

function answerOf({ index, highWatermark, log }: Led, records: RecordSet): Answer {
  return {
    partitionIndex: index,
    errorCode: ErrorCode.NONE,
    highWatermark,
    lastStableOffset: highWatermark,
    logStartOffset: log.startOffset,
    abortedTransactions: null,
    preferredReadReplica: -1,
    records,
  };
}

function reportFetches(
  turn: Turn,
  asked: readonly AskedPartition[],
  answers: readonly Answer[] | null,
  follower: number,
): void {
  const countsSent = turn.state.defects.has('count-sent-as-held');
  for (let index = 0; index < asked.length; index += 1) {
    const each = asked[index]!;
    // What waits has no error.
    const answer = answers?.[index];
    if (answer !== undefined && answer.errorCode !== ErrorCode.NONE) continue;
    const led = leaderOf(turn, each);
    if (typeof led === 'number') continue;
    const sent = countsSent ? answer?.records?.batches.at(-1) : undefined;
    noteFetch(turn, led, follower, sent === undefined ? each.of.fetchOffset : sent.lastOffset + 1);
  }
}

function respond(turn: Turn, { origin, version, body }: WaitingFetch, answers: readonly Answer[]): void {
  let next = 0;
  const responses = body.topics.map(({ topic, partitions }) => {
    const start = next;
    next += partitions.length;
    return { topic, partitions: partitions.length === answers.length ? answers : answers.slice(start, next) };
  });
  const answer = { throttleTimeMs: 0, errorCode: ErrorCode.NONE, sessionId: 0, responses };
  turn.effects.push({ type: 'respond', origin, api: 'Fetch', version, body: answer });
}

/** Below it a reader may read. Without transactions the last stable offset is the high watermark. */
function limitFor(turn: Turn, led: Led, body: Body): number {
  const seesAll = body.replicaId >= 0 || turn.state.defects.has('read-above-high-watermark');
  return seesAll ? led.log.endOffset : led.highWatermark;
}

/** A replica is served only where it is assigned. */
function isServed(led: Led, { replicaId }: Body): boolean {
  return replicaId < 0 || progressOf(led.role, replicaId) !== undefined;
}

/** A consumer beyond the high watermark and not beyond the end gets nothing, and no error. */
function isOutOfRange(led: Led, offset: number): boolean {
  return offset < led.log.startOffset || offset > led.log.endOffset;
}

function failed(partitionIndex: number, errorCode: number): Answer {
  return {
    partitionIndex,
    errorCode,
    highWatermark: -1,
    lastStableOffset: -1,
    logStartOffset: -1,
    abortedTransactions: null,
    preferredReadReplica: -1,
    records: null,
  };
}
