/**
 * Fetch, for consumers and followers.
 *
 * A consumer sees what lies below the high watermark, a follower all there is. A follower's fetch is also a report: it
 * says how far the follower got, and may move the high watermark. The answer carries the high watermark as it was
 * *before* that report (KAFKA-7104), so a follower always hears of an advance one round late: with the next answer that
 * brings data, or when its empty long poll completes and is read again. This delay is the whole window of KIP-101.
 */
import { ErrorCode } from '../../protocol/index.ts';
import type { RequestBody, ResponseBody } from '../../protocol/index.ts';
import { noteFetch } from '../leader.ts';
import type { Led } from '../leader.ts';
import { readLog, readableBytes } from '../log.ts';
import type { Partition } from '../partition.ts';
import { isFull, park } from '../purgatory.ts';
import type { AskedPartition, WaitingFetch } from '../purgatory.ts';
import { nsPerMs } from '../state.ts';
import type { Turn } from '../state.ts';
import type { RequestEvent } from '../step.ts';
import { leadership, replicaOf } from './leadership.ts';
import type { Caller } from './leadership.ts';

type Body = RequestBody<'Fetch'>;
type Answer = ResponseBody<'Fetch'>['responses'][number]['partitions'][number];

/** Nobody is given more at once, whatever the request says. */
const maxResponseBytes = 50 * 1024 * 1024;

export function handleFetch(turn: Turn, event: RequestEvent & { readonly api: 'Fetch' }): void {
  const { origin, version, body } = event;
  const asked = resolve(turn, body);
  const answers = readAll(turn, asked, body, event);
  // Reported after everything was read: see above.
  if (body.replicaId >= 0) reportFetches(turn, asked, answers, body.replicaId);
  const request: WaitingFetch = {
    kind: 'fetch',
    origin,
    version,
    deadlineNs: turn.nowNs + body.maxWaitMs * nsPerMs,
    partitions: asked.flatMap(({ partition }) => partition ?? []),
    body,
    asked,
    isCandidate: false,
  };
  if (mustAnswerNow(answers, body) || isFull(turn.state.purgatory)) respond(turn, request, answers);
  else park(turn.state.purgatory, request);
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
  return body.topics.flatMap(({ topic, partitions }) =>
    partitions.map((of) => ({ topic, of, partition: replicaOf(turn, topic, of.partition) })),
  );
}

function mustAnswerNow(answers: readonly Answer[], { minBytes, maxWaitMs }: Body): boolean {
  if (maxWaitMs <= 0 || answers.length === 0) return true;
  let bytes = 0;
  for (const { errorCode, records } of answers) {
    if (errorCode !== ErrorCode.NONE) return true;
    for (const batch of records?.batches ?? []) bytes += batch.sizeBytes;
  }
  return bytes >= minBytes;
}

/** Only what this turn touched can have become readable, or an error; the sum counts once something has. */
function isReady(turn: Turn, { asked, body }: WaitingFetch): boolean {
  const touched = (partition: Partition | undefined) => partition === undefined || turn.touched.has(partition);
  if (!asked.some((each) => touched(each.partition) && readable(turn, each, body) > 0)) return false;
  return asked.reduce((sum, each) => sum + readable(turn, each, body), 0) >= body.minBytes;
}

/** How many bytes a fetch would bring of one partition; infinitely many where it would bring an error. */
function readable(turn: Turn, asked: AskedPartition, body: Body): number {
  const { fetchOffset, partitionMaxBytes } = asked.of;
  const led = leaderOf(turn, asked);
  if (typeof led === 'number' || isOutOfRange(led, fetchOffset)) return Infinity;
  return Math.min(readableBytes(led.log, fetchOffset, limitFor(turn, led, body)), partitionMaxBytes);
}

function leaderOf(turn: Turn, { topic, of, partition }: AskedPartition, caller?: Caller): Led | number {
  // A replica that was deleted while the request waited is none any more.
  const held = partition !== undefined && turn.state.partitions.get(partition.key) === partition;
  return leadership(turn, held ? partition : undefined, topic, of.partition, of.currentLeaderEpoch, caller);
}

function readAll(turn: Turn, asked: readonly AskedPartition[], body: Body, caller: Caller): Answer[] {
  let bytesLeft = Math.min(body.maxBytes, maxResponseBytes);
  let empty = true;
  return asked.map((each) => {
    const { partition: partitionIndex, fetchOffset, partitionMaxBytes } = each.of;
    const led = leaderOf(turn, each, caller);
    if (typeof led === 'number') return failed(partitionIndex, led);
    if (isOutOfRange(led, fetchOffset)) return failed(partitionIndex, ErrorCode.OFFSET_OUT_OF_RANGE);
    if (body.replicaId >= 0 && !led.role.followers.has(body.replicaId)) {
      return failed(partitionIndex, ErrorCode.NOT_LEADER_OR_FOLLOWER);
    }
    const limit = limitFor(turn, led, body);
    const read = readLog(led.log, fetchOffset, limit, Math.min(bytesLeft, partitionMaxBytes), empty);
    bytesLeft -= read.sizeBytes;
    if (read.sizeBytes > 0) empty = false;
    return {
      partitionIndex,
      errorCode: ErrorCode.NONE,
      highWatermark: led.highWatermark,
      lastStableOffset: led.highWatermark,
      logStartOffset: led.log.startOffset,
      abortedTransactions: null,
      preferredReadReplica: -1,
      records: { batches: read.batches, bytes: read.range },
    };
  });
}

function reportFetches(
  turn: Turn,
  asked: readonly AskedPartition[],
  answers: readonly Answer[],
  follower: number,
): void {
  asked.forEach((each, index) => {
    if (answers[index]?.errorCode !== ErrorCode.NONE) return;
    const led = leaderOf(turn, each);
    if (typeof led === 'number') return;
    const sent = turn.state.defects.has('count-sent-as-held') ? answers[index]?.records?.batches.at(-1) : undefined;
    noteFetch(turn, led, follower, sent === undefined ? each.of.fetchOffset : sent.lastOffset + 1);
  });
}

function respond(turn: Turn, { origin, version, body }: WaitingFetch, answers: readonly Answer[]): void {
  let next = 0;
  const responses = body.topics.map(({ topic, partitions }) => {
    const start = next;
    next += partitions.length;
    return { topic, partitions: answers.slice(start, next) };
  });
  const answer = { throttleTimeMs: 0, errorCode: ErrorCode.NONE, sessionId: 0, responses };
  turn.effects.push({ type: 'respond', origin, api: 'Fetch', version, body: answer });
}

/** Below it a reader may read. Without transactions the last stable offset is the high watermark. */
function limitFor(turn: Turn, led: Led, body: Body): number {
  const seesAll = body.replicaId >= 0 || turn.state.defects.has('read-above-high-watermark');
  return seesAll ? led.log.endOffset : led.highWatermark;
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
