/**
 * CreateTopics, DeleteTopics, ElectLeaders and MoveLeader: what an administrator may ask, checked.
 *
 * Each function answers for one topic or partition: either what is to be done or why it is refused, in Kafka's error
 * codes and one sentence. Nothing here changes the state; `controller.ts` does, by records.
 */
import type { NodeId } from '../core/step.ts';
import { ErrorCode } from '../protocol/index.ts';
import type { RequestBody } from '../protocol/index.ts';
import { afterReturn, assignReplicas, moveTo } from './election.ts';
import type { Decision } from './election.ts';
import { NO_LEADER, findPartition, isEligible } from './metadata.ts';
import type { ControllerState, PartitionState } from './metadata.ts';

export interface Refusal {
  readonly errorCode: number;
  readonly errorMessage: string;
}

export type NewTopic = RequestBody<'CreateTopics'>['topics'][number];

/** More partitions of one topic than this are refused: each costs a file and a place in every push. */
const MAX_PARTITIONS_PER_TOPIC = 10_000;
const DEFAULT_PARTITIONS = 1;
const DEFAULT_REPLICATION_FACTOR = 3;
const PREFERRED_ELECTION = 0;
const UNCLEAN_ELECTION = 1;
const LEGAL_TOPIC = /^[a-zA-Z0-9._-]{1,249}$/;

/** Replicas of every partition of a topic to be created, or why it cannot be. */
export function planTopic(state: ControllerState, topic: NewTopic): NodeId[][] | Refusal {
  if (!LEGAL_TOPIC.test(topic.name) || topic.name === '.' || topic.name === '..') {
    return refusal(ErrorCode.INVALID_TOPIC_EXCEPTION, `'${topic.name.slice(0, 249)}' is not a legal topic name`);
  }
  const existing = state.topics.get(topic.name);
  if (existing !== undefined) {
    const why = existing.deleted ? 'is still being deleted: not every broker has heard of it' : 'exists';
    return refusal(ErrorCode.TOPIC_ALREADY_EXISTS, `topic '${topic.name}' ${why}`);
  }
  return topic.assignments.length > 0 ? explicitReplicas(state, topic) : rotatingReplicas(state, topic);
}

/** The decision for ElectLeaders of one partition. */
export function electFor(state: ControllerState, partition: PartitionState, electionType: number): Decision | Refusal {
  if (electionType === UNCLEAN_ELECTION) return uncleanElection(state, partition);
  if (electionType !== PREFERRED_ELECTION) {
    return refusal(ErrorCode.INVALID_REQUEST, `there is no election of type ${electionType}`);
  }
  const preferred = partition.replicas[0] as NodeId;
  const decision = moveTo(partition, preferred, (id) => isEligible(state, id));
  if ('errorCode' in decision && decision.errorCode === ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE) {
    return refusal(ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, decision.errorMessage);
  }
  return decision;
}

/** The decision for MoveLeader. */
export function moveFor(state: ControllerState, body: RequestBody<'MoveLeader'>): [PartitionState, Decision] | Refusal {
  const partition = findPartition(state, body.topic, body.partition);
  if (partition === undefined) return unknownPartition(body.topic, body.partition);
  const decision = moveTo(partition, body.target, (id) => isEligible(state, id));
  return 'errorCode' in decision ? decision : [partition, decision];
}

export function unknownPartition(topic: string, partition: number): Refusal {
  return refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, `there is no partition ${partition} of topic '${topic}'`);
}

/** An administrator may elect uncleanly whatever the configuration says (KIP-460), but only where nobody leads. */
function uncleanElection(state: ControllerState, partition: PartitionState): Decision | Refusal {
  if (partition.leader !== NO_LEADER) {
    return refusal(ErrorCode.ELECTION_NOT_NEEDED, `broker ${partition.leader} leads`);
  }
  const decision = afterReturn(partition, (id) => isEligible(state, id), 'unclean');
  return decision ?? refusal(ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, 'no replica is live');
}

function explicitReplicas(state: ControllerState, topic: NewTopic): NodeId[][] | Refusal {
  if (topic.numPartitions !== -1 || topic.replicationFactor !== -1) {
    return refusal(
      ErrorCode.INVALID_REQUEST,
      'with an explicit assignment, partitions and replication factor must be −1',
    );
  }
  const sorted = topic.assignments.toSorted((a, b) => a.partitionIndex - b.partitionIndex);
  for (const [index, { partitionIndex, brokerIds }] of sorted.entries()) {
    const known = brokerIds.every((id) => state.brokers.some((broker) => broker.id === id));
    const distinct = new Set(brokerIds).size === brokerIds.length;
    if (partitionIndex !== index || brokerIds.length === 0 || !known || !distinct) {
      const why = 'partitions must count from 0, their replicas must be distinct registered brokers';
      return refusal(ErrorCode.INVALID_REPLICA_ASSIGNMENT, why);
    }
    if (!brokerIds.some((id) => isEligible(state, id))) {
      return refusal(ErrorCode.INVALID_REPLICA_ASSIGNMENT, `no replica of partition ${index} is live`);
    }
  }
  return sorted.map(({ brokerIds }) => [...brokerIds]);
}

function rotatingReplicas(state: ControllerState, topic: NewTopic): NodeId[][] | Refusal {
  const live = state.brokers.filter((broker) => isEligible(state, broker.id)).map((broker) => broker.id);
  const count = topic.numPartitions === -1 ? DEFAULT_PARTITIONS : topic.numPartitions;
  if (count < 1 || count > MAX_PARTITIONS_PER_TOPIC) {
    const why = `a topic has 1 to ${MAX_PARTITIONS_PER_TOPIC} partitions, not ${count}`;
    return refusal(ErrorCode.INVALID_PARTITIONS, why);
  }
  const wanted = topic.replicationFactor;
  const factor = wanted === -1 ? Math.min(DEFAULT_REPLICATION_FACTOR, Math.max(1, live.length)) : wanted;
  if (factor < 1 || factor > live.length) {
    const why = `replication factor ${factor} with ${live.length} live brokers`;
    return refusal(ErrorCode.INVALID_REPLICATION_FACTOR, why);
  }
  return assignReplicas(live, count, factor, partitionCount(state));
}

/** Where the rotation goes on, so that topics of one partition do not all lead on one broker. */
function partitionCount(state: ControllerState): number {
  let count = 0;
  for (const topic of state.topics.values()) count += topic.partitions.length;
  return count;
}

function refusal(errorCode: number, errorMessage: string): Refusal {
  return { errorCode, errorMessage };
}
