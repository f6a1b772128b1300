/**
 * The conductor: plays a schedule on a cluster that it knows only by its trace.
 *
 * Events go in (the start of the load, trace lines, answers to actions, the passing of time), effects come out: actions
 * for the runtime, and records for the history. The caller performs the actions in any order and at any pace, and gives
 * each answer back under the id of its action. The caller also gives a `deadline` event at {@link nextDeadlineNs}; a
 * late one is harmless. When the time is up, or on `stop`, every fault ends, and the whole network is healed once more.
 *
 * Invariant: the same schedule and the same events at the same times give the same effects. Nothing is cut, paused or
 * down when {@link isFinished} says so.
 */
import { advance, becomeDue, begin, createFaultRun, end, isHealed, nextRunDeadlineNs, watches } from './fault-run.ts';
import type { FaultRun, Surroundings } from './fault-run.ts';
import type { EvidenceEntry } from './faults/program.ts';
import * as hand from './hands.ts';
import type { Act, Credit, Hands } from './hands.ts';
import type { Action, Cut, Evidence, NodeId, NodeName, TraceLine } from './ports.ts';
import type { FaultKind, Schedule } from './schedule.ts';
import { createView, foldLine, forgetRoles } from './view.ts';
import type { ClusterView } from './view.ts';

const NS_PER_MS = 1_000_000;

export interface ConductorOptions {
  readonly brokers: readonly NodeId[];
  readonly partitions: readonly string[];
}

export type ConductorEvent =
  /** The load begins now: times of the schedule count from here. */
  | { readonly type: 'start' }
  /** Lines may come before the start, too; all of them should. */
  | { readonly type: 'trace'; readonly line: TraceLine }
  | { readonly type: 'acted'; readonly id: string; readonly evidence: Evidence }
  | { readonly type: 'deadline' }
  /** Heal now, and begin nothing more. */
  | { readonly type: 'stop' };

export type ConductorEffect =
  | { readonly type: 'act'; readonly id: string; readonly action: Action }
  /** A line of the history: process `nemesis`, type `info`. */
  | { readonly type: 'record'; readonly f: FaultKind; readonly value: FaultRecord };

/** The `value` of a nemesis line, as `docs/history.md` has it. */
export interface FaultRecord {
  readonly fault: string;
  readonly phase: 'start' | 'end';
  readonly roles: Readonly<Record<string, unknown>>;
  readonly nodes: Readonly<Record<string, NodeName | readonly NodeName[]>>;
  readonly effective?: boolean;
  readonly evidence?: readonly Readonly<Record<string, unknown>>[];
  readonly steps?: readonly Readonly<Record<string, unknown>>[];
}

export interface ConductorState {
  readonly schedule: Schedule;
  readonly brokers: readonly NodeId[];
  readonly view: ClusterView;
  readonly hands: Hands;
  readonly runs: readonly FaultRun[];
  loadStartNs: number | null;
  /** Why nothing begins any more. */
  finishing: 'the time was up' | 'the run was stopped' | null;
}

export function createConductor(schedule: Schedule, options: ConductorOptions): ConductorState {
  return {
    schedule,
    brokers: options.brokers,
    view: createView(options.partitions),
    hands: hand.createHands(options.brokers),
    runs: schedule.faults.map(createFaultRun),
    loadStartNs: null,
    finishing: null,
  };
}

/** One event in, effects out. */
export function conduct(state: ConductorState, event: ConductorEvent, nowNs: number): ConductorEffect[] {
  const effects: ConductorEffect[] = [];
  switch (event.type) {
    case 'start':
      state.loadStartNs ??= nowNs;
      break;
    case 'trace':
      foldLine(state.view, event.line);
      if (!isWatching(state, event.line)) return effects;
      break;
    case 'acted':
      credit(state, hand.takeAnswer(state.hands, event.id, event.evidence));
      break;
    case 'stop':
      finish(state, 'the run was stopped', effects);
      break;
    case 'deadline':
      break;
  }
  credit(state, hand.expireActs(state.hands, nowNs));
  if (state.loadStartNs !== null && nowNs >= state.loadStartNs + state.schedule.durationMs * NS_PER_MS) {
    finish(state, 'the time was up', effects);
  }
  moveOn(state, nowNs, effects);
  return effects;
}

