/**
 * How long each phase of a run may take, in every runtime: a simulated run must be no more patient than a real one, or
 * the two would come to different verdicts.
 *
 * How long a cluster may take to settle is part of the configuration; these are not.
 */
import type { RunConfig } from './config.ts';

/** Until the topic is there and every replica in its role. */
export const readyTimeoutMs = 30_000;
/** Until every link has answered after the last fault; where brokers start slowly, their starts come on top. */
export const healTimeoutMs = 15_000;
/** What a Java process may need to start: three seconds, and many times that on a machine that is busy. */
export const foreignStartMs = 60_000;
/** Until everything has been read back; a client's deadline may come on top. */
export const finalReadTimeoutMs = 15_000;
/** One round trip on one link. */
export const probeTimeoutMs = 1_000;
/** Between two rounds of probes: a refused connection answers at once, so leave the node the time to start. */
export const probePauseMs = 100;

/** For how long no replica may change before the cluster counts as settled: longer than a follower's fetch can wait. */
export function restMs({ fetchMaxWaitMs }: Pick<RunConfig, 'fetchMaxWaitMs'>): number {
  return 2 * fetchMaxWaitMs;
}
