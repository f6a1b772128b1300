/** ListOffsets and OffsetForLeaderEpoch: questions about where things stand in a leader's log. */
import { ErrorCode } from '../../protocol/index.ts';
import type { RequestBody, ResponseBody } from '../../protocol/index.ts';
import { endOffsetFor, undefinedOffset } from '../epoch-cache.ts';
import type { EpochEnd } from '../epoch-cache.ts';
import type { Led } from '../leader.ts';
import type { Turn } from '../state.ts';
import type { RequestEvent } from '../step.ts';
import { leadership, replicaOf } from './leadership.ts';

const [latestTimestamp, earliestTimestamp] = [-1, -2];
/** First version of ListOffsets whose clients know OFFSET_NOT_AVAILABLE (KIP-207). */
const firstVersionWithNotAvailable = 5;

type ListOffsetsEvent = RequestEvent & { readonly api: 'ListOffsets' };
type OffsetsAnswer = ResponseBody<'ListOffsets'>['topics'][number]['partitions'][number];

export function handleListOffsets(turn: Turn, event: ListOffsetsEvent): void {
  const { origin, version, body } = event;
  const topics = body.topics.map(({ name, partitions }) => ({
    name,
    partitions: partitions.map((asked): OffsetsAnswer => {
      const { partitionIndex, currentLeaderEpoch, timestamp } = asked;
      const fail = (errorCode: number) => ({ partitionIndex, errorCode, timestamp: -1, offset: -1, leaderEpoch: -1 });
      const replica = replicaOf(turn, name, partitionIndex);
      const led = leadership(turn, replica, name, partitionIndex, currentLeaderEpoch, event);
      if (typeof led === 'number') return fail(led);
      if (timestamp === latestTimestamp && body.replicaId < 0 && mustWait(turn, led)) {
        const knows = version >= firstVersionWithNotAvailable;
        return fail(knows ? ErrorCode.OFFSET_NOT_AVAILABLE : ErrorCode.LEADER_NOT_AVAILABLE);
      }
      const offset = lookUp(led, timestamp, body);
      return { ...fail(ErrorCode.NONE), ...offset, leaderEpoch: led.leaderEpoch };
    }),
  }));
  turn.effects.push({ type: 'respond', origin, api: 'ListOffsets', version, body: { throttleTimeMs: 0, topics } });
}

/** Only a leader answers, straight from its cache and its end; for consumers, too. */
export function handleOffsetForLeaderEpoch(
  turn: Turn,
  event: RequestEvent & { readonly api: 'OffsetForLeaderEpoch' },
): void {
  const { origin, version, body } = event;
  const topics = body.topics.map(({ topic, partitions }) => ({
    topic,
    partitions: partitions.map(({ partition, currentLeaderEpoch, leaderEpoch: asked }) => {
      const replica = replicaOf(turn, topic, partition);
      const led = leadership(turn, replica, topic, partition, currentLeaderEpoch, event);
      if (typeof led === 'number') return { errorCode: led, partition, leaderEpoch: -1, endOffset: -1 };
      const { epoch: leaderEpoch, endOffset } = endOfEpoch(turn, led, asked);
      return { errorCode: ErrorCode.NONE, partition, leaderEpoch, endOffset };
    }),
  }));
  const answer = { throttleTimeMs: 0, topics };
  turn.effects.push({ type: 'respond', origin, api: 'OffsetForLeaderEpoch', version, body: answer });
}

function endOfEpoch({ state }: Turn, { epochs, log }: Led, asked: number): EpochEnd {
  const end = endOffsetFor(epochs, asked, log.endOffset, state.build.epochLookup);
  const unknown = end.endOffset === undefinedOffset;
  return unknown && state.defects.has('unknown-epoch-ends-at-end') ? { ...end, endOffset: log.endOffset } : end;
}

/** A new leader does not say what is latest before all of its predecessor's records are committed again (KIP-207). */
function mustWait(turn: Turn, led: Led): boolean {
  return turn.state.build.latestWaitsForEpochStart && led.highWatermark < led.role.epochStart;
}

function lookUp(
  led: Led,
  timestamp: number,
  { replicaId }: RequestBody<'ListOffsets'>,
): { readonly offset: number; readonly timestamp?: number } {
  // A replica asks for the end of the log, a consumer for the end of what it may read.
  if (timestamp === latestTimestamp) return { offset: replicaId < 0 ? led.highWatermark : led.log.endOffset };
  if (timestamp === earliestTimestamp) return { offset: led.log.startOffset };
  // By time, as far as headers tell: the first batch that reaches it. Records within a batch are the reader's to skip.
  const batch = led.log.batches.find((each) => each.maxTimestampMs >= timestamp && each.lastOffset < led.highWatermark);
  if (batch === undefined) return { offset: -1 };
  return { offset: Math.max(batch.baseOffset, led.log.startOffset), timestamp: batch.maxTimestampMs };
}
