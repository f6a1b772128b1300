/**
 * What a fault can wait for, judged by the view.
 *
 * Some conditions are states (a replica leads), which hold at once if they held already; others are events (a record is
 * acknowledged), which count from the moment when the wait began. For the latter a wait keeps a {@link Mark}, the
 * counters of the view at its beginning.
 *
 * Invariant: a condition depends on nothing but trace lines, so every build meets it by the same rules.
 */
import type { NodeId, NodeName } from './ports.ts';
import type { Condition } from './schedule.ts';
import type { ClusterView, PartitionView } from './view.ts';
import { follows, isFullySynced, leads } from './view.ts';

/** The counters of one partition when a wait began. */
export interface Mark {
  readonly elections: number;
  readonly truncations: number;
  readonly highWatermark: number;
  readonly acks: ReadonlyMap<NodeName, number>;
}

/** Who the roles are. A condition that names one looks at its first node. */
export type Groups = Readonly<Record<string, readonly (NodeName | 'clients')[]>>;

export function markOf(condition: Condition, view: ClusterView): Mark {
  const partition = 'partition' in condition ? view.partitions.get(condition.partition) : undefined;
  return {
    elections: partition?.elections ?? 0,
    truncations: partition?.truncations ?? 0,
    highWatermark: partition === undefined ? 0 : highWatermarkOf(partition),
    acks: new Map(partition?.acks),
  };
}

/** Whether what was waited for has been seen. `stepsDone` is said by the fault itself. */
export function holds(
  condition: Condition,
  view: ClusterView,
  mark: Mark,
  groups: Groups,
  stepsDone: boolean,
): boolean {
  if (condition.seen === 'steps-done') return stepsDone;
  if (condition.seen === 'full-isr') return isFullySynced(view);
  const partition = view.partitions.get(condition.partition);
  if (partition === undefined) return false;
  switch (condition.seen) {
    case 'leader-change':
      return partition.elections > mark.elections && partition.leader !== null;
    case 'isr-size':
      return partition.isr.length <= condition.atMost;
    case 'hw':
      return highWatermarkOf(partition) >= mark.highWatermark + condition.by;
    case 'truncation':
      return partition.truncations > mark.truncations;
    case 'ack': {
      const node = nodeOf(groups, condition.by);
      return node !== null && (partition.acks.get(node) ?? 0) > (mark.acks.get(node) ?? 0);
    }
    case 'leads': {
      const node = nodeOf(groups, condition.node);
      return node !== null && leads(partition, node);
    }
    case 'in-sync':
    case 'out-of-sync': {
      const node = nodeOf(groups, condition.node);
      return node !== null && partition.isr.includes(node) === (condition.seen === 'in-sync');
    }
    case 'follows': {
      const node = nodeOf(groups, condition.node);
      const leader = nodeOf(groups, condition.leader);
      return node !== null && leader !== null && follows(partition, node, leader);
    }
  }
}

/** Whether a line of that event may bring it about. */
export function mayBeShownBy({ seen }: Condition, event: string): boolean {
  return seen === event || !comesWithRecords(event);
}

/** Lines of which there are many for every record, and which say nothing of who has a role. */
export function comesWithRecords(event: string): boolean {
  return event === 'append' || event === 'hw' || event === 'fetch' || event === 'ack';
}

/** What is waited for, in a few words. */
export function describeCondition(condition: Condition): string {
  switch (condition.seen) {
    case 'full-isr':
      return 'every ISR is full';
    case 'steps-done':
      return 'its steps are done';
    case 'leader-change':
      return `${condition.partition} has a new leader`;
    case 'isr-size':
      return `the ISR of ${condition.partition} has at most ${condition.atMost}`;
    case 'hw':
      return `the high watermark of ${condition.partition} rose by ${condition.by}`;
    case 'truncation':
      return `a replica of ${condition.partition} truncated`;
    case 'ack':
      return `${condition.by} acknowledged a record of ${condition.partition}`;
    case 'in-sync':
      return `${condition.node} is in the ISR of ${condition.partition}`;
    case 'out-of-sync':
      return `${condition.node} is out of the ISR of ${condition.partition}`;
    case 'leads':
      return `${condition.node} leads ${condition.partition}`;
    case 'follows':
      return `${condition.node} follows ${condition.leader} on ${condition.partition}`;
  }
}

function highWatermarkOf(partition: PartitionView): number {
  return partition.leader === null ? 0 : (partition.replica.get(partition.leader)?.hw ?? 0);
}

function nodeOf(groups: Groups, role: string): NodeId | null {
  const node = groups[role]?.[0];
  return typeof node === 'number' ? node : null;
}
