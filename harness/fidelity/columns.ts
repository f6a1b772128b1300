/**
 * The columns of the fidelity table: our builds and the releases of Apache Kafka that each stands for, and what is known
 * of how each generation answers to the four schedules.
 *
 * The answers are those of the rules of truncation, as KIP-101 and KIP-279 tell them: `L`, an acknowledged record is
 * lost; `D`, replicas differ for good. In S2 the loss itself is allowed to everybody, in S3a nothing was promised, so
 * there only the divergence counts.
 */
import type { ScheduleName } from './schedules.ts';

/** One rule on becoming follower. */
export type Generation = 'hw' | 'kip101' | 'kip279' | 'epoch';

export interface Column {
  /** As `--build` takes it. */
  readonly build: string;
  readonly generation: Generation;
}

/** Each generation's builds of ours first, then Kafka's releases. */
export const columns: readonly Column[] = [
  { build: 'hw', generation: 'hw' },
  { build: 'hw-elect', generation: 'hw' },
  { build: 'kafka:0.10.2.2', generation: 'hw' },
  { build: 'kip101', generation: 'kip101' },
  { build: 'kafka:0.11.0.3', generation: 'kip101' },
  { build: 'kafka:1.1.1', generation: 'kip101' },
  { build: 'kip279', generation: 'kip279' },
  { build: 'kafka:2.0.1', generation: 'kip279' },
  { build: 'epoch', generation: 'epoch' },
  { build: 'kafka:2.1.1', generation: 'epoch' },
  { build: 'kafka:2.8.2', generation: 'epoch' },
  { build: 'kafka:3.9.2', generation: 'epoch' },
  { build: 'kafka:4.4.0', generation: 'epoch' },
];

/** What one try, or the rule, answers. Null: it is not asked. */
export interface Answer {
  readonly lost: boolean | null;
  readonly diverged: boolean;
}

/** What the rule of a generation comes to under a schedule. */
export function knownAnswer(schedule: ScheduleName, generation: Generation): Answer {
  const truncatesToHighWatermark = generation === 'hw';
  switch (schedule) {
    case 's1a-paused':
      return { lost: truncatesToHighWatermark, diverged: truncatesToHighWatermark };
    case 's1a-killed':
      return { lost: truncatesToHighWatermark, diverged: false };
    case 's2':
      return { lost: null, diverged: truncatesToHighWatermark };
    case 's3a':
      return { lost: null, diverged: truncatesToHighWatermark || generation === 'kip101' };
  }
}

/** Whether the table asks of a schedule if the record was lost. */
export function asksForLoss(schedule: ScheduleName): boolean {
  return knownAnswer(schedule, 'epoch').lost !== null;
}
