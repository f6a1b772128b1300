/**
 * The contract between a core and its driver.
 *
 * A core (the broker in this folder, the controller beside it) is a value that changes only in
 * `step(state, event, nowNs) → effects`. It knows no socket, file, clock or promise. A driver (the server, the step
 * kernel of the simulator) owns those, and has these duties:
 *
 * 1. One event at a time: all effects of a step are performed before the next event is taken.
 * 2. In order, synchronously: a `trace` is written before the effect that follows it can be seen by anybody; an
 *    `append`, `truncate`, `checkpoint` or `persist` has reached the page cache before a later `respond` or `send`
 *    leaves. `flush` and `persist` have reached the disk.
 * 3. Time never runs backwards: `nowNs` is one monotonic clock, with an origin shared by all processes of a run.
 * 4. A `deadline` event is delivered at, or soon after, `nextDeadlineNs(state)`. A late one is harmless.
 * 5. Requests of one connection are delivered one at a time: the next only after the `respond` (or `release`) to the
 *    one before, as Kafka mutes a channel. So answers are in order by construction.
 * 6. A `send` to a peer without a connection opens one to its last `endpoint`; if that fails, or the connection ends
 *    for any reason but a `close` of ours, the core gets `closed`, and every request in flight to that peer is
 *    unanswered for ever. After a `close` no `closed` follows, and late answers are dropped.
 * 7. Correlation ids are the core's, unique per boot, so that `<client id>#<correlation id>` names one message.
 *
 * Invariant: nothing in a core may fail for what a peer or a client sent. A broken rule of our own crashes with the state.
 */
import type { ApiName, RequestBody, ResponseBody } from '../protocol/index.ts';
import type { BatchInfo, LogRange } from '../protocol/records.ts';
import type { TraceEvent } from './trace.ts';

/** Broker ids count from 1. */
export type NodeId = number;
/** Whom a broker or the controller may send to. */
export type Peer = NodeId | 'controller';

/** Where a request came from, so that its answer finds the way back. `connection` is the driver's, opaque here. */
export interface Origin {
  readonly connection: number;
  readonly correlationId: number;
  /** Tells who calls: `broker-<node>.<boot>`, `controller.<boot>`, `client-<process>`, `probe-<node>`, or anything from foreign clients. */
  readonly clientId: string;
}

/** One decoded request of any API; `api` discriminates `body`. */
export type RequestEvent = {
  [A in ApiName]: {
    readonly type: 'request';
    readonly origin: Origin;
    readonly api: A;
    readonly version: number;
    readonly body: RequestBody<A>;
  };
}[ApiName];

/** One decoded response to an earlier `send`. */
export type ResponseEvent = {
  [A in ApiName]: {
    readonly type: 'response';
    readonly peer: Peer;
    readonly correlationId: number;
    readonly api: A;
    readonly version: number;
    readonly body: ResponseBody<A>;
  };
}[ApiName];

export type CoreEvent =
  | RequestEvent
  | ResponseEvent
  /** The connection to a peer ended, or could not be opened. */
  | { readonly type: 'closed'; readonly peer: Peer }
  /** A requester's connection ended: what waits for it in purgatory is dropped (an appended record stays appended). */
  | { readonly type: 'requester-closed'; readonly connection: number }
  | { readonly type: 'deadline' }
  /** Write the high watermark checkpoint now (scripted schedules; in real life a deadline does it). */
  | { readonly type: 'checkpoint-now' }
  /** Controlled shutdown: hand leaderships over, then `exit`. */
  | { readonly type: 'stop' };

export type RespondEffect = {
  [A in ApiName]: {
    readonly type: 'respond';
    readonly origin: Origin;
    readonly api: A;
    readonly version: number;
    readonly body: ResponseBody<A>;
  };
}[ApiName];

export type SendEffect = {
  [A in ApiName]: {
    readonly type: 'send';
    readonly peer: Peer;
    readonly correlationId: number;
    readonly api: A;
    readonly version: number;
    readonly body: RequestBody<A>;
  };
}[ApiName];

/** A log is named `<topic>-<partition>`, as its folder and as the keys of a history. */
export type Effect =
  | { readonly type: 'trace'; readonly line: TraceEvent }
  | { readonly type: 'create-log'; readonly log: string }
  | { readonly type: 'delete-log'; readonly log: string }
  /**
   * Append `batches` (offsets and epochs final: stamp them into the bytes) at `position`. When `bytes` is a Uint8Array
   * it holds exactly these batches, back to back.
   */
  | {
      readonly type: 'append';
      readonly log: string;
      readonly position: number;
      readonly batches: readonly BatchInfo[];
      readonly bytes: Uint8Array | LogRange;
    }
  /** Cut the log so that `offset` is its end, `position` its size; what was flushed beyond is not flushed any more. */
  | { readonly type: 'truncate'; readonly log: string; readonly offset: number; readonly position: number }
  /** Drop everything; the log starts, and ends, at `offset`. */
  | { readonly type: 'reset-log'; readonly log: string; readonly offset: number }
  | { readonly type: 'flush'; readonly log: string }
  /** `leader-epoch-checkpoint` of one log, flushed (KIP-101). */
  | { readonly type: 'epoch-checkpoint'; readonly log: string; readonly entries: readonly EpochEntry[] }
  /** One of the files of offsets by log, whole. */
  | {
      readonly type: 'offset-checkpoint';
      readonly file: OffsetCheckpoint;
      readonly offsets: Readonly<Record<string, number>>;
    }
  /** The controller's: append one record to its metadata log and flush it. */
  | { readonly type: 'persist'; readonly record: unknown }
  | RespondEffect
  /** The request needs no answer (acks=0): the connection may deliver its next one. */
  | { readonly type: 'release'; readonly origin: Origin }
  /** End a requester's connection (the only way to tell an acks=0 producer of an error). */
  | { readonly type: 'disconnect'; readonly connection: number }
  | SendEffect
  /** Where a peer is to be reached from now on. */
  | { readonly type: 'endpoint'; readonly peer: Peer; readonly host: string; readonly port: number }
  | { readonly type: 'close'; readonly peer: Peer }
  /** After `stop`: flush all logs, write the clean shutdown marker, end the process. */
  | { readonly type: 'exit' };

export interface EpochEntry {
  readonly epoch: number;
  readonly startOffset: number;
}

export type OffsetCheckpoint =
  | 'replication-offset-checkpoint'
  | 'recovery-point-offset-checkpoint'
  | 'log-start-offset-checkpoint';

/** What storage found of one log when the process started; a core begins from these. */
export interface RecoveredLog {
  readonly log: string;
  readonly logStartOffset: number;
  readonly batches: readonly BatchInfo[];
  readonly epochs: readonly EpochEntry[];
  /** From `replication-offset-checkpoint`, 0 where it has no entry; not yet capped by the log's end. */
  readonly checkpointedHighWatermark: number;
  /** First offset that was not known to be flushed. */
  readonly flushedOffset: number;
  /** End of the log as its file stood before anything was cut. */
  readonly foundEndOffset: number;
  /** Why the log was cut at this start, if it was: a torn or corrupt tail, or a power loss. */
  readonly cut: 'none' | 'torn-tail' | 'power-loss';
}
