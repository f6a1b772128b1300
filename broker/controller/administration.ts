/**
 * What an administrator asks for, by way of any broker: CreateTopics, DeleteTopics, ElectLeaders, MoveLeader.
 *
 * `topics.ts` says for each topic or partition whether it may be; here it is done, and answered one by one. A request
 * may fail in parts, as in Kafka.
 */
import type { Effect, NodeId, RequestEvent } from '../core/step.ts';
import { ErrorCode } from '../protocol/index.ts';
import type { ApiName, ResponseBody } from '../protocol/index.ts';
import type { MessageName } from '../core/trace.ts';
import { commit, decide, startPartitions, trace } from './changes.ts';
import { findPartition, keyOf } from './metadata.ts';
import type { ControllerState } from './metadata.ts';
import { electFor, moveFor, planTopic, unknownPartition } from './topics.ts';

type Request<A extends ApiName> = RequestEvent & { readonly api: A };

export function createTopics(
  state: ControllerState,
  { body, origin }: Request<'CreateTopics'>,
  effects: Effect[],
): ResponseBody<'CreateTopics'> {
  const topics = body.topics.map((topic) => {
    const plan = planTopic(state, topic);
    if ('errorCode' in plan) return { name: topic.name, ...plan };
    if (!body.validateOnly) createTopic(state, topic.name, plan, origin, effects);
    return { name: topic.name, errorCode: ErrorCode.NONE, errorMessage: null };
  });
  return { throttleTimeMs: 0, topics };
}

function createTopic(
  state: ControllerState,
  topic: string,
  replicas: readonly (readonly NodeId[])[],
  msg: MessageName,
  effects: Effect[],
): void {
  commit(state, { type: 'topic', topic, replicas }, effects);
  startPartitions(state, state.topics.get(topic)?.partitions ?? [], effects, msg);
}

export function deleteTopics(
  state: ControllerState,
  { body }: Request<'DeleteTopics'>,
  effects: Effect[],
): ResponseBody<'DeleteTopics'> {
  const responses = body.topicNames.map((name) => {
    const topic = state.topics.get(name);
    if (topic === undefined || topic.deleted) return { name, errorCode: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION };
    for (const partition of topic.partitions) trace(effects, { event: 'delete', partition: keyOf(partition) });
    commit(state, { type: 'delete-topic', topic: name }, effects);
    return { name, errorCode: ErrorCode.NONE };
  });
  return { throttleTimeMs: 0, responses };
}

export function electLeaders(
  state: ControllerState,
  { body, origin }: Request<'ElectLeaders'>,
  effects: Effect[],
): ResponseBody<'ElectLeaders'> {
  const electOne = (topic: string, partitionId: number) => {
    const partition = findPartition(state, topic, partitionId);
    const decision =
      partition === undefined ? unknownPartition(topic, partitionId) : electFor(state, partition, body.electionType);
    if ('errorCode' in decision) return { partitionId, ...decision };
    if (partition !== undefined) decide(state, partition, decision, 'elect-leaders', effects, origin);
    return { partitionId, errorCode: ErrorCode.NONE, errorMessage: null };
  };
  const everywhere = body.topicPartitions === null;
  const wanted = body.topicPartitions ?? allPartitions(state);
  const replicaElectionResults = wanted.map(({ topic, partitions }) => {
    const results = partitions.map((partition) => electOne(topic, partition));
    /* Asked for all, Kafka tells only of those where there was something to do. */
    const told = everywhere ? results.filter((result) => result.errorCode !== ErrorCode.ELECTION_NOT_NEEDED) : results;
    return { topic, partitionResult: told };
  });
  return { throttleTimeMs: 0, errorCode: ErrorCode.NONE, replicaElectionResults };
}

function allPartitions(state: ControllerState): { topic: string; partitions: number[] }[] {
  const live = [...state.topics.values()].filter((topic) => !topic.deleted);
  return live.map(({ name, partitions }) => ({
    topic: name,
    partitions: partitions.map(({ partition }) => partition),
  }));
}

export function moveLeader(
  state: ControllerState,
  { body, origin }: Request<'MoveLeader'>,
  effects: Effect[],
): ResponseBody<'MoveLeader'> {
  const move = moveFor(state, body);
  if ('errorCode' in move) return move;
  const [partition, decision] = move;
  decide(state, partition, decision, 'move-leader', effects, origin);
  return { errorCode: ErrorCode.NONE, errorMessage: null };
}
