/**
 * How large a run may be: the bounds of every number of a configuration, wherever it comes from, a flag or a stored file.
 *
 * Whatever is within them ends, and fits into memory. The simulator holds all of a run at once, its operations with
 * everything that each of them made the replicas say; so there the product counts: operations times replicas.
 */
import type { RunConfig } from './config.ts';

export const mostBrokers = 9;
export const mostPartitions = 200;
export const mostOperationsPerSecond = 100_000;
export const mostProcesses = 1_000;
/** A day. */
export const longestMs = 24 * 3_600_000;
export const mostFaults = 10_000;
/** Of the first run: the seeds of a search or a comparison count up from it. */
export const greatestSeed = Number.MAX_SAFE_INTEGER - 10_000;

/** Operations times replicas of each partition: measured, so many take some 2.5 GB. */
const mostSimulatedAppends = 600_000;

type Size = Pick<RunConfig, 'runtime' | 'rate' | 'timeLimitMs' | 'replicationFactor' | 'nemesis' | 'nemesisIntervalMs'>;

/** What makes the run too large, in one clause with its remedy; null where it is not. */
export function excessOf(size: Size): string | null {
  const faults = size.nemesis.length === 0 ? 0 : size.timeLimitMs / size.nemesisIntervalMs;
  if (faults > mostFaults) {
    return `a fault every ${size.nemesisIntervalMs} ms for ${size.timeLimitMs / 1000} s makes ${Math.round(faults)}, and ${mostFaults} are the most: raise the interval, or lower the time limit`;
  }
  return size.runtime === 'sim' ? excessInSimulator((size.rate * size.timeLimitMs) / 1000, size) : null;
}

/** The same of so many operations in the simulator. */
export function excessInSimulator(
  operations: number,
  { replicationFactor }: Pick<Size, 'replicationFactor'>,
): string | null {
  const most = mostSimulatedOperations(replicationFactor);
  if (operations <= most) return null;
  return `the simulator holds a whole run in memory: ${most} operations at this replication factor, and these are ${Math.round(operations)}; lower the rate or the time limit, or use another runtime`;
}

/** What the simulator holds. */
export function mostSimulatedOperations(replicationFactor: number): number {
  return Math.floor(mostSimulatedAppends / replicationFactor);
}