/**
 * A trace line that nobody waits for, which is the common case by far: it is noted, and nothing comes of it. One that
 * somebody waits for is not taken, and has to be conducted. Returns whether it was taken.
 */
export function takeQuietly(state: ConductorState, line: TraceLine): boolean {
  if (isWatching(state, line)) return false;
  foldLine(state.view, line);
  return true;
}

/** Whether any fault waits for what such a line shows; if none does, only time and answers can move the conductor. */
function isWatching({ loadStartNs, runs }: ConductorState, { event }: TraceLine): boolean {
  if (loadStartNs === null) return false;
  for (const run of runs) if (watches(run, event)) return true;
  return false;
}

/** When the conductor wants a `deadline` event; Infinity when only other events can move it. */
export function nextDeadlineNs(state: ConductorState): number {
  const around = surroundingsOf(state);
  let next = hand.nextActDeadlineNs(state.hands);
  if (around === null) return next;
  if (state.finishing === null) next = Math.min(next, around.loadStartNs + state.schedule.durationMs * NS_PER_MS);
  for (const run of state.runs) {
    if (run.phase === 'ended' || (run.phase === 'due' && isBlocked(state, run))) continue;
    next = Math.min(next, nextRunDeadlineNs(run, around));
  }
  return next;
}

/** Whether every fault has ended, which a schedule may do long before its time is up. */
export function hasPlayed({ runs }: ConductorState): boolean {
  return runs.every(({ phase }) => phase === 'ended');
}

/** Whether the schedule is over and everything is healed, as far as the runtime's answers go. */
export function isFinished(state: ConductorState): boolean {
  const { hands, finishing } = state;
  return (
    finishing !== null &&
    hands.pending.size === 0 &&
    !hands.repeatLinks &&
    hasPlayed(state) &&
    hand.linksAreSettled(hands) &&
    [...hands.processes.keys()].every((node) => hand.processIsSettled(hands, node))
  );
}

/** Whatever can happen now, until nothing more can. */
function moveOn(state: ConductorState, nowNs: number, effects: ConductorEffect[]): void {
  const around = surroundingsOf(state);
  for (let moved = true; moved;) {
    moved = false;
    for (const run of state.runs) {
      const { phase, step, stepIndex } = run;
      if (around !== null) moveRun(state, run, around, nowNs, effects);
      moved ||= run.phase !== phase || run.step !== step || run.stepIndex !== stepIndex;
    }
    const acts = hand.reconcile(state.hands, nowNs);
    moved ||= acts.length > 0;
    effects.push(...acts.map(actEffect));
    for (const { action } of acts) if (isDeadly(action)) forgetRoles(state.view, action.node as NodeId);
  }
}

function isDeadly(action: Action): action is Action & { port: 'process' } {
  const deadly: readonly string[] = ['kill', 'power-loss', 'stop'];
  return action.port === 'process' && deadly.includes(action.verb) && action.node !== 'controller';
}

function moveRun(
  state: ConductorState,
  run: FaultRun,
  around: Surroundings,
  nowNs: number,
  effects: ConductorEffect[],
): void {
  if (state.finishing === null && becomeDue(run, around, nowNs) && !isBlocked(state, run)) {
    const begun = begin(run, around, nowNs);
    if (begun === 'begun') effects.push(record(run, 'start'));
    if (begun === 'nobody') skip(run, 'nobody had the role', effects);
  }
  if (run.phase === 'running') effects.push(...advance(run, around, nowNs).map(actEffect));
  if (isHealed(run, state.hands)) {
    run.phase = 'ended';
    addLinkEvidence(run, state.hands);
    effects.push(record(run, 'end'));
  }
}

