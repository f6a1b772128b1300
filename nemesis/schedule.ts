/**
 * A schedule of faults, as data: what is stored in `schedule.json`, replayed, and shrunk.
 *
 * A fault is an interval: it begins at a time, or when something has been seen in the trace, and ends likewise. It names
 * roles (`the leader of tide-3`), not nodes: whom a role meant is decided when the fault fires, and recorded. Where
 * there is a choice (which one of three?) the plan holds the draw, so that nothing is left to chance later.
 * A composite is a list of steps that are taken one after the other.
 *
 * Invariant: every wait has a deadline, so every fault ends. Two runs of one schedule differ only by what the cluster did.
 */
import type { NodeName } from './ports.ts';

export interface Schedule {
  readonly schemaVersion: 1;
  readonly seed: number;
  /** When everything is healed, whatever is still under way. */
  readonly durationMs: number;
  readonly faults: readonly Fault[];
}

export type Fault =
  | PartitionFault
  | SlowLinksFault
  | PauseFault
  | CrashFault
  | PowerLossFault
  | RollingRestartFault
  | LeaderMoveFault
  | LeaderBurstFault
  | HandoverCrashFault
  | RejoinCrashFault
  | ScriptFault;

export type FaultKind = Fault['kind'];

interface AnyFault {
  /** Unique within the schedule. */
  readonly id: string;
  readonly at: Start;
  readonly until: End;
  /** Begins only when no other fault is under way, and none begins beside it. */
  readonly exclusive?: true;
}

/** Times count from the start of the load. An await begins at `fromMs`; at `deadlineMs` the fault begins anyway. */
export type Start =
  | { readonly ms: number }
  | { readonly await: Condition; readonly fromMs: number; readonly deadlineMs: number };

/** Times count from the start of the fault itself. At `deadlineMs` it ends anyway. */
export type End = { readonly ms: number } | { readonly await: Condition; readonly deadlineMs: number };

/** Links are cut between groups of nodes. */
export interface PartitionFault extends AnyFault {
  readonly kind: 'partition';
  readonly topology: Topology;
}

/** Links between groups of nodes are slow, and may lose packets. */
export interface SlowLinksFault extends AnyFault, Slowness {
  readonly kind: 'slow-links';
  /** The links that the topology would cut. */
  readonly topology: Topology;
}

/** How slow: see `SlowLink` in `ports.ts`. */
export interface Slowness {
  readonly delayMs: number;
  readonly jitterMs: number;
  readonly loss: number;
}

/** Processes stop running, keep their memory and their connections, and go on. */
export interface PauseFault extends AnyFault {
  readonly kind: 'pause';
  readonly targets: Target;
}

/** Processes are killed, and started again at the end. What they had written stays. */
export interface CrashFault extends AnyFault {
  readonly kind: 'crash';
  readonly targets: Target;
}

/** Machines lose power: processes are gone, and so is what was not flushed. They start again at the end. */
export interface PowerLossFault extends AnyFault {
  readonly kind: 'power-loss';
  readonly targets: Target;
}

/** Brokers stop in good order and start again, one after the other, each when the ISR is full again. */
export interface RollingRestartFault extends AnyFault {
  readonly kind: 'rolling-restart';
  /** Rotates and turns round the order of the brokers. */
  readonly draw: number;
  /** From the end of a process to its next start. */
  readonly downMs: number;
  /** For so long the next one waits for full ISRs. */
  readonly patienceMs: number;
}

/** The controller is asked to make another replica the leader. */
export interface LeaderMoveFault extends AnyFault {
  readonly kind: 'leader-move';
  readonly partition: string;
  /** Who is to lead. */
  readonly targets: Target;
}

/** Leader moves of one partition, fast: a broker that hears nothing meanwhile misses epochs. */
export interface LeaderBurstFault extends AnyFault, Composite {
  readonly kind: 'leader-burst';
  readonly partition: string;
}

/** Two handovers of one partition in a row, the second before the last replica has spoken to the second leader. */
export interface HandoverCrashFault extends AnyFault, Composite {
  readonly kind: 'handover-crash';
  readonly partition: string;
  /** How the roles `leader`, `next-leader` and `follower` are found: see `faults/handover-crash.ts`. */
  readonly roles: 'election-order' | 'reverse-election-order';
}

/** A leader that knows less than it holds ends as soon as a follower that was away has joined its ISR. */
export interface RejoinCrashFault extends AnyFault, Composite {
  readonly kind: 'rejoin-crash';
  readonly partition: string;
}

/** Steps that somebody wrote down for one partition, with operations of the load among them. Never drawn. */
export interface ScriptFault extends AnyFault, Composite {
  readonly kind: 'script';
  readonly partition: string;
}

interface Composite {
  readonly steps: readonly Step[];
  /** Who its roles are, for schedules that are replayed as they were resolved. */
  readonly nodes?: Readonly<Record<string, NodeName>>;
}

