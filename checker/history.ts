/**
 * The history: what every client saw, and what was broken when.
 *
 * One JSON object a line, with Jepsen's words. An operation is an `invoke` and, later, one completion of the same
 * process: `ok` (it happened), `fail` (it certainly did not), `info` (nobody knows). A process that got `info` is not
 * used again. Values are unique per key. `docs/history.md` is the reference for users.
 *
 * Invariant: this file holds types and nothing else, so that the recorder, the client and the report can share it.
 */

/** `topic-partition`, split at its last dash. */
export type Key = string;
/** Unique per key; the record's value is its decimal text. */
export type Value = number | string;

export type MicroOp =
  | readonly ['send', Key, Value]
  /** Completed: where it went; the offset is null when it is not known (acks=0). */
  | readonly ['send', Key, readonly [offset: number | null, value: Value]]
  | readonly ['poll']
  | readonly ['poll', Readonly<Record<Key, readonly (readonly [offset: number, value: Value])[]>>];

export interface Operation {
  readonly index: number;
  /** Nanoseconds since the start of the run, on the clock of the trace. */
  readonly time: number;
  readonly process: number | 'nemesis';
  readonly type: 'invoke' | 'ok' | 'fail' | 'info';
  /** `send`, `poll`, `assign`; of other testers also `txn`, `subscribe`, `crash`; of the nemesis the kind of the fault. */
  readonly f: string;
  /** Micro-operations of `send`, `poll`, `txn`; keys of `assign`, `subscribe`; a {@link FaultRecord} of the nemesis. */
  readonly value: readonly MicroOp[] | readonly Key[] | FaultRecord | null;
  /** On sends. */
  readonly acks?: 'all' | 0 | 1;
  /** On `fail` and `info`: Kafka's name of the error, or `timeout`, `disconnect`, `connection-refused`. */
  readonly error?: string;
  /** On polls: the keys that the broker answered with an error, by Kafka's name of it. */
  readonly errors?: Readonly<Record<Key, string>>;
  /** On an `assign` that moves the consumer: where it reads on; without it a key that was assigned keeps its position. */
  readonly seek?: 'earliest' | 'latest' | Readonly<Record<Key, number>>;
  /** The broker that was asked. */
  readonly node?: number;
  /** On completions of ours: the message that carried it, which ties it to the trace. */
  readonly msg?: string;
  /** On the first invocation of a process that reads everything back after settling. */
  readonly final?: true;
}

/** `value` of a nemesis line: one at the start and one at the end of each fault. */
export interface FaultRecord {
  readonly fault: string;
  readonly phase: 'start' | 'end';
  /** As planned, such as `{leader: "tide-3"}`. */
  readonly roles: Readonly<Record<string, unknown>>;
  /** Whom each role was when the fault fired. */
  readonly nodes: Readonly<Record<string, number | 'controller' | readonly (number | 'controller')[]>>;
  /** At the end: whether anything proves that the fault took effect, and what. */
  readonly effective?: boolean;
  readonly evidence?: readonly Readonly<Record<string, unknown>>[];
  /** At the end, for composites: what each step waited for and whether it came in time. */
  readonly steps?: readonly Readonly<Record<string, unknown>>[];
}
