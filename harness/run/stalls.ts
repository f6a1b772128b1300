/**
 * Notices when this process stood still: stopped by a signal, frozen with its machine, or starved of a processor.
 *
 * While the harness stands still it reads no trace, and as a local runtime it forwards nothing: to whoever waits for the
 * cluster, the time that has passed says nothing about the cluster.
 */

/** A timer that comes so much too late was kept from coming. Shorter than a broker's session. */
const STALL_MS = 1_000;
const TICK_MS = 200;

export interface StallWatch {
  /** How often this process has stood still since the watch began. */
  count(): number;
  close(): void;
}

export function watchForStalls(): StallWatch {
  let stalls = 0;
  let seenAt = performance.now();
  // Whatever timer comes first after a stall may ask, so that the gap is looked for then as well as at each tick.
  const look = (): number => {
    const now = performance.now();
    if (now - seenAt > TICK_MS + STALL_MS) stalls += 1;
    seenAt = now;
    return stalls;
  };
  const timer = setInterval(look, TICK_MS);
  return { count: look, close: () => clearInterval(timer) };
}
