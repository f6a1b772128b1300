/**
 * What a client can be asked to do, and how that is written in a history.
 *
 * A workload makes {@link ClientOperation}s, the client completes them, the recorder writes both down with Jepsen's
 * words. The three meet here, and nowhere else does anybody build the `value` of a history line.
 *
 * Left out: transactions and groups.
 */
import type { Key, MicroOp, Value } from '../../checker/history.ts';
import type { Acks, Outcome } from './verdicts.ts';

/** Where a consumer starts to read. */
export type Seek = 'earliest' | 'latest' | Readonly<Record<Key, number>>;

export type ClientOperation =
  | { readonly f: 'send'; readonly key: Key; readonly value: Value }
  /** Asks one broker for all assigned keys that it leads. */
  | { readonly f: 'poll' }
  /**
   * Replaces the assignment. Without `seek` a key that was assigned before keeps its position, and a new one starts
   * where `autoOffsetReset` says, as in Kafka's consumer; with it every key starts there.
   */
  | { readonly f: 'assign'; readonly keys: readonly Key[]; readonly seek?: Seek };

/** How an operation ended. `type` is the verdict; the other fields are those of the history. */
export interface Completion {
  readonly type: Outcome;
  readonly f: ClientOperation['f'];
  readonly value: readonly MicroOp[] | readonly Key[];
  readonly acks?: Acks;
  readonly error?: string;
  readonly errors?: Readonly<Record<Key, string>>;
  readonly node?: number;
  readonly msg?: string;
}

/** The part of an `invoke` line that the operation itself says. */
export function invocation(
  operation: ClientOperation,
  acks: Acks,
): Pick<Completion, 'f' | 'value' | 'acks'> & { readonly seek?: Seek } {
  if (operation.f === 'send') return { f: 'send', value: [['send', operation.key, operation.value]], acks };
  if (operation.f === 'poll') return { f: 'poll', value: [['poll']] };
  const { keys, seek } = operation;
  return { f: 'assign', value: keys, ...(seek === undefined ? {} : { seek }) };
}

/** A send's completion; with `offset` (null: not told) where it went, without it as it was invoked. */
export function sendCompletion(
  operation: { readonly key: Key; readonly value: string | number },
  type: Completion['type'],
  acks: Acks,
  offset?: number | null,
): Completion {
  const { key, value } = operation;
  // An unknown outcome may tell its offset (a request that timed out after its append); a refused one has none.
  const told = type === 'ok' || (type === 'info' && typeof offset === 'number');
  const sent: MicroOp = told ? ['send', key, [offset ?? null, value]] : ['send', key, value];
  return { type, f: 'send', value: [sent], acks };
}

export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

/** `tide-3` → topic `tide`, partition 3. A key is split at its last dash, since topics may hold dashes. */
export function splitKey(key: Key): TopicPartition {
  const dash = key.lastIndexOf('-');
  const partition = Number(key.slice(dash + 1));
  if (dash <= 0 || !Number.isInteger(partition) || partition < 0) throw new Error(`not a topic-partition: ${key}`);
  return { topic: key.slice(0, dash), partition };
}

export function keyOf(topic: string, partition: number): Key {
  return `${topic}-${partition}`;
}

/** Keys by topic, in the order in which they come, for requests that nest partitions in topics. */
export function byTopic(keys: Iterable<Key>): ReadonlyMap<string, readonly number[]> {
  const topics = new Map<string, number[]>();
  for (const key of keys) {
    const { topic, partition } = splitKey(key);
    const partitions = topics.get(topic);
    if (partitions === undefined) topics.set(topic, [partition]);
    else partitions.push(partition);
  }
  return topics;
}
