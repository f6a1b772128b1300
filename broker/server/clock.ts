/**
 * One clock for all processes of a run: the machine's monotonic clock, counted from an origin that the harness hands
 * to each of them. So the times of all traces can be laid side by side (their order across nodes still comes from
 * messages, never from time).
 */
export type ClockNs = () => number;

export function monotonicClock(originNs: bigint): ClockNs {
  return () => Number(process.hrtime.bigint() - originNs);
}
