/**
 * The controller: one process that says which brokers live, who leads each partition and who is in sync.
 *
 * It is durable and not the system under test, but it can crash, and links to it can be cut. Its shape is the smallest
 * faithful one: registrations, sessions and ISR commits as in KRaft (KIP-631, KIP-497), elections with a leader epoch
 * bump on every change of its own as with ZooKeeper, and the newest state of each partition pushed to every broker.
 *
 * A change is decided (`election.ts`, `topics.ts`), traced, persisted and applied, and only then told to anybody. A
 * controller that starts again from its records knows the same epochs and ends what its crash cut short; it gives every
 * live broker a fresh session before it fences any, since the silence was its own.
 *
 * Invariant: fencing comes before registering again. A broker that died and came back quickly is refused until its
 * former life has been fenced and taken out of the ISRs, so no restart goes unnoticed (DUPLICATE_BROKER_REGISTRATION).
 */
import type { ControllerConfig } from '../core/settings.ts';
import type { CoreEvent, Effect, NodeId, Origin, RequestEvent } from '../core/step.ts';
import type { MessageName } from '../core/trace.ts';
import { ErrorCode, apis } from '../protocol/index.ts';
import type { ApiName, ResponseBody } from '../protocol/index.ts';
import { createTopics, deleteTopics, electLeaders, moveLeader } from './administration.ts';
import { commit, completeChanges, eligibleIn, fence, leave, trace, unfenceIfReady } from './changes.ts';
import { checkProposal } from './election.ts';
import { NO_LEADER, applyRecord, emptyState, findBroker, findPartition, keyOf } from './metadata.ts';
import type { BrokerState, ControllerState, MetadataRecord, PartitionState } from './metadata.ts';
import { acknowledge, expirePushes, forgettableTopics, nextPushDeadlineNs, pushFailed, sendPushes } from './pushes.ts';

export type { ControllerState } from './metadata.ts';

const NS_PER_MS = 1e6;

/** What a controller answers to; brokers forward what clients ask of it. */
const servedApis: readonly ApiName[] = [
  'ApiVersions',
  'CreateTopics',
  'DeleteTopics',
  'ElectLeaders',
  'BrokerRegistration',
  'BrokerHeartbeat',
  'AlterPartition',
  'MoveLeader',
];

/** Starts a controller from the records of its former lives (none at the first start). */
export function createController(
  config: ControllerConfig,
  records: readonly unknown[],
  nowNs: number,
): { state: ControllerState; effects: Effect[] } {
  const state = emptyState(config, nowNs);
  for (const record of records) applyRecord(state, record as MetadataRecord);
  const effects: Effect[] = [
    {
      type: 'trace',
      line: { event: 'start', port: config.port ?? 0, build: 'controller', defects: config.defects ?? [] },
    },
  ];
  for (const { id, host, port } of state.brokers) effects.push({ type: 'endpoint', peer: id, host, port });
  /* None is fenced before it had a whole session to be heard again. */
  for (const broker of state.brokers) broker.sessionDeadlineNs = nowNs + sessionNs(state);
  completeChanges(state, effects);
  sendPushes(state, nowNs, effects);
  return { state, effects };
}

/** One event in, effects out, in the order in which the driver has to perform them. */
export function step(state: ControllerState, event: CoreEvent, nowNs: number): Effect[] {
  const effects: Effect[] = [];
  forgiveOwnSilence(state, nowNs);
  expireSessions(state, nowNs, effects);
  expirePushes(state, nowNs, effects);
  take(state, event, nowNs, effects);
  for (const topic of forgettableTopics(state)) commit(state, { type: 'forget-topic', topic }, effects);
  sendPushes(state, nowNs, effects);
  return effects;
}

/** When the controller wants to be woken at the latest; infinite when it waits for nothing. */
export function nextDeadlineNs(state: ControllerState): number {
  let next = nextPushDeadlineNs(state);
  for (const broker of state.brokers) if (!broker.fenced) next = Math.min(next, broker.sessionDeadlineNs);
  return next;
}

