/**
 * Exposures: the moments at which the high watermark flaw could have bitten.
 *
 * A member of the ISR becomes follower while it holds, at or above its own high watermark, a record that was
 * acknowledged in an earlier epoch. A broker that truncates to its own high watermark throws such a record away; one
 * that asks the leader keeps it. Every run counts them, whatever its build: a run without one proves nothing about it.
 * Who goes on following the same leader in a new epoch, or has no leader to follow, truncates nothing in any build.
 */
import type { AckAt, ClusterTrace, PartitionTrace, RoleAt } from './replicas.ts';
import { traceReference } from './replicas.ts';
import type { Exposure } from './results.ts';
import { firstNotBefore } from './search.ts';

export function findExposures(cluster: ClusterTrace): Exposure[] {
  const exposures: Exposure[] = [];
  for (const partition of cluster.partitions.values()) {
    const acks = partition.acks.filter((ack) => ack.acks !== 0);
    if (acks.length === 0) continue;
    for (const [node, roles] of partition.roles) {
      for (const [at, role] of roles.entries()) {
        if (role.line.leader === null || goesOn(cluster, roles[at - 1], role)) continue;
        const exposure = exposureOf(cluster, partition, acks, node, role);
        if (exposure !== null) exposures.push(exposure);
      }
    }
  }
  return exposures.sort((x, y) => byText(x.key, y.key) || x.leaderEpoch - y.leaderEpoch || x.node - y.node);
}

/** The node followed that leader already, and has not been started again since. */
function goesOn(cluster: ClusterTrace, before: RoleAt | undefined, role: RoleAt): boolean {
  if (before?.line.role !== 'follower' || before.line.leader !== role.line.leader) return false;
  const { boot } = cluster.store;
  return boot.get(before.row) === boot.get(role.row);
}

function exposureOf(
  cluster: ClusterTrace,
  partition: PartitionTrace,
  acks: readonly AckAt[],
  node: number,
  role: RoleAt,
): Exposure | null {
  const { line } = role;
  if (line.role !== 'follower' || line.leo <= line.hw || !line.isr.includes(node)) return null;
  let first = -1;
  let last = -1;
  const reaching = firstNotBefore(acks.length, (at) => (acks[at] as AckAt).last < line.hw);
  for (let at = reaching; at < acks.length; at += 1) {
    const ack = acks[at] as AckAt;
    if (ack.base >= line.leo) break;
    if (ack.epoch >= role.epoch || !holdsAcked(cluster, partition, node, ack, role)) continue;
    if (first === -1) first = Math.max(ack.base, line.hw);
    last = Math.max(last, Math.min(ack.last, line.leo - 1));
  }
  if (first === -1) return null;
  return {
    key: partition.key,
    node,
    leaderEpoch: role.epoch,
    highWatermark: line.hw,
    endOffset: line.leo,
    acknowledged: [first, last],
    reference: traceReference(cluster.store, role.row),
  };
}

/** The node held the very batch that was acknowledged when it took the role. */
function holdsAcked(cluster: ClusterTrace, partition: PartitionTrace, node: number, ack: AckAt, role: RoleAt): boolean {
  const { stays } = partition;
  const place = cluster.position[role.row] as number;
  return stays.at(ack.base).some((stay) => {
    if (stays.node.get(stay) !== node || stays.epoch.get(stay) !== ack.batchEpoch) return false;
    const removed = stays.removed.get(stay);
    const appended = cluster.position[stays.appended.get(stay)] as number;
    return appended < place && (removed === -1 || (cluster.position[removed] as number) > place);
  });
}

/** By code unit: an order of its own for each language would make results differ from machine to machine. */
function byText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
