/**
 * What a core says about itself: one object for each thing that decides the fate of a record.
 *
 * The contract with nemesis, checker and report is `docs/trace.md`, not these types: they share none with the broker,
 * and a test holds all of them to the page. A core emits the fields here; the driver puts `seq`, `time`, `node` and
 * `boot` in front ({@link WrittenLine}), and makes texts of the names of messages and of checksums ({@link TraceLine}):
 * these would be most of what a simulated run makes and keeps.
 *
 * Invariant: a line says only what the core has done in this step, never what it expects.
 */
import { messageText } from '../protocol/index.ts';
import type { EpochEntry, NodeId, Peer } from './step.ts';

/** A batch as a core emits it. */
export interface EmittedBatch {
  readonly base: number;
  readonly last: number;
  readonly epoch: number;
  readonly crc: number;
}

export interface TracedBatch {
  readonly base: number;
  readonly last: number;
  readonly epoch: number;
  /** CRC of the batch, eight hexadecimal digits. */
  readonly hash: string;
}

/** The rule that removed records, or looked whether to. */
export type TruncationRule = 'high-watermark' | 'high-watermark-on-election' | 'leader-epoch' | 'offset-out-of-range';

export type TruncationEvidence =
  | { readonly highWatermark: number }
  | {
      readonly leader: NodeId;
      readonly question: { readonly epoch: number };
      readonly answer: { readonly epoch: number; readonly endOffset: number };
    }
  | { readonly leader: NodeId; readonly leaderStart: number; readonly leaderEnd: number };

/** Names one message: who sent it, and under which of its correlation ids. */
export interface MessageName {
  readonly clientId: string;
  readonly correlationId: number;
}

interface OnPartition<Msg> {
  readonly partition: string;
  readonly leaderEpoch: number;
  /** The message that caused it. */
  readonly msg?: Msg | undefined;
}

/** What a core emits. */
export type TraceEvent = EventOf<MessageName, EmittedBatch>;

/** The same as it is told, a message by the text of its name. */
export type ToldEvent = EventOf<string, TracedBatch>;

type EventOf<Msg, Batch> =
  | { readonly event: 'start'; readonly port: number; readonly build: string; readonly defects: readonly string[] }
  | {
      readonly event: 'recover';
      readonly partition: string;
      readonly logStart: number;
      readonly flushed: number;
      readonly from: number;
      readonly to: number;
      readonly cut: 'none' | 'torn-tail' | 'power-loss';
      readonly hw: number;
      readonly epochs: readonly (readonly [epoch: number, startOffset: number])[];
    }
  | { readonly event: 'stop' }
  | ({ readonly event: 'append'; readonly batches: readonly Batch[] } & OnPartition<Msg>)
  | ({
      readonly event: 'fetch';
      readonly follower: NodeId;
      readonly offset: number;
      readonly leo: number;
    } & OnPartition<Msg>)
  | ({
      readonly event: 'hw';
      readonly from: number;
      readonly to: number;
      readonly isr?: readonly NodeId[] | undefined;
    } & OnPartition<Msg>)
  | ({
      readonly event: 'ack';
      readonly base: number;
      readonly last: number;
      readonly acks: -1 | 0 | 1;
      readonly isr: readonly NodeId[];
    } & OnPartition<Msg>)
  | ({
      readonly event: 'role';
      readonly role: 'leader' | 'follower';
      readonly leader: NodeId | null;
      readonly leo: number;
      readonly hw: number;
      readonly isr: readonly NodeId[];
    } & OnPartition<Msg>)
  | ({
      readonly event: 'truncation';
      readonly from: number;
      readonly to: number;
      readonly rule: TruncationRule;
      readonly evidence: TruncationEvidence;
    } & OnPartition<Msg>)
  | ({
      readonly event: 'fenced';
      readonly by: string;
      readonly requestEpoch: number;
      readonly from: string;
    } & OnPartition<Msg>)
  | ({
      readonly event: 'log-start';
      readonly from: number;
      readonly to: number;
      readonly reason: string;
    } & OnPartition<Msg>)
  | { readonly event: 'delete'; readonly partition: string }
  /* The controller's. */
  | { readonly event: 'create'; readonly partition: string; readonly replicas: readonly NodeId[] }
  | ({
      readonly event: 'election';
      readonly leader: NodeId | null;
      readonly previousLeader: NodeId | null;
      readonly isr: readonly NodeId[];
      readonly clean: boolean;
      readonly reason: string;
    } & OnPartition<Msg>)
  | ({
      readonly event: 'isr';
      readonly from: readonly NodeId[];
      readonly to: readonly NodeId[];
      readonly reason: string;
    } & OnPartition<Msg>)
  | { readonly event: 'fence'; readonly broker: NodeId; readonly reason: string }
  | { readonly event: 'unfence'; readonly broker: NodeId };

