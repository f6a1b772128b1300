/**
 * The link to the controller: registration, heartbeats, ISR proposals, what clients ask of the controller, and the way
 * out.
 *
 * Everything travels on one connection. An answer that is late closes it, since a link that was cut may have healed
 * without TCP noticing, and everything that was under way on it starts again. A broker that cannot reach the controller
 * goes on with the roles that it has.
 *
 * Invariants: there is at most one registration or heartbeat, and one AlterPartition, under way. A registration is
 * repeated until the controller has fenced this broker's former life (DUPLICATE_BROKER_REGISTRATION).
 */
import { ErrorCode } from '../protocol/index.ts';
import type { RequestBody, ResponseBody } from '../protocol/index.ts';
import { dropProposal, isLed, takeIsr } from './leader.ts';
import type { IsrProposal, Led } from './leader.ts';
import type { Partition } from './partition.ts';
import { nsPerMs, retryBackoffNs, send } from './state.ts';
import type { BrokerState, Turn } from './state.ts';
import type { Effect, Origin, RequestEvent, ResponseEvent } from './step.ts';

export interface ControllerLink {
  /** Given at registration; −1 before. */
  brokerEpoch: number;
  /** When the next registration or heartbeat is due; Infinity while one is under way. */
  nextSignalNs: number;
  /** No AlterPartition before this time; Infinity while one is under way. */
  nextProposalNs: number;
  /** Whether some partition may have a proposal that was not sent. */
  proposalsWait: boolean;
  readonly inFlight: Map<number, UnderWay>;
}

type ForwardedApi = 'CreateTopics' | 'DeleteTopics' | 'ElectLeaders' | 'MoveLeader';
type ForwardedRequest = RequestEvent & { readonly api: ForwardedApi };

/** What was proposed for each partition; a proposal that was replaced meanwhile is another object. */
type Sent = ReadonlyMap<Led, IsrProposal>;

type UnderWay = { readonly deadlineNs: number } & (
  | { readonly kind: 'signal' }
  | { readonly kind: 'proposals'; readonly sent: Sent }
  | { readonly kind: 'forward'; readonly request: ForwardedRequest }
);

const [registrationVersion, heartbeatVersion, alterPartitionVersion] = [0, 0, 1];

export function createLink(nowNs: number): ControllerLink {
  return { brokerEpoch: -1, nextSignalNs: nowNs, nextProposalNs: nowNs, proposalsWait: false, inFlight: new Map() };
}

/** Sends what is due: a registration or heartbeat, and the ISR proposals. To be called at the end of a turn. */
export function pumpController(turn: Turn): void {
  const { state, nowNs } = turn;
  const link = state.controller;
  if (link.nextSignalNs <= nowNs) {
    const correlationId = link.brokerEpoch < 0 ? register(turn) : beat(turn);
    link.nextSignalNs = Infinity;
    link.inFlight.set(correlationId, { kind: 'signal', deadlineNs: nowNs + answerTimeoutNs(state) });
  }
  if (link.proposalsWait && link.nextProposalNs <= nowNs && link.brokerEpoch >= 0) sendProposals(turn);
}

/** Asks the controller on behalf of a client, whose connection waits for the answer. */
export function forward(turn: Turn, request: ForwardedRequest): void {
  const { api, version, body } = request;
  const correlationId = send(turn, { api, version, body } as Parameters<typeof send>[1], 'controller');
  const deadlineNs = turn.nowNs + answerTimeoutNs(turn.state);
  turn.state.controller.inFlight.set(correlationId, { kind: 'forward', request, deadlineNs });
}

export function takeControllerResponse(turn: Turn, response: ResponseEvent): void {
  const link = turn.state.controller;
  const underWay = link.inFlight.get(response.correlationId);
  if (underWay === undefined) return;
  link.inFlight.delete(response.correlationId);
  if (underWay.kind === 'forward') turn.effects.push(answerTo(underWay.request.origin, response));
  else if (response.api === 'BrokerRegistration') takeRegistration(turn, response.body);
  else if (response.api === 'BrokerHeartbeat') takeHeartbeat(turn, response.body);
  else if (response.api === 'AlterPartition' && underWay.kind === 'proposals') {
    takeProposalAnswers(turn, underWay.sent, response.body);
  }
}

/** The connection to the controller is gone: what was under way on it is tried again, or refused. */
export function controllerClosed(turn: Turn): void {
  const link = turn.state.controller;
  const retryAtNs = turn.nowNs + retryBackoffNs;
  for (const underWay of link.inFlight.values()) {
    if (underWay.kind === 'signal') link.nextSignalNs = retryAtNs;
    else if (underWay.kind === 'forward') turn.effects.push(timedOut(underWay.request));
    else retryProposals(turn, underWay.sent);
  }
  link.inFlight.clear();
}

