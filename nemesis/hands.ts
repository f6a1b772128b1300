/**
 * The hands of the nemesis: from what all running faults want of the network and of each process, to single actions.
 *
 * A fault does not cut a link or kill a process; it holds one in that state, and lets go when it ends. The wanted
 * network is the union of all cuts and slow links held (a link is as slow as the slowest who hold it say); a process is
 * down if anybody holds it down, else paused if anybody holds it paused, else running. Whenever the wanted state differs from the state brought about last, one action is under way to
 * make up the difference, one at a time for the network and for each process. So overlapping faults need no rules of
 * their own, and when nobody holds anything, everything is healed.
 *
 * Invariant: an action is answered, or counts as failed after a bounded time; nothing waits for ever.
 */
import type { EvidenceEntry } from './faults/program.ts';
import type { Action, Cut, Evidence, NodeId, NodeName, ProcessVerb, SlowLink } from './ports.ts';
import { nameOfCut, uniteCuts, uniteSlowLinks } from './topologies.ts';

type ProcessState = 'running' | 'paused' | 'down';
/** How a fault holds a process: paused, or down in one of three ways. */
export type Hold = 'pause' | 'kill' | 'power-loss' | 'stop';

/** Of several who want a process down the harshest decides how: what was not flushed is lost only once. */
const endings = ['power-loss', 'kill', 'stop'] as const satisfies readonly Hold[];

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
  readonly slowHeld: Map<string, readonly SlowLink[]>;
  /** What all who hold links want together; put together anew with every change of it. */
  wanted: WantedLinks;
  inForce: WantedLinks;
  /** Send the wanted network again even if nothing changed: the last healing leaves nothing to belief. */
  repeatLinks: boolean;
  /** What cuts have swallowed so far, and slow links delayed, by `1→2`. */
  readonly swallowed: Map<string, number>;
  readonly slowed: Map<string, number>;
  readonly processes: Map<NodeName, ProcessHand>;
  readonly pending: Map<string, Pending>;
  actsGiven: number;
}

interface WantedLinks {
  readonly cuts: readonly Cut[];
  readonly slow: readonly SlowLink[];
  /** All of it in one text, by which two are compared. */
  readonly text: string;
}

interface ProcessHand {
  state: ProcessState;
  readonly held: Map<string, Hold>;
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
    slowHeld: new Map(),
    wanted: wantedLinks([], []),
    inForce: wantedLinks([], []),
    repeatLinks: false,
    swallowed: new Map(),
    slowed: new Map(),
    processes: new Map<NodeName, ProcessHand>([...brokers, 'controller' as const].map((node) => [node, process()])),
    pending: new Map(),
    actsGiven: 0,
  };
}

export function holdCuts(hands: Hands, fault: string, cuts: readonly Cut[]): void {
  hands.cutsHeld.set(fault, uniteCuts([hands.cutsHeld.get(fault) ?? [], cuts]));
  uniteWanted(hands);
}

export function holdSlow(hands: Hands, fault: string, links: readonly SlowLink[]): void {
  hands.slowHeld.set(fault, uniteSlowLinks([hands.slowHeld.get(fault) ?? [], links]));
  uniteWanted(hands);
}

export function releaseLinks(hands: Hands, fault: string): void {
  hands.cutsHeld.delete(fault);
  hands.slowHeld.delete(fault);
  uniteWanted(hands);
}

/** Holds a process paused or down. Says so when another fault had brought it there before: that proves nothing. */
export function holdProcess(hands: Hands, fault: string, node: NodeName, action: Hold): EvidenceEntry | null {
  const process = processOf(hands, node);
  process.held.set(fault, action);
  const already = process.state === 'down' || (process.state === 'paused' && action === 'pause');
  return already ? { action, node, effective: false, note: `already ${process.state}` } : null;
}

export function releaseProcess(hands: Hands, fault: string, node: NodeName): void {
  const process = processOf(hands, node);
  if (process.held.delete(fault)) process.letGo.add(fault);
}

export function releaseAll(hands: Hands, fault: string): void {
  releaseLinks(hands, fault);
  for (const node of hands.processes.keys()) releaseProcess(hands, fault, node);
}

/** Asks for a new leader at once; there is nothing to hold. */
export function moveLeader(hands: Hands, fault: string, partition: string, to: NodeId, nowNs: number): Act {
  return give(hands, { port: 'leadership', partition, to }, [fault], nowNs);
}

/** Has the load do an operation that is written down; there is nothing to hold. */
export function callOperation(hands: Hands, fault: string, operation: string, nowNs: number): Act {
  return give(hands, { port: 'load', operation }, [fault], nowNs);
}

/** Whether an operation that this fault called is under way. */
export function isCalling(hands: Hands, fault: string): boolean {
  return [...hands.pending.values()].some(({ action, faults }) => action.port === 'load' && faults.includes(fault));
}

