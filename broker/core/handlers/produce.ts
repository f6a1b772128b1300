/**
 * Produce: append, then answer as the producer asked for: at once (acks=1), never (acks=0), or when the whole ISR has it
 * (acks=all).
 *
 * A request fails for certain only before the append. After it there is no way back: a leader that is deposed, or whose
 * followers do not come in time, answers with an error under which the record may live or not.
 */
import { ErrorCode } from '../../protocol/index.ts';
import type { RecordSet, ResponseBody } from '../../protocol/index.ts';
import { appendProduced, hasEnoughReplicas, isLed } from '../leader.ts';
import { isFull, park } from '../purgatory.ts';
import type { ProduceOutcome, WaitingProduce } from '../purgatory.ts';
import { nsPerMs, traceWhole } from '../state.ts';
import type { Turn } from '../state.ts';
import type { RequestEvent } from '../step.ts';
import { ackLine } from '../trace.ts';
import type { MessageName } from '../trace.ts';
import { joined, leadership, replicaOf } from './leadership.ts';

interface TopicAnswer {
  readonly name: string;
  readonly partitionResponses: PartitionAnswer[];
}

type PartitionAnswer = ResponseBody<'Produce'>['responses'][number]['partitionResponses'][number];

/** Kafka's default of `max.message.bytes`. */
const maxBatchBytes = 1_048_588;
/** Transactional or control, in a batch's attributes. */
const transactionBits = 0b11_0000;

export function handleProduce(turn: Turn, event: RequestEvent & { readonly api: 'Produce' }): void {
  const { origin, version, body } = event;
  const outcomes = joined(
    body.topicData.map(({ name, partitionData }) =>
      partitionData.map(({ index, records }) => produceOne(turn, name, index, body.acks, records)),
    ),
  );
  const request: WaitingProduce = {
    kind: 'produce',
    origin,
    version,
    deadlineNs: turn.nowNs + Math.max(0, body.timeoutMs) * nsPerMs,
    outcomes,
    isCandidate: false,
  };
  if (body.acks === 0) {
    // The only way to tell a producer that wants no answer.
    if (outcomes.every(({ errorCode }) => errorCode === ErrorCode.NONE)) turn.effects.push({ type: 'release', origin });
    else turn.effects.push({ type: 'disconnect', connection: origin.connection });
  } else if (!completeProduce(turn, request, body.timeoutMs <= 0)) {
    park(turn.state.purgatory, request);
  }
}

/** Answers if no partition waits any more; when its time is up, those that do have timed out. */
export function completeProduce(turn: Turn, request: WaitingProduce, expired: boolean): boolean {
  for (const outcome of request.outcomes) {
    if (outcome.errorCode !== null) continue;
    outcome.errorCode = settle(turn, request, outcome) ?? (expired ? ErrorCode.REQUEST_TIMED_OUT : null);
  }
  if (request.outcomes.some(({ errorCode }) => errorCode === null)) return false;
  const { origin, version, outcomes } = request;
  turn.effects.push({ type: 'respond', origin, api: 'Produce', version, body: answer(outcomes) });
  return true;
}

function produceOne(turn: Turn, topic: string, index: number, acks: number, records: RecordSet | null): ProduceOutcome {
  const fail = (errorCode: number): ProduceOutcome => ({ topic, index, errorCode, appended: null });
  if (acks !== 0 && acks !== 1 && acks !== -1) return fail(ErrorCode.INVALID_REQUIRED_ACKS);
  const invalid = validate(records);
  if (invalid !== ErrorCode.NONE) return fail(invalid);
  const led = leadership(turn, replicaOf(turn, topic, index), topic, index);
  if (typeof led === 'number') return fail(led);
  if (acks === -1 && !hasEnoughReplicas(turn, led)) return fail(ErrorCode.NOT_ENOUGH_REPLICAS);
  if (acks === -1 && isFull(turn.state.purgatory)) return fail(ErrorCode.BROKER_NOT_AVAILABLE);
  const batch = records?.batches[0];
  if (records === null || batch === undefined) return fail(ErrorCode.INVALID_RECORD);
  const { highWatermark } = led;
  const { base: appendedAt, last } = appendProduced(turn, led, batch, records.bytes);
  const base = turn.state.defects.has('answer-high-watermark') ? highWatermark : appendedAt;
  const outcome: ProduceOutcome = { topic, index, errorCode: null, appended: { partition: led, base, last } };
  if (acks === -1 && !turn.state.defects.has('ack-at-leo')) return outcome;
  traceAck(turn, outcome, acks, turn.msg);
  outcome.errorCode = ErrorCode.NONE;
  return outcome;
}