export function expireControllerRequests(turn: Turn): void {
  const { inFlight } = turn.state.controller;
  if (![...inFlight.values()].some(({ deadlineNs }) => deadlineNs <= turn.nowNs)) return;
  turn.effects.push({ type: 'close', peer: 'controller' });
  controllerClosed(turn);
}

export function nextControllerDeadlineNs(state: BrokerState): number {
  const { inFlight, nextSignalNs, nextProposalNs, proposalsWait, brokerEpoch } = state.controller;
  let next = nextSignalNs;
  if (inFlight.size > 0) for (const { deadlineNs } of inFlight.values()) next = Math.min(next, deadlineNs);
  return proposalsWait && brokerEpoch >= 0 ? Math.min(next, nextProposalNs) : next;
}

/** A third of the session, so that a broker can try again on a new connection before it is fenced. */
function answerTimeoutNs(state: BrokerState): number {
  return (state.config.brokerSessionTimeoutMs / 3) * nsPerMs;
}

function register(turn: Turn): number {
  const { config } = turn.state;
  const { host, port } = config.advertised;
  const body: RequestBody<'BrokerRegistration'> = {
    brokerId: config.node,
    clusterId: config.clusterId,
    incarnationId: incarnationOf(config.node, config.boot),
    listeners: [{ name: 'PLAINTEXT', host, port, securityProtocol: 0 }],
    features: [],
    rack: null,
  };
  return send(turn, { api: 'BrokerRegistration', version: registrationVersion, body }, 'controller');
}

/** One life of one broker: the same in every registration of this boot, and in none of another. */
function incarnationOf(node: number, boot: number): string {
  return `00000000-0000-4000-8000-${node.toString(16).padStart(4, '0')}${boot.toString(16).padStart(8, '0')}`;
}

function beat(turn: Turn): number {
  const { config, controller, metadata, lifecycle } = turn.state;
  const body: RequestBody<'BrokerHeartbeat'> = {
    brokerId: config.node,
    brokerEpoch: controller.brokerEpoch,
    currentMetadataOffset: Math.max(0, metadata.version),
    wantFence: false,
    wantShutDown: lifecycle === 'stopping',
  };
  return send(turn, { api: 'BrokerHeartbeat', version: heartbeatVersion, body }, 'controller');
}

function takeRegistration(turn: Turn, { errorCode, brokerEpoch }: ResponseBody<'BrokerRegistration'>): void {
  const link = turn.state.controller;
  link.nextSignalNs = turn.nowNs + retryBackoffNs;
  if (errorCode !== ErrorCode.NONE) return;
  link.brokerEpoch = brokerEpoch;
  link.nextSignalNs = turn.nowNs;
}

function takeHeartbeat(turn: Turn, { errorCode, shouldShutDown }: ResponseBody<'BrokerHeartbeat'>): void {
  const { state, nowNs } = turn;
  const link = state.controller;
  const unknown = errorCode === ErrorCode.STALE_BROKER_EPOCH || errorCode === ErrorCode.BROKER_ID_NOT_REGISTERED;
  if (state.lifecycle === 'stopping') {
    link.nextSignalNs = nowNs + retryBackoffNs;
    if (shouldShutDown || unknown) state.stopDeadlineNs = nowNs;
    return;
  }
  if (unknown) link.brokerEpoch = -1;
  link.nextSignalNs = unknown ? nowNs : nowNs + state.config.heartbeatIntervalMs * nsPerMs;
}

function sendProposals(turn: Turn): void {
  const { state, nowNs } = turn;
  const partitions = [...state.partitions.values()].filter(hasUnsentProposal);
  state.controller.proposalsWait = false;
  if (partitions.length === 0) return;
  const sent = new Map<Led, IsrProposal>();
  const topics = new Map<string, RequestBody<'AlterPartition'>['topics'][number]['partitions'][number][]>();
  for (const partition of partitions) {
    const { proposal } = partition.role;
    if (proposal === null) continue;
    proposal.progress = 'sent';
    sent.set(partition, proposal);
    const inTopic = topics.get(partition.topic) ?? [];
    topics.set(partition.topic, inTopic);
    inTopic.push({
      partitionIndex: partition.index,
      leaderEpoch: partition.leaderEpoch,
      newIsr: proposal.isr,
      leaderRecoveryState: 0,
      partitionEpoch: partition.partitionEpoch,
    });
  }
  const body = {
    brokerId: state.config.node,
    brokerEpoch: state.controller.brokerEpoch,
    topics: [...topics].map(([topicName, inTopic]) => ({ topicName, partitions: inTopic })),
  };
  const correlationId = send(turn, { api: 'AlterPartition', version: alterPartitionVersion, body }, 'controller');
  const deadlineNs = nowNs + answerTimeoutNs(state);
  state.controller.inFlight.set(correlationId, { kind: 'proposals', sent, deadlineNs });
  state.controller.nextProposalNs = Infinity;
}

