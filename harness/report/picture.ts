/**
 * What a film consists of, as data: acts, each with one or two stills; a still with one lane per replica; a lane with one
 * cell for each column of the axis.
 */
import type { Exposure } from '../../checker/results.ts';
import type { OffsetAxis } from './offset-axis.ts';
import type { Outage } from './outages.ts';
import type { Role } from './replicas.ts';
import type { TraceEvent } from './trace-events.ts';

export interface LaneCell {
  readonly offset: number;
  readonly epoch: number;
  /** Null where it is not known which record this was. */
  readonly value: string | null;
  /** As far as had happened by then. */
  readonly acknowledged: boolean;
  /** In the end. */
  readonly lost: boolean;
  /** In the end another replica holds another record here. */
  readonly diverged: boolean;
}

export interface Lane {
  readonly node: number;
  readonly role: Role | 'down' | 'paused';
  readonly leaderEpoch: number;
  readonly inIsr: boolean;
  readonly leo: number;
  /** Null where nobody saw it. */
  readonly hw: number | null;
  /** One for each column of the axis; null where the replica holds nothing, and in gaps. */
  readonly cells: readonly (LaneCell | null)[];
  /** What this replica had held there and no longer does. */
  readonly ghosts: readonly (LaneCell | null)[];
}

/** What a rule is called that nobody told. */
export const unknownRule = 'unknown';

/** A truncation: where the log ended, where it has to end, by which rule and why. */
export interface Cut {
  readonly node: number;
  readonly from: number;
  readonly to: number;
  readonly rule: string;
  readonly because: string;
}

export interface Still {
  readonly when: 'before' | 'after' | 'then';
  readonly lanes: readonly Lane[];
  /** What is about to happen; only on pictures before a truncation. */
  readonly cut: Cut | null;
}

export interface Act {
  /** Counts from 1; the timeline shows it. */
  readonly number: number;
  readonly kind: 'acknowledged' | 'truncated' | 'kept' | 'exposed' | 'elected' | 'overwritten' | 'end';
  readonly time: number;
  readonly title: string;
  readonly detail: string;
  readonly stills: readonly Still[];
}

export interface Film {
  readonly key: string;
  readonly acts: readonly Act[];
  readonly axis: OffsetAxis;
  /** Epochs that appear, with the leader that the controller elected for each. */
  readonly epochs: readonly { readonly epoch: number; readonly leader: number | null }[];
  /** Truncations that removed records and are not shown. */
  readonly omitted: number;
}

export interface FilmRequest {
  readonly key: string;
  /** Of this partition, and of the cluster, in the order of time. */
  readonly trace: readonly TraceEvent[];
  readonly focus: readonly number[];
  /** Whether the checker found records of this partition lost, and replicas that differ. */
  readonly lossFound: boolean;
  readonly divergenceFound: boolean;
  /** Of this partition. */
  readonly exposures: readonly Exposure[];
  readonly outages: readonly Outage[];
  /** Values by the message that sent them. */
  readonly values: ReadonlyMap<string, string>;
}
