/**
 * The admin client: what the harness itself asks of a cluster, outside of any history.
 *
 * Small asynchronous functions, each a round trip on a fresh connection, to the first broker that answers. Only getting
 * ready is ever retried: a test may begin when every broker has answered and knows a leader for every partition. With
 * brokers that are not ours it speaks the versions that were negotiated, and moves leaders as their target says.
 *
 * Left out: everything that a history must hold. Those operations go through `load.ts`.
 */
import pRetry, { AbortError } from 'p-retry';
import type { RequestBody, ResponseBody } from '../../broker/protocol/index.ts';
import type { Key } from '../../checker/history.ts';
import type { Address, Evidence, NodeId } from '../../nemesis/ports.ts';
import {
  adminClientId,
  adminVersions,
  awakeTimeoutMs,
  controllerOf,
  createTopicsRequest,
  description,
  endOffsets,
  endOffsetsRequest,
  isRefusedByOther,
  metadataRequest,
  missingLeaders,
  moveLeaderRequest,
  refusalOfMove,
  refusalOfTopic,
  retryPauseMs,
  type AdminApi,
  type AdminVersions,
  type ClusterDescription,
} from '../client/admin-requests.ts';
import { splitKey } from '../client/operations.ts';
import { EnvironmentError } from '../errors.ts';
import { moveByRequests, moveByZooKeeper, type MoveTools } from './leader-moves.ts';
import { reachOf, type Reach } from './reach.ts';
import { roundTrip } from './sockets.ts';

export interface Admin {
  /** Creates the topic, and resolves when every broker knows a leader for each of its partitions. */
  createTopic(topic: NewTopic): Promise<void>;
  /** Asks the controller, through any broker, to make `to` the leader of the partition. */
  moveLeader(partition: Key, to: NodeId): Promise<Evidence>;
  /** The topics as one broker knows them: the given one, or the first that answers. */
  describe(topics: readonly string[], node?: NodeId): Promise<ClusterDescription>;
  /**
   * Where each partition ends for consumers, by its leader: the high watermark. A partition without an answer is left
   * out; `missing` says why, one sentence each.
   */
  endOffsets(partitions: readonly Key[]): Promise<EndOffsets>;
  /** Rejects where a broker names an address that is not the cluster's own: its clients would go there. */
  demandOwnAddresses(): Promise<void>;
}

export interface EndOffsets {
  readonly ends: ReadonlyMap<Key, number>;
  readonly missing: readonly string[];
}

/** How leaders move: `own` by our controller's private API, the others as in `leader-moves.ts`, `none` not at all. */
export type LeaderMoves =
  | { readonly by: 'own' | 'reassign' | 'none' }
  | { readonly by: 'zookeeper'; readonly address: Address };

export interface AdminOptions {
  /** As negotiated; what our own brokers are asked in, if not given. */
  readonly versions?: AdminVersions;
  readonly moves?: LeaderMoves;
  /** Whom brokers may refer to; if not given, one another. */
  readonly reach?: Reach;
  /** Closes whatever connection is open, and opens no more. */
  readonly signal?: AbortSignal;
}

interface NewTopic {
  readonly name: string;
  readonly partitions: number;
  readonly replicationFactor: number;
  /** Which brokers keep each partition, the leader first; the cluster decides where it is not given. */
  readonly assignment?: readonly (readonly NodeId[])[];
  /** How long to wait for the cluster to get ready. */
  readonly timeoutMs: number;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
}

