/**
 * The broker: one event in, effects out.
 *
 * `createBroker` starts from what storage found, `step` takes one event, `nextDeadlineNs` says when the broker wants to
 * be woken. What a driver owes a core stands at the head of `step.ts`; in short, it performs all effects of a step, in
 * order and synchronously, before it delivers the next event.
 *
 * Every step has the same four parts: the event is dealt with; what waits for the partitions that it touched is looked at
 * again (`purgatory.ts`); fetchers that are free send their next request; what is due to the controller is sent.
 *
 * Invariant: no request, response or late timer may make a step fail; a rule of our own that is broken throws.
 */
import { buildNamed, buildNames } from './builds.ts';
import {
  controllerClosed,
  createLink,
  expireControllerRequests,
  forward,
  nextControllerDeadlineNs,
  pumpController,
  takeControllerResponse,
} from './controller-link.ts';
import { defectsNamed } from './defects.ts';
import { connectionClosed, expireRequests, nextFetcherDeadlineNs, pumpFetchers, takeResponse } from './fetcher.ts';
import { handleApiVersions, handleMetadata } from './handlers/cluster.ts';
import { completeFetch, handleFetch } from './handlers/fetch.ts';
import { handleListOffsets, handleOffsetForLeaderEpoch } from './handlers/offsets.ts';
import { handlePartitionStates } from './handlers/partition-states.ts';
import { completeProduce, handleProduce } from './handlers/produce.ts';
import { checkLag, isLed } from './leader.ts';
import { checkpointHighWatermarks, finish } from './lifecycle.ts';
import { emptyMetadata } from './metadata.ts';
import { restorePartition } from './partition.ts';
import { completeTouched, createPurgatory, dropConnection, expireWaiting, nextWaitingDeadlineNs } from './purgatory.ts';
import type { Waiting } from './purgatory.ts';
import { Replicas } from './replicas.ts';
import type { BrokerConfig } from './settings.ts';
import { nsPerMs, Turn, TurnList } from './state.ts';
import type { BrokerState } from './state.ts';
import type { CoreEvent, Effect, RecoveredLog, RequestEvent, ResponseEvent } from './step.ts';

export type { BrokerState } from './state.ts';

/** Starts a broker from what storage found. Throws one clear line for a build or a defect that does not exist. */
export function createBroker(
  config: BrokerConfig,
  recovered: readonly RecoveredLog[],
  nowNs: number,
): { state: BrokerState; effects: Effect[] } {
  const build = buildNamed(config.build);
  if (build === undefined) throw new Error(`there is no build "${config.build}": use ${buildNames.join(', ')}`);
  const faulty = defectsNamed(config.defects);
  const startsEmpty = faulty.has('start-empty');
  const restored = recovered.map((found) =>
    restorePartition(startsEmpty ? allTorn(found) : found, build.keepsEpochCache),
  );
  const state: BrokerState = {
    config,
    build,
    defects: faulty,
    clientId: `broker-${config.node}.${config.boot}`,
    nextCorrelationId: 0,
    partitions: new Replicas(restored.map(({ partition }) => partition)),
    metadata: emptyMetadata(),
    fetchers: [],
    controller: createLink(nowNs),
    purgatory: createPurgatory(),
    touched: new TurnList(),
    nextLagCheckNs: nowNs + lagCheckIntervalNs(config),
    nextCheckpointNs: nowNs + config.highWatermarkCheckpointIntervalMs * nsPerMs,
    checkpointed: {},
    lifecycle: 'running',
    stopDeadlineNs: Infinity,
  };
  const { host, port } = config.controller;
  const turn = new Turn(state, nowNs, null);
  turn.effects.push(
    {
      type: 'trace',
      line: { event: 'start', port: config.advertised.port, build: config.build, defects: config.defects },
    },
    ...restored.map(({ line }): Effect => ({ type: 'trace', line })),
    ...(startsEmpty
      ? recovered.map(({ log, logStartOffset: offset }): Effect => ({ type: 'reset-log', log, offset }))
      : []),
    { type: 'endpoint', peer: 'controller', host, port },
  );
  pumpController(turn);
  return { state, effects: turn.effects };
}

/** One event in, effects out, in the order in which the driver has to perform them. */
export function step(state: BrokerState, event: CoreEvent, nowNs: number): Effect[] {
  if (state.lifecycle === 'stopped') return [];
  const turn = new Turn(state, nowNs, event);
  take(turn, event);
  completeTouched(turn, tryComplete);
  if (state.lifecycle === 'stopping' && state.stopDeadlineNs <= nowNs) {
    finish(turn);
    return turn.effects;
  }
  pumpFetchers(turn);
  pumpController(turn);
  return turn.effects;
}

