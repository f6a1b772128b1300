/**
 * One fault on its way: planned, due, under way, ending, ended.
 *
 * A fault is due at its time, or when what it awaits has been seen, or at the deadline of that wait. It begins as soon
 * as somebody has the role that it is aimed at, and takes its steps one after the other, each when the one before is
 * done. When its end has come it lets go of everything it holds, and is over when all of that is healed and answered.
 *
 * Invariant: each fault writes one record at its start and one at its end, whatever happened in between.
 */
import { comesWithRecords, describeCondition, holds, markOf, mayBeShownBy } from './conditions.ts';
import type { Mark } from './conditions.ts';
import { programOf } from './faults/index.ts';
import type { EvidenceEntry, Program } from './faults/program.ts';
import { describeSlowness } from './faults/slow-links.ts';
import * as hand from './hands.ts';
import type { Act, Hands } from './hands.ts';
import type { Cut, NodeId, NodeName, SlowLink } from './ports.ts';
import type { Fault, Step } from './schedule.ts';
import { cutsBetween, uniteCuts, uniteSlowLinks } from './topologies.ts';
import type { ClusterView } from './view.ts';

const NS_PER_MS = 1_000_000;
/** For so long a fault waits for somebody to take the role that it is aimed at, such as after an election. */
const ROLE_PATIENCE_NS = 1_000 * NS_PER_MS;

type Phase = 'planned' | 'awaiting' | 'due' | 'running' | 'ending' | 'ended';

export interface FaultRun {
  readonly fault: Fault;
  phase: Phase;
  program: Program | null;
  /** When it first looked for whom it is aimed at, and found nobody. */
  soughtNs: number | null;
  startedNs: number;
  /** Of the wait for its start, and then of the wait for its end. */
  mark: Mark | null;
  stepIndex: number;
  /** The step under way, once it has been begun. */
  step: { readonly sinceNs: number; readonly mark: Mark | null } | null;
  cuts: readonly Cut[];
  slow: readonly SlowLink[];
  /** What these links had swallowed and slowed before, by `1→2`. */
  readonly swallowedBefore: Map<string, number>;
  readonly slowedBefore: Map<string, number>;
  readonly evidence: EvidenceEntry[];
  readonly outcomes: StepOutcome[];
  gaveUp: boolean;
}

/** What became of a step, for the record. */
interface StepOutcome {
  readonly step: string;
  /** Milliseconds since the start of the fault. */
  readonly ms: number;
  /** Of a wait: whether it came in time. */
  readonly came?: boolean;
  readonly note?: string;
}

/** What a run needs to know of the world around it. */
export interface Surroundings {
  readonly view: ClusterView;
  readonly hands: Hands;
  readonly brokers: readonly NodeId[];
  readonly loadStartNs: number;
}

export function createFaultRun(fault: Fault): FaultRun {
  return {
    fault,
    phase: 'planned',
    program: null,
    soughtNs: null,
    startedNs: 0,
    mark: null,
    stepIndex: 0,
    step: null,
    cuts: [],
    slow: [],
    swallowedBefore: new Map(),
    slowedBefore: new Map(),
    evidence: [],
    outcomes: [],
    gaveUp: false,
  };
}

/** Whether its start has come, as far as time and trace go. Others may still be in its way. */
export function becomeDue(run: FaultRun, { view, loadStartNs }: Surroundings, nowNs: number): boolean {
  const { at } = run.fault;
  if (run.phase === 'planned') {
    if (nowNs < loadStartNs + ('ms' in at ? at.ms : at.fromMs) * NS_PER_MS) return false;
    run.phase = 'ms' in at ? 'due' : 'awaiting';
    run.mark = 'ms' in at ? null : markOf(at.await, view);
  }
  if (run.phase === 'awaiting' && 'await' in at) {
    const came = holds(at.await, view, run.mark ?? markOf(at.await, view), {}, false);
    if (!came && nowNs < loadStartNs + at.deadlineMs * NS_PER_MS) return false;
    run.phase = 'due';
    run.outcomes.push({ step: `await ${describeCondition(at.await)}`, ms: 0, came });
  }
  return run.phase === 'due';
}

/** Whether a line of that event may move it now. */
export function watches({ phase, fault, program, stepIndex }: FaultRun, event: string): boolean {
  const { at, until } = fault;
  switch (phase) {
    case 'awaiting':
      return 'await' in at && mayBeShownBy(at.await, event);
    case 'due':
      /* It waits for somebody to have a role, or for another fault to end. */
      return !comesWithRecords(event);
    case 'running': {
      const step = program?.steps[stepIndex];
      return (
        ('await' in until && mayBeShownBy(until.await, event)) ||
        (step?.step === 'await' && mayBeShownBy(step.what, event))
      );
    }
    case 'planned':
    case 'ending':
    case 'ended':
      return false;
  }
}