/** The final word on an appended partition, or null while it has to wait. */
function settle(turn: Turn, request: WaitingProduce, outcome: ProduceOutcome): number | null {
  if (outcome.appended === null) return ErrorCode.UNKNOWN_SERVER_ERROR;
  const { partition, last } = outcome.appended;
  if (partition.deleted) return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION;
  if (!isLed(partition)) return whenDeposed(turn);
  if (partition.highWatermark <= last) return null;
  if (!hasEnoughReplicas(turn, partition)) return ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND;
  traceAck(turn, outcome, -1, request.origin);
  return ErrorCode.NONE;
}

/** It was appended, and whether it stays is the next leader's affair. */
function whenDeposed({ state: { defects } }: Turn): number | null {
  if (defects.has('ack-after-deposition')) return null;
  return defects.has('deny-append') ? ErrorCode.LEADER_NOT_AVAILABLE : ErrorCode.NOT_LEADER_OR_FOLLOWER;
}

/** Exactly one sound batch of format v2 (KIP-98), neither transactional nor control: there is no coordinator here. */
function validate(records: RecordSet | null): number {
  if (records === null) return ErrorCode.INVALID_RECORD;
  if (records.flaw === 'corrupt') return ErrorCode.CORRUPT_MESSAGE;
  if (records.flaw === 'unsupported-format') return ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT;
  const [batch, second] = records.batches;
  if (batch === undefined || second !== undefined) return ErrorCode.INVALID_RECORD;
  if (batch.sizeBytes > maxBatchBytes) return ErrorCode.MESSAGE_TOO_LARGE;
  const contiguous = batch.recordCount > 0 && batch.lastOffset - batch.baseOffset === batch.recordCount - 1;
  return contiguous && (batch.attributes & transactionBits) === 0 ? ErrorCode.NONE : ErrorCode.INVALID_RECORD;
}

function traceAck(turn: Turn, { appended }: ProduceOutcome, acks: -1 | 0 | 1, msg: MessageName | undefined): void {
  if (appended === null) return;
  const { partition, base, last } = appended;
  const { key, leaderEpoch, isr } = partition;
  traceWhole(turn, ackLine(key, leaderEpoch, base, last, acks, isr, msg));
}

function answer(outcomes: readonly ProduceOutcome[]): ResponseBody<'Produce'> {
  const responses: TopicAnswer[] = [];
  for (const { topic, index, errorCode, appended } of outcomes) {
    const failed = errorCode !== ErrorCode.NONE || appended === null;
    answersFor(responses, topic).push({
      index,
      errorCode: errorCode ?? ErrorCode.UNKNOWN_SERVER_ERROR,
      baseOffset: failed ? -1 : appended.base,
      logAppendTimeMs: -1,
      logStartOffset: failed ? -1 : appended.partition.log.startOffset,
    });
  }
  return { responses, throttleTimeMs: 0 };
}

/** The answers of one topic; a request has few, most often one. */
function answersFor(responses: TopicAnswer[], name: string): PartitionAnswer[] {
  const known = responses.find((topic) => topic.name === name);
  if (known !== undefined) return known.partitionResponses;
  const added: TopicAnswer = { name, partitionResponses: [] };
  responses.push(added);
  return added.partitionResponses;
}
