/**
 * Passes that make the run shorter: every later try costs as much as the run lasts.
 *
 * First its end goes, then its beginning. Where a violation hangs together by minutes of coincidence neither helps, and
 * leaving out a fault changes all that follows; then one stretch of the run is looked for that breaks the same again.
 */
import { LEAD_IN_MS, closeGap, cutAfter, cutBefore, endMsOf, startMsOf } from './case.ts';
import type { Case } from './case.ts';
import { momentOf } from './moment.ts';
import { FEW_OPERATIONS } from './passes.ts';
import type { Pass } from './passes.ts';
import { pinned } from './pin.ts';
import { judge } from './trial.ts';

/** Lengths of a window that may be enough, from the end backwards. */
const WINDOWS_MS = [2_500, 5_000, 10_000, 20_000, 40_000, 80_000, 160_000];
/** What the end is cut to, after the moment at which all was lost. */
const MARGINS_MS = [50, 500, 2_000, 5_000, 10_000];
/** Lengths of a stretch anywhere in a run that is long. */
const STRETCHES_MS = [20_000, 40_000];
const LONG_MS = 45_000;
const LONG_PAUSE_MS = 1_500;
const PAUSE_KEPT_MS = 500;

/** Ends the run soon after the violation that was complete at that moment. */
export function* cutEnd(from: Case, violationMs: number): Pass {
  for (const marginMs of MARGINS_MS) {
    const endMs = Math.ceil(violationMs + marginMs);
    if (endMs >= from.schedule.durationMs) return from;
    const accepted = yield cutAfter(from, endMs);
    if (accepted !== null) return accepted;
  }
  return from;
}

/** Ends the run soon after it fails now: where much is broken, a part of it may fail long before the whole did. */
export function* cutToMoment(from: Case, signature: string): Pass {
  const { violations, simulation } = judge(from);
  const anomaly = violations.get(signature);
  return anomaly === undefined ? from : yield* cutEnd(from, momentOf(anomaly, simulation));
}

/** Begins the run as late as possible. */
export function* cutBeginning(from: Case): Pass {
  for (const windowMs of WINDOWS_MS) {
    const startMs = Math.floor(from.schedule.durationMs - windowMs);
    if (startMs <= LEAD_IN_MS) return from;
    const accepted = yield cutBefore(from, startMs);
    if (accepted !== null) return accepted;
  }
  return from;
}

/**
 * While it is long: one stretch of the whole run that it comes from, wherever that is. Who breaks things for minutes has
 * often broken the same more than once. From the end backwards, first by roles and then pinned down.
 */
export function* oneStretch(from: Case, whole: Case): Pass {
  if (from.schedule.durationMs <= LONG_MS) return from;
  const runs = [whole, pinned(whole)];
  for (const lengthMs of STRETCHES_MS) {
    for (const run of runs) {
      for (let endMs = run.schedule.durationMs; endMs >= lengthMs; endMs -= lengthMs / 2) {
        const accepted = yield cutBefore(cutAfter(run, endMs), endMs - lengthMs);
        if (accepted !== null) return accepted;
      }
    }
  }
  return from;
}

/** Takes out the time in which nothing begins or ends. */
export function* closeGaps(from: Case): Pass {
  let best = from;
  for (const [startMs, endMs] of pausesIn(from).toReversed()) {
    best = (yield closeGap(best, startMs + PAUSE_KEPT_MS, endMs)) ?? best;
  }
  return best;
}

/** The end as early as it can be. */
export function* cutTail(from: Case): Pass {
  const lastMs = Math.max(
    0,
    ...from.schedule.faults.map((fault) => Math.min(endMsOf(fault), from.schedule.durationMs)),
    ...from.load.operations.map(({ atMs }) => atMs),
  );
  for (const marginMs of [100, 1_000]) {
    const endMs = Math.ceil((lastMs + marginMs) / 100) * 100;
    if (endMs >= from.schedule.durationMs) return from;
    const accepted = yield cutAfter(from, endMs);
    if (accepted !== null) return accepted;
  }
  return from;
}

/** Stretches in which no fault begins or ends, and none of a few operations either, that are longer than anything needs. */
function pausesIn({ schedule, load }: Case): (readonly [startMs: number, endMs: number])[] {
  const { durationMs } = schedule;
  const moments = schedule.faults.flatMap((fault) => [startMsOf(fault), Math.min(endMsOf(fault), durationMs)]);
  const sent = load.operations.length <= FEW_OPERATIONS ? load.operations.map(({ atMs }) => atMs) : [];
  const sorted = [0, ...moments, ...sent, durationMs].toSorted((a, b) => a - b);
  return sorted.flatMap((endMs, index) => {
    const startMs = sorted[index - 1] ?? endMs;
    return endMs - startMs > LONG_PAUSE_MS ? [[startMs, endMs] as const] : [];
  });
}
