/**
 * What the harness asks of a cluster outside of any history, and how it reads the answers: for every runtime alike.
 *
 * Who sends the requests, and how long to wait and to try again, is the driver's affair; what they say stands here.
 */
import { ErrorCode, errorName, isRetriable } from '../../broker/protocol/index.ts';
import type { RequestBody, ResponseBody } from '../../broker/protocol/index.ts';
import type { Key } from '../../checker/history.ts';
import type { NodeId } from '../../nemesis/ports.ts';
import { keyOf, splitKey } from './operations.ts';

/** Counts as a client where links are cut. */
export const adminClientId = 'client-admin';
/** How long a broker may take to show that it is not paused. */
export const awakeTimeoutMs = 250;
/** Between two attempts to get ready. */
export const retryPauseMs = 50;
export const adminVersions = { Metadata: 7, CreateTopics: 4, MoveLeader: 0 } as const;

export interface ClusterDescription {
  readonly brokers: readonly NodeId[];
  readonly partitions: ReadonlyMap<Key, PartitionDescription>;
}

interface PartitionDescription {
  readonly leader: NodeId | null;
  readonly leaderEpoch: number;
  readonly replicas: readonly NodeId[];
  readonly isr: readonly NodeId[];
}

export function metadataRequest(topics: readonly string[]): RequestBody<'Metadata'> {
  return {
    topics: topics.map((name) => ({ name })),
    allowAutoTopicCreation: false,
    includeClusterAuthorizedOperations: false,
    includeTopicAuthorizedOperations: false,
  };
}

export function createTopicsRequest(
  name: string,
  numPartitions: number,
  replicationFactor: number,
): RequestBody<'CreateTopics'> {
  const created = { name, numPartitions, replicationFactor, assignments: [], configs: [] };
  return { topics: [created], timeoutMs: 1_000, validateOnly: false };
}

export function moveLeaderRequest(partition: Key, target: NodeId): RequestBody<'MoveLeader'> {
  return { ...splitKey(partition), target };
}

/**
 * Null when the topic is there, else what is wrong and whether asking again may help. A topic that exists is as good as
 * a new one: an earlier attempt may have made it before its answer was lost.
 */
export function refusalOfTopic(
  name: string,
  body: ResponseBody<'CreateTopics'>,
): { readonly reason: string; readonly retriable: boolean } | null {
  const answer = body.topics.find((each) => each.name === name);
  const code = answer?.errorCode ?? ErrorCode.UNKNOWN_SERVER_ERROR;
  if (code === ErrorCode.NONE || code === ErrorCode.TOPIC_ALREADY_EXISTS) return null;
  const detail = answer?.errorMessage ? `, ${answer.errorMessage}` : '';
  return {
    reason: `the cluster does not create topic ${name}: ${errorName(code)}${detail}`,
    // Too few live brokers is what a cluster says that is still coming up.
    retriable: isRetriable(code) || code === ErrorCode.INVALID_REPLICATION_FACTOR,
  };
}

/** Null when a broker knows a leader for every partition, else what it lacks. */
export function missingLeaders(
  topic: string,
  partitions: number,
  node: NodeId,
  known: ClusterDescription,
): string | null {
  const led = [...known.partitions.values()].filter((partition) => partition.leader !== null).length;
  if (led >= partitions) return null;
  return `broker ${node} knows a leader for ${led} of the ${partitions} partitions of topic ${topic}`;
}

/** Null when the leader was moved, else why not and whether another broker may be asked. */
export function refusalOfMove(
  body: ResponseBody<'MoveLeader'>,
): { readonly reason: string; readonly another: boolean } | null {
  if (body.errorCode === ErrorCode.NONE) return null;
  return {
    reason: `${errorName(body.errorCode)}${body.errorMessage === null ? '' : `, ${body.errorMessage}`}`,
    // A broker that cannot reach the controller says so after a while; another may.
    another: body.errorCode === ErrorCode.REQUEST_TIMED_OUT,
  };
}

export function description(body: ResponseBody<'Metadata'>): ClusterDescription {
  const partitions = body.topics.flatMap((topic) =>
    topic.partitions.map((partition): [Key, PartitionDescription] => [
      keyOf(topic.name, partition.partitionIndex),
      {
        leader: partition.leaderId >= 0 ? partition.leaderId : null,
        leaderEpoch: partition.leaderEpoch,
        replicas: partition.replicaNodes,
        isr: partition.isrNodes,
      },
    ]),
  );
  return { brokers: body.brokers.map((broker) => broker.nodeId), partitions: new Map(partitions) };
}
