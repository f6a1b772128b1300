/**
 * A simulation in a process that hears signals: a simulation is one long computation, during which nothing else happens in
 * its process, so it is taken step by step, with a turn of the event loop now and then.
 *
 * Invariant: what comes of it is what `simulate` gives, to the byte, or nothing.
 */
import { setImmediate } from 'node:timers/promises';
import { simulateInSteps } from '../sim/simulate.ts';
import type { Onlooker } from '../sim/simulate.ts';
import type { Simulation, SimulationRequest } from '../sim/simulation.ts';

/** As often as a person notices; a turn of the event loop costs next to nothing beside it. */
const PAUSE_EVERY_MS = 50;

/** Simulates; null if the signal was aborted before it was over. */
export async function simulateHeeding(
  request: SimulationRequest,
  signal: AbortSignal,
  onlooker: Onlooker = {},
): Promise<Simulation | null> {
  const steps = simulateInSteps(request, onlooker);
  let pausedMs = -Infinity;
  for (;;) {
    if (performance.now() - pausedMs >= PAUSE_EVERY_MS) {
      await setImmediate();
      pausedMs = performance.now();
    }
    if (signal.aborted) return null;
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
