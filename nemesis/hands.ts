/**
 * The hands of the nemesis: from what all running faults want of the network and of each process, to single actions.
 *
 * A fault does not cut a link or kill a process; it holds one in that state, and lets go when it ends. The wanted
 * network is the union of all cuts held; a process is down if anybody holds it down, else paused if anybody holds it
 * paused, else running. Whenever the wanted state differs from the state brought about last, one action is under way to
 * make up the difference, one at a time for the network and for each process. So overlapping faults need no rules of
 * their own, and when nobody holds anything, everything is healed.
 *
 * Invariant: an action is answered, or counts as failed after a bounded time; nothing waits for ever.
 */
import type { EvidenceEntry } from './faults/program.ts';
import type { Action, Cut, Evidence, NodeId, NodeName } from './ports.ts';
import { nameOfCut, uniteCuts } from './topologies.ts';

type ProcessState = 'running' | 'paused' | 'down';
type Verb = 'pause' | 'resume' | 'kill' | 'start';

/** An action that a runtime did not answer for so long counts as failed. */
const ACT_DEADLINE_NS = 10_000_000_000;
const MAX_ATTEMPTS_TO_HEAL = 3;

export interface Act {
  readonly id: string;
  readonly action: Action;
}

/** What was learned from an answer: evidence for these faults. */
export interface Credit {
  readonly faults: readonly string[];
  readonly entry: EvidenceEntry;
}

export interface Hands {
  readonly cutsHeld: Map<string, readonly Cut[]>;
  cutsInForce: readonly Cut[];
  /** Send the wanted network again even if nothing changed: the last healing leaves nothing to belief. */
  repeatLinks: boolean;
  /** What cuts have swallowed so far, by `1→2`. */
  readonly swallowed: Map<string, number>;
  readonly processes: Map<NodeName, ProcessHand>;
  readonly pending: Map<string, Pending>;
  actsGiven: number;
}

interface ProcessHand {
  state: ProcessState;
  readonly held: Map<string, ProcessState>;
  /** The faults that let go last, to whom the proof of the return belongs. */
  readonly letGo: Set<string>;
  failedAttempts: number;
}

interface Pending {
  readonly action: Action;
  readonly faults: readonly string[];
  readonly deadlineNs: number;
}

export function createHands(brokers: readonly NodeId[]): Hands {
  const process = (): ProcessHand => ({ state: 'running', held: new Map(), letGo: new Set(), failedAttempts: 0 });
  return {
    cutsHeld: new Map(),
    cutsInForce: [],
    repeatLinks: false,
    swallowed: new Map(),
    processes: new Map<NodeName, ProcessHand>([...brokers, 'controller' as const].map((node) => [node, process()])),
    pending: new Map(),
    actsGiven: 0,
  };
}

export function holdCuts(hands: Hands, fault: string, cuts: readonly Cut[]): void {
  hands.cutsHeld.set(fault, uniteCuts([hands.cutsHeld.get(fault) ?? [], cuts]));
}

export function releaseCuts(hands: Hands, fault: string): void {
  hands.cutsHeld.delete(fault);
}

/** Holds a process paused or down. Says so when another fault had brought it there before: that proves nothing. */
export function holdProcess(
  hands: Hands,
  fault: string,
  node: NodeName,
  state: 'paused' | 'down',
): EvidenceEntry | null {
  const process = processOf(hands, node);
  process.held.set(fault, state);
  const already = process.state === state || process.state === 'down';
  const action = state === 'paused' ? 'pause' : 'kill';
  return already ? { action, node, effective: false, note: `already ${process.state}` } : null;
}

export function releaseProcess(hands: Hands, fault: string, node: NodeName): void {
  const process = processOf(hands, node);
  if (process.held.delete(fault)) process.letGo.add(fault);
}

export function releaseAll(hands: Hands, fault: string): void {
  releaseCuts(hands, fault);
  for (const node of hands.processes.keys()) releaseProcess(hands, fault, node);
}

/** Asks for a new leader at once; there is nothing to hold. */
export function moveLeader(hands: Hands, fault: string, partition: string, to: NodeId, nowNs: number): Act {
  return give(hands, { port: 'leadership', partition, to }, [fault], nowNs);
}

/** The actions that are missing between what is wanted and what is, as far as nothing of the kind is under way. */
export function reconcile(hands: Hands, nowNs: number): Act[] {
  const acts: Act[] = [];
  const wanted = uniteCuts(hands.cutsHeld.values());
  if (!isBusy(hands, 'links') && (hands.repeatLinks || !sameCuts(wanted, hands.cutsInForce))) {
    hands.repeatLinks = false;
    acts.push(give(hands, { port: 'links', cuts: wanted }, [], nowNs));
  }
  for (const [node, process] of hands.processes) {
    if (isBusy(hands, node)) continue;
    const verb = verbBetween(process.state, wantedState(process));
    if (verb === null) {
      process.letGo.clear();
      continue;
    }
    const faults = verb === 'pause' || verb === 'kill' ? holdersOf(process, verb) : [...process.letGo];
    acts.push(give(hands, { port: 'process', verb, node }, faults, nowNs));
  }
  return acts;
}

