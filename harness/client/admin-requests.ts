/**
 * What the harness asks of a cluster outside of any history, and how it reads the answers: for every runtime alike.
 *
 * Who sends the requests, and how long to wait and to try again, is the driver's affair; what they say stands here.
 */
import { ErrorCode, errorName, isRetriable } from '../../broker/protocol/index.ts';
import type { RequestBody, ResponseBody } from '../../broker/protocol/index.ts';
import type { Key } from '../../checker/history.ts';
import type { Address, NodeId } from '../../nemesis/ports.ts';
import { byTopic, keyOf, splitKey } from './operations.ts';

/** Counts as a client where links are cut. */
export const adminClientId = 'client-admin';
/** How long a broker may take to show that it is not paused. */
export const awakeTimeoutMs = 250;
/** Between two attempts to get ready. */
export const retryPauseMs = 50;
/** What our own brokers are asked in. MoveLeader is theirs alone; leaders of others move by the last two. */
export const adminVersions = {
  Metadata: 7,
  CreateTopics: 4,
  ListOffsets: 5,
  MoveLeader: 0,
  ElectLeaders: 1,
  AlterPartitionReassignments: 0,
} as const;

export type AdminApi = keyof typeof adminVersions;

/** Null for what a cluster does not serve and can be done without. */
export type AdminVersions = Readonly<
  Record<Exclude<AdminApi, OptionalApi>, number> & Record<OptionalApi, number | null>
>;

type OptionalApi = 'ElectLeaders' | 'AlterPartitionReassignments';

export interface ClusterDescription {
  readonly brokers: readonly NodeId[];
  readonly partitions: ReadonlyMap<Key, PartitionDescription>;
}

export interface PartitionDescription {
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

/** With an assignment (the replicas of each partition, of which the first leads) the two numbers say nothing. */
export function createTopicsRequest(
  name: string,
  numPartitions: number,
  replicationFactor: number,
  assignment?: readonly (readonly NodeId[])[],
): RequestBody<'CreateTopics'> {
  const created =
    assignment === undefined
      ? { name, numPartitions, replicationFactor, assignments: [], configs: [] }
      : {
          name,
          numPartitions: -1,
          replicationFactor: -1,
          assignments: assignment.map((brokerIds, partitionIndex) => ({ partitionIndex, brokerIds })),
          configs: [],
        };
  return { topics: [created], timeoutMs: 1_000, validateOnly: false };
}

/** Replicas by turns on these brokers and no others: a broker that is only there to be the controller gets none. */
export function spreadReplicas(
  brokers: readonly NodeId[],
  partitions: number,
  replicationFactor: number,
): readonly (readonly NodeId[])[] {
  return Array.from({ length: partitions }, (_, partition) =>
    Array.from(
      { length: Math.min(replicationFactor, brokers.length) },
      (_replica, index) => brokers[(partition + index) % brokers.length]!,
    ),
  );
}

/** Asks a leader where these partitions of its end for a consumer: at the high watermark. */
export function endOffsetsRequest(keys: readonly Key[]): RequestBody<'ListOffsets'> {
  const topics = [...byTopic(keys)].map(([name, partitions]) => ({
    name,
    partitions: partitions.map((partitionIndex) => ({ partitionIndex, currentLeaderEpoch: -1, timestamp: -1 })),
  }));
  return { replicaId: -1, isolationLevel: 0, topics };
}

/** By partition the offset, or the name of the error that a leader answered instead. */
export function endOffsets(body: ResponseBody<'ListOffsets'>): ReadonlyMap<Key, number | string> {
  return new Map(
    body.topics.flatMap(({ name, partitions }) =>
      partitions.map(({ partitionIndex, errorCode, offset }): [Key, number | string] => [
        keyOf(name, partitionIndex),
        errorCode === ErrorCode.NONE ? offset : errorName(errorCode),
      ]),
    ),
  );
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
    // Too few live brokers, or not those that were named, is what a cluster says that is still coming up.
    retriable:
      isRetriable(code) ||
      code === ErrorCode.INVALID_REPLICATION_FACTOR ||
      code === ErrorCode.INVALID_REPLICA_ASSIGNMENT,
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

/** Puts `to` first among the replicas that are there already: nothing is copied, only the preferred leader changes. */
export function reassignRequest(
  partition: Key,
  replicas: readonly NodeId[],
): RequestBody<'AlterPartitionReassignments'> {
  const { topic, partition: partitionIndex } = splitKey(partition);
  return {
    timeoutMs: 1_000,
    allowReplicationFactorChange: false,
    topics: [{ name: topic, partitions: [{ partitionIndex, replicas }] }],
  };
}

/** Makes the first replica the leader, if it is in the ISR (KIP-183, KIP-460). */
export function electPreferredRequest(partition: Key): RequestBody<'ElectLeaders'> {
  const { topic, partition: index } = splitKey(partition);
  return { electionType: 0, topicPartitions: [{ topic, partitions: [index] }], timeoutMs: 1_000 };
}

/** The replicas with `to` before the others. */
export function preferring(to: NodeId, replicas: readonly NodeId[]): readonly NodeId[] {
  return [to, ...replicas.filter((replica) => replica !== to)];
}

/** Null when the new order was taken, else why not. */
export function refusalOfReassignment(body: ResponseBody<'AlterPartitionReassignments'>): string | null {
  const each = [body, ...body.responses.flatMap(({ partitions }) => partitions)];
  return firstRefusal(each, [ErrorCode.NONE]);
}

/** Null when the preferred replica was elected, or led already. */
export function refusalOfElection(body: ResponseBody<'ElectLeaders'>): string | null {
  const each = body.replicaElectionResults.flatMap(({ partitionResult }) => partitionResult);
  const whole = { errorCode: body.errorCode, errorMessage: null };
  return firstRefusal([whole, ...each], [ErrorCode.NONE, ErrorCode.ELECTION_NOT_NEEDED]);
}

/**
 * Of the ZooKeeper era: only the controller does these, and any other broker says so, for the whole request, for a topic
 * or for a partition (ElectLeaders of Kafka 2.8).
 */
export function isRefusedByOther(
  answer: ResponseBody<'CreateTopics'> | ResponseBody<'AlterPartitionReassignments'> | ResponseBody<'ElectLeaders'>,
): boolean {
  const codes =
    'topics' in answer
      ? answer.topics.map(({ errorCode }) => errorCode)
      : [
          answer.errorCode,
          ...('responses' in answer
            ? answer.responses.flatMap(({ partitions }) => partitions.map(({ errorCode }) => errorCode))
            : answer.replicaElectionResults.flatMap(({ partitionResult }) =>
                partitionResult.map(({ errorCode }) => errorCode),
              )),
        ];
  return codes.includes(ErrorCode.NOT_CONTROLLER);
}

/** Where the broker is that a Metadata answer calls the controller; null for none. */
export function controllerOf(body: ResponseBody<'Metadata'>): (Address & { readonly node: NodeId }) | null {
  const found = body.brokers.find(({ nodeId }) => nodeId === body.controllerId);
  return found === undefined ? null : { node: found.nodeId, host: found.host, port: found.port };
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

function firstRefusal(
  answers: readonly { readonly errorCode: number; readonly errorMessage: string | null }[],
  fine: readonly number[],
): string | null {
  const refusal = answers.find(({ errorCode }) => !fine.includes(errorCode));
  if (refusal === undefined) return null;
  return `${errorName(refusal.errorCode)}${refusal.errorMessage === null ? '' : `, ${refusal.errorMessage}`}`;
}
