/**
 * The admin client: what the harness itself asks of a cluster, outside of any history.
 *
 * Small asynchronous functions, each a round trip on a fresh connection, to the first broker that answers. Only getting
 * ready is ever retried: a test may begin when every broker has answered and knows a leader for every partition.
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
  createTopicsRequest,
  description,
  metadataRequest,
  missingLeaders,
  moveLeaderRequest,
  refusalOfMove,
  refusalOfTopic,
  retryPauseMs,
  type ClusterDescription,
} from '../client/admin-requests.ts';
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

export function createAdmin(addresses: ReadonlyMap<NodeId, Address>, requestTimeoutMs = 1_000): Admin {
  const ask = async <A extends keyof typeof adminVersions>(
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
        const request = { api, version: adminVersions[api], body };
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
      await until(topic, deadline, async () =>
        submit(
          topic,
          await ask('CreateTopics', createTopicsRequest(topic.name, topic.partitions, topic.replicationFactor)),
        ),
      );
      for (const node of addresses.keys()) {
        await until(topic, deadline, async () => checkLeaders(topic, node, await describe([topic.name], node)));
      }
    },
    async moveLeader(partition, to) {
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
function submit({ name }: NewTopic, { body }: { readonly body: ResponseBody<'CreateTopics'> }): void {
  const refusal = refusalOfTopic(name, body);
  if (refusal === null) return;
  const error = new EnvironmentError(refusal.reason);
  throw refusal.retriable ? error : new AbortError(error);
}

function checkLeaders(topic: NewTopic, node: NodeId, known: ClusterDescription): void {
  const missing = missingLeaders(topic.name, topic.partitions, node, known);
  if (missing !== null) throw new EnvironmentError(missing);
}