/** Whom a fault is aimed at. `draw` is any whole number; it chooses among those who qualify. */
export type Target =
  | { readonly role: 'one' | 'minority' | 'majority'; readonly draw: number }
  | { readonly role: 'all' | 'controller' }
  | { readonly role: 'leader' | 'last-in-isr'; readonly partition: string }
  | { readonly role: 'isr-follower'; readonly partition: string; readonly draw: number }
  /** Named nodes, for schedules that are replayed as they were resolved. */
  | { readonly role: 'nodes'; readonly nodes: readonly NodeName[] };

export type Topology =
  /** A minority against the rest. */
  | ({ readonly shape: 'halves'; readonly draw: number } & Reach)
  | ({ readonly shape: 'isolated-node'; readonly side: Target } & Reach)
  /** The leader, with as many others as a minority may hold, against the rest. */
  | ({ readonly shape: 'leader-with-minority'; readonly partition: string; readonly draw: number } & Reach)
  /** Packets of one side do not arrive, those of the other do: `outward` silences the target, `inward` deafens it. */
  | ({ readonly shape: 'one-way'; readonly side: Target; readonly direction: 'outward' | 'inward' } & Reach)
  /** Two halves that see each other only through one node between them. */
  | { readonly shape: 'bridge'; readonly middle: Target }
  /** Nodes on a ring: each hears a majority, no two of them the same one. */
  | { readonly shape: 'majorities-ring'; readonly draw: number }
  /** Nodes in a row: each sees only its neighbours. */
  | { readonly shape: 'chained'; readonly draw: number }
  /** A majority is gone, each node of it alone: what is left is no quorum. */
  | ({ readonly shape: 'quorum-loss'; readonly draw: number } & Reach)
  /** The leader is cut off, and of the others all see only the candidate: nobody else can be elected. */
  | { readonly shape: 'constrained-election'; readonly leader: Target; readonly candidate: Target }
  /** Only links to the controller: a broker that is not heard, or that hears nothing of elections. */
  | { readonly shape: 'control-plane'; readonly side: Target; readonly direction: 'outward' | 'inward' | 'both' };

/** Which links besides those between brokers are cut on the smaller side. */
export interface Reach {
  readonly controller: boolean;
  readonly clients: boolean;
}

/** What can be awaited. `node` and `by` name roles of the fault; what is seen concerns its partition. */
export type Condition =
  /** Every partition has a leader, all its replicas in the ISR, and all of them in their role. */
  | { readonly seen: 'full-isr' }
  /** A new leader was elected since the wait began. */
  | { readonly seen: 'leader-change'; readonly partition: string }
  | { readonly seen: 'isr-size'; readonly partition: string; readonly atMost: number }
  /** The leader's high watermark rose by so much since the wait began. */
  | { readonly seen: 'hw'; readonly partition: string; readonly by: number }
  /** A replica removed records since the wait began. */
  | { readonly seen: 'truncation'; readonly partition: string }
  /** A produce request at acks=all is acknowledged by that node, after the wait began. */
  | { readonly seen: 'ack'; readonly partition: string; readonly by: string }
  /** The node was elected, and knows it. */
  | { readonly seen: 'leads'; readonly partition: string; readonly node: string }
  /** The node took the role of a follower of that leader. */
  | { readonly seen: 'follows'; readonly partition: string; readonly node: string; readonly leader: string }
  /** The node is a member of the ISR. */
  | { readonly seen: 'in-sync'; readonly partition: string; readonly node: string }
  /** The node is no member of the ISR. */
  | { readonly seen: 'out-of-sync'; readonly partition: string; readonly node: string }
  /** The steps of the fault are done: the usual end of a composite. */
  | { readonly seen: 'steps-done' };

/** One step of a fault. Names are roles, each of which stands for one node or several. */
export type Step =
  | { readonly step: 'cut'; readonly links: readonly RoleLink[] }
  | ({ readonly step: 'slow'; readonly links: readonly RoleLink[] } & Slowness)
  /** All links that this fault cut or slowed. */
  | { readonly step: 'mend' }
  | { readonly step: 'pause' | 'kill' | 'power-loss' | 'stop'; readonly node: string }
  /** What this fault paused goes on, what it ended starts. */
  | { readonly step: 'restore'; readonly node: string }
  | { readonly step: 'move'; readonly partition: string; readonly to: string }
  /** The operation of that name in a written load begins, and ends. */
  | { readonly step: 'call'; readonly operation: string }
  | { readonly step: 'wait'; readonly ms: number }
  | {
      readonly step: 'await';
      readonly what: Condition;
      readonly deadlineMs: number;
      /** When the deadline passes: take the next step, or give up and heal. */
      readonly otherwise: 'go-on' | 'give-up';
    };

/** Packets from the nodes of one role do not reach those of the other. */
export interface RoleLink {
  readonly from: string;
  readonly to: string;
}