/** Takes the answer to an action. */
export function takeAnswer(hands: Hands, id: string, evidence: Evidence): Credit[] {
  const pending = hands.pending.get(id);
  if (pending === undefined) return [];
  hands.pending.delete(id);
  const { action, faults } = pending;
  switch (action.port) {
    case 'links':
      hands.cutsInForce = action.cuts;
      countSwallowed(hands, evidence.facts['dropped']);
      return [];
    case 'process': {
      const verb = action.verb === 'power-loss' ? 'kill' : action.verb;
      settleProcess(processOf(hands, action.node), verb, evidence.effective);
      return [{ faults, entry: { action: verb, node: action.node, ...evidence.facts, effective: evidence.effective } }];
    }
    case 'leadership': {
      const { partition, to } = action;
      return [{ faults, entry: { action: 'move', partition, to, ...evidence.facts, effective: evidence.effective } }];
    }
  }
}

/** Answers that did not come in time, as failures. */
export function expireActs(hands: Hands, nowNs: number): Credit[] {
  const late = [...hands.pending].filter(([, { deadlineNs }]) => deadlineNs <= nowNs);
  return late.flatMap(([id]) => takeAnswer(hands, id, { effective: false, facts: { error: 'no answer' } }));
}

export function nextActDeadlineNs(hands: Hands): number {
  return Math.min(Number.POSITIVE_INFINITY, ...[...hands.pending.values()].map(({ deadlineNs }) => deadlineNs));
}

/** Whether the network is as wanted. */
export function linksAreSettled(hands: Hands): boolean {
  return !isBusy(hands, 'links') && sameCuts(uniteCuts(hands.cutsHeld.values()), hands.cutsInForce);
}

/** Whether the process is in its wanted state, or cannot be brought there. */
export function processIsSettled(hands: Hands, node: NodeName): boolean {
  const process = processOf(hands, node);
  return !isBusy(hands, node) && verbBetween(process.state, wantedState(process)) === null;
}

/** Whether an answer is still due that concerns this fault. */
export function hasPendingActs(hands: Hands, fault: string): boolean {
  return [...hands.pending.values()].some(({ faults }) => faults.includes(fault));
}

/** What the cuts of that name have swallowed up to now. */
export function swallowedBy(hands: Hands, cuts: readonly Cut[]): Record<string, number> {
  return Object.fromEntries(cuts.map((cut) => [nameOfCut(cut), hands.swallowed.get(nameOfCut(cut)) ?? 0]));
}

function give(hands: Hands, action: Action, faults: readonly string[], nowNs: number): Act {
  hands.actsGiven += 1;
  const id = `a${hands.actsGiven}`;
  hands.pending.set(id, { action, faults, deadlineNs: nowNs + ACT_DEADLINE_NS });
  return { id, action };
}

function isBusy(hands: Hands, what: 'links' | NodeName): boolean {
  return [...hands.pending.values()].some(({ action }) =>
    action.port === 'process' ? action.node === what : action.port === what,
  );
}

function processOf(hands: Hands, node: NodeName): ProcessHand {
  const process = hands.processes.get(node);
  if (process === undefined) throw new Error(`node ${node} is not one of ${[...hands.processes.keys()].join(', ')}`);
  return process;
}

function wantedState(process: ProcessHand): ProcessState {
  const held = [...process.held.values()];
  if (held.includes('down')) return 'down';
  return held.includes('paused') ? 'paused' : 'running';
}

function verbBetween(state: ProcessState, wanted: ProcessState): Verb | null {
  if (state === wanted) return null;
  if (wanted === 'down') return 'kill';
  if (state === 'down') return 'start';
  return wanted === 'paused' ? 'pause' : 'resume';
}

function holdersOf(process: ProcessHand, verb: 'pause' | 'kill'): string[] {
  const state = verb === 'pause' ? 'paused' : 'down';
  return [...process.held].filter(([, held]) => held === state).map(([fault]) => fault);
}

/** A fault that could not be brought about is not tried again; a healing that failed is, a few times. */
function settleProcess(process: ProcessHand, verb: Verb, effective: boolean): void {
  const heals = verb === 'resume' || verb === 'start';
  process.failedAttempts = heals && !effective ? process.failedAttempts + 1 : 0;
  if (heals && !effective && process.failedAttempts < MAX_ATTEMPTS_TO_HEAL) return;
  process.failedAttempts = 0;
  if (heals) process.letGo.clear();
  process.state = verb === 'kill' ? 'down' : verb === 'pause' ? 'paused' : 'running';
}

function countSwallowed(hands: Hands, dropped: unknown): void {
  if (typeof dropped !== 'object' || dropped === null) return;
  for (const [name, count] of Object.entries(dropped)) {
    if (typeof count === 'number') hands.swallowed.set(name, (hands.swallowed.get(name) ?? 0) + count);
  }
}

function sameCuts(some: readonly Cut[], others: readonly Cut[]): boolean {
  const asText = (cuts: readonly Cut[]) => cuts.map((cut) => `${nameOfCut(cut)} ${cut.mode ?? 'drop'}`).join();
  return asText(some) === asText(others);
}
