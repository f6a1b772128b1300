/** ApiVersions and Metadata: what this broker can do, and what it knows of the cluster. */
import { ErrorCode, advertisedVersions } from '../../protocol/index.ts';
import type { ResponseBody } from '../../protocol/index.ts';
import { isEligible, isInformed } from '../metadata.ts';
import type { KnownPartition, Metadata } from '../metadata.ts';
import type { BrokerState, Turn } from '../state.ts';
import type { RequestEvent } from '../step.ts';

/** Says that authorized operations were not asked for. */
const operationsOmitted = -0x8000_0000;

type TopicAnswer = ResponseBody<'Metadata'>['topics'][number];

export function handleApiVersions(turn: Turn, event: RequestEvent & { readonly api: 'ApiVersions' }): void {
  const { origin, version } = event;
  turn.effects.push({ type: 'respond', origin, api: 'ApiVersions', version, body: advertisedVersions() });
}

export function handleMetadata(turn: Turn, event: RequestEvent & { readonly api: 'Metadata' }): void {
  const { origin, version, body: asked } = event;
  const { metadata, config } = turn.state;
  // In version 0 an empty list asks for everything, since it has no null.
  const all = asked.topics === null || (version === 0 && asked.topics.length === 0);
  const names = all ? [...metadata.topics.keys()] : asked.topics.map(({ name }) => name);
  const body: ResponseBody<'Metadata'> = {
    throttleTimeMs: 0,
    brokers: liveBrokers(turn.state),
    clusterId: config.clusterId,
    // Whoever is asked forwards what belongs to the controller.
    controllerId: config.node,
    topics: names.map((name) => describeTopic(metadata, name)),
    clusterAuthorizedOperations: operationsOmitted,
  };
  turn.effects.push({ type: 'respond', origin, api: 'Metadata', version, body });
}

/** At least this one, before the controller has said anything: a client that is told of no broker has nobody to ask. */
function liveBrokers({ config, metadata }: BrokerState): ResponseBody<'Metadata'>['brokers'] {
  if (!isInformed(metadata)) return [{ nodeId: config.node, ...config.advertised, rack: null }];
  return metadata.brokers
    .filter(({ fenced }) => !fenced)
    .map(({ brokerId, host, port }) => ({ nodeId: brokerId, host, port, rack: null }));
}

function describeTopic(metadata: Metadata, name: string): TopicAnswer {
  const known = metadata.topics.get(name);
  const partitions = [...(known?.values() ?? [])].sort((left, right) => left.partition - right.partition);
  // Clients take an unknown topic for the last word, and ask again where only a leader is missing.
  const unknown = isInformed(metadata) ? ErrorCode.UNKNOWN_TOPIC_OR_PARTITION : ErrorCode.LEADER_NOT_AVAILABLE;
  return {
    errorCode: known === undefined ? unknown : ErrorCode.NONE,
    name,
    isInternal: false,
    partitions: partitions.map((partition) => describePartition(metadata, partition)),
    topicAuthorizedOperations: operationsOmitted,
  };
}

function describePartition(metadata: Metadata, partition: KnownPartition): TopicAnswer['partitions'][number] {
  const { leader, leaderEpoch, replicas, isr } = partition;
  const hasLeader = leader >= 0;
  return {
    errorCode: hasLeader ? ErrorCode.NONE : ErrorCode.LEADER_NOT_AVAILABLE,
    partitionIndex: partition.partition,
    leaderId: leader,
    leaderEpoch,
    replicaNodes: replicas,
    isrNodes: isr,
    offlineReplicas: replicas.filter((id) => !isEligible(metadata, id)),
  };
}