/** The actions that are missing between what is wanted and what is, as far as nothing of the kind is under way. */
export function reconcile(hands: Hands, nowNs: number): Act[] {
  const acts: Act[] = [];
  if ((hands.repeatLinks || hands.wanted.text !== hands.inForce.text) && !isBusy(hands, 'links')) {
    hands.repeatLinks = false;
    const { cuts, slow } = hands.wanted;
    acts.push(give(hands, { port: 'links', cuts, ...(slow.length === 0 ? {} : { slow }) }, [], nowNs));
  }
  for (const [node, process] of hands.processes) {
    if (isBusy(hands, node)) continue;
    const verb = missingVerb(process);
    if (verb === null) {
      process.letGo.clear();
      continue;
    }
    const faults = heals(verb) ? [...process.letGo] : holdersOf(process, verb);
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
      hands.inForce = wantedLinks(action.cuts, action.slow ?? []);
      addCounts(hands.swallowed, evidence.facts['dropped']);
      addCounts(hands.slowed, evidence.facts['slowed']);
      return [];
    case 'process': {
      const { verb, node } = action;
      settleProcess(processOf(hands, node), verb, evidence.effective);
      return [{ faults, entry: { action: verb, node, ...evidence.facts, effective: evidence.effective } }];
    }
    case 'leadership': {
      const { partition, to } = action;
      return [{ faults, entry: { action: 'move', partition, to, ...evidence.facts, effective: evidence.effective } }];
    }
    case 'load': {
      const { operation } = action;
      return [{ faults, entry: { action: 'call', operation, ...evidence.facts, effective: evidence.effective } }];
    }
  }
}

/** Answers that did not come in time, as failures. */
export function expireActs(hands: Hands, nowNs: number): Credit[] {
  if (hands.pending.size === 0) return [];
  const late = [...hands.pending].filter(([, { deadlineNs }]) => deadlineNs <= nowNs);
  return late.flatMap(([id]) => takeAnswer(hands, id, { effective: false, facts: { error: 'no answer' } }));
}

export function nextActDeadlineNs(hands: Hands): number {
  return Math.min(Number.POSITIVE_INFINITY, ...[...hands.pending.values()].map(({ deadlineNs }) => deadlineNs));
}

/** Whether the network is as wanted. */
export function linksAreSettled(hands: Hands): boolean {
  return hands.wanted.text === hands.inForce.text && !isBusy(hands, 'links');
}

/** Whether the process is in its wanted state, or cannot be brought there. */
export function processIsSettled(hands: Hands, node: NodeName): boolean {
  return !isBusy(hands, node) && missingVerb(processOf(hands, node)) === null;
}

/** Whether an answer is still due that concerns this fault. */
export function hasPendingActs(hands: Hands, fault: string): boolean {
  return [...hands.pending.values()].some(({ faults }) => faults.includes(fault));
}

/** What links of these names have swallowed or slowed up to now. */
export function countsOf(
  counts: Hands['swallowed'],
  links: readonly Pick<Cut, 'from' | 'to'>[],
): Record<string, number> {
  return Object.fromEntries(links.map((link) => [nameOfCut(link), counts.get(nameOfCut(link)) ?? 0]));
}

function give(hands: Hands, action: Action, faults: readonly string[], nowNs: number): Act {
  hands.actsGiven += 1;
  const id = `a${hands.actsGiven}`;
  hands.pending.set(id, { action, faults, deadlineNs: nowNs + ACT_DEADLINE_NS });
  return { id, action };
}

function isBusy(hands: Hands, what: 'links' | NodeName): boolean {
  for (const { action } of hands.pending.values()) {
    if (action.port === 'process' ? action.node === what : action.port === what) return true;
  }
  return false;
}

function processOf(hands: Hands, node: NodeName): ProcessHand {
  const process = hands.processes.get(node);
  if (process === undefined) throw new Error(`node ${node} is not one of ${[...hands.processes.keys()].join(', ')}`);
  return process;
}

function uniteWanted(hands: Hands): void {
  hands.wanted = wantedLinks(uniteCuts(hands.cutsHeld.values()), uniteSlowLinks(hands.slowHeld.values()));
}

function wantedLinks(cuts: readonly Cut[], slow: readonly SlowLink[]): WantedLinks {
  const texts = [
    ...cuts.map((cut) => `${nameOfCut(cut)} ${cut.mode ?? 'drop'}`),
    ...slow.map((link) => `${nameOfCut(link)} ${link.delayMs} ${link.jitterMs} ${link.loss}`),
  ];
  return { cuts, slow, text: texts.join() };
}

/** The verb that brings a process nearer to what is wanted of it. */
function missingVerb({ state, held }: ProcessHand): ProcessVerb | null {
  if (held.size === 0 && state === 'running') return null;
  const holds = [...held.values()];
  const ending = endings.find((how) => holds.includes(how));
  if (ending !== undefined) return state === 'down' ? null : ending;
  if (state === 'down') return 'start';
  if (holds.includes('pause')) return state === 'paused' ? null : 'pause';
  return state === 'paused' ? 'resume' : null;
}

/** Those to whom the verb is due: a harsher ending than asked for proves nothing for the others. */
function holdersOf(process: ProcessHand, verb: ProcessVerb): string[] {
  return [...process.held].filter(([, held]) => held === verb).map(([fault]) => fault);
}

function heals(verb: ProcessVerb): boolean {
  return verb === 'resume' || verb === 'start';
}

/** A fault that could not be brought about is not tried again; a healing that failed is, a few times. */
function settleProcess(process: ProcessHand, verb: ProcessVerb, effective: boolean): void {
  process.failedAttempts = heals(verb) && !effective ? process.failedAttempts + 1 : 0;
  if (heals(verb) && !effective && process.failedAttempts < MAX_ATTEMPTS_TO_HEAL) return;
  process.failedAttempts = 0;
  if (heals(verb)) process.letGo.clear();
  process.state = heals(verb) ? 'running' : verb === 'pause' ? 'paused' : 'down';
}

function addCounts(counts: Map<string, number>, told: unknown): void {
  if (typeof told !== 'object' || told === null) return;
  for (const [name, count] of Object.entries(told)) {
    if (typeof count === 'number') counts.set(name, (counts.get(name) ?? 0) + count);
  }
}
