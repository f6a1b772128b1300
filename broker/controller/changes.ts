/**
 * How a decision becomes true: traced, persisted, applied.
 *
 * In this order, for each single change. The trace comes first because everything that follows may be seen by somebody:
 * a controller that dies between the two has told of a change that never was, never made one that nobody was told of.
 * Telling the brokers comes last of all, at the end of the step (`pushes.ts`).
 *
 * What belongs together can be several records (a fencing, and the elections that follow from it), and a crash can come
 * between any two of them. So every consequence is drawn from the state alone, and the next start draws those that are
 * missing ({@link completeChanges}): else the leader that was fenced could come back and lead on in the same epoch.
 */
import type { Effect, NodeId } from '../core/step.ts';
import type { MessageName, TraceEvent } from '../core/trace.ts';
import { afterLeaving, afterReturn, firstState } from './election.ts';
import type { Decision, ElectionRule, Eligible } from './election.ts';
import { NO_LEADER, applyRecord, isEligible, keyOf, livePartitions } from './metadata.ts';
import type { BrokerState, ControllerState, MetadataRecord, PartitionState } from './metadata.ts';

/** Fences brokers. All of them count as gone before the first successor is sought, lest it be one of them. */
export function fence(
  state: ControllerState,
  brokers: readonly BrokerState[],
  reason: string,
  effects: Effect[],
): void {
  for (const { id } of brokers) {
    trace(effects, { event: 'fence', broker: id, reason });
    commit(state, { type: 'fence', broker: id }, effects);
  }
  for (const broker of brokers) leave(state, broker, 'fenced', effects);
}

/** A broker that is not live any more gives up its leaderships and its places in the ISRs. */
export function leave(
  state: ControllerState,
  broker: BrokerState,
  reason: string,
  effects: Effect[],
  msg?: MessageName,
): void {
  for (const partition of livePartitions(state)) {
    const decision = afterLeaving(partition, broker.id, eligibleIn(state), electionRule(state));
    if (decision !== null) decide(state, partition, decision, reason, effects, msg);
  }
}

/** Counts a broker as live again: it asked for it within its session, and it knows what it has missed. */
export function unfenceIfReady(state: ControllerState, broker: BrokerState, nowNs: number, effects: Effect[]): void {
  const asks = broker.fenced && broker.wantsUnfenced && !broker.shuttingDown && broker.sessionDeadlineNs > nowNs;
  if (!asks || broker.acknowledgedVersion < broker.mustKnowVersion) return;
  trace(effects, { event: 'unfence', broker: broker.id });
  commit(state, { type: 'unfence', broker: broker.id }, effects);
  electMissingLeaders(state, effects);
}

/** Where nobody leads, somebody may be able to by now. */
function electMissingLeaders(state: ControllerState, effects: Effect[]): void {
  for (const partition of livePartitions(state)) {
    const decision = afterReturn(partition, eligibleIn(state), electionRule(state));
    if (decision !== null) decide(state, partition, decision, 'unfenced', effects);
  }
}

/** Gives the partitions of a topic their first leaders, as far as they had none yet. */
export function startPartitions(
  state: ControllerState,
  partitions: Iterable<PartitionState>,
  effects: Effect[],
  msg?: MessageName,
): void {
  for (const partition of partitions) {
    if (partition.leaderEpoch >= 0) continue;
    trace(effects, { event: 'create', partition: keyOf(partition), replicas: partition.replicas });
    decide(state, partition, firstState(partition.replicas, eligibleIn(state)), 'create', effects, msg);
  }
}

/** Draws the consequences that a crash kept a former life from drawing. Does nothing where none is missing. */
export function completeChanges(state: ControllerState, effects: Effect[]): void {
  startPartitions(state, livePartitions(state), effects);
  for (const broker of state.brokers) {
    if (broker.fenced) leave(state, broker, 'fenced', effects);
    else if (broker.shuttingDown) leave(state, broker, 'controlled-shutdown', effects);
  }
  electMissingLeaders(state, effects);
}

/** Traces and commits a decision of the controller's own. Without a new leader it is told as a change of the ISR. */
export function decide(
  state: ControllerState,
  partition: PartitionState,
  decision: Decision,
  reason: string,
  effects: Effect[],
  msg?: MessageName,
): void {
  const { leader, leaderEpoch, partitionEpoch, isr, clean } = decision;
  const where = { partition: keyOf(partition), leaderEpoch, ...(msg === undefined ? {} : { msg }) };
  if (leader === partition.leader) {
    trace(effects, { event: 'isr', ...where, from: partition.isr, to: isr, reason });
  } else {
    const previousLeader = idOrNull(partition.leader);
    trace(effects, { event: 'election', ...where, leader: idOrNull(leader), previousLeader, isr, clean, reason });
  }
  const change = { leader, leaderEpoch, partitionEpoch, isr };
  commit(state, { type: 'partition', topic: partition.topic, partition: partition.partition, ...change }, effects);
}

export function commit(state: ControllerState, record: MetadataRecord, effects: Effect[]): void {
  effects.push({ type: 'persist', record });
  applyRecord(state, record);
}

export function trace(effects: Effect[], line: TraceEvent): void {
  effects.push({ type: 'trace', line });
}

export function eligibleIn(state: ControllerState): Eligible {
  return (id) => isEligible(state, id);
}

function electionRule({ config, defects }: ControllerState): ElectionRule {
  if (defects.has('elect-outside-isr')) return 'any-as-clean';
  return config.uncleanElection ? 'unclean' : 'clean';
}

function idOrNull(leader: NodeId): NodeId | null {
  return leader === NO_LEADER ? null : leader;
}
