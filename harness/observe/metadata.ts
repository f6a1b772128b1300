/**
 * From answers to Metadata to sightings: who leads, who is in sync, who is alive, and who knows it.
 *
 * Every broker is asked for itself, so each answer is that broker's own view: naming itself or another as the leader is
 * how it says which role it has taken. Of the cluster, a witness counts: any broker that has been answering all along.
 * One that was deaf for a while (paused, cut off, just started) may speak of the past until it has caught up.
 *
 * Invariant: a sighting comes from a difference, between an answer and the same broker's answer before it; so an old view
 * that somebody holds on to undoes nothing.
 */
import type { ResponseBody } from '../../broker/protocol/index.ts';
import type { NodeId, NodeName } from '../../nemesis/ports.ts';
import { keyOf } from '../client/operations.ts';
import type { Sighting } from './lines.ts';
import { ObservedPartition } from './partition.ts';

/** So long a broker that answers again may still be catching up. */
export const lateMs = 1_000;
/** In ZooKeeper's time a new ISR is told to the brokers up to five seconds later. */
const propagationMs = 8_000;
/** A broker that has not answered for so long was deaf. */
export const deafMs = 700;

export interface ObservedMetadata {
  readonly topic: string;
  readonly brokers: readonly NodeId[];
  /** A clock that only differences are taken of. */
  readonly nowMs: () => number;
  readonly partitions: ReadonlyMap<string, ObservedPartition>;
  readonly witnesses: Map<NodeName, Witness>;
  readonly fenced: Set<NodeId>;
  /** Nodes whose processes have ended at least once: they come back without knowing what happened. */
  readonly ended: Set<NodeName>;
}

interface Witness {
  answeredMs: number;
  /** Since when it answers without a longer break. */
  sinceMs: number;
  live: readonly NodeId[];
  /** Its last word on each ISR, once it was no longer late. */
  readonly isr: Map<string, readonly NodeId[]>;
}

export function createObservedMetadata(
  topic: string,
  partitions: number,
  brokers: readonly NodeId[],
  nowMs: () => number,
  assignment: readonly (readonly NodeId[])[] = [],
): ObservedMetadata {
  return {
    topic,
    brokers,
    nowMs,
    partitions: new Map(
      Array.from({ length: partitions }, (_, index) => {
        const key = keyOf(topic, index);
        return [key, new ObservedPartition(key, nowMs, assignment[index])];
      }),
    ),
    witnesses: new Map(),
    fenced: new Set(),
    ended: new Set(),
  };
}

/** Takes one answer of one node in. */
export function foldAnswer(state: ObservedMetadata, node: NodeName, answer: ResponseBody<'Metadata'>): Sighting[] {
  const nowMs = state.nowMs();
  const witness = witnessOf(state, node, nowMs);
  const late = isLate(witness, nowMs);
  const sightings = foldLive(
    state,
    witness,
    answer.brokers.map(({ nodeId }) => nodeId),
    nowMs,
  );
  for (const { partitionIndex, ...said } of answer.topics.find(({ name }) => name === state.topic)?.partitions ?? []) {
    const partition = state.partitions.get(keyOf(state.topic, partitionIndex));
    if (partition === undefined) continue;
    sightings.push(...partition.assigned('metadata', said.replicaNodes));
    const leader = said.leaderId >= 0 ? said.leaderId : null;
    const epoch = said.leaderEpoch >= 0 ? said.leaderEpoch : undefined;
    const before = partition.leader;
    sightings.push(...partition.leads('metadata', { by: node, leader, epoch, late }, said.isrNodes));
    if (late) continue;
    const last = witness.isr.get(partition.key);
    // The first word of a broker that has just started is no news: it may be of the past.
    const isNews = last !== undefined && last.join() !== said.isrNodes.join();
    witness.isr.set(partition.key, said.isrNodes);
    // A view of an ISR belongs to the leadership under which it was seen.
    const isCurrent = leader !== null && leader === partition.leader && before === partition.leader;
    // What a leader was about to commit may have failed, or nobody may have been there to tell a change: then most go on
    // saying something else.
    const isContradicted =
      nowMs - partition.isrSinceMs > propagationMs && isSaidByMost(state, partition.key, said.isrNodes);
    if (isCurrent && (isNews || isContradicted)) {
      sightings.push(...partition.inSync('metadata', said.isrNodes));
    }
  }
  return sightings;
}

/** The node's process has ended, or begins. */
export function forgetNode(state: ObservedMetadata, node: NodeName): void {
  state.witnesses.delete(node);
  state.ended.add(node);
  for (const partition of state.partitions.values()) partition.forget(node);
}

function isSaidByMost({ witnesses }: ObservedMetadata, key: string, isr: readonly NodeId[]): boolean {
  const words = [...witnesses.values()].flatMap((witness) => witness.isr.get(key)?.join() ?? []);
  return words.filter((word) => word === isr.join()).length * 2 > words.length;
}

function witnessOf({ witnesses, ended }: ObservedMetadata, node: NodeName, nowMs: number): Witness {
  const known = witnesses.get(node);
  if (known === undefined) {
    const sinceMs = ended.has(node) ? nowMs : Number.NEGATIVE_INFINITY;
    const witness: Witness = { answeredMs: nowMs, sinceMs, live: [], isr: new Map() };
    witnesses.set(node, witness);
    return witness;
  }
  if (nowMs - known.answeredMs > deafMs) known.sinceMs = nowMs;
  known.answeredMs = nowMs;
  return known;
}

function isLate({ sinceMs }: Witness, nowMs: number): boolean {
  return nowMs - sinceMs < lateMs;
}

/** A broker is gone when the controller's own answer lacks it, or, where that does not answer, most others'. */
function foldLive(state: ObservedMetadata, witness: Witness, live: readonly NodeId[], nowMs: number): Sighting[] {
  witness.live = live;
  const heard = [...state.witnesses].filter(
    ([, each]) => nowMs - each.answeredMs <= deafMs && !isLate(each, nowMs) && each.live.length > 0,
  );
  const controller = heard.filter(([node]) => node === 'controller');
  const voices = (controller.length > 0 ? controller : heard).map(([, each]) => each);
  if (voices.length === 0) return [];
  const sightings: Sighting[] = [];
  for (const broker of state.brokers) {
    const isGone = voices.filter((voice) => !voice.live.includes(broker)).length * 2 > voices.length;
    if (isGone === state.fenced.has(broker)) continue;
    if (isGone) state.fenced.add(broker);
    else state.fenced.delete(broker);
    sightings.push({ node: 'controller', event: isGone ? 'fence' : 'unfence', source: 'metadata', broker });
  }
  return sightings;
}
