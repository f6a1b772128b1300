/**
 * What brokers of the ZooKeeper era keep there about themselves: who is the controller, and who is registered.
 *
 * A broker's registration belongs to its session, and outlives its process by the session timeout. Whoever starts it
 * again sooner meets his own shadow: "a broker is already registered on the path /brokers/ids/1", and the broker ends.
 * That is a haste of whoever operates it, and accuses no broker; so a start waits until the old session is forgotten.
 */
import type { ForeignCluster } from '../../docker/foreign.ts';
import type { Action, Address, NodeId, NodeName } from '../../nemesis/ports.ts';
import { holds } from './holds.ts';
import { openZooKeeper } from './zookeeper.ts';

type ZooKeeperPlace = NonNullable<ForeignCluster['zooKeeper']>;

/** Deletes the controller's seat until `node` takes it: a broker that has no replicas, and is not what is broken. */
export async function seatController(address: Address, node: NodeId, timeoutMs: number): Promise<boolean> {
  const zookeeper = await openZooKeeper(address, timeoutMs);
  try {
    return await holds(performance.now() + timeoutMs, async () => {
      const seat = await zookeeper.get('/controller');
      if (seat === null) return false;
      if ((JSON.parse(seat) as { readonly brokerid?: number }).brokerid === node) return true;
      await zookeeper.remove('/controller');
      return false;
    });
  } finally {
    zookeeper.close();
  }
}

/**
 * Resolves when nothing stands in the way of this action: before a start, when the broker's last registration is gone
 * (true), or has stayed for `timeoutMs`, or cannot be asked for (false). The wait ends when `signal` aborts: nobody may be
 * asked whose network is about to go.
 */
export async function whenForgotten(
  place: ZooKeeperPlace,
  action: Action,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  if (action.port !== 'process' || action.verb !== 'start') return true;
  const deadline = performance.now() + timeoutMs;
  try {
    const zookeeper = await openZooKeeper(place, timeoutMs, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
    try {
      const path = `/brokers/ids/${idOf(action.node, place)}`;
      return await holds(deadline, async () => (await zookeeper.get(path)) === null);
    } finally {
      zookeeper.close();
    }
  } catch {
    // The start goes on: its own evidence, and the broker's, say what became of it.
    return false;
  }
}

function idOf(node: NodeName, { controllerId }: ZooKeeperPlace): number {
  return node === 'controller' ? controllerId : node;
}
