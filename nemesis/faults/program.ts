/**
 * What every kind of fault turns into when it fires: whom it hits, the steps it takes, and what proves it.
 *
 * A kind says in its own file how to draw one for a plan, and how to make a program of it from the state of the
 * cluster. The conductor runs programs and knows no kind. Healing needs no program: whatever a fault holds (cuts,
 * paused or killed processes) is released when it ends, so that no kind can forget to heal.
 *
 * Invariant: a fault is effective only if something that the runtime reported says so.
 */
import type { Cut, NodeId, NodeName, ProcessVerb } from '../ports.ts';
import type { Condition, RoleLink, Step } from '../schedule.ts';
import type { ClusterView, PartitionView } from '../view.ts';

export interface Program {
  /** As planned: `{leader: 'tide-3'}`. */
  readonly roles: Readonly<Record<string, unknown>>;
  /** Who each role is now. The names are those that the steps use. */
  readonly groups: Readonly<Record<string, readonly Cut['from'][]>>;
  readonly steps: readonly Step[];
  /**
   * Whether the evidence proves that the fault took effect. `gaveUp`: a wait that the steps cannot do without failed.
   * `done`: no step is left.
   */
  readonly isProven: (evidence: readonly EvidenceEntry[], gaveUp: boolean, done: boolean) => boolean;
}

/** What one action of a fault brought about. */
export interface EvidenceEntry {
  readonly action: 'cut' | 'slow' | 'move' | 'call' | ProcessVerb;
  readonly effective: boolean;
  readonly [fact: string]: unknown;
}

/** What a plan is drawn for. */
export interface DrawContext {
  readonly partitions: readonly string[];
  readonly brokers: readonly NodeId[];
  /** Without heartbeats for so long a broker is fenced: elections take about as long. */
  readonly sessionTimeoutMs: number;
  /** A follower that lags for so long leaves the ISR. */
  readonly lagTimeMs: number;
  /** From the end of a broker's session until its successor may be seen to lead; by default a second. */
  readonly electionSlackMs?: number;
  /** Moving a leader takes longer than a follower takes to hear of an acknowledgement. */
  readonly slowMoves?: boolean;
}

/** Random draws, handed in. `harness/plan/random.ts` has one. */
export interface Draws {
  int(from: number, to: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  shuffle<T>(items: readonly T[]): T[];
}

/** A draw that chooses among nodes later, when it is known who qualifies. */
export function drawChoice(random: Draws): number {
  return random.int(0, 999);
}

/** Proof by at least one action of that sort that took effect. */
export function provenBy(...actions: readonly EvidenceEntry['action'][]): Program['isProven'] {
  return (evidence) => evidence.some((entry) => entry.effective && actions.includes(entry.action));
}

/** Who the roles of a composite are: the nodes that it names, else who has them now. Null where one of them is nobody. */
export function groupsOf(
  { partition, nodes }: { readonly partition: string; readonly nodes?: Readonly<Record<string, NodeName>> },
  view: ClusterView,
  brokers: readonly NodeId[],
  rolesNow: (partition: PartitionView | undefined) => Record<string, NodeName[]> | null,
): Record<string, NodeName[]> | null {
  if (nodes === undefined) return rolesNow(view.partitions.get(partition));
  const named = Object.entries(nodes);
  const known = named.every(([, node]) => node === 'controller' || brokers.includes(node));
  return known ? Object.fromEntries(named.map(([role, node]): [string, NodeName[]] => [role, [node]])) : null;
}

/** From the end of a leader until the next one leads. */
export function electionMsOf({ sessionTimeoutMs, electionSlackMs = 1_000 }: DrawContext): number {
  return sessionTimeoutMs + electionSlackMs;
}

/** A wait as a step. */
export function awaits(what: Condition, deadlineMs: number, otherwise: 'go-on' | 'give-up'): Step {
  return { step: 'await', what, deadlineMs, otherwise };
}

/** The links between two roles. */
export function bothWays(one: string, other: string): RoleLink[] {
  return [
    { from: one, to: other },
    { from: other, to: one },
  ];
}
