/**
 * One pair of a night in the simulator: the module that every thread of the pool loads. Both runs are one job, so that a
 * pair is over or it is not.
 */
import { runJob as runOne, type ComparedOutcome, type ComparedRun } from '../compare/simulated-job.ts';

export interface PairJob {
  /** In the order in which they run. */
  readonly runs: readonly [ComparedRun, ComparedRun];
}

export interface PairJobOutcome {
  readonly outcomes: readonly [ComparedOutcome, ComparedOutcome];
  readonly tookMs: number;
}

export function runJob({ runs: [first, second] }: PairJob): PairJobOutcome {
  const startMs = performance.now();
  const outcomes = [runOne(first), runOne(second)] as const;
  return { outcomes, tookMs: performance.now() - startMs };
}