export function createAdmin(
  addresses: ReadonlyMap<NodeId, Address>,
  requestTimeoutMs = 1_000,
  { versions = adminVersions, moves = { by: 'own' }, reach = reachOf(addresses.values()), signal }: AdminOptions = {},
): Admin {
  const askAt = <A extends AdminApi>(
    address: Address,
    api: A,
    body: RequestBody<A>,
    timeoutMs: number,
  ): Promise<ResponseBody<A>> => {
    const version = versions[api];
    if (version === null) throw new EnvironmentError(`these brokers do not serve ${api}`);
    return roundTrip<A>(address, adminClientId, { api, version, body }, timeoutMs, signal);
  };

  const ask = async <A extends AdminApi>(
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
        return { node, body: await askAt(address, api, body, timeoutMs) };
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

  /** What only a controller does, where the first broker that answers refers to it; it need not be one of ours. */
  const askController = async <A extends 'CreateTopics' | 'AlterPartitionReassignments' | 'ElectLeaders'>(
    api: A,
    body: RequestBody<A>,
    nodes?: Iterable<NodeId>,
  ): Promise<ResponseBody<A>> => {
    const first = await ask(api, body, nodes);
    if (!isRefusedByOther(first.body)) return first.body;
    const controller = controllerOf((await ask('Metadata', metadataRequest([]))).body);
    if (controller === null) return first.body;
    const refused = reach(controller);
    if (refused !== null) throw new EnvironmentError(`the controller is not asked: ${refused}`);
    // As with `isAwake`: throws where it does not answer at once.
    await askAt(controller, 'Metadata', metadataRequest([]), awakeTimeoutMs);
    return askAt(controller, api, body, requestTimeoutMs);
  };

  const tools: MoveTools = {
    askController,
    async views(topic) {
      const asked = [...addresses.keys()].map(async (node) => {
        const { body } = await ask('Metadata', metadataRequest([topic]), [node], awakeTimeoutMs);
        return [node, description(body)] as const;
      });
      const answers = await Promise.allSettled(asked);
      return new Map(answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : [])));
    },
  };

  return {
    describe,
    async endOffsets(partitions) {
      const { leaders, missing } = await leadersOf(partitions, describe);
      const ends = new Map<Key, number>();
      const asked = [...leaders].map(async ([node, keys]) => {
        const { body } = await ask('ListOffsets', endOffsetsRequest(keys), [node]);
        const answers = endOffsets(body);
        for (const key of keys) {
          const end = answers.get(key) ?? 'no answer';
          if (typeof end === 'number' && end >= 0) ends.set(key, end);
          else missing.push(`broker ${node} does not say where ${key} ends: ${end}`);
        }
      });
      for (const { reason } of (await Promise.allSettled(asked)).filter((each) => each.status === 'rejected')) {
        missing.push(reason instanceof Error ? reason.message : String(reason));
      }
      return { ends, missing };
    },
    async demandOwnAddresses() {
      for (const asked of addresses.keys()) {
        const { body } = await ask('Metadata', metadataRequest([]), [asked]);
        for (const { nodeId, ...named } of body.brokers) {
          const refused = reach(named);
          if (refused !== null) throw new EnvironmentError(`broker ${asked} names broker ${nodeId}: ${refused}`);
        }
      }
    },
    async createTopic(topic) {
      const deadline = performance.now() + topic.timeoutMs;
      const request = createTopicsRequest(topic.name, topic.partitions, topic.replicationFactor, topic.assignment);
      await until(topic, deadline, async () => submit(topic, await askController('CreateTopics', request)));
      for (const node of addresses.keys()) {
        await until(topic, deadline, async () => checkLeaders(topic, node, await describe([topic.name], node)));
      }
    },
    async moveLeader(partition, to) {
      if (moves.by === 'none') return { effective: false, facts: { error: 'leaders of this target cannot be moved' } };
      if (moves.by === 'reassign') return moveByRequests(tools, partition, to);
      if (moves.by === 'zookeeper') return moveByZooKeeper(tools, moves.address, partition, to);
      // Through the new leader if it can: of all brokers it is the one that must be in touch with the controller.
      const nodes = [to, ...[...addresses.keys()].filter((node) => node !== to)];
      const awake = new Map(nodes.map((node) => [node, isAwake(node)]));
      let reason = 'no broker answers';
      for (const node of nodes) {
        if ((await awake.get(node)) !== true) continue;
        try {
          const refusal = refusalOfMove((await ask('MoveLeader', moveLeaderRequest(partition, to), [node])).body);
          if (refusal === null) return { effective: true, facts: { through: node } };
          reason = refusal.reason;
          if (!refusal.another) break;
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
    minTimeout: retryPauseMs,
    maxTimeout: retryPauseMs,
    maxRetryTime: Math.max(0, deadline - performance.now()),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Throws what keeps the topic from being there; for good, if asking again cannot help. */
function submit({ name }: NewTopic, body: ResponseBody<'CreateTopics'>): void {
  const refusal = refusalOfTopic(name, body);
  if (refusal === null) return;
  const error = new EnvironmentError(refusal.reason);
  throw refusal.retriable ? error : new AbortError(error);
}

function checkLeaders(topic: NewTopic, node: NodeId, known: ClusterDescription): void {
  const missing = missingLeaders(topic.name, topic.partitions, node, known);
  if (missing !== null) throw new EnvironmentError(missing);
}

/** Partitions by their leader, as the first broker that answers knows it. */
async function leadersOf(
  partitions: readonly Key[],
  describe: Admin['describe'],
): Promise<{ readonly leaders: ReadonlyMap<NodeId, Key[]>; readonly missing: string[] }> {
  const topics = [...new Set(partitions.map((key) => splitKey(key).topic))];
  const known = await describe(topics);
  const leaders = new Map<NodeId, Key[]>();
  const missing: string[] = [];
  for (const key of partitions) {
    const leader = known.partitions.get(key)?.leader ?? null;
    if (leader === null) missing.push(`nobody leads ${key}`);
    else leaders.set(leader, [...(leaders.get(leader) ?? []), key]);
  }
  return { leaders, missing };
}
