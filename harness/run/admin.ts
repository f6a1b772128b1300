/**
 * The admin client: what the harness itself asks of a cluster, outside of any history.
 *
 * Small asynchronous functions, each a round trip on a fresh connection, to the first broker that answers. Only getting
 * ready is ever retried: a test may begin when every broker has answered and knows a leader for every partition.
 *
 * Left out: everything that a history must hold. Those operations go through `load.ts`.
 */
import pRetry, { AbortError } from 'p-retry';
import { ErrorCode, errorName, isRetriable } from '../../broker/protocol/index.ts';
import type { RequestBody, ResponseBody } from '../../broker/protocol/index.ts';
import type { Key } from '../../checker/history.ts';
import type { Address, Evidence, NodeId } from '../../nemesis/ports.ts';
import { keyOf, splitKey } from '../client/operations.ts';
import { EnvironmentError } from '../errors.ts';
import { roundTrip } from './sockets.ts';

export interface Admin {
  /** Creates the topic, and resolves when every broker knows a leader for each of its partitions. */
  createTopic(topic: NewTopic): Promise<void>;
  /** Asks the controller, through any broker, to make `to` the leader of the partition. */
  moveLeader(partition: Key, to: NodeId): Promise<Evidence>;
  /** The topics as one broker knows them: the given one, or the first that answers. */
  describe(topics: readonly string[], node?: NodeId): Promise<ClusterDescription>;
}

interface NewTopic {
  readonly name: string;
  readonly partitions: number;
  readonly replicationFactor: number;
  /** How long to wait for the cluster to get ready. */
  readonly timeoutMs: number;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
}

interface ClusterDescription {
  readonly brokers: readonly NodeId[];
  readonly partitions: ReadonlyMap<Key, PartitionDescription>;
}

interface PartitionDescription {
  readonly leader: NodeId | null;
  readonly leaderEpoch: number;
  readonly replicas: readonly NodeId[];
  readonly isr: readonly NodeId[];
}

/** Counts as a client where links are cut. */
const adminClientId = 'client-admin';
/** How long a broker may take to show that it is not paused. */
const awakeTimeoutMs = 250;
const versions = { Metadata: 7, CreateTopics: 4, MoveLeader: 0 } as const;

export function createAdmin(addresses: ReadonlyMap<NodeId, Address>, requestTimeoutMs = 1_000): Admin {
  const ask = async <A extends keyof typeof versions>(
    api: A,
    body: RequestBody<A>,
    nodes: Iterable<NodeId> = addresses.keys(),
    timeoutMs = requestTimeoutMs,
  ): Promise<{ readonly node: NodeId; readonly body: ResponseBody<A> }> => {
    const failures: string[] = [];
    for (const node of nodes) {
      const address = addresses.get(node);
      if (address === undefined) throw new Error(`no address of broker ${node}`);
      try {
        const request = { api, version: versions[api], body };
        return { node, body: await roundTrip<A>(address, adminClientId, request, timeoutMs) };
      } catch (error) {
        failures.push(error instanceof Error ? error.message : String(error));
      }
    }
    throw new EnvironmentError(`no broker answers: ${failures.join('; ')}`);
  };

  /** A request must not lie in the socket of a paused broker, and take effect when nobody expects it any more. */
  const isAwake = (node: NodeId): Promise<boolean> =>
    ask('Metadata', metadataRequest([]), [node], awakeTimeoutMs).then(
      () => true,
      () => false,
    );

  const describe: Admin['describe'] = async (topics, node) => {
    const { body } = await ask('Metadata', metadataRequest(topics), node === undefined ? undefined : [node]);
    return description(body);
  };

  return {
    describe,
    async createTopic(topic) {
      const deadline = performance.now() + topic.timeoutMs;
      await until(topic, deadline, async () => submit(topic, await ask('CreateTopics', createTopicsRequest(topic))));
      for (const node of addresses.keys()) {
        await until(topic, deadline, async () => checkLeaders(topic, node, await describe([topic.name], node)));
      }
    },
    async moveLeader(partition, to) {
      const key = splitKey(partition);
      // Through the new leader if it can: of all brokers it is the one that must be in touch with the controller.
      const nodes = [to, ...[...addresses.keys()].filter((node) => node !== to)];
      const awake = new Map(nodes.map((node) => [node, isAwake(node)]));
      let reason = 'no broker answers';
      for (const node of nodes) {
        if ((await awake.get(node)) !== true) continue;
        try {
          const { body } = await ask('MoveLeader', { ...key, target: to }, [node]);
          if (body.errorCode === ErrorCode.NONE) return { effective: true, facts: { through: node } };
          reason = `${errorName(body.errorCode)}${body.errorMessage === null ? '' : `, ${body.errorMessage}`}`;
          // A broker that cannot reach the controller says so after a while; another may.
          if (body.errorCode !== ErrorCode.REQUEST_TIMED_OUT) break;
        } catch (error) {
          reason = error instanceof Error ? error.message : String(error);
        }
      }
      return { effective: false, facts: { error: reason } };
    },
  };
}

/** Tries until `attempt` resolves; after `deadline` its last error is the one that counts. An abort ends it at once. */
async function until({ signal }: NewTopic, deadline: number, attempt: () => Promise<void>): Promise<void> {
  await pRetry(attempt, {
    retries: Infinity,
    factor: 1,
    minTimeout: 50,
    maxTimeout: 50,
    maxRetryTime: Math.max(0, deadline - performance.now()),
    ...(signal === undefined ? {} : { signal }),
  });
}

function metadataRequest(topics: readonly string[]): RequestBody<'Metadata'> {
  return {
    topics: topics.map((name) => ({ name })),
    allowAutoTopicCreation: false,
    includeClusterAuthorizedOperations: false,
    includeTopicAuthorizedOperations: false,
  };
}

function createTopicsRequest(topic: NewTopic): RequestBody<'CreateTopics'> {
  const { name, partitions: numPartitions, replicationFactor } = topic;
  const created = { name, numPartitions, replicationFactor, assignments: [], configs: [] };
  return { topics: [created], timeoutMs: 1_000, validateOnly: false };
}

/** A topic that exists is as good as a new one: an earlier attempt may have made it before its answer was lost. */
function submit(topic: NewTopic, { body }: { readonly body: ResponseBody<'CreateTopics'> }): void {
  const answer = body.topics.find((each) => each.name === topic.name);
  const code = answer?.errorCode ?? ErrorCode.UNKNOWN_SERVER_ERROR;
  if (code === ErrorCode.NONE || code === ErrorCode.TOPIC_ALREADY_EXISTS) return;
  const error = new EnvironmentError(
    `the cluster does not create topic ${topic.name}: ${errorName(code)}${answer?.errorMessage ? `, ${answer.errorMessage}` : ''}`,
  );
  // Too few live brokers is what a cluster says that is still coming up.
  throw isRetriable(code) || code === ErrorCode.INVALID_REPLICATION_FACTOR ? error : new AbortError(error);
}

function checkLeaders(topic: NewTopic, node: NodeId, known: ClusterDescription): void {
  const led = [...known.partitions.values()].filter((partition) => partition.leader !== null).length;
  if (led >= topic.partitions) return;
  throw new EnvironmentError(
    `broker ${node} knows a leader for ${led} of the ${topic.partitions} partitions of topic ${topic.name}`,
  );
}

function description(body: ResponseBody<'Metadata'>): ClusterDescription {
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
