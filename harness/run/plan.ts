/**
 * From a configuration to the faults of its run: the one call that draws a schedule, for every runtime and every build.
 */
import { withoutAwaiting } from '../../nemesis/awaited.ts';
import { generateSchedule } from '../../nemesis/plan.ts';
import type { Schedule } from '../../nemesis/schedule.ts';
import { keyOf } from '../client/operations.ts';
import type { RunConfig } from '../plan/config.ts';
import { createRandom } from '../plan/random.ts';

/** The fault schedule that a configuration's seed draws: the same in every runtime, and for every build. */
export function planOf(config: RunConfig): Schedule {
  const drawn = generateSchedule(
    {
      seed: config.seed,
      durationMs: config.timeLimitMs,
      kinds: config.nemesis,
      ...(config.nemesisWeights === undefined ? {} : { weights: config.nemesisWeights }),
      partitions: Array.from({ length: config.partitions }, (_, partition) => keyOf(config.topic, partition)),
      brokers: Array.from({ length: config.brokers }, (_, index) => index + 1),
      intervalMs: config.nemesisIntervalMs,
      sessionTimeoutMs: config.brokerSessionTimeoutMs,
      lagTimeMs: config.replicaLagTimeMaxMs,
      patience: config.patience,
    },
    createRandom(config.seed).stream('faults'),
  );
  return withoutAwaiting(drawn, config.notAwaited ?? []);
}
