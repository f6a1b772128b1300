/**
 * How the leaders of other people's brokers are moved: the wanted leader is made the first of the same replicas, and then
 * the preferred replica is elected. Nothing is copied, and no broker is stopped. When it leads the order is put back as
 * it was, since elections go by it: whoever plans faults counts on that.
 *
 * Since Kafka 2.4 both are requests (KIP-455, KIP-460). Before, both were orders left in ZooKeeper, which the controller
 * takes away when it has carried them out; such brokers tell replicas in any order, so the order is read there too.
 *
 * Invariant: a move counts as effective only if somebody else led before, and the new leader's own Metadata says within
 * the bound that it leads. Nothing is asked of a broker that is paused, and an order that was not taken away is taken
 * back, so that neither can act when nobody expects it any more.
 */
import type { RequestBody, ResponseBody } from '../../broker/protocol/index.ts';
import type { Key } from '../../checker/history.ts';
import type { Address, Evidence, NodeId } from '../../nemesis/ports.ts';
import {
  electPreferredRequest,
  preferring,
  reassignRequest,
  refusalOfElection,
  refusalOfReassignment,
  type ClusterDescription,
  type PartitionDescription,
} from '../client/admin-requests.ts';
import { splitKey } from '../client/operations.ts';
import { holds } from './holds.ts';
import { openZooKeeper, type ZooKeeper } from './zookeeper.ts';

/** A whole move takes this long at most. Kafka takes some tens of milliseconds, more where its controller is busy. */
const moveTimeoutMs = 3_000;

/** What a move needs of the admin client. */
export interface MoveTools {
  /** The topic as each broker knows it that answers at once. */
  views(topic: string): Promise<ReadonlyMap<NodeId, ClusterDescription>>;
  /** Through one of these brokers. */
  askController<A extends 'AlterPartitionReassignments' | 'ElectLeaders'>(
    api: A,
    body: RequestBody<A>,
    nodes: readonly NodeId[],
  ): Promise<ResponseBody<A>>;
}

/** By AlterPartitionReassignments and ElectLeaders. */
export function moveByRequests(tools: MoveTools, key: Key, to: NodeId): Promise<Evidence> {
  return move(tools, key, to, 'reassignment', async (deadline, leads) => {
    const { topic } = splitKey(key);
    const views = await tools.views(topic);
    const before = newestOf(views, key);
    const refused = before === null ? `nobody knows ${key}` : cannotLead(before, key, to);
    if (before === null || refused !== null) return refused;
    // Through the new leader if it can: of all brokers it is the one that must be in touch with the controller.
    const nodes = [to, ...views.keys()].filter((node, index, all) => views.has(node) && all.indexOf(node) === index);
    if (before.replicas[0] !== to) {
      const request = reassignRequest(key, preferring(to, before.replicas));
      const answer = await tools.askController('AlterPartitionReassignments', request, nodes);
      const refusal = refusalOfReassignment(answer);
      if (refusal !== null) return `the new order of the replicas is refused: ${refusal}`;
      const isTaken = async (): Promise<boolean> => newestOf(await tools.views(topic), key)?.replicas[0] === to;
      if (!(await holds(deadline, isTaken))) return 'the new order of the replicas was not seen in time';
    }
    const refusal = refusalOfElection(await tools.askController('ElectLeaders', electPreferredRequest(key), nodes));
    if (refusal !== null) return `the election is refused: ${refusal}`;
    const came = await leads();
    if (before.replicas[0] !== to) {
      const request = reassignRequest(key, before.replicas);
      const refused = refusalOfReassignment(await tools.askController('AlterPartitionReassignments', request, nodes));
      if (refused !== null) return `the old order of the replicas is refused: ${refused}`;
    }
    return came ? null : lateOf(key, to);
  });
}

/** By the orders that the controllers of the ZooKeeper era wait for. */
export function moveByZooKeeper(tools: MoveTools, address: Address, key: Key, to: NodeId): Promise<Evidence> {
  return move(tools, key, to, 'zookeeper', async (deadline, leads) => {
    const zookeeper = await openZooKeeper(address, moveTimeoutMs);
    try {
      return await orderInZooKeeper(zookeeper, key, to, deadline, leads);
    } finally {
      zookeeper.close();
    }
  });
}

