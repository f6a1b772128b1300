/**
 * What the harness and a pod's agent say to each other: one JSON object a line, commands on the agent's standard
 * input, replies and events on its standard output. A command is answered by the reply with its `id`.
 */
import type { Drop, Dropped } from './ruleset.ts';

export interface ProbeTarget {
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

export interface ProbeResult {
  readonly name: string;
  readonly ok: boolean;
  readonly roundTripMs?: number;
  readonly error?: string;
  /** Something answered that does not speak this protocol: what came, in words. */
  readonly heard?: string;
}

export type Command =
  /** Leave exactly these drops; none heals. */
  | { readonly id: number; readonly do: 'drop'; readonly drops: readonly Drop[] }
  | {
      readonly id: number;
      readonly do: 'probe';
      readonly clientId: string;
      readonly targets: readonly ProbeTarget[];
      readonly timeoutMs: number;
    }
  /** Watch the segments of one topic below {@link watchedDirectory}, instead of whatever was watched before. */
  | ({ readonly id: number; readonly do: 'watch' } & WatchRequest)
  /** The harness lives. An agent that hears nothing for {@link heartbeatTimeoutMs} heals. Not answered. */
  | { readonly do: 'beat' };

/** What an agent is to watch. */
export interface WatchRequest {
  /** Where `<topic>-<partition>/` folders lie, relative to the data volume: `kafka-logs`, or `.`. */
  readonly directory: string;
  readonly topic: string;
  /** Origin of the run's clock, a reading of `process.hrtime.bigint()`, in decimal. */
  readonly clockOriginNs: string;
}

/** What became of the segments of one partition between two looks; at the first, that they are there, be they empty. */
export interface SegmentEvent {
  readonly event: 'segments';
  /** `topic-partition`. */
  readonly partition: string;
  /** Nanoseconds on the run's clock: when it was seen. */
  readonly time: number;
  /** The log was cut: it ended at `from` when it was last looked at, and all from `to` on went away since. */
  readonly truncation?: { readonly from: number; readonly to: number };
  /** What was written since, after any truncation. */
  readonly batches: readonly SegmentBatch[];
}

/** A batch by its header. Entries of the old formats know no epoch: −1. */
export interface SegmentBatch {
  readonly base: number;
  readonly last: number;
  readonly epoch: number;
}

export type Reply =
  /** The watch stands; events follow. */
  | { readonly id: number; readonly watching: true }
  /** The counters of the drops that stood before. */
  | { readonly id: number; readonly dropped: Readonly<Record<string, Dropped>> }
  | { readonly id: number; readonly probes: readonly ProbeResult[] }
  | { readonly id: number; readonly error: string };

export type AgentEvent =
  | { readonly event: 'ready' }
  /** The agent healed by itself, since nobody spoke to it any more. */
  | { readonly event: 'healed'; readonly reason: string }
  | SegmentEvent
  /** Segments cannot be read any more; nothing is told of them from now on. */
  | { readonly event: 'blind'; readonly reason: string };

/** An agent that cannot do its work says so at its start, in a reply with this id, instead of `ready`. */
export const readyId = 0;

/** Where an agent finds the data volume of its pod's broker, read-only. */
export const watchedDirectory = '/watched';

export const heartbeatIntervalMs = 2_000;
export const heartbeatTimeoutMs = 15_000;
