/**
 * When a cluster is at rest, as far as its trace tells: the rule by which every runtime decides that a run has settled.
 *
 * Every partition has its whole ISR, every replica has taken its role in the newest epoch, all logs end where the
 * leader's ends, and every high watermark is there too. How long this must last, and how long to wait for it, is for
 * whoever asks. Of brokers that tell no trace less is known, and what is not known is not demanded.
 *
 * Invariant: an answer of "not at rest" always comes with its reasons, one sentence each.
 */
import type { NodeId, NodeName, TraceLine } from './ports.ts';
import type { ClusterView, PartitionView } from './view.ts';

/** Lines that a cluster at rest does not write. */
const changing = new Set(['append', 'hw', 'role', 'truncation', 'election', 'isr', 'log-start', 'recover', 'start']);

/** Whether a line tells of records or roles: as long as none comes, no replica changes. */
export function isChange(line: TraceLine): boolean {
  return changing.has(line.event);
}

/** Everything that keeps the cluster from being at rest; without those brokers, which will not come back. */
export function unrest(view: ClusterView, gone: ReadonlySet<NodeName> = nobody): string[] {
  const reasons = [...view.fenced].filter((node) => !gone.has(node)).map((node) => `broker ${node} is fenced`);
  for (const [key, partition] of view.partitions) reasons.push(...unrestOf(key, partition, gone));
  return reasons;
}

/** Where each partition ends for consumers: its leader's high watermark. */
export function endsOf(view: ClusterView): Map<string, number> {
  const ends = new Map<string, number>();
  for (const [key, { leader, replica }] of view.partitions) {
    if (leader !== null) ends.set(key, replica.get(leader)?.hw ?? 0);
  }
  return ends;
}

/** Who leads each partition that has a leader. */
export function leadersOf(view: ClusterView): Record<string, NodeId> {
  const leaders: Record<string, NodeId> = {};
  for (const [key, { leader }] of view.partitions) if (leader !== null) leaders[key] = leader;
  return leaders;
}

const nobody: ReadonlySet<NodeName> = new Set();

function unrestOf(key: string, partition: PartitionView, gone: ReadonlySet<NodeName>): string[] {
  const { leader, leaderEpoch, isr } = partition;
  if (partition.replicas.length === 0) return [`${key} does not exist`];
  if (leader === null) return [`${key} has no leader`];
  // With the last of its ISR it is gone as well; while somebody else is in sync, there will be another leader.
  if (gone.has(leader)) return isr.every((node) => gone.has(node)) ? [] : [`${key}: its leader is gone`];
  const replicas = partition.replicas.filter((node) => !gone.has(node));
  const reasons: string[] = [];
  if (!replicas.every((node) => isr.includes(node)))
    reasons.push(`${key}: the ISR is ${isr.join(', ')} of ${replicas.join(', ')}`);
  const end = partition.replica.get(leader)?.leo ?? 0;
  for (const node of replicas) {
    const replica = partition.replica.get(node);
    if (replica?.role === undefined || replica.role.leaderEpoch !== leaderEpoch) {
      reasons.push(`${key}: broker ${node} has not taken its role in epoch ${leaderEpoch}`);
    } else if (replica.leo !== end) {
      reasons.push(`${key}: the log of broker ${node} ends at ${replica.leo}, the leader's at ${end}`);
    } else if (replica.hwTold && replica.hw !== end) {
      reasons.push(`${key}: the high watermark of broker ${node} is ${replica.hw}, the log ends at ${end}`);
    }
  }
  return reasons;
}