/** Gives the orders by `order`, which says why not or null; it is handed what waits until they have come true. */
async function move(
  tools: MoveTools,
  key: Key,
  to: NodeId,
  through: string,
  order: (deadline: number, leads: () => Promise<boolean>) => Promise<string | null>,
): Promise<Evidence> {
  const deadline = performance.now() + moveTimeoutMs;
  try {
    const leads = async (): Promise<boolean> => {
      const views = await tools.views(splitKey(key).topic);
      return views.get(to)?.partitions.get(key)?.leader === to;
    };
    const error = await order(deadline, () => holds(deadline, leads));
    return error === null ? { effective: true, facts: { through } } : { effective: false, facts: { error } };
  } catch (error) {
    return { effective: false, facts: { error: error instanceof Error ? error.message : String(error) } };
  }
}

function lateOf(key: Key, to: NodeId): string {
  return `broker ${to} did not become leader of ${key} in time`;
}

type Placed = Pick<PartitionDescription, 'leader' | 'replicas' | 'isr'>;

/** Null where the partition can be handed to `to`. */
function cannotLead({ leader, replicas, isr }: Placed, key: Key, to: NodeId): string | null {
  if (!replicas.includes(to)) return `broker ${to} is no replica of ${key}`;
  if (leader === to) return `broker ${to} leads ${key} already`;
  return isr.includes(to) ? null : `broker ${to} is not in the ISR of ${key}`;
}

/** What the broker with the newest leader epoch says; brokers learn of elections each in its own time. */
function newestOf(views: ReadonlyMap<NodeId, ClusterDescription>, key: Key): PartitionDescription | null {
  let newest: PartitionDescription | null = null;
  for (const { partitions } of views.values()) {
    const known = partitions.get(key);
    if (known !== undefined && (newest === null || known.leaderEpoch > newest.leaderEpoch)) newest = known;
  }
  return newest;
}

async function orderInZooKeeper(
  zookeeper: ZooKeeper,
  key: Key,
  to: NodeId,
  deadline: number,
  leads: () => Promise<boolean>,
): Promise<string | null> {
  const { topic, partition } = splitKey(key);
  const place = `/brokers/topics/${topic}`;
  const replicasNow = async (): Promise<readonly NodeId[]> => {
    const { partitions = {} } = await documentAt<{ partitions?: Record<string, NodeId[]> }>(zookeeper, place);
    return partitions[partition] ?? [];
  };
  const replicas = await replicasNow();
  const state = `${place}/partitions/${partition}/state`;
  const { leader = null, isr = [] } = await documentAt<{ leader?: NodeId; isr?: NodeId[] }>(zookeeper, state);
  const refused = cannotLead({ leader, replicas, isr }, key, to);
  if (refused !== null) return refused;
  if (replicas[0] !== to) {
    const order = { topic, partition, replicas: preferring(to, replicas) };
    const taken = await leaveOrder(zookeeper, '/admin/reassign_partitions', order, deadline);
    if (!taken || (await replicasNow())[0] !== to) return 'the controller did not take the new order of the replicas';
  }
  const taken = await leaveOrder(zookeeper, '/admin/preferred_replica_election', { topic, partition }, deadline);
  const came = taken && (await leads());
  if (replicas[0] !== to) {
    const order = { topic, partition, replicas };
    const isBack = await leaveOrder(zookeeper, '/admin/reassign_partitions', order, deadline);
    if (!isBack) return 'the controller did not take the old order of the replicas';
  }
  if (!taken) return 'the controller did not hold the election';
  return came ? null : lateOf(key, to);
}

/** What a node holds, as JSON; nothing of it where there is no such node. */
async function documentAt<T>(zookeeper: ZooKeeper, path: string): Promise<Partial<T>> {
  return JSON.parse((await zookeeper.get(path)) ?? '{}') as Partial<T>;
}

/** Leaves an order and waits until the controller has taken it away; takes it back where it does not. */
async function leaveOrder(zookeeper: ZooKeeper, path: string, order: object, deadline: number): Promise<boolean> {
  const document = JSON.stringify({ version: 1, partitions: [order] });
  // An order of somebody else is carried out first.
  if (!(await holds(deadline, () => zookeeper.create(path, document)))) return false;
  if (await holds(deadline, async () => (await zookeeper.get(path)) === null)) return true;
  await zookeeper.remove(path);
  return false;
}
