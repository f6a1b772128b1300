/**
 * The passes of shrinking: each makes a case smaller in one way, as far as it still fails.
 *
 * A pass is a generator: it yields a candidate and is handed the case back if it fails (perhaps with another seed), or
 * null if it does not. So passes know nothing of runs and budgets, and whoever drives them may stop at any time and has
 * the best case so far. Those that make the run shorter are in `shorter.ts`.
 */
import type { Fault, Step } from '../../nemesis/schedule.ts';
import type { PlannedOperation } from '../sim/simulation.ts';
import {
  onlyKey,
  startMsOf,
  turnDraws,
  withBrokers,
  withFault,
  withFaults,
  withOperations,
  withThreads,
  withoutIdleThreads,
} from './case.ts';
import type { Case } from './case.ts';
import { ddmin } from './ddmin.ts';
import { judge } from './trial.ts';

export type Pass = Generator<Case, Case, Case | null>;

/** Pairs are tried among more faults than these, and no more than those. */
const FEW_FAULTS = 4;
const MANY_FAULTS = 14;
/** One in so many sends may do. */
const SHARES = [16, 8, 4, 2, 1];
/** More operations than these are traffic, of which a part may go. */
export const FEW_OPERATIONS = 20;

/** A fraction of the traffic, if that is enough: what follows has to play it again and again. */
export function* thinLoad(from: Case): Pass {
  const { operations } = from.load;
  if (operations.length <= FEW_OPERATIONS) return from;
  const sends = operations.filter(({ operation }) => operation.f === 'send');
  for (const [traffic, share] of [
    ...SHARES.map((each) => [sends, each] as const),
    [operations, 8],
    [operations, 2],
  ] as const) {
    const kept = traffic.filter(({ operation }, index) => operation.f === 'assign' || index % share === 0);
    const accepted = yield withOperations(from, kept);
    if (accepted !== null) return accepted;
  }
  return from;
}

/** Leaves out whole kinds of fault. */
export function* dropKinds(from: Case): Pass {
  let best = from;
  const kinds = new Set(from.schedule.faults.map(({ kind }) => kind));
  for (const kind of kinds.size < 2 ? [] : kinds) {
    const left = best.schedule.faults.filter((fault) => fault.kind !== kind);
    best = (yield withFaults(best, left)) ?? best;
  }
  return best;
}

/** Leaves out faults, each with its end. */
export function dropFaults(from: Case): Pass {
  return spare(from, from.schedule.faults, withFaults);
}

/** Leaves out large parts of the faults, while there are many. */
export function* dropFaultsRoughly(from: Case, mostChunks: number): Pass {
  const { faults } = from.schedule;
  return faults.length < 2 * mostChunks ? from : yield* spare(from, faults, withFaults, mostChunks);
}

/** Leaves out two faults at once, where one alone could not be spared: the second may have mended what the first broke. */
export function* dropPairs(from: Case): Pass {
  const { faults } = from.schedule;
  if (faults.length <= FEW_FAULTS || faults.length > MANY_FAULTS) return from;
  for (const first of faults.keys()) {
    for (let second = first + 1; second < faults.length; second += 1) {
      const accepted = yield withFaults(
        from,
        faults.filter((_, index) => index !== first && index !== second),
      );
      if (accepted !== null) return yield* dropPairs(accepted);
    }
  }
  return from;
}

/** One partition instead of many: the one that is broken. */
export function* onePartition(from: Case, signature: string): Pass {
  const { config } = from;
  const key = config.partitions === 1 ? null : judge(from).violations.get(signature)?.key;
  if (typeof key !== 'string') return from;
  const renamed = onlyKey(from, key);
  /* The first partition has other leaders than this one had: draws among brokers are turned likewise. */
  for (let by = 0; by < config.brokers; by += 1) {
    const accepted = yield turnDraws(renamed, by);
    if (accepted !== null) return accepted;
  }
  return from;
}

/** Leaves out operations: those that change nothing first. */
export function* dropOperations(from: Case): Pass {
  const sends = from.load.operations.filter(({ operation }) => operation.f === 'send');
  const best = (yield withOperations(from, sends)) ?? from;
  return yield* spare(best, best.load.operations, withOperations);
}

/** Fewer brokers, fewer threads. */
export function* smallerTopology(from: Case): Pass {
  let best = from;
  /* Where each broker has a build of its own, there is none to spare. */
  const fewest = best.config.build.includes('=') ? best.config.brokers : 1;
  for (let brokers = best.config.brokers - 1; brokers >= fewest; brokers -= 1) {
    const accepted = yield withBrokers(best, brokers);
    if (accepted === null) break;
    best = accepted;
  }
  const idle = withoutIdleThreads(best);
  if (idle.config.concurrency < best.config.concurrency) best = (yield idle) ?? best;
  for (const threads of [1, 2, 3]) {
    if (threads >= best.config.concurrency) break;
    const accepted = yield withThreads(best, threads);
    if (accepted !== null) return accepted;
  }
  return best;
}

/** Leaves out steps of composites. */
export function* dropSteps(from: Case): Pass {
  let best = from;
  for (const index of from.schedule.faults.keys()) {
    const fault = best.schedule.faults[index] as Fault;
    if (!('steps' in fault)) continue;
    best = yield* spare(best, fault.steps, (to, steps) => {
      const at = to.schedule.faults[index] as typeof fault;
      return withFault(to, index, { ...at, steps });
    });
  }
  return best;
}

