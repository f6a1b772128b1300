/**
 * Plans: from a seed and a few wishes to a schedule.
 *
 * Every plan with `handover-crash` or `rejoin-crash` among its kinds holds at least one of them, since they are aimed so
 * well that others are luck beside them. Around it stand faults drawn from all kinds, with drawn parameters, at drawn
 * times; they may overlap each other. What is so aimed runs alone, and waits until every ISR is full; so whatever comes
 * before it has to be over early enough, and is cut short if it is not.
 *
 * Invariant: the same arguments give the same schedule, byte for byte. Every fault has an end within the duration, as
 * far as planned, and the conductor heals whatever is left.
 */
import { drawFault } from './faults/index.ts';
import { handoverBudgetMs } from './faults/handover-crash.ts';
import { rejoinBudgetMs } from './faults/rejoin-crash.ts';
import type { DrawContext, Draws } from './faults/program.ts';
import type { NodeId } from './ports.ts';
import type { End, Fault, FaultKind, Schedule, Start } from './schedule.ts';

export interface PlanOptions {
  readonly seed: number;
  readonly durationMs: number;
  readonly kinds: readonly FaultKind[];
  /** How often each kind is drawn beside the others; without them all alike. */
  readonly weights?: Readonly<Partial<Record<FaultKind, number>>>;
  /** `topic-partition`, all of the topic. */
  readonly partitions: readonly string[];
  readonly brokers: readonly NodeId[];
  /** Mean time between the starts of two faults. */
  readonly intervalMs: number;
  readonly sessionTimeoutMs?: number;
  readonly lagTimeMs?: number;
  /** Of brokers that are slower than ours. */
  readonly patience?: PlanPatience | undefined;
}

/** How much time a plan leaves a cluster. */
export interface PlanPatience {
  /** From the end of a fault until every ISR can be full again. */
  readonly recoveryMs: number;
  /** From the end of a broker's session until its successor may be seen to lead. */
  readonly electionMs: number;
  /** Whether moving a leader takes longer than a follower takes to hear of an acknowledgement. */
  readonly slowMoves: boolean;
}

/** Composites that are aimed so well that others are luck beside them. They run alone. */
const aimedKinds: readonly FaultKind[] = ['handover-crash', 'rejoin-crash'];

/** Nothing is broken before clients have begun in earnest. */
const LEAD_IN_MS = 600;
const RECOVERY_MS = 2_000;
const SHORTEST_FAULT_MS = 300;

/** Draws a schedule. `random` is the stream `faults` of the run's seed. */
export function generateSchedule(options: PlanOptions, random: Draws): Schedule {
  const { seed, durationMs, kinds } = options;
  const faults = kinds.length === 0 ? [] : placeFaults(options, drawKinds(options, random), random);
  return { schemaVersion: 1, seed, durationMs, faults };
}

/** Which kinds, in which order. */
function drawKinds(options: PlanOptions, random: Draws): FaultKind[] {
  const { kinds, durationMs, intervalMs } = options;
  const total = Math.max(2, Math.round(durationMs / intervalMs));
  const count = random.int(Math.ceil((total - 1) / 3), total - 1);
  const context = contextOf(options);
  const takesMs = (kind: FaultKind): number =>
    isAlone(kind) ? aloneBudgetMs(kind, context) + recoveryMsOf(options) : 0;
  const aimed = aimedKinds.filter((kind) => kinds.includes(kind));
  const drawn = aimed.length < 2 ? aimed : [random.pick(aimed)];
  let leftMs = durationMs - drawn.reduce((sum, kind) => sum + takesMs(kind), 0);
  for (let index = 0; index < count; index += 1) {
    /* Another one that is alone only where there is time for it. */
    const candidates = kinds.filter((kind) => !isAlone(kind) || takesMs(kind) <= leftMs);
    if (candidates.length === 0) break;
    const kind = pickKind(candidates, options.weights, random);
    leftMs -= takesMs(kind);
    drawn.push(kind);
  }
  return random.shuffle(drawn);
}

function pickKind(kinds: readonly FaultKind[], weights: PlanOptions['weights'], random: Draws): FaultKind {
  if (weights === undefined) return random.pick(kinds);
  const weightOf = (kind: FaultKind): number => weights[kind] ?? 1;
  let left = random.int(
    1,
    kinds.reduce((sum, kind) => sum + weightOf(kind), 0),
  );
  const chosen = kinds.find((kind) => (left -= weightOf(kind)) <= 0);
  return chosen ?? random.pick(kinds);
}

