/**
 * The lease of a run, and the reaper that watches it: a detached process of the host (`reaper-main.ts`) that outlives
 * the harness and removes what it left.
 *
 * The lease is a pipe. The harness holds one end, the reaper reads the other; however the harness dies, the kernel
 * closes its end. A harness that has cleaned up says so before it lets go. One reaper for each run, started before the
 * run creates anything.
 */
import { fileURLToPath } from 'node:url';
import { spawnDetached } from './host.ts';
import { ownerLabel } from './labels.ts';

export interface Lease {
  /** The run is cleaned up: the reaper has nothing to do any more. */
  readonly end: () => void;
}

/** The word of a harness that left nothing. */
const cleanedUp = 'cleaned up';

/** Starts the reaper of a run that this process owns. */
export function holdLease(runId: string): Lease {
  const reaper = spawnDetached(fileURLToPath(new URL('reaper-main.ts', import.meta.url)), [
    runId,
    ownerLabel(),
    cleanedUp,
  ]);
  return { end: () => reaper.end(cleanedUp) };
}