function take(state: ControllerState, event: CoreEvent, nowNs: number, effects: Effect[]): void {
  switch (event.type) {
    case 'request':
      answer(state, event, nowNs, effects);
      return;
    case 'response': {
      const broker = event.peer === 'controller' ? undefined : findBroker(state, event.peer);
      if (broker === undefined || event.api !== 'PartitionStates') return;
      acknowledge(broker, event.correlationId, event.body, nowNs);
      unfenceIfReady(state, broker, nowNs, effects);
      return;
    }
    case 'closed': {
      const broker = event.peer === 'controller' ? undefined : findBroker(state, event.peer);
      if (broker !== undefined) pushFailed(broker, nowNs);
      return;
    }
    case 'stop':
      effects.push({ type: 'trace', line: { event: 'stop' } }, { type: 'exit' });
      return;
    case 'requester-closed':
    case 'deadline':
    case 'checkpoint-now':
  }
}

function answer(state: ControllerState, event: RequestEvent, nowNs: number, effects: Effect[]): void {
  const { origin, version } = event;
  switch (event.api) {
    case 'ApiVersions':
      effects.push({ type: 'respond', origin, api: event.api, version, body: describeApis() });
      return;
    case 'BrokerRegistration':
      effects.push({ type: 'respond', origin, api: event.api, version, body: register(state, event, nowNs, effects) });
      return;
    case 'BrokerHeartbeat':
      effects.push({ type: 'respond', origin, api: event.api, version, body: heartbeat(state, event, nowNs, effects) });
      return;
    case 'AlterPartition':
      effects.push({ type: 'respond', origin, api: event.api, version, body: alterPartition(state, event, effects) });
      return;
    case 'CreateTopics':
      effects.push({ type: 'respond', origin, api: event.api, version, body: createTopics(state, event, effects) });
      return;
    case 'DeleteTopics':
      effects.push({ type: 'respond', origin, api: event.api, version, body: deleteTopics(state, event, effects) });
      return;
    case 'ElectLeaders':
      effects.push({ type: 'respond', origin, api: event.api, version, body: electLeaders(state, event, effects) });
      return;
    case 'MoveLeader':
      effects.push({ type: 'respond', origin, api: event.api, version, body: moveLeader(state, event, effects) });
      return;
    case 'Produce':
    case 'Fetch':
    case 'ListOffsets':
    case 'Metadata':
    case 'OffsetForLeaderEpoch':
    case 'PartitionStates':
    case 'AlterPartitionReassignments':
    case 'DescribeQuorum':
      /* Nothing that a controller serves: whoever asks is at the wrong door. */
      effects.push({ type: 'disconnect', connection: origin.connection });
  }
}

type Request<A extends ApiName> = RequestEvent & { readonly api: A };

function register(
  state: ControllerState,
  { body }: Request<'BrokerRegistration'>,
  nowNs: number,
  effects: Effect[],
): ResponseBody<'BrokerRegistration'> {
  const refuse = (errorCode: number) => ({ throttleTimeMs: 0, errorCode, brokerEpoch: -1 });
  const listener = body.listeners[0];
  if (body.brokerId < 1 || listener === undefined) return refuse(ErrorCode.INVALID_REQUEST);
  if (body.clusterId !== state.config.clusterId) return refuse(ErrorCode.INCONSISTENT_CLUSTER_ID);
  const known = findBroker(state, body.brokerId);
  const sameLife = known?.incarnation === body.incarnationId;
  const bounced = known !== undefined && !known.fenced && !sameLife;
  if (bounced && !state.defects.has('bounce-undetected')) return refuse(ErrorCode.DUPLICATE_BROKER_REGISTRATION);
  /* An answer that got lost: the broker asks again within the same life, and gets the same epoch. */
  if (known !== undefined && sameLife) {
    known.sessionDeadlineNs = nowNs + sessionNs(state);
    return { throttleTimeMs: 0, errorCode: ErrorCode.NONE, brokerEpoch: known.epoch };
  }
  if (known?.push) effects.push({ type: 'close', peer: known.id });
  const { host, port } = listener;
  commit(state, { type: 'register', broker: body.brokerId, incarnation: body.incarnationId, host, port }, effects);
  effects.push({ type: 'endpoint', peer: body.brokerId, host, port });
  const brokerEpoch = state.version;
  if (bounced) takeForNeverAway(state, body.brokerId, nowNs, effects);
  return { throttleTimeMs: 0, errorCode: ErrorCode.NONE, brokerEpoch };
}

