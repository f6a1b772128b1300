/**
 * What the controller knows, and the records from which it can know it again.
 *
 * Every change of the cluster's metadata is one record. The same function, {@link applyRecord}, takes a record in
 * when it is made and when it is read back after a crash, so what was restored cannot differ from what was known. The
 * number of records is the metadata version; the version at which a broker registered is its broker epoch, as in KRaft
 * (KIP-631), so both are monotone across crashes without a counter of their own.
 *
 * Invariants: leader epochs and partition epochs only grow; the ISR of a partition is never empty and is a subset of
 * its replicas; the leader, if there is one, is in the ISR.
 *
 * Sessions, pushes and everything else that a crash may forget stand in {@link BrokerState} below the line, and are
 * never in a record.
 */
import { defectsNamed } from '../core/defects.ts';
import type { Defects } from '../core/defects.ts';
import type { ControllerConfig } from '../core/settings.ts';
import type { NodeId } from '../core/step.ts';

/** In place of a leader's id where a partition has none (as on the wire). */
export const NO_LEADER = -1;

/** Where a partition stands: all of it that may change. */
export interface PartitionChange {
  readonly leader: NodeId;
  readonly leaderEpoch: number;
  readonly partitionEpoch: number;
  readonly isr: readonly NodeId[];
}

export type MetadataRecord =
  | {
      readonly type: 'register';
      readonly broker: NodeId;
      readonly incarnation: string;
      readonly host: string;
      readonly port: number;
    }
  | { readonly type: 'fence'; readonly broker: NodeId }
  | { readonly type: 'unfence'; readonly broker: NodeId }
  /** A controlled shutdown began: the broker may neither lead nor join an ISR until it registers again (KIP-841). */
  | { readonly type: 'shutting-down'; readonly broker: NodeId }
  /** A topic exists; its partitions follow, each with its first leader. */
  | { readonly type: 'topic'; readonly topic: string; readonly replicas: readonly (readonly NodeId[])[] }
  | ({ readonly type: 'partition'; readonly topic: string; readonly partition: number } & PartitionChange)
  /** The topic is gone, but replicas of it may exist until their brokers have heard of it. */
  | { readonly type: 'delete-topic'; readonly topic: string }
  /** Every replica is gone: the name is free again. */
  | { readonly type: 'forget-topic'; readonly topic: string };

export interface PartitionState {
  readonly topic: string;
  readonly partition: number;
  readonly replicas: readonly NodeId[];
  leader: NodeId;
  leaderEpoch: number;
  partitionEpoch: number;
  isr: readonly NodeId[];
  /** Metadata version of the last change. */
  version: number;
}

interface TopicState {
  readonly name: string;
  readonly partitions: readonly PartitionState[];
  deleted: boolean;
}

export interface BrokerState {
  readonly id: NodeId;
  epoch: number;
  incarnation: string;
  host: string;
  port: number;
  fenced: boolean;
  shuttingDown: boolean;
  /** The broker is not unfenced before it has acknowledged this version: its registration, or its fencing. */
  mustKnowVersion: number;
  /* ---- What a crash forgets. ---- */
  sessionDeadlineNs: number;
  /** Its last heartbeat asked to be unfenced. */
  wantsUnfenced: boolean;
  /** Newest version that it is known to have applied; −1 when it has to be told everything. */
  acknowledgedVersion: number;
  push: { readonly correlationId: number; readonly version: number; readonly deadlineNs: number } | null;
  /** No push before this time. */
  retryAtNs: number;
}

export interface ControllerState {
  readonly config: ControllerConfig;
  readonly defects: Defects;
  /** Counts the records: the version of the last one. */
  version: number;
  /** In the order of their ids. */
  readonly brokers: BrokerState[];
  /** In the order of their creation. */
  readonly topics: Map<string, TopicState>;
  nextCorrelationId: number;
  /** When the last event was taken. */
  lastStepNs: number;
}

export function emptyState(config: ControllerConfig, nowNs: number): ControllerState {
  const defects = defectsNamed(config.defects ?? []);
  return { config, defects, version: 0, brokers: [], topics: new Map(), nextCorrelationId: 0, lastStepNs: nowNs };
}