/** Simpler numbers: delays gone, times and durations round, draws small. */
export function* roundNumbers(from: Case): Pass {
  let best = from;
  for (const index of from.schedule.faults.keys()) {
    for (const simpler of simplifications) {
      for (const fault of simpler(best.schedule.faults[index] as Fault)) {
        const accepted = yield withFault(best, index, fault);
        if (accepted === null) continue;
        best = accepted;
        break;
      }
    }
  }
  const rounded = yield* roundOperations(best);
  return (yield renumbered(rounded)) ?? rounded;
}

/** Delta debugging over a part of the case. */
function* spare<T>(
  from: Case,
  items: readonly T[],
  withItems: (to: Case, items: readonly T[]) => Case,
  mostChunks?: number,
): Pass {
  let best = from;
  const search = ddmin(items, mostChunks);
  let turn = search.next();
  while (turn.done !== true) {
    const accepted = yield withItems(best, turn.value);
    best = accepted ?? best;
    turn = search.next(accepted !== null);
  }
  return best;
}

function* roundOperations(from: Case): Pass {
  const rounded = (unitMs: number) => (operation: PlannedOperation) => ({
    ...operation,
    atMs: Math.round(operation.atMs / unitMs) * unitMs,
  });
  for (const unitMs of [100, 10, 1]) {
    const accepted = yield withOperations(from, from.load.operations.map(rounded(unitMs)));
    if (accepted !== null) return accepted;
  }
  return from;
}

/** Values count from 1, and faults too. */
function renumbered(from: Case): Case {
  let value = 0;
  const operations = from.load.operations.map((planned) => {
    if (planned.operation.f !== 'send') return planned;
    value += 1;
    return { ...planned, operation: { ...planned.operation, value } };
  });
  const faults = from.schedule.faults.map((fault, index) => ({ ...fault, id: `f${index + 1}` }));
  return withFaults(withOperations(from, operations), faults);
}

type Simpler = (fault: Fault) => Fault[];

/** Each gives simpler faults, the simplest first; the first that still fails is taken. */
const simplifications: readonly Simpler[] = [
  (fault) =>
    'await' in fault.at ? [fault.at.fromMs, fault.at.deadlineMs].map((ms) => ({ ...fault, at: { ms } })) : [],
  (fault) => roundsOf(startMsOf(fault)).map((ms) => ({ ...fault, at: 'ms' in fault.at ? { ms } : fault.at })),
  (fault) =>
    'ms' in fault.until ? roundsOf(fault.until.ms).map((ms) => ({ ...fault, until: { ms: Math.max(1, ms) } })) : [],
  (fault) => (fault.kind === 'slow-links' && fault.jitterMs > 0 ? [{ ...fault, jitterMs: 0 }] : []),
  (fault) => (fault.kind === 'slow-links' && fault.loss > 0 ? [{ ...fault, loss: 0 }] : []),
  (fault) => (fault.kind === 'slow-links' ? roundsOf(fault.delayMs).map((delayMs) => ({ ...fault, delayMs })) : []),
  (fault) => ('topology' in fault && 'controller' in fault.topology ? narrower(fault) : []),
  (fault) => ('steps' in fault ? withJoinedWaits(fault) : []),
  (fault) => ('steps' in fault ? withoutWaits(fault) : []),
];

/** The same number in coarser units, the coarsest first. */
function roundsOf(ms: number): number[] {
  const rounds = [1_000, 500, 100, 50, 10, 1].map((unit) => Math.round(ms / unit) * unit);
  return [...new Set(rounds)].filter((rounded) => rounded !== ms && rounded > 0);
}

function narrower<F extends Fault & { readonly topology: unknown }>(fault: F): F[] {
  const { topology } = fault as { topology: { controller: boolean; clients: boolean } };
  const choices = [
    { controller: false, clients: false },
    { controller: topology.controller, clients: false },
    { controller: false, clients: topology.clients },
  ];
  const had = Number(topology.controller) + Number(topology.clients);
  return choices
    .filter(({ controller, clients }) => Number(controller) + Number(clients) < had)
    .map((reach) => ({ ...fault, topology: { ...topology, ...reach } }));
}

function withoutWaits<F extends Fault & { readonly steps: readonly Step[] }>(fault: F): F[] {
  const rounded = (unitMs: number): F => ({
    ...fault,
    steps: fault.steps.map((step) =>
      step.step === 'wait' ? { ...step, ms: Math.round(step.ms / unitMs) * unitMs } : step,
    ),
  });
  return fault.steps.some(({ step }) => step === 'wait') ? [rounded(100), rounded(10)] : [];
}

/** Waits that came to stand side by side, when what stood between them was left out, are one. */
function withJoinedWaits<F extends Fault & { readonly steps: readonly Step[] }>(fault: F): F[] {
  const steps: Step[] = [];
  for (const step of fault.steps) {
    const before = steps.at(-1);
    if (step.step === 'wait' && before?.step === 'wait')
      steps[steps.length - 1] = { ...before, ms: before.ms + step.ms };
    else steps.push(step);
  }
  return steps.length < fault.steps.length ? [{ ...fault, steps }] : [];
}