/** Only with a defect: the broker keeps its places in the ISRs, and what it leads, from one life to the next. */
function takeForNeverAway(state: ControllerState, id: NodeId, nowNs: number, effects: Effect[]): void {
  commit(state, { type: 'unfence', broker: id }, effects);
  const broker = findBroker(state, id);
  if (broker !== undefined) broker.sessionDeadlineNs = nowNs + sessionNs(state);
}

function heartbeat(
  state: ControllerState,
  { body, origin }: Request<'BrokerHeartbeat'>,
  nowNs: number,
  effects: Effect[],
): ResponseBody<'BrokerHeartbeat'> {
  const refuse = (errorCode: number) => ({
    throttleTimeMs: 0,
    errorCode,
    isCaughtUp: false,
    isFenced: true,
    shouldShutDown: false,
  });
  const broker = findBroker(state, body.brokerId);
  if (broker === undefined) return refuse(ErrorCode.BROKER_ID_NOT_REGISTERED);
  if (broker.epoch !== body.brokerEpoch) return refuse(ErrorCode.STALE_BROKER_EPOCH);
  broker.sessionDeadlineNs = nowNs + sessionNs(state);
  broker.wantsUnfenced = !body.wantFence && !body.wantShutDown;
  if (body.wantShutDown) {
    beginShutdown(state, broker, origin, effects);
    if (!broker.fenced && handoverIsKnown(state, broker)) fence(state, [broker], 'controlled-shutdown', effects);
  } else if (body.wantFence && !broker.fenced) {
    fence(state, [broker], 'requested', effects);
  }
  unfenceIfReady(state, broker, nowNs, effects);
  return {
    throttleTimeMs: 0,
    errorCode: ErrorCode.NONE,
    isCaughtUp: broker.acknowledgedVersion >= broker.mustKnowVersion,
    isFenced: broker.fenced,
    shouldShutDown: body.wantShutDown && broker.fenced,
  };
}

/** Hands the leaderships of a broker over and takes it out of the ISRs, once (KIP-841). */
function beginShutdown(state: ControllerState, broker: BrokerState, origin: Origin, effects: Effect[]): void {
  if (broker.shuttingDown) return;
  commit(state, { type: 'shutting-down', broker: broker.id }, effects);
  leave(state, broker, 'controlled-shutdown', effects, origin);
  broker.mustKnowVersion = state.version;
}

/** The others know who leads instead; a broker that is fenced need not. */
function handoverIsKnown(state: ControllerState, leaving: BrokerState): boolean {
  return state.brokers.every(
    (broker) => broker === leaving || broker.fenced || broker.acknowledgedVersion >= leaving.mustKnowVersion,
  );
}

