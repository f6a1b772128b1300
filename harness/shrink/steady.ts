/**
 * The steadiest form of a small failure: the seed, and the shift of its faults against its operations, around which it
 * fails most widely.
 *
 * A failure that was made small may hang by a millisecond: then the next build of the simulator, or another machine's
 * clock, may not show it, and the nearest plan that passes says nothing. Moved to the middle of the widest stretch of
 * times in which it fails, it lasts.
 */
import { LEAD_IN_MS, startMsOf, withFaults } from './case.ts';
import type { Case } from './case.ts';

/** Shifts that are tried, in steps of {@link STEP_MS}, on each side. */
const STEPS = 10;
const STEP_MS = 10;

/** The same case where it fails most widely. `fails` says whether exactly that case does, with its seed. */
export function steadiest(from: Case, seeds: readonly number[], fails: (candidate: Case) => boolean): Case {
  let best = { width: 1, middle: from };
  for (const seed of seeds) {
    const seeded = { ...from, config: { ...from.config, seed } };
    const shifted = Array.from({ length: 2 * STEPS + 1 }, (_, index) => shift(seeded, (index - STEPS) * STEP_MS));
    const failing = shifted.map((candidate) => candidate !== null && fails(candidate));
    for (const [start, end] of stretches(failing)) {
      const middle = shifted[Math.floor((start + end - 1) / 2)];
      const width = end - start;
      if (width > best.width && middle !== null && middle !== undefined) best = { width, middle };
    }
  }
  return best.middle;
}

/** All faults earlier or later; null where one would begin too early. */
function shift(from: Case, byMs: number): Case | null {
  const { faults } = from.schedule;
  if (faults.some((fault) => startMsOf(fault) + byMs < LEAD_IN_MS)) return null;
  const moved = faults.map((fault) => {
    const { at } = fault;
    if ('ms' in at) return { ...fault, at: { ms: at.ms + byMs } };
    return { ...fault, at: { ...at, fromMs: at.fromMs + byMs, deadlineMs: at.deadlineMs + byMs } };
  });
  return withFaults(from, moved);
}

/** The stretches of `true`, as half-open ranges. */
function stretches(flags: readonly boolean[]): (readonly [start: number, end: number])[] {
  const found: (readonly [number, number])[] = [];
  let start = -1;
  for (const [index, flag] of [...flags, false].entries()) {
    if (flag && start < 0) start = index;
    if (flag || start < 0) continue;
    found.push([start, index]);
    start = -1;
  }
  return found;
}