/** When the broker wants a `deadline` event at the latest. */
export function nextDeadlineNs(state: BrokerState): number {
  if (state.lifecycle === 'stopped') return Infinity;
  return Math.min(
    state.nextLagCheckNs,
    state.nextCheckpointNs,
    state.stopDeadlineNs,
    nextFetcherDeadlineNs(state),
    nextControllerDeadlineNs(state),
    nextWaitingDeadlineNs(state.purgatory),
  );
}

function take(turn: Turn, event: CoreEvent): void {
  const { state, nowNs } = turn;
  switch (event.type) {
    case 'request':
      takeRequest(turn, event);
      return;
    case 'response':
      takeAnswer(turn, event);
      return;
    case 'closed':
      if (event.peer === 'controller') controllerClosed(turn);
      else connectionClosed(turn, event.peer);
      return;
    case 'requester-closed':
      dropConnection(state.purgatory, event.connection);
      return;
    case 'deadline':
      takeDeadline(turn);
      return;
    case 'checkpoint-now':
      checkpointHighWatermarks(turn);
      return;
    case 'stop':
      if (state.lifecycle !== 'running') return;
      state.lifecycle = 'stopping';
      // The controller may be gone for good. Two sessions are time enough for it to hand everything over.
      state.stopDeadlineNs =
        state.controller.brokerEpoch < 0 ? nowNs : nowNs + 2 * state.config.brokerSessionTimeoutMs * nsPerMs;
      if (state.controller.nextSignalNs !== Infinity) state.controller.nextSignalNs = nowNs;
  }
}

function takeRequest(turn: Turn, event: RequestEvent): void {
  switch (event.api) {
    case 'Produce':
      handleProduce(turn, event);
      return;
    case 'Fetch':
      handleFetch(turn, event);
      return;
    case 'ListOffsets':
      handleListOffsets(turn, event);
      return;
    case 'OffsetForLeaderEpoch':
      handleOffsetForLeaderEpoch(turn, event);
      return;
    case 'Metadata':
      handleMetadata(turn, event);
      return;
    case 'ApiVersions':
      handleApiVersions(turn, event);
      return;
    case 'PartitionStates':
      handlePartitionStates(turn, event);
      return;
    case 'CreateTopics':
    case 'DeleteTopics':
    case 'ElectLeaders':
    case 'MoveLeader':
      forward(turn, event);
      return;
    case 'BrokerRegistration':
    case 'BrokerHeartbeat':
    case 'AlterPartition':
    case 'AlterPartitionReassignments':
    case 'DescribeQuorum':
      // The controller's business, or nobody's here: whoever asks is at the wrong door.
      turn.effects.push({ type: 'disconnect', connection: event.origin.connection });
  }
}

function takeAnswer(turn: Turn, event: ResponseEvent): void {
  if (event.peer === 'controller') takeControllerResponse(turn, event);
  else if (event.api === 'Fetch' || event.api === 'OffsetForLeaderEpoch' || event.api === 'ListOffsets') {
    takeResponse(turn, event.peer, event);
  }
}

function takeDeadline(turn: Turn): void {
  const { state, nowNs } = turn;
  const { config } = state;
  expireRequests(turn);
  expireControllerRequests(turn);
  expireWaiting(turn, tryComplete);
  if (state.nextLagCheckNs <= nowNs) {
    for (const partition of state.partitions.values()) if (isLed(partition)) checkLag(turn, partition);
    state.nextLagCheckNs = nowNs + lagCheckIntervalNs(config);
  }
  if (state.nextCheckpointNs <= nowNs) checkpointHighWatermarks(turn);
}

function tryComplete(turn: Turn, request: Waiting, expired: boolean): boolean {
  return request.kind === 'produce' ? completeProduce(turn, request, expired) : completeFetch(turn, request, expired);
}

/** Followers are looked at twice per `replica.lag.time.max.ms`, as Kafka does. */
function lagCheckIntervalNs(config: BrokerConfig): number {
  return (config.replicaLagTimeMaxMs / 2) * nsPerMs;
}

/** What a start finds that trusts none of its records (KAFKA-14139). */
function allTorn(found: RecoveredLog): RecoveredLog {
  return { ...found, batches: [], epochs: [], flushedOffset: found.logStartOffset, cut: 'torn-tail' };
}
