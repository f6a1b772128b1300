/**
 * Faults pinned down: at the times at which they did begin and end, on the nodes that they did hit.
 *
 * A fault that waits for something, or that names a role, depends on the faults before it: leave one out, and the next
 * hits somebody else. Pinned faults stand for themselves, so that more of them can be left out.
 */
import type { Fault } from '../../nemesis/schedule.ts';
import type { Simulation } from '../sim/simulation.ts';
import { withFault, withFaults } from './case.ts';
import type { Case } from './case.ts';
import type { Pass } from './passes.ts';
import { resolveSchedule } from './resolve.ts';
import { judge } from './trial.ts';

/** Starts that waited for something become times, one by one. */
export function* fixStarts(from: Case): Pass {
  if (from.schedule.faults.every(({ at }) => 'ms' in at)) return from;
  const spans = spansOf(judge(from).simulation);
  let best = from;
  for (const [index, fault] of from.schedule.faults.entries()) {
    const span = spans.get(fault.id);
    if ('ms' in fault.at || span === undefined) continue;
    best = (yield withFault(best, index, { ...fault, at: { ms: span.startMs } })) ?? best;
  }
  return best;
}

/** Every fault by its nodes, and at its times if it still fails so. */
export function* pinFaults(from: Case): Pass {
  const { simulation } = judge(from);
  const named = resolveSchedule(from.schedule, simulation.history).faults;
  return (yield withFaults(from, timed(named, simulation))) ?? (yield withFaults(from, named)) ?? from;
}

/** Every fault by its nodes, at its times, whether or not that still fails. */
export function pinned(from: Case): Case {
  const { simulation } = judge(from);
  return withFaults(from, timed(resolveSchedule(from.schedule, simulation.history).faults, simulation));
}

interface Span {
  readonly startMs: number;
  endMs: number | null;
}

/** When each fault began and ended, since the start of the load. */
function spansOf({ history, loadStartNs }: Simulation): Map<string, Span> {
  const spans = new Map<string, Span>();
  for (const { value, time } of history) {
    if (value === null || !('fault' in value)) continue;
    const ms = (time - (loadStartNs ?? 0)) / 1e6;
    if (value.phase === 'start') spans.set(value.fault, { startMs: ms, endMs: null });
    const span = spans.get(value.fault);
    if (value.phase === 'end' && span !== undefined) span.endMs = ms;
  }
  return spans;
}

/** Faults at the times at which they began and ended. Composites end when their steps are done, whenever that is. */
function timed(faults: readonly Fault[], simulation: Simulation): Fault[] {
  const spans = spansOf(simulation);
  return faults.map((fault) => {
    const span = spans.get(fault.id);
    if (span === undefined) return fault;
    const at = { ms: span.startMs };
    if ('steps' in fault || fault.kind === 'rolling-restart' || span.endMs === null) return { ...fault, at };
    return { ...fault, at, until: { ms: Math.max(1, span.endMs - span.startMs) } };
  });
}
