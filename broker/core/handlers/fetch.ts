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
import { isFull, park } from '../purgatory.ts';
import type { WaitingFetch } from '../purgatory.ts';
import { nsPerMs } from '../state.ts';
import type { Turn } from '../state.ts';
import type { RequestEvent } from '../step.ts';
import { leadership } from './leadership.ts';
import type { Caller } from './leadership.ts';

type Body = RequestBody<'Fetch'>;
type Asked = Body['topics'][number]['partitions'][number];
type Answer = ResponseBody<'Fetch'>['responses'][number]['partitions'][number];

/** Nobody is given more at once, whatever the request says. */
const maxResponseBytes = 50 * 1024 * 1024;

export function handleFetch(turn: Turn, event: RequestEvent & { readonly api: 'Fetch' }): void {
  const { origin, version, body } = event;
  const responses = readAll(turn, body, event);
  // Reported after everything was read: see above.
  if (body.replicaId >= 0) reportFetches(turn, body, responses);
  const request: WaitingFetch = {
    kind: 'fetch',
    origin,
    version,
    deadlineNs: turn.nowNs + body.maxWaitMs * nsPerMs,
    partitions: new Set(
      body.topics.flatMap(({ topic, partitions }) =>
        partitions.flatMap(({ partition }) => turn.state.partitions.get(`${topic}-${partition}`) ?? []),
      ),
    ),
    body,
  };
  const answers = responses.flatMap(({ partitions }) => partitions);
  const bytes = answers.reduce((sum, { records }) => sum + sizeOf(records), 0);
  const immediate =
    bytes >= body.minBytes || body.maxWaitMs <= 0 || answers.some(({ errorCode }) => errorCode !== ErrorCode.NONE);
  if (immediate || answers.length === 0 || isFull(turn.state.purgatory)) respond(turn, request, responses);
  else park(turn.state.purgatory, request);
}

/** Answers a waiting fetch when there is enough to read, when it has become an error, or when its time is up. */
export function completeFetch(turn: Turn, request: WaitingFetch, expired: boolean): boolean {
  if (!expired && !isReady(turn, request)) return false;
  const caller: Caller = { api: 'Fetch', origin: request.origin };
  respond(turn, request, readAll(turn, request.body, caller));
  return true;
}

function isReady(turn: Turn, { body }: WaitingFetch): boolean {
  let bytes = 0;
  for (const { topic, partitions } of body.topics) {
    for (const asked of partitions) {
      const found = leadership(turn, topic, asked.partition, asked.currentLeaderEpoch);
      if ('errorCode' in found || isOutOfRange(found.led, asked.fetchOffset)) return true;
      const readable = readableBytes(found.led.log, asked.fetchOffset, limitFor(turn, found.led, body));
      bytes += Math.min(readable, asked.partitionMaxBytes);
    }
  }
  return bytes > 0 && bytes >= body.minBytes;
}

function respond(turn: Turn, { origin, version }: WaitingFetch, responses: ResponseBody<'Fetch'>['responses']): void {
  const body = { throttleTimeMs: 0, errorCode: ErrorCode.NONE, sessionId: 0, responses };
  turn.effects.push({ type: 'respond', origin, api: 'Fetch', version, body });
}

function readAll(turn: Turn, body: Body, caller: Caller): ResponseBody<'Fetch'>['responses'] {
  let bytesLeft = Math.min(body.maxBytes, maxResponseBytes);
  let empty = true;
  return body.topics.map(({ topic, partitions }) => ({
    topic,
    partitions: partitions.map((asked) => {
      const found = leadership(turn, topic, asked.partition, asked.currentLeaderEpoch, caller);
      if ('errorCode' in found) return failed(asked.partition, found.errorCode);
      const { led } = found;
      if (isOutOfRange(led, asked.fetchOffset)) return failed(asked.partition, ErrorCode.OFFSET_OUT_OF_RANGE);
      if (body.replicaId >= 0 && !led.role.followers.has(body.replicaId)) {
        return failed(asked.partition, ErrorCode.NOT_LEADER_OR_FOLLOWER);
      }
      const maxBytes = Math.min(bytesLeft, asked.partitionMaxBytes);
      const read = readLog(led.log, asked.fetchOffset, limitFor(turn, led, body), maxBytes, empty);
      bytesLeft -= read.sizeBytes;
      if (read.sizeBytes > 0) empty = false;
      return {
        partitionIndex: asked.partition,
        errorCode: ErrorCode.NONE,
        highWatermark: led.highWatermark,
        lastStableOffset: led.highWatermark,
        logStartOffset: led.log.startOffset,
        abortedTransactions: null,
        preferredReadReplica: -1,
        records: { batches: read.batches, bytes: read.range },
      };
    }),
  }));
}

function reportFetches(turn: Turn, body: Body, responses: ResponseBody<'Fetch'>['responses']): void {
  body.topics.forEach(({ topic, partitions }, topicIndex) =>
    partitions.forEach((asked: Asked, index) => {
      if (responses[topicIndex]?.partitions[index]?.errorCode !== ErrorCode.NONE) return;
      const found = leadership(turn, topic, asked.partition, asked.currentLeaderEpoch);
      if ('led' in found) noteFetch(turn, found.led, body.replicaId, asked.fetchOffset);
    }),
  );
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

function sizeOf(records: Answer['records']): number {
  return records?.batches.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) ?? 0;
}