function takeProposalAnswers(turn: Turn, sent: Sent, { errorCode, topics }: ResponseBody<'AlterPartition'>): void {
  if (errorCode === ErrorCode.NONE) {
    for (const { topicName, partitions } of topics) {
      for (const answer of partitions) {
        const partition = turn.state.partitions.find(topicName, answer.partitionIndex);
        if (partition === undefined || !isLed(partition)) continue;
        if (partition.role.proposal === null || partition.role.proposal !== sent.get(partition)) continue;
        takeProposalAnswer(turn, partition, answer);
      }
    }
  }
  // What is still `sent` had no answer of its own, or the whole request was refused: the same again.
  retryProposals(turn, sent);
}

type ProposalAnswer = ResponseBody<'AlterPartition'>['topics'][number]['partitions'][number];

/** How Kafka's leader takes each answer (KIP-497, KAFKA-13916). */
function takeProposalAnswer(turn: Turn, partition: Led, answer: ProposalAnswer): void {
  const { role } = partition;
  switch (answer.errorCode) {
    case ErrorCode.NONE:
      if (answer.leaderEpoch !== partition.leaderEpoch || answer.partitionEpoch < partition.partitionEpoch) return;
      takeIsr(turn, partition, answer.isr, answer.partitionEpoch);
      return;
    case ErrorCode.INELIGIBLE_REPLICA:
    case ErrorCode.OPERATION_NOT_ATTEMPTED:
      // It was certainly not committed: back to the committed ISR.
      dropProposal(turn, partition, turn.nowNs + retryBackoffNs);
      return;
    case ErrorCode.FENCED_LEADER_EPOCH:
    case ErrorCode.INVALID_UPDATE_VERSION:
    case ErrorCode.INVALID_REQUEST:
    case ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
      // The controller is ahead. What it has committed is not known here: keep to the maximal ISR until it says.
      if (role.proposal !== null) role.proposal.progress = 'refused';
      return;
    default:
  }
}

function retryProposals(turn: Turn, sent: Sent): void {
  const link = turn.state.controller;
  link.nextProposalNs = turn.nowNs;
  for (const partition of sent.keys()) {
    const { role } = partition;
    if (!isLed(partition) || role.proposal === null || role.proposal.progress !== 'sent') continue;
    role.proposal.progress = 'unsent';
    link.proposalsWait = true;
    link.nextProposalNs = turn.nowNs + retryBackoffNs;
  }
}

function hasUnsentProposal(partition: Partition): partition is Led {
  return isLed(partition) && partition.role.proposal?.progress === 'unsent';
}

/** The controller's answer, handed on. */
function answerTo(origin: Origin, { api, version, body }: ResponseEvent): Effect {
  // Api and body belong together as they came.
  return { type: 'respond', origin, api, version, body } as Effect;
}

/** Nobody knows whether the controller did it. */
function timedOut({ origin, api, version, body }: ForwardedRequest): Effect {
  const errorCode = ErrorCode.REQUEST_TIMED_OUT;
  const errorMessage = 'the controller did not answer in time';
  switch (api) {
    case 'CreateTopics': {
      const topics = body.topics.map(({ name }) => ({ name, errorCode, errorMessage }));
      return { type: 'respond', origin, api, version, body: { throttleTimeMs: 0, topics } };
    }
    case 'DeleteTopics': {
      const responses = body.topicNames.map((name) => ({ name, errorCode }));
      return { type: 'respond', origin, api, version, body: { throttleTimeMs: 0, responses } };
    }
    case 'ElectLeaders': {
      const replicaElectionResults = (body.topicPartitions ?? []).map(({ topic, partitions }) => ({
        topic,
        partitionResult: partitions.map((partitionId) => ({ partitionId, errorCode, errorMessage })),
      }));
      return {
        type: 'respond',
        origin,
        api,
        version,
        body: { throttleTimeMs: 0, errorCode, replicaElectionResults },
      };
    }
    case 'MoveLeader':
      return { type: 'respond', origin, api, version, body: { errorCode, errorMessage } };
  }
}