/** Finds out whom it hits, and begins. Without anybody to hit it waits a little, and is then over. */
export function begin(run: FaultRun, { view, brokers }: Surroundings, nowNs: number): 'begun' | 'waits' | 'nobody' {
  run.program = programOf(run.fault, view, brokers);
  if (run.program === null) {
    run.soughtNs ??= nowNs;
    return nowNs < run.soughtNs + ROLE_PATIENCE_NS ? 'waits' : 'nobody';
  }
  run.phase = 'running';
  run.startedNs = nowNs;
  const { until } = run.fault;
  run.mark = 'await' in until ? markOf(until.await, view) : null;
  return 'begun';
}

/** Takes as many steps as can be taken now; the acts that they need at once are returned. */
export function advance(run: FaultRun, around: Surroundings, nowNs: number): Act[] {
  const acts: Act[] = [];
  const steps = run.program?.steps ?? [];
  while (run.phase === 'running' && run.stepIndex < steps.length) {
    const step = steps[run.stepIndex] as Step;
    if (run.step === null) {
      const act = enter(run, step, around, nowNs);
      if (act !== null) acts.push(act);
      run.step = { sinceNs: nowNs, mark: step.step === 'await' ? markOf(step.what, around.view) : null };
      /* What was just held takes an action of the hands first. */
      if (step.step !== 'await' && step.step !== 'wait') return acts;
    }
    const done = isDone(run, step, around, nowNs);
    if (done === 'no') break;
    if (step.step === 'await') {
      note(run, { step: describeStep(step), came: done === 'yes' }, nowNs);
      run.gaveUp = done === 'late' && step.otherwise === 'give-up';
    }
    run.step = null;
    run.stepIndex += 1;
    if (run.gaveUp) break;
  }
  if (run.phase === 'running' && (run.gaveUp || hasEnded(run, around, nowNs))) end(run, around.hands);
  return acts;
}

/** Lets go of everything. */
export function end(run: FaultRun, hands: Hands): void {
  hand.releaseAll(hands, run.fault.id);
  run.phase = 'ending';
}

/** Whether everything that it held is healed and every answer is in. */
export function isHealed(run: FaultRun, hands: Hands): boolean {
  return (
    run.phase === 'ending' &&
    !hand.hasPendingActs(hands, run.fault.id) &&
    (run.cuts.length + run.slow.length === 0 || hand.linksAreSettled(hands)) &&
    nodesOf(run).every((node) => hand.processIsSettled(hands, node))
  );
}

/** When it wants to be looked at again, if nothing else happens. */
export function nextRunDeadlineNs(run: FaultRun, { loadStartNs }: Surroundings): number {
  const { at, until } = run.fault;
  switch (run.phase) {
    case 'planned':
      return loadStartNs + ('ms' in at ? at.ms : at.fromMs) * NS_PER_MS;
    case 'awaiting':
      return 'await' in at ? loadStartNs + at.deadlineMs * NS_PER_MS : Number.POSITIVE_INFINITY;
    case 'due':
      return run.soughtNs === null ? Number.POSITIVE_INFINITY : run.soughtNs + ROLE_PATIENCE_NS;
    case 'running': {
      const endNs = run.startedNs + ('ms' in until ? until.ms : until.deadlineMs) * NS_PER_MS;
      return Math.min(endNs, stepDeadlineNs(run));
    }
    case 'ending':
    case 'ended':
      return Number.POSITIVE_INFINITY;
  }
}

/** A step in a few words. */
export function describeStep(step: Step): string {
  switch (step.step) {
    case 'cut':
      return `cut ${describeLinks(step.links)}`;
    case 'slow':
      return `slow ${describeLinks(step.links)} by ${describeSlowness(step)}`;
    case 'mend':
      return 'mend the links';
    case 'pause':
    case 'kill':
    case 'power-loss':
    case 'stop':
    case 'restore':
      return `${step.step} ${step.node}`;
    case 'move':
      return `move ${step.partition} to ${step.to}`;
    case 'call':
      return `call ${step.operation}`;
    case 'wait':
      return `wait ${step.ms} ms`;
    case 'await':
      return `await ${describeCondition(step.what)}`;
  }
}

/** Begins a step: changes what is held, or gives an act that must happen at once. */
function enter(run: FaultRun, step: Step, { hands, view }: Surroundings, nowNs: number): Act | null {
  const { id } = run.fault;
  const needless = step.step === 'move' && leadsAlready(run, step, view);
  if (step.step !== 'await') {
    note(run, { step: describeStep(step), ...(needless ? { note: 'leads already' } : {}) }, nowNs);
  }
  switch (step.step) {
    case 'cut':
      addCuts(run, cutsBetween(run.program?.groups ?? {}, step.links), hands);
      return null;
    case 'slow':
      addSlow(run, step, hands);
      return null;
    case 'mend':
      hand.releaseLinks(hands, id);
      return null;
    case 'pause':
    case 'kill':
    case 'power-loss':
    case 'stop':
      for (const node of group(run, step.node)) {
        const already = hand.holdProcess(hands, id, node, step.step);
        if (already !== null) run.evidence.push(already);
      }
      return null;
    case 'restore':
      for (const node of group(run, step.node)) hand.releaseProcess(hands, id, node);
      return null;
    case 'move': {
      const to = group(run, step.to)[0];
      return needless || typeof to !== 'number' ? null : hand.moveLeader(hands, id, step.partition, to, nowNs);
    }
    case 'call':
      return hand.callOperation(hands, id, step.operation, nowNs);
    case 'wait':
    case 'await':
      return null;
  }
}

