/**
 * What a client believes of the cluster: who the brokers are, where they are, and who leads which partition.
 *
 * All of it comes from Metadata answers, and any of it may be out of date: a client that asks a broker on the wrong
 * side of a partition believes what that one believes. A naive client takes each answer as it comes, and so does
 * this one: it compares no epochs.
 *
 * Invariant: a view is only ever replaced for the topics that an answer names; the bootstrap list is never forgotten.
 */
import { ErrorCode, errorName } from '../../broker/protocol/index.ts';
import type { RequestBody, ResponseBody } from '../../broker/protocol/index.ts';
import type { Key } from '../../checker/history.ts';
import { byTopic, keyOf, splitKey } from './operations.ts';

export interface BrokerAddress {
  readonly node: number;
  readonly host: string;
  readonly port: number;
}

export interface ClusterView {
  readonly bootstrap: readonly BrokerAddress[];
  /** As the last answer said. */
  brokers: ReadonlyMap<number, BrokerAddress>;
  readonly leaders: Map<Key, number>;
  /** Why a partition has no leader here, by Kafka's name of the error. */
  readonly leaderless: Map<Key, string>;
  /** When the last answer came; null before the first. */
  learntNs: number | null;
  /** An error told that the view is out of date. */
  stale: boolean;
  /** Which of the candidates is asked next, so that the questions spread over the brokers. */
  cursor: number;
}

/** A view that knows nothing but its bootstrap list, and asks the broker at `cursor` first. */
export function createClusterView(bootstrap: readonly BrokerAddress[], cursor: number): ClusterView {
  if (bootstrap.length === 0) throw new Error('a client needs at least one broker to begin with');
  return {
    bootstrap,
    brokers: new Map(),
    leaders: new Map(),
    leaderless: new Map(),
    learntNs: null,
    stale: true,
    cursor,
  };
}

/** True when the view must be asked for anew before it can serve these keys. */
export function isStale(view: ClusterView, keys: readonly Key[], nowNs: number, maxAgeNs: number): boolean {
  if (view.stale || view.learntNs === null || nowNs - view.learntNs > maxAgeNs) return true;
  return keys.some((key) => !view.leaders.has(key));
}

/** The next broker to ask for metadata that is not in `asked`, bootstrap list first; null when all were asked. */
export function nextToAsk(view: ClusterView, asked: ReadonlySet<number>): number | null {
  const candidates = nodesOf(view);
  for (let step = 0; step < candidates.length; step += 1) {
    const node = candidates[(view.cursor + step) % candidates.length];
    if (node === undefined || asked.has(node)) continue;
    view.cursor = (view.cursor + step + 1) % candidates.length;
    return node;
  }
  return null;
}

export function anyoneToAsk(view: ClusterView, asked: ReadonlySet<number>): boolean {
  return nodesOf(view).some((node) => !asked.has(node));
}

/** Where a broker is: as it was learnt last, else as the bootstrap list says. */
export function addressOf(view: ClusterView, node: number): BrokerAddress | null {
  return view.brokers.get(node) ?? view.bootstrap.find((broker) => broker.node === node) ?? null;
}

export function metadataRequest(keys: Iterable<Key>): RequestBody<'Metadata'> {
  return {
    topics: [...byTopic(keys).keys()].map((name) => ({ name })),
    allowAutoTopicCreation: false,
    includeClusterAuthorizedOperations: false,
    includeTopicAuthorizedOperations: false,
  };
}

/** Takes an answer in. */
export function learn(view: ClusterView, keys: readonly Key[], answer: ResponseBody<'Metadata'>, nowNs: number): void {
  view.brokers = new Map(
    answer.brokers.map((broker) => [broker.nodeId, { node: broker.nodeId, host: broker.host, port: broker.port }]),
  );
  const told = new Set<Key>();
  for (const { name, partitions } of answer.topics) {
    for (const { partitionIndex, leaderId, errorCode } of partitions) {
      const key = keyOf(name, partitionIndex);
      told.add(key);
      if (leaderId >= 0 && addressOf(view, leaderId) !== null) {
        view.leaders.set(key, leaderId);
        view.leaderless.delete(key);
      } else {
        lose(view, key, errorCode || ErrorCode.LEADER_NOT_AVAILABLE);
      }
    }
  }
  for (const key of keys) {
    if (told.has(key)) continue;
    const { topic } = splitKey(key);
    lose(
      view,
      key,
      answer.topics.find(({ name }) => name === topic)?.errorCode || ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    );
  }
  view.learntNs = nowNs;
  view.stale = false;
}

function lose(view: ClusterView, key: Key, errorCode: number): void {
  view.leaders.delete(key);
  view.leaderless.set(key, errorName(errorCode));
}

function nodesOf(view: ClusterView): readonly number[] {
  return [...new Set([...view.bootstrap.map((broker) => broker.node), ...view.brokers.keys()])];
}
