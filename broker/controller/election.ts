/**
 * Who leads, and who is in sync: the decisions of the controller as plain functions of one partition.
 *
 * A decision is the next state of a partition, or null when nothing is to change. Leaders are sought in the order of
 * the assignment among live members of the ISR; outside of it only where unclean election is allowed. The ISR is never
 * empty: its last member stays in it even when it is gone, since it alone is sure to hold what was acknowledged.
 *
 * Every decision of the controller itself raises the leader epoch, also one that only takes a broker that left out of
 * the ISR, as Kafka did with ZooKeeper: the leader goes on under the same id and a new epoch. A change of the ISR that
 * the leader asked for (AlterPartition, KIP-497) raises the partition epoch alone.
 */
import type { NodeId } from '../core/step.ts';
import { ErrorCode } from '../protocol/index.ts';
import { NO_LEADER } from './metadata.ts';
import type { PartitionChange, PartitionState } from './metadata.ts';

export interface Decision extends PartitionChange {
  /** False when the leader comes from outside of the ISR: acknowledged records may be lost. */
  readonly clean: boolean;
}

/**
 * From where a leader may come: from the ISR only; from outside of it where nobody else is left; or (a defect of the
 * controller) from anywhere, as if the ISR did not matter.
 */
export type ElectionRule = 'clean' | 'unclean' | 'any-as-clean';

/** Tells who may lead and stay in an ISR. */
export type Eligible = (id: NodeId) => boolean;

/** The first state of a new partition: all live replicas are in sync, the first of them leads. */
export function firstState(replicas: readonly NodeId[], eligible: Eligible): Decision {
  const isr = replicas.filter(eligible);
  return { leader: isr[0] ?? NO_LEADER, leaderEpoch: 0, partitionEpoch: 0, isr, clean: true };
}

/** What becomes of a partition when `leaving` is fenced or shuts down. */
export function afterLeaving(
  partition: PartitionState,
  leaving: NodeId,
  eligible: Eligible,
  rule: ElectionRule,
): Decision | null {
  const inIsr = partition.isr.includes(leaving);
  if (!inIsr) return null;
  const isr = partition.isr.length > 1 ? partition.isr.filter((id) => id !== leaving) : partition.isr;
  if (partition.leader === leaving || partition.leader === NO_LEADER) {
    return elect(partition, isr, eligible, rule);
  }
  return isr === partition.isr ? null : next(partition, partition.leader, isr, true);
}

/** What becomes of a partition without a leader when a broker comes back. */
export function afterReturn(partition: PartitionState, eligible: Eligible, rule: ElectionRule): Decision | null {
  return partition.leader === NO_LEADER ? elect(partition, partition.isr, eligible, rule) : null;
}

/** Makes `target` the leader, or says why not, as an error code and a sentence. */
export function moveTo(
  partition: PartitionState,
  target: NodeId,
  eligible: Eligible,
): Decision | { readonly errorCode: number; readonly errorMessage: string } {
  if (partition.leader === target) {
    return { errorCode: ErrorCode.ELECTION_NOT_NEEDED, errorMessage: `broker ${target} leads already` };
  }
  if (!partition.isr.includes(target) || !eligible(target)) {
    const errorMessage = `broker ${target} is not a live member of the ISR [${partition.isr.join(', ')}]`;
    return { errorCode: ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, errorMessage };
  }
  return next(partition, target, partition.isr, true);
}

/** What a leader proposes by AlterPartition. */
export interface IsrProposal {
  readonly sender: NodeId;
  readonly leaderEpoch: number;
  readonly partitionEpoch: number;
  readonly newIsr: readonly NodeId[];
}

/** Checks a proposal in the order of KRaft's controller (`ReplicationControlManager.validateAlterPartitionData`); returns an error code. */
export function checkProposal(partition: PartitionState, proposal: IsrProposal, eligible: Eligible): number {
  const { leaderEpoch, partitionEpoch, newIsr, sender } = proposal;
  if (leaderEpoch > partition.leaderEpoch || partitionEpoch > partition.partitionEpoch) return ErrorCode.NOT_CONTROLLER;
  if (leaderEpoch < partition.leaderEpoch) return ErrorCode.FENCED_LEADER_EPOCH;
  if (sender !== partition.leader) return ErrorCode.INVALID_REQUEST;
  if (partitionEpoch < partition.partitionEpoch) return ErrorCode.INVALID_UPDATE_VERSION;
  const known = newIsr.every((id, index) => partition.replicas.includes(id) && newIsr.indexOf(id) === index);
  if (!known || !newIsr.includes(partition.leader)) return ErrorCode.INVALID_REQUEST;
  return newIsr.every(eligible) ? ErrorCode.NONE : ErrorCode.INELIGIBLE_REPLICA;
}

/** Replicas of `count` partitions, rotating over the brokers: the leaders of consecutive partitions differ. */
export function assignReplicas(
  brokers: readonly NodeId[],
  count: number,
  replicationFactor: number,
  rotation: number,
): NodeId[][] {
  const assignment: NodeId[][] = [];
  for (let partition = 0; partition < count; partition++) {
    const replicas: NodeId[] = [];
    for (let replica = 0; replica < replicationFactor; replica++) {
      const broker = brokers[(rotation + partition + replica) % brokers.length];
      if (broker !== undefined) replicas.push(broker);
    }
    assignment.push(replicas);
  }
  return assignment;
}

/** Assignment order, clean first (Kafka's `PartitionLeaderElectionAlgorithms`). */
function elect(
  partition: PartitionState,
  isr: readonly NodeId[],
  eligible: Eligible,
  rule: ElectionRule,
): Decision | null {
  const first = partition.replicas.find(eligible);
  if (rule === 'any-as-clean' && first !== undefined) {
    return next(partition, first, isr.includes(first) ? isr : [...isr.filter(eligible), first], true);
  }
  const clean = partition.replicas.find((id) => isr.includes(id) && eligible(id));
  if (clean !== undefined) return next(partition, clean, isr, true);
  const unclean = rule === 'unclean' ? first : undefined;
  if (unclean !== undefined) return next(partition, unclean, [unclean], false);
  const unchanged = partition.leader === NO_LEADER && isr.length === partition.isr.length;
  return unchanged ? null : next(partition, NO_LEADER, isr, true);
}

function next(partition: PartitionState, leader: NodeId, isr: readonly NodeId[], clean: boolean): Decision {
  return {
    leader,
    leaderEpoch: partition.leaderEpoch + 1,
    partitionEpoch: partition.partitionEpoch + 1,
    isr,
    clean,
  };
}