function leadsAlready(run: FaultRun, step: Step & { readonly step: 'move' }, view: ClusterView): boolean {
  return view.partitions.get(step.partition)?.leader === group(run, step.to)[0];
}

function isDone(run: FaultRun, step: Step, { hands, view }: Surroundings, nowNs: number): 'yes' | 'no' | 'late' {
  const entered = run.step;
  if (entered === null) return 'no';
  const yes = (condition: boolean) => (condition ? 'yes' : 'no');
  switch (step.step) {
    case 'cut':
    case 'slow':
    case 'mend':
      return yes(hand.linksAreSettled(hands));
    case 'pause':
    case 'kill':
    case 'power-loss':
    case 'stop':
    case 'restore':
      return yes(group(run, step.node).every((node) => hand.processIsSettled(hands, node)));
    case 'move':
      /* The trace says more, and sooner, than the answer. */
      return 'yes';
    case 'call':
      /* One at a time, so none is under way but this one. */
      return yes(!hand.isCalling(hands, run.fault.id));
    case 'wait':
      return yes(nowNs >= entered.sinceNs + step.ms * NS_PER_MS);
    case 'await':
      if (holds(step.what, view, entered.mark ?? markOf(step.what, view), run.program?.groups ?? {}, false))
        return 'yes';
      return nowNs >= entered.sinceNs + step.deadlineMs * NS_PER_MS ? 'late' : 'no';
  }
}

function hasEnded(run: FaultRun, { view }: Surroundings, nowNs: number): boolean {
  const { until } = run.fault;
  const afterMs = (ms: number) => nowNs >= run.startedNs + ms * NS_PER_MS;
  if ('ms' in until) return afterMs(until.ms);
  const done = run.stepIndex >= (run.program?.steps.length ?? 0);
  const came = holds(until.await, view, run.mark ?? markOf(until.await, view), run.program?.groups ?? {}, done);
  if (!came && !afterMs(until.deadlineMs)) return false;
  note(run, { step: `until ${describeCondition(until.await)}`, came }, nowNs);
  return true;
}

function stepDeadlineNs(run: FaultRun): number {
  const step = run.program?.steps[run.stepIndex];
  if (step === undefined || run.step === null) return Number.POSITIVE_INFINITY;
  if (step.step === 'wait') return run.step.sinceNs + step.ms * NS_PER_MS;
  return step.step === 'await' ? run.step.sinceNs + step.deadlineMs * NS_PER_MS : Number.POSITIVE_INFINITY;
}

function addCuts(run: FaultRun, cuts: readonly Cut[], hands: Hands): void {
  for (const [name, count] of Object.entries(hand.countsOf(hands.swallowed, cuts))) {
    if (!run.swallowedBefore.has(name)) run.swallowedBefore.set(name, count);
  }
  run.cuts = uniteCuts([run.cuts, cuts]);
  hand.holdCuts(hands, run.fault.id, cuts);
}

function addSlow(run: FaultRun, step: Step & { readonly step: 'slow' }, hands: Hands): void {
  const { delayMs, jitterMs, loss } = step;
  const links = cutsBetween(run.program?.groups ?? {}, step.links).map(({ from, to }): SlowLink => ({
    from,
    to,
    delayMs,
    jitterMs,
    loss,
  }));
  for (const [name, count] of Object.entries(hand.countsOf(hands.slowed, links))) {
    if (!run.slowedBefore.has(name)) run.slowedBefore.set(name, count);
  }
  run.slow = uniteSlowLinks([run.slow, links]);
  hand.holdSlow(hands, run.fault.id, links);
}

function describeLinks(links: readonly { readonly from: string; readonly to: string }[]): string {
  return links.map(({ from, to }) => `${from}→${to}`).join(', ');
}

function group(run: FaultRun, role: string): NodeName[] {
  return (run.program?.groups[role] ?? []).filter((place): place is NodeName => place !== 'clients');
}

/** The nodes whose processes the steps of the fault touch. */
function nodesOf(run: FaultRun): NodeName[] {
  return (run.program?.steps ?? []).flatMap((step) => ('node' in step ? group(run, step.node) : []));
}

function note(run: FaultRun, outcome: Omit<StepOutcome, 'ms'>, nowNs: number): void {
  run.outcomes.push({ ...outcome, ms: Math.round((nowNs - run.startedNs) / NS_PER_MS) });
}
