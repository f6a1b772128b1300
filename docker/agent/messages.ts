/**
 * What the harness and a pod's agent say to each other: one JSON object a line, commands on the agent's standard
 * input, replies and events on its standard output. A command is answered by the reply with its `id`.
 */
import type { Drop, Dropped } from './ruleset.ts';

export interface ProbeTarget {
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

export interface ProbeResult {
  readonly name: string;
  readonly ok: boolean;
  readonly roundTripMs?: number;
  readonly error?: string;
}

export type Command =
  /** Leave exactly these drops; none heals. */
  | { readonly id: number; readonly do: 'drop'; readonly drops: readonly Drop[] }
  | {
      readonly id: number;
      readonly do: 'probe';
      readonly clientId: string;
      readonly targets: readonly ProbeTarget[];
      readonly timeoutMs: number;
    }
  /** The harness lives. An agent that hears nothing for {@link heartbeatTimeoutMs} heals. Not answered. */
  | { readonly do: 'beat' };

export type Reply =
  /** The counters of the drops that stood before. */
  | { readonly id: number; readonly dropped: Readonly<Record<string, Dropped>> }
  | { readonly id: number; readonly probes: readonly ProbeResult[] }
  | { readonly id: number; readonly error: string };

export type AgentEvent =
  | { readonly event: 'ready' }
  /** The agent healed by itself, since nobody spoke to it any more. */
  | { readonly event: 'healed'; readonly reason: string };

/** An agent that cannot do its work says so at its start, in a reply with this id, instead of `ready`. */
export const readyId = 0;

export const heartbeatIntervalMs = 2_000;
export const heartbeatTimeoutMs = 15_000;