/**
 * Lays the faults out one after the other: a handover takes the time that it needs, the others share what is left in
 * drawn parts. How long they last is drawn apart from that, so neighbours overlap.
 */
function placeFaults(options: PlanOptions, kinds: readonly FaultKind[], random: Draws): Fault[] {
  const { durationMs } = options;
  const context = contextOf(options);
  const recoveryMs = recoveryMsOf(options);
  const shareMs = shares(
    freeMs(kinds, durationMs, context, recoveryMs),
    kinds.filter((kind) => !isAlone(kind)).length,
    random,
  );
  const faults: Fault[] = [];
  let cursorMs = LEAD_IN_MS + random.int(0, 300);
  for (const [index, kind] of kinds.entries()) {
    const drawn = drawFault(kind, context, random);
    const id = `f${index + 1}`;
    if (isAlone(kind)) {
      const deadlineMs = cursorMs + patienceMs(index, recoveryMs);
      faults.push({ ...drawn, id, at: { await: { seen: 'full-isr' }, fromMs: cursorMs, deadlineMs } });
      cursorMs = deadlineMs + aloneBudgetMs(kind, context);
      continue;
    }
    /* Over before the next handover wants a healthy cluster, or else before the end. */
    const next = kinds.findIndex((other, at) => at > index && isAlone(other));
    const ahead = shareMs.slice(0, next < 0 ? shareMs.length : next - index).reduce((sum, ms) => sum + ms, 0);
    const longestMs = next < 0 ? durationMs - cursorMs : ahead;
    const at = drawStart(cursorMs, context, random);
    faults.push({ ...drawn, id, at, until: cutShort(drawn.until, Math.max(SHORTEST_FAULT_MS, longestMs)) });
    cursorMs += shareMs.shift() ?? 0;
  }
  return faults;
}

/** Most faults begin at a time; some when the trace shows something worth breaking, or soon after without it. */
function drawStart(ms: number, { partitions }: DrawContext, random: Draws): Start {
  if (!random.chance(0.2)) return { ms };
  const partition = random.pick(partitions);
  /* A truncation is what only some builds do: the wait is short, so that all builds meet the same plan. */
  const what = random.chance(0.5)
    ? ({ seen: 'hw', partition, by: random.int(1, 3) } as const)
    : ({ seen: 'truncation', partition } as const);
  return { await: what, fromMs: ms, deadlineMs: ms + 500 };
}

function cutShort(until: End, longestMs: number): End {
  return 'ms' in until
    ? { ms: Math.min(until.ms, longestMs) }
    : { await: until.await, deadlineMs: Math.min(until.deadlineMs, longestMs) };
}

/** What is left for faults that need not be alone. */
function freeMs(kinds: readonly FaultKind[], durationMs: number, context: DrawContext, recoveryMs: number): number {
  let freeMs = durationMs - LEAD_IN_MS;
  for (const [index, kind] of kinds.entries()) {
    if (isAlone(kind)) freeMs -= patienceMs(index, recoveryMs) + aloneBudgetMs(kind, context);
  }
  return Math.max(0, freeMs);
}

/** How long a handover waits for a healthy cluster: after other faults longer than at the beginning. */
function patienceMs(index: number, recoveryMs: number): number {
  return index === 0 ? LEAD_IN_MS : recoveryMs;
}

function recoveryMsOf({ patience }: Pick<PlanOptions, 'patience'>): number {
  return patience?.recoveryMs ?? RECOVERY_MS;
}

function isAlone(kind: FaultKind): boolean {
  return aimedKinds.includes(kind);
}

/** What a fault that is alone takes. */
function aloneBudgetMs(kind: FaultKind, context: DrawContext): number {
  return kind === 'rejoin-crash' ? rejoinBudgetMs(context) : handoverBudgetMs(context);
}

/** `count` parts of `totalMs`, none of them tiny. */
function shares(totalMs: number, count: number, random: Draws): number[] {
  const weights = Array.from({ length: count }, () => random.int(50, 150));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => Math.floor((totalMs * weight) / sum));
}

function contextOf(options: Omit<PlanOptions, 'seed' | 'durationMs' | 'kinds' | 'intervalMs'>): DrawContext {
  const { partitions, brokers, sessionTimeoutMs = 1_500, lagTimeMs = 2_000, patience } = options;
  return {
    partitions,
    brokers,
    sessionTimeoutMs,
    lagTimeMs,
    ...(patience === undefined ? {} : { electionSlackMs: patience.electionMs, slowMoves: patience.slowMoves }),
  };
}
