/**
 * Who the active controller is, as far as brokers say so: whoever decides on leaders and in-sync replicas.
 *
 * In ZooKeeper's time any broker may be it, and each names it in its answer to Metadata. In KRaft it is the leader of a
 * quorum that brokers ask on our behalf (DescribeQuorum, KIP-595), with the epoch of that leadership; what Metadata names
 * there is any broker.
 *
 * Invariant: a sighting comes from a difference: between a broker's word and its own word before, or to a higher epoch. So
 * one that wakes with an old view undoes nothing.
 */
import type { ResponseBody } from '../../broker/protocol/index.ts';
import type { NodeId, NodeName } from '../../nemesis/ports.ts';
import type { Sighting } from './lines.ts';

/** The log of the quorum, by which DescribeQuorum asks. */
export const quorumQuestion = {
  topics: [{ topicName: '__cluster_metadata', partitions: [{ partitionIndex: 0 }] }],
};

export class ActiveController {
  #told: { readonly controller: NodeId | null; readonly epoch: number } | null = null;
  /** Whom each broker named last. */
  readonly #words = new Map<NodeName, NodeId>();

  /** An answer to Metadata, in ZooKeeper's time. */
  namedBy(node: NodeName, { controllerId }: Pick<ResponseBody<'Metadata'>, 'controllerId'>): Sighting[] {
    if (controllerId < 0) return [];
    const before = this.#words.get(node);
    this.#words.set(node, controllerId);
    const isNews = before === undefined ? this.#told === null : before !== controllerId;
    if (!isNews || this.#told?.controller === controllerId) return [];
    return this.#tell(controllerId, -1);
  }

  /** An answer to DescribeQuorum. */
  describedBy({ errorCode, topics }: ResponseBody<'DescribeQuorum'>): Sighting[] {
    const quorum = topics[0]?.partitions[0];
    if (errorCode !== 0 || quorum === undefined || quorum.errorCode !== 0) return [];
    const { leaderEpoch } = quorum;
    const controller = quorum.leaderId < 0 ? null : quorum.leaderId;
    const { epoch, controller: before } = this.#told ?? { epoch: -1, controller: null };
    if (leaderEpoch < epoch || (leaderEpoch === epoch && (controller === before || controller === null))) return [];
    return this.#tell(controller, leaderEpoch);
  }

  /** The node's process has ended, or begins: what it says first may be of the past. */
  forget(node: NodeName): void {
    this.#words.delete(node);
  }

  #tell(controller: NodeId | null, epoch: number): Sighting[] {
    this.#told = { controller, epoch };
    const epochFields = epoch < 0 ? {} : { epoch };
    return [{ node: 'controller', event: 'active-controller', source: 'metadata', controller, ...epochFields }];
  }
}