/** Takes one record into the state. A record that contradicts the state is a bug of ours and ends the process. */
export function applyRecord(state: ControllerState, record: MetadataRecord): void {
  state.version += 1;
  switch (record.type) {
    case 'register':
      applyRegistration(state, record);
      return;
    case 'fence': {
      const broker = knownBroker(state, record.broker);
      broker.fenced = true;
      broker.mustKnowVersion = state.version;
      return;
    }
    case 'unfence':
      knownBroker(state, record.broker).fenced = false;
      return;
    case 'shutting-down':
      knownBroker(state, record.broker).shuttingDown = true;
      return;
    case 'topic':
      applyTopic(state, record.topic, record.replicas);
      return;
    case 'partition':
      applyPartition(state, record);
      return;
    case 'delete-topic':
      knownTopic(state, record.topic).deleted = true;
      for (const partition of knownTopic(state, record.topic).partitions) partition.version = state.version;
      return;
    case 'forget-topic':
      state.topics.delete(record.topic);
      return;
    default:
      throw new Error(`metadata record ${state.version} is of no known type: ${JSON.stringify(record)}`);
  }
}

export function findBroker(state: ControllerState, id: NodeId): BrokerState | undefined {
  return state.brokers.find((broker) => broker.id === id);
}

/** A broker that may lead and be in an ISR: registered, unfenced, not about to leave. */
export function isEligible(state: ControllerState, id: NodeId): boolean {
  const broker = findBroker(state, id);
  return broker !== undefined && !broker.fenced && !broker.shuttingDown;
}

/** A topic that clients may see; a deleted one that is not yet forgotten is none. */
export function findPartition(state: ControllerState, topic: string, partition: number): PartitionState | undefined {
  const found = state.topics.get(topic);
  return found === undefined || found.deleted ? undefined : found.partitions[partition];
}

/** Every partition of every topic that is not deleted, in one fixed order. */
export function* livePartitions(state: ControllerState): Generator<PartitionState> {
  for (const topic of state.topics.values()) if (!topic.deleted) yield* topic.partitions;
}

/** `topic-partition`, as a log's folder and a history's key. */
export function keyOf(partition: { readonly topic: string; readonly partition: number }): string {
  return `${partition.topic}-${partition.partition}`;
}

function applyRegistration(state: ControllerState, record: MetadataRecord & { type: 'register' }): void {
  const { broker: id, incarnation, host, port } = record;
  const index = state.brokers.findIndex((broker) => broker.id >= id);
  const known = index >= 0 && state.brokers[index]?.id === id;
  state.brokers.splice(index < 0 ? state.brokers.length : index, known ? 1 : 0, {
    id,
    epoch: state.version,
    incarnation,
    host,
    port,
    fenced: true,
    shuttingDown: false,
    mustKnowVersion: state.version,
    sessionDeadlineNs: Infinity,
    wantsUnfenced: false,
    acknowledgedVersion: -1,
    push: null,
    retryAtNs: 0,
  });
}

function applyTopic(state: ControllerState, name: string, replicas: readonly (readonly NodeId[])[]): void {
  const partitions = replicas.map((assigned, partition) => ({
    topic: name,
    partition,
    replicas: assigned,
    leader: NO_LEADER,
    leaderEpoch: -1,
    partitionEpoch: -1,
    isr: [],
    version: state.version,
  }));
  state.topics.set(name, { name, partitions, deleted: false });
}

function applyPartition(state: ControllerState, record: MetadataRecord & { type: 'partition' }): void {
  const partition = knownTopic(state, record.topic).partitions[record.partition];
  const sound =
    partition !== undefined &&
    record.isr.length > 0 &&
    record.isr.every((id) => partition.replicas.includes(id)) &&
    (record.leader === NO_LEADER || record.isr.includes(record.leader)) &&
    record.partitionEpoch > partition.partitionEpoch &&
    record.leaderEpoch >= partition.leaderEpoch &&
    (record.leader === partition.leader || record.leaderEpoch > partition.leaderEpoch);
  if (!sound) {
    throw new Error(`unsound change of a partition: ${JSON.stringify(partition)} to ${JSON.stringify(record)}`);
  }
  partition.leader = record.leader;
  partition.leaderEpoch = record.leaderEpoch;
  partition.partitionEpoch = record.partitionEpoch;
  partition.isr = record.isr;
  partition.version = state.version;
}

function knownBroker(state: ControllerState, id: NodeId): BrokerState {
  const broker = findBroker(state, id);
  if (broker === undefined) throw new Error(`metadata record ${state.version} names broker ${id}, never registered`);
  return broker;
}

function knownTopic(state: ControllerState, name: string): TopicState {
  const topic = state.topics.get(name);
  if (topic === undefined) throw new Error(`metadata record ${state.version} names topic ${name}, never created`);
  return topic;
}
