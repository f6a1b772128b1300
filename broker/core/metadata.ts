/**
 * What the controller has told this broker of the cluster: who is there, and where each partition stands.
 *
 * It answers clients' Metadata requests, and says which brokers may be in an ISR. It is as new as the last push, never
 * newer, and a broker that is cut off from the controller goes on with what it has.
 */
import type { RequestBody } from '../protocol/index.ts';
import type { NodeId } from './step.ts';

type Push = RequestBody<'PartitionStates'>;
export type KnownBroker = Push['brokers'][number];
export type KnownPartition = Push['partitions'][number];

export interface Metadata {
  /** Version of the newest push that was applied. */
  version: number;
  brokers: readonly KnownBroker[];
  /** By topic, by number of the partition. */
  readonly topics: Map<string, Map<number, KnownPartition>>;
}

export function emptyMetadata(): Metadata {
  return { version: -1, brokers: [], topics: new Map() };
}

/** Whether the controller has told this life of the broker anything; before, nobody knows which topics there are. */
export function isInformed(metadata: Metadata): boolean {
  return metadata.version >= 0;
}

/** A push is older than one that was applied: a straggler of a connection that the controller gave up. */
export function isStale(metadata: Metadata, push: Push): boolean {
  return push.metadataVersion < metadata.version;
}

/** Takes a push in. The replicas of this broker are not touched here. */
export function applyPush(metadata: Metadata, push: Push): void {
  metadata.version = push.metadataVersion;
  metadata.brokers = push.brokers;
  if (push.full) metadata.topics.clear();
  for (const partition of push.partitions) {
    const topic = metadata.topics.get(partition.topic) ?? new Map<number, KnownPartition>();
    if (partition.deleted) topic.delete(partition.partition);
    else topic.set(partition.partition, partition);
    if (topic.size > 0) metadata.topics.set(partition.topic, topic);
    else metadata.topics.delete(partition.topic);
  }
}

/** Whether a broker may be in an ISR: registered and not fenced (KIP-841). */
export function isEligible(metadata: Metadata, id: NodeId): boolean {
  return metadata.brokers.some((broker) => broker.brokerId === id && !broker.fenced);
}

export function knownPartition(metadata: Metadata, topic: string, index: number): KnownPartition | undefined {
  return metadata.topics.get(topic)?.get(index);
}
