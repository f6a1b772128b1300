/**
 * Mutations of plans, for the guided search: move, retime, duplicate, drop and splice faults.
 *
 * A plan is data, so a mutation is a function from plans to a plan. What it makes may be nonsense for the cluster, which the
 * conductor takes as it comes; it is always a schedule: every fault has an id of its own and ends, all within the duration
 * as far as planned.
 *
 * Invariant: the parents are not changed, and the same parents and draws give the same child.
 */
import type { End, Fault, Schedule, Start, Step } from '../../nemesis/schedule.ts';
import type { RandomStream } from '../plan/random.ts';

/** Faults of a mutated plan: more would only get in each other's way. */
const MOST_FAULTS = 40;
const EARLIEST_MS = 300;

/** A child of `parent`; `other` gives faults to splice in. */
export function mutate(
  parent: Schedule,
  other: Schedule,
  partitions: readonly string[],
  random: RandomStream,
): Schedule {
  let faults: readonly Fault[] = parent.faults;
  /* Mostly a small step: what made the parent worth keeping is to survive. */
  const steps = random.pick([1, 1, 1, 2, 2, 4]);
  for (let step = 0; step < steps; step += 1) faults = mutateOnce(faults, other.faults, parent.durationMs, random);
  const named = faults
    .slice(0, MOST_FAULTS)
    .map((fault, index) => ({ ...onPartitions(fault, partitions), id: `f${index + 1}` }));
  return { ...parent, faults: named };
}

function mutateOnce(
  faults: readonly Fault[],
  others: readonly Fault[],
  durationMs: number,
  random: RandomStream,
): readonly Fault[] {
  if (faults.length === 0) return others;
  const at = random.int(0, faults.length - 1);
  const fault = faults[at] as Fault;
  switch (random.pick(['move', 'move', 'retime', 'retime', 'duplicate', 'drop', 'splice', 'crossover'] as const)) {
    case 'move':
      return faults.with(at, moved(fault, durationMs, random));
    case 'retime':
      return faults.with(at, retimed(fault, random));
    case 'duplicate':
      return inOrder([...faults, moved(fault, durationMs, random)]);
    case 'drop':
      return faults.length === 1 ? faults : faults.toSpliced(at, 1);
    case 'splice':
      return others.length === 0 ? faults : inOrder([...faults, random.pick(others)]);
    case 'crossover': {
      const cutMs = random.int(0, durationMs);
      return inOrder([
        ...faults.filter((one) => startMs(one.at) < cutMs),
        ...others.filter((one) => startMs(one.at) >= cutMs),
      ]);
    }
  }
}

/** A little earlier or later, or anywhere. */
function moved<F extends Fault>(fault: F, durationMs: number, random: RandomStream): F {
  const ms = startMs(fault.at);
  const wanted = random.chance(0.7) ? ms + random.int(-500, 500) : random.int(EARLIEST_MS, durationMs);
  const toMs = Math.max(EARLIEST_MS, Math.min(wanted, durationMs - EARLIEST_MS));
  return { ...fault, at: shifted(fault.at, toMs - ms) };
}

function shifted(at: Start, byMs: number): Start {
  if ('ms' in at) return { ms: at.ms + byMs };
  return { ...at, fromMs: at.fromMs + byMs, deadlineMs: at.deadlineMs + byMs };
}

/** Longer or shorter, or with other waits between its steps. */
function retimed<F extends Fault>(fault: F, random: RandomStream): F {
  if ('steps' in fault && random.chance(0.7)) {
    const steps = fault.steps.map((step): Step =>
      step.step === 'wait' ? { ...step, ms: scaled(step.ms, random) } : step,
    );
    return { ...fault, steps };
  }
  return { ...fault, until: endRetimed(fault.until, random) };
}

function endRetimed(until: End, random: RandomStream): End {
  if ('ms' in until) return { ms: scaled(until.ms, random) };
  return { ...until, deadlineMs: scaled(until.deadlineMs, random) };
}

/** From a quarter to four times of it, and no less than one. */
function scaled(ms: number, random: RandomStream): number {
  return Math.max(1, Math.round((ms * random.pick([25, 50, 75, 90, 110, 150, 200, 400])) / 100));
}

function startMs(at: Start): number {
  return 'ms' in at ? at.ms : at.fromMs;
}

function inOrder(faults: readonly Fault[]): readonly Fault[] {
  return faults.toSorted((one, other) => startMs(one.at) - startMs(other.at));
}

/** A fault from a plan with more partitions names some that are not there: it gets others. */
function onPartitions(fault: Fault, partitions: readonly string[]): Fault {
  const known = new Set(partitions);
  const text = JSON.stringify(fault, (_, value: unknown) => {
    if (typeof value !== 'string') return value;
    const [, place] = /-(\d+)$/.exec(value) ?? [];
    if (place === undefined || known.has(value)) return value;
    return partitions[Number(place) % partitions.length];
  });
  return JSON.parse(text) as Fault;
}
