/**
 * The contract between a client and its driver: what a client is told, and what it says.
 *
 * Duties of the driver. Effects are performed in order before the next event is taken. A `send` goes to the broker's
 * last `endpoint`, over the connection that is open or over a new one; `sent` follows as soon as its bytes are handed to
 * an open connection. `connect-failed` means that no connection came about and nothing of what waited for it was
 * written; `closed`, that an open one ended, for any reason but a `close` of ours. After a `close` neither follows, and
 * late answers are dropped. A `deadline` is due at `nextDeadlineNs`; an early or late one is harmless.
 *
 * Invariant: types and figures only, so that the simulator and the sockets depend on no more than this.
 */
import type { RequestBody, ResponseBody } from '../../broker/protocol/index.ts';
import type { Key } from '../../checker/history.ts';
import type { BrokerAddress, ClusterView } from './cluster-view.ts';
import type { Chosen, ConsumerConfig, ConsumerState } from './consumer.ts';
import type { ClientOperation, Completion } from './operations.ts';
import type { Acks, LocalError } from './verdicts.ts';

export interface ClientConfig extends ConsumerConfig {
  readonly process: number;
  /** Brokers to ask first. */
  readonly bootstrap: readonly BrokerAddress[];
  readonly acks: Acks;
  /** An operation is over after so long; what is under way then loses its connection. */
  readonly operationTimeoutMs: number;
  /** A broker that has not answered a question for metadata within this time is given up for the next one. */
  readonly metadataTimeoutMs: number;
  readonly metadataMaxAgeMs: number;
  /** Unix time at which the run's clock stands at zero: records carry a wall clock time. */
  readonly unixOriginMs: number;
  /** The versions to speak, for brokers of any age. */
  readonly versions: Readonly<Record<ClientApi, number>>;
}

export const defaultClientConfig = {
  autoOffsetReset: 'earliest',
  fetchMaxWaitMs: 100,
  fetchMaxBytes: 1024 * 1024,
  partitionMaxBytes: 64 * 1024,
  operationTimeoutMs: 1_000,
  metadataTimeoutMs: 250,
  metadataMaxAgeMs: 5_000,
  versions: { Produce: 7, Fetch: 11, ListOffsets: 5, Metadata: 7 },
} as const satisfies Partial<ClientConfig>;

export type ClientApi = 'Produce' | 'Fetch' | 'ListOffsets' | 'Metadata';

export type ClientEvent =
  | { readonly type: 'invoke'; readonly operation: ClientOperation }
  | { readonly type: 'sent'; readonly node: number; readonly correlationId: number }
  | ClientResponse
  /** The answer could not be understood; the driver has ended the connection. */
  | { readonly type: 'malformed'; readonly node: number }
  | { readonly type: 'closed'; readonly node: number }
  | { readonly type: 'connect-failed'; readonly node: number }
  | { readonly type: 'deadline' };

export type ClientResponse = {
  [A in ClientApi]: {
    readonly type: 'response';
    readonly node: number;
    readonly correlationId: number;
    readonly api: A;
    readonly version: number;
    readonly body: ResponseBody<A>;
  };
}[ClientApi];

export type ClientSend = {
  [A in ClientApi]: {
    readonly type: 'send';
    readonly node: number;
    readonly correlationId: number;
    readonly api: A;
    readonly version: number;
    readonly body: RequestBody<A>;
    /** False for acks=0. */
    readonly expectsResponse: boolean;
  };
}[ClientApi];

export type ClientEffect =
  /** Where a broker is to be reached from its next connection on. */
  | { readonly type: 'endpoint'; readonly node: number; readonly host: string; readonly port: number }
  | ClientSend
  | { readonly type: 'close'; readonly node: number }
  | { readonly type: 'complete'; readonly completion: Completion };

/** Changed by `step` only. */
export interface ClientState {
  readonly config: ClientConfig;
  readonly view: ClusterView;
  readonly consumer: ConsumerState;
  /** Addresses that the driver has been told. */
  readonly endpoints: Map<number, BrokerAddress>;
  nextCorrelationId: number;
  current: Current | null;
}

/** The operation under way. */
export interface Current {
  readonly operation: Exclude<ClientOperation, { f: 'assign' }>;
  readonly deadlineNs: number;
  /** Brokers that were asked for metadata within this operation. */
  readonly asked: Set<number>;
  /** Metadata is fresh enough for this operation, come what may. */
  refreshed: boolean;
  /** Why the last question for metadata was not answered. */
  metadataFailure: LocalError;
  /** The broker that a poll asks, and for which keys. */
  poll: Chosen | null;
  /** Errors of ListOffsets, by key. */
  errors: Readonly<Record<Key, string>>;
  pending: Pending | null;
}

/** The request under way: never more than one. */
export interface Pending {
  readonly node: number;
  readonly correlationId: number;
  readonly api: ClientApi;
  readonly deadlineNs: number;
  written: boolean;
}
