/**
 * How the brokers hear of it: PartitionStates (1000), pushed until acknowledged.
 *
 * Each registered broker, fenced or not, is told the newest state of every partition that changed since the version it
 * acknowledged last, with the endpoints of all brokers. One push is in flight per broker; what changes meanwhile is in
 * the next one, so a broker can hear late and can miss an epoch in between. After a registration, and after a crash of
 * the controller, a broker is told everything (`full`).
 *
 * A push without an answer in time ends its connection and is repeated on a new one, since a link that was cut may
 * have healed without TCP noticing.
 *
 * A deleted topic is part of the pushes until every broker that is registered has acknowledged its deletion; only then
 * is its name free, so that an old replica can never be taken for one of a new topic of the same name.
 */
import type { Effect } from '../core/step.ts';
import { ErrorCode } from '../protocol/index.ts';
import type { RequestBody, ResponseBody } from '../protocol/index.ts';
import type { BrokerState, ControllerState } from './metadata.ts';
import { NO_LEADER } from './metadata.ts';

const NS_PER_MS = 1e6;
/** A push is answered at once by a broker that is there; a longer silence is a broken link or a stopped broker. */
const PUSH_TIMEOUT_MS = 500;
/** Pause before a push is repeated. */
const PUSH_RETRY_MS = 100;

const PARTITION_STATES_VERSION = 0;

/** Sends every push that is due. To be called at the end of a step, so that all changes of the step travel together. */
export function sendPushes(state: ControllerState, nowNs: number, effects: Effect[]): void {
  for (const broker of state.brokers) {
    if (broker.push !== null || broker.acknowledgedVersion >= state.version || broker.retryAtNs > nowNs) continue;
    const correlationId = state.nextCorrelationId++;
    broker.push = { correlationId, version: state.version, deadlineNs: nowNs + PUSH_TIMEOUT_MS * NS_PER_MS };
    effects.push({
      type: 'send',
      peer: broker.id,
      correlationId,
      api: 'PartitionStates',
      version: PARTITION_STATES_VERSION,
      body: describe(state, broker.acknowledgedVersion),
    });
  }
}

/** Takes in the answer to a push. Answers to pushes that were given up never arrive (their connection is closed). */
export function acknowledge(
  broker: BrokerState,
  correlationId: number,
  answer: ResponseBody<'PartitionStates'>,
  nowNs: number,
): void {
  const push = broker.push;
  if (push === null || push.correlationId !== correlationId) return;
  broker.push = null;
  if (answer.errorCode === ErrorCode.NONE) broker.acknowledgedVersion = push.version;
  else broker.retryAtNs = nowNs + PUSH_RETRY_MS * NS_PER_MS;
}

/** The connection to a broker is gone: what was in flight has to be repeated. */
export function pushFailed(broker: BrokerState, nowNs: number): void {
  if (broker.push === null) return;
  broker.push = null;
  broker.retryAtNs = nowNs + PUSH_RETRY_MS * NS_PER_MS;
}

/** Gives up the pushes that had no answer in time. */
export function expirePushes(state: ControllerState, nowNs: number, effects: Effect[]): void {
  for (const broker of state.brokers) {
    if (broker.push === null || broker.push.deadlineNs > nowNs) continue;
    effects.push({ type: 'close', peer: broker.id });
    pushFailed(broker, nowNs);
  }
}

/** When a push has to be sent again, or given up. */
export function nextPushDeadlineNs(state: ControllerState): number {
  let next = Infinity;
  for (const broker of state.brokers) {
    if (broker.push !== null) next = Math.min(next, broker.push.deadlineNs);
    else if (broker.acknowledgedVersion < state.version) next = Math.min(next, broker.retryAtNs);
  }
  return next;
}

/** Topics whose deletion every registered broker has acknowledged. */
export function forgettableTopics(state: ControllerState): string[] {
  const known = Math.min(...state.brokers.map((broker) => broker.acknowledgedVersion));
  const forgettable: string[] = [];
  for (const topic of state.topics.values()) {
    if (topic.deleted && topic.partitions.every((partition) => partition.version <= known))
      forgettable.push(topic.name);
  }
  return forgettable;
}

/** What a broker that knows `sinceVersion` has yet to hear. */
function describe(state: ControllerState, sinceVersion: number): RequestBody<'PartitionStates'> {
  const partitions: RequestBody<'PartitionStates'>['partitions'][number][] = [];
  for (const topic of state.topics.values()) {
    for (const partition of topic.partitions) {
      if (partition.version <= sinceVersion) continue;
      partitions.push({
        topic: topic.name,
        partition: partition.partition,
        leader: topic.deleted ? NO_LEADER : partition.leader,
        leaderEpoch: partition.leaderEpoch,
        partitionEpoch: partition.partitionEpoch,
        isr: [...partition.isr],
        replicas: [...partition.replicas],
        deleted: topic.deleted,
      });
    }
  }
  const brokers = state.brokers.map((broker) => ({
    brokerId: broker.id,
    brokerEpoch: broker.epoch,
    host: broker.host,
    port: broker.port,
    fenced: broker.fenced,
  }));
  return { metadataVersion: state.version, full: sinceVersion < 0, brokers, partitions };
}