/** An exclusive fault runs alone; while one waits for its start or runs, no other begins. */
function isBlocked(state: ConductorState, run: FaultRun): boolean {
  return state.runs.some((other) => {
    if (other === run) return false;
    const underWay = other.phase === 'running' || other.phase === 'ending';
    if (run.fault.exclusive === true) return underWay;
    return other.fault.exclusive === true && (underWay || other.phase === 'awaiting' || other.phase === 'due');
  });
}

function finish(
  state: ConductorState,
  why: NonNullable<ConductorState['finishing']>,
  effects: ConductorEffect[],
): void {
  if (state.finishing !== null) return;
  state.finishing = why;
  state.hands.repeatLinks = true;
  for (const run of state.runs) {
    if (run.phase === 'running') {
      run.outcomes.push({ step: 'heal', ms: 0, note: why });
      end(run, state.hands);
    }
    if (run.phase === 'planned' || run.phase === 'awaiting' || run.phase === 'due') skip(run, why, effects);
  }
}

/** A fault that never fired is on record all the same. */
function skip(run: FaultRun, why: string, effects: ConductorEffect[]): void {
  run.phase = 'ended';
  run.outcomes.push({ step: 'begin', ms: 0, note: `not begun: ${why}` });
  effects.push(record(run, 'start'), record(run, 'end'));
}

function record(run: FaultRun, phase: 'start' | 'end'): ConductorEffect {
  const { fault, program, evidence, outcomes } = run;
  const base = { fault: fault.id, phase, roles: program?.roles ?? {}, nodes: nodesOnRecord(program?.groups ?? {}) };
  if (phase === 'start') return { type: 'record', f: fault.kind, value: base };
  const done = run.stepIndex >= (program?.steps.length ?? 0);
  const effective = program?.isProven(evidence, run.gaveUp, done) ?? false;
  const steps = outcomes.map((outcome) => ({ ...outcome }));
  return { type: 'record', f: fault.kind, value: { ...base, effective, evidence: [...evidence], steps } };
}

function nodesOnRecord(groups: Readonly<Record<string, readonly Cut['from'][]>>): FaultRecord['nodes'] {
  const nodes: Record<string, NodeName | readonly NodeName[]> = {};
  for (const [role, places] of Object.entries(groups)) {
    const named = places.filter((place): place is NodeName => place !== 'clients');
    const [only] = named;
    if (only !== undefined) nodes[role] = named.length === 1 ? only : named;
  }
  return nodes;
}

/** What the links of this fault swallowed and slowed while they were in force. */
function addLinkEvidence(run: FaultRun, hands: Hands): void {
  const since = (now: Record<string, number>, before: ReadonlyMap<string, number>): Record<string, number> =>
    Object.fromEntries(Object.entries(now).map(([name, count]) => [name, count - (before.get(name) ?? 0)]));
  const some = (counts: Record<string, number>): boolean => Object.values(counts).some((count) => count > 0);
  if (run.cuts.length > 0) {
    const dropped = since(hand.countsOf(hands.swallowed, run.cuts), run.swallowedBefore);
    run.evidence.push({ action: 'cut', effective: some(dropped), dropped } satisfies EvidenceEntry);
  }
  if (run.slow.length > 0) {
    const slowed = since(hand.countsOf(hands.slowed, run.slow), run.slowedBefore);
    run.evidence.push({ action: 'slow', effective: some(slowed), slowed } satisfies EvidenceEntry);
  }
}

function credit(state: ConductorState, credits: readonly Credit[]): void {
  for (const { faults, entry } of credits) {
    for (const run of state.runs) if (faults.includes(run.fault.id)) run.evidence.push(entry);
  }
}

function surroundingsOf(state: ConductorState): Surroundings | null {
  const { view, hands, brokers, loadStartNs } = state;
  return loadStartNs === null ? null : { view, hands, brokers, loadStartNs };
}

function actEffect({ id, action }: Act): ConductorEffect {
  return { type: 'act', id, action };
}