interface Stamp {
  readonly seq: number;
  /** Nanoseconds on the run's monotonic clock. */
  readonly time: number;
  readonly node: Peer;
  readonly boot: number;
}

/** A line as a driver completes it. */
export type WrittenLine = Stamp & TraceEvent;

/** A line as it stands in the trace. */
export type TraceLine = Stamp & ToldEvent;

/** The same with texts where a core emits less. */
export function told(line: WrittenLine): TraceLine;
export function told(event: TraceEvent): ToldEvent;
export function told(event: TraceEvent): ToldEvent {
  const line: Record<string, unknown> = { ...event };
  if ('msg' in event && event.msg !== undefined) line['msg'] = messageText(event.msg.clientId, event.msg.correlationId);
  if (event.event === 'append') line['batches'] = event.batches.map(toldBatch);
  return line as ToldEvent;
}

function toldBatch({ base, last, epoch, crc }: EmittedBatch): TracedBatch {
  return { base, last, epoch, hash: hashOf(crc) };
}

/*
 * Nearly all lines are of four kinds. These are made whole, in one go, with room for what the driver puts in front: an
 * object that grows afterwards is moved each time, and stays larger than it need be. What is undefined is not written.
 */

export function appendLine<Msg, Batch>(
  partition: string,
  leaderEpoch: number,
  batches: readonly Batch[],
  msg: Msg | undefined,
): EventOf<Msg, Batch> {
  return {
    event: 'append',
    partition,
    leaderEpoch,
    batches,
    msg,
    seq: undefined,
    time: undefined,
    node: undefined,
    boot: undefined,
  } as EventOf<Msg, Batch>;
}

export function fetchLine<Msg>(
  partition: string,
  leaderEpoch: number,
  follower: NodeId,
  offset: number,
  leo: number,
  msg: Msg | undefined,
): EventOf<Msg, never> {
  return {
    event: 'fetch',
    partition,
    leaderEpoch,
    follower,
    offset,
    leo,
    msg,
    seq: undefined,
    time: undefined,
    node: undefined,
    boot: undefined,
  } as EventOf<Msg, never>;
}

/** `isr` on a leader only. */
export function hwLine<Msg>(
  partition: string,
  leaderEpoch: number,
  from: number,
  to: number,
  isr: readonly NodeId[] | undefined,
  msg: Msg | undefined,
): EventOf<Msg, never> {
  return {
    event: 'hw',
    partition,
    leaderEpoch,
    from,
    to,
    isr,
    msg,
    seq: undefined,
    time: undefined,
    node: undefined,
    boot: undefined,
  } as EventOf<Msg, never>;
}

export function ackLine<Msg>(
  partition: string,
  leaderEpoch: number,
  base: number,
  last: number,
  acks: -1 | 0 | 1,
  isr: readonly NodeId[],
  msg: Msg | undefined,
): EventOf<Msg, never> {
  return {
    event: 'ack',
    partition,
    leaderEpoch,
    base,
    last,
    acks,
    isr,
    msg,
    seq: undefined,
    time: undefined,
    node: undefined,
    boot: undefined,
  } as EventOf<Msg, never>;
}

const hexDigits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** A CRC as a trace shows it; put together from a table, since every batch is traced on every replica. */
export function hashOf(crc: number): string {
  return (
    hexDigits[crc >>> 24]! + hexDigits[(crc >>> 16) & 0xff]! + hexDigits[(crc >>> 8) & 0xff]! + hexDigits[crc & 0xff]!
  );
}

/** `[epoch, startOffset]` pairs, the short form in which a trace shows an epoch cache. */
export function tracedEpochs(entries: readonly EpochEntry[]): (readonly [number, number])[] {
  return entries.map((entry) => [entry.epoch, entry.startOffset] as const);
}
