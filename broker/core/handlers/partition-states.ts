/**
 * PartitionStates: the controller's word on who leads what (as LeaderAndIsr, StopReplica and UpdateMetadata were).
 *
 * A push may come twice, late, or with epochs left out in between. So a role changes only when the leader epoch grows;
 * with an unchanged leader epoch only the ISR and the partition epoch are taken, and anything older is ignored. What was
 * meant for a former life of this broker is refused.
 */
import { ErrorCode } from '../../protocol/index.ts';
import type { RequestBody } from '../../protocol/index.ts';
import { follow, unfollow } from '../fetcher.ts';
import { becomeFollower } from '../follower.ts';
import { becomeLeader, isLed, takeIsr } from '../leader.ts';
import { applyPush, isStale } from '../metadata.ts';
import type { KnownBroker, KnownPartition } from '../metadata.ts';
import { createPartition } from '../partition.ts';
import type { Partition } from '../partition.ts';
import { trace } from '../state.ts';
import type { BrokerState, Turn } from '../state.ts';
import type { RequestEvent } from '../step.ts';

export function handlePartitionStates(turn: Turn, event: RequestEvent & { readonly api: 'PartitionStates' }): void {
  const { origin, version, body } = event;
  const { metadata, config } = turn.state;
  const forThisLife = isForThisLife(turn.state, body);
  if (forThisLife && !isStale(metadata, body)) {
    tellEndpoints(turn, metadata.brokers, body.brokers);
    applyPush(metadata, body);
    for (const told of body.partitions) {
      if (told.deleted) deleteReplica(turn, `${told.topic}-${told.partition}`);
      else if (told.replicas.includes(config.node)) applyState(turn, told);
    }
  }
  const errorCode = forThisLife ? ErrorCode.NONE : ErrorCode.STALE_BROKER_EPOCH;
  const answer = { errorCode, metadataVersion: metadata.version };
  turn.effects.push({ type: 'respond', origin, api: 'PartitionStates', version, body: answer });
}

/**
 * Whether the controller speaks to this life of the broker. A broker that came back quickly still counts as its former
 * life; if it took roles as such, nobody would notice that it had been away (KIP-380).
 */
function isForThisLife({ config, controller }: BrokerState, { brokers }: RequestBody<'PartitionStates'>): boolean {
  const own = brokers.find(({ brokerId }) => brokerId === config.node);
  return own !== undefined && own.brokerEpoch === controller.brokerEpoch;
}

/** Where the other brokers are reached, as far as it changed. */
function tellEndpoints(turn: Turn, before: readonly KnownBroker[], now: readonly KnownBroker[]): void {
  for (const { brokerId, host, port } of now) {
    if (brokerId === turn.state.config.node) continue;
    const known = before.find((broker) => broker.brokerId === brokerId);
    if (known?.host === host && known.port === port) continue;
    turn.effects.push({ type: 'endpoint', peer: brokerId, host, port });
  }
}

function applyState(turn: Turn, told: KnownPartition): void {
  const partition = findOrCreate(turn, told.topic, told.partition);
  if (turn.state.defects.has('forget-pending-isr') && isLed(partition)) partition.role.proposal = null;
  if (told.leaderEpoch === partition.leaderEpoch && told.partitionEpoch > partition.partitionEpoch) {
    takeIsr(turn, partition, told.isr, told.partitionEpoch);
  }
  if (told.leaderEpoch <= partition.leaderEpoch) return;
  const { leaderEpoch: previousEpoch, lastLeader: previousLeader } = partition;
  partition.leader = told.leader < 0 ? null : told.leader;
  partition.lastLeader = partition.leader ?? previousLeader;
  partition.leaderEpoch = told.leaderEpoch;
  partition.partitionEpoch = told.partitionEpoch;
  partition.replicas = told.replicas;
  partition.isr = told.isr;
  if (partition.leader === turn.state.config.node) {
    unfollow(turn.state, partition);
    becomeLeader(turn, partition, previousEpoch);
    return;
  }
  const stage = becomeFollower(turn, partition, previousLeader);
  if (partition.leader === null) unfollow(turn.state, partition);
  else follow(turn, partition, partition.leader, stage);
}

function findOrCreate(turn: Turn, topic: string, index: number): Partition {
  const known = turn.state.partitions.find(topic, index);
  if (known !== undefined) return known;
  const partition = createPartition(topic, index);
  turn.state.partitions.add(partition);
  turn.effects.push({ type: 'create-log', log: partition.key });
  return partition;
}

function deleteReplica(turn: Turn, key: string): void {
  const partition = turn.state.partitions.get(key);
  if (partition === undefined) return;
  unfollow(turn.state, partition);
  turn.state.partitions.remove(partition);
  turn.touched.add(partition);
  trace(turn, { event: 'delete', partition: key });
  turn.effects.push({ type: 'delete-log', log: key });
}