function alterPartition(
  state: ControllerState,
  { body, origin }: Request<'AlterPartition'>,
  effects: Effect[],
): ResponseBody<'AlterPartition'> {
  const sender = findBroker(state, body.brokerId);
  if (sender === undefined || sender.epoch !== body.brokerEpoch) {
    return { throttleTimeMs: 0, errorCode: ErrorCode.STALE_BROKER_EPOCH, topics: [] };
  }
  const mayJoin = state.defects.has('rejoin-while-fenced') ? () => true : eligibleIn(state);
  const topics = body.topics.map(({ topicName, partitions }) => ({
    topicName,
    partitions: partitions.map((proposal) => {
      const partition = findPartition(state, topicName, proposal.partitionIndex);
      const errorCode =
        partition === undefined
          ? ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
          : checkProposal(partition, { ...proposal, sender: sender.id }, mayJoin);
      if (partition !== undefined && errorCode === ErrorCode.NONE) {
        commitProposal(state, partition, proposal.newIsr, effects, origin);
      }
      if (partition !== undefined && errorCode === ErrorCode.INELIGIBLE_REPLICA)
        outdateProposals(state, partition, effects);
      return {
        partitionIndex: proposal.partitionIndex,
        errorCode,
        leaderId: partition?.leader ?? NO_LEADER,
        leaderEpoch: partition?.leaderEpoch ?? -1,
        isr: [...(partition?.isr ?? [])],
        leaderRecoveryState: 0,
        partitionEpoch: partition?.partitionEpoch ?? -1,
      };
    }),
  }));
  return { throttleTimeMs: 0, errorCode: ErrorCode.NONE, topics };
}

/** A new ISR by the leader's wish: the partition epoch grows, the leader epoch does not. */
function commitProposal(
  state: ControllerState,
  partition: PartitionState,
  proposed: readonly NodeId[],
  effects: Effect[],
  msg: MessageName,
): void {
  const to = partition.replicas.filter((id) => proposed.includes(id));
  if (to.length === partition.isr.length && to.every((id) => partition.isr.includes(id))) return;
  const { leader, leaderEpoch, isr: from } = partition;
  const reason = to.length > from.length ? 'caught-up' : 'lagging';
  trace(effects, { event: 'isr', partition: keyOf(partition), leaderEpoch, from, to, reason, msg });
  const change = { leader, leaderEpoch, partitionEpoch: partition.partitionEpoch + 1, isr: to };
  commit(state, { type: 'partition', topic: partition.topic, partition: partition.partition, ...change }, effects);
}

/**
 * The leader takes the refusal for final, and acknowledges without the replica that it wanted. But an earlier copy of
 * the same proposal, which it gave up for lost, may still be under way, and arrive when that replica is eligible again: so
 * the partition epoch grows, and no copy is of it any more.
 */
function outdateProposals(state: ControllerState, partition: PartitionState, effects: Effect[]): void {
  const { leader, leaderEpoch, isr } = partition;
  const change = { leader, leaderEpoch, partitionEpoch: partition.partitionEpoch + 1, isr };
  commit(state, { type: 'partition', topic: partition.topic, partition: partition.partition, ...change }, effects);
}

function describeApis(): ResponseBody<'ApiVersions'> {
  const apiKeys = servedApis.map((api) => {
    const { key, minVersion, maxVersion } = apis[api];
    return { apiKey: key, minVersion, maxVersion };
  });
  return {
    errorCode: ErrorCode.NONE,
    apiKeys,
    throttleTimeMs: 0,
    supportedFeatures: [],
    finalizedFeaturesEpoch: -1,
    finalizedFeatures: [],
  };
}

function expireSessions(state: ControllerState, nowNs: number, effects: Effect[]): void {
  const silent = state.brokers.filter((broker) => !broker.fenced && broker.sessionDeadlineNs <= nowNs);
  fence(state, silent, 'session-timeout', effects);
}

/**
 * A controller that was stopped, or starved, finds heartbeats that wait to be read, and must not take its own silence for
 * that of the brokers. Where nothing at all happened for two heartbeats, everybody gets one more before he is fenced.
 */
function forgiveOwnSilence(state: ControllerState, nowNs: number): void {
  const heartbeatNs = state.config.heartbeatIntervalMs * NS_PER_MS;
  const silentNs = nowNs - state.lastStepNs;
  state.lastStepNs = nowNs;
  if (silentNs <= 2 * heartbeatNs) return;
  for (const broker of state.brokers) {
    if (!broker.fenced) broker.sessionDeadlineNs = Math.max(broker.sessionDeadlineNs, nowNs + heartbeatNs);
  }
}

function sessionNs(state: ControllerState): number {
  return state.config.brokerSessionTimeoutMs * NS_PER_MS;
}
