/**
 * What a simulated run is made from, and what it leaves: the contract of the simulator with whoever runs it.
 *
 * A simulation is a function: the same request gives the same history, trace and replicas, to the byte, on every
 * machine. Whoever wants files writes them from what it returns; whoever only wants a verdict hands it to the checker
 * as it is.
 *
 * Invariant: nothing in a simulation depends on anything but its request. Times are virtual, on the run's own clock.
 */
import type { Operation } from '../../checker/history.ts';
import type { NodeId, TraceLine } from '../../nemesis/ports.ts';
import type { Schedule } from '../../nemesis/schedule.ts';
import type { ClientOperation } from '../client/operations.ts';
import type { RunConfig } from '../plan/config.ts';

export interface SimulationRequest {
  /** Its seed drives workload, network and disks; `runtime` is `sim`. */
  readonly config: RunConfig;
  readonly schedule: Schedule;
  /** Exactly these operations, instead of the load that the seed draws. */
  readonly load?: LoadPlan;
  /** Every message is encoded and decoded as on a real wire; without it, bodies pass as they are. */
  readonly codec?: boolean;
  /** Single messages that take longer than they would. */
  readonly late?: readonly LateMessage[];
}

/** One message that arrives later than it would; see `late.ts`. */
export interface LateMessage {
  /** `request broker-2.1#17`, or `response` and the name of the request that it answers. */
  readonly message: string;
  readonly byMs: number;
}

/** A load written out, as a shrunk run has it; `load.json` in a run's folder. */
export interface LoadPlan {
  readonly schemaVersion: 1;
  readonly operations: readonly PlannedOperation[];
}

/** Begins at its time, or as soon as the operation before it on its thread is over. */
export interface PlannedOperation {
  /** Since the start of the load. */
  readonly atMs: number;
  /** Counts threads from 0; a thread goes on with a fresh process where an operation ended with `info`. */
  readonly thread: number;
  /** The name by which a step of the schedule calls it: it begins no sooner than it is called. Unique in its load. */
  readonly called?: string;
  readonly operation: ClientOperation;
}

/** The lines of a trace, in the order in which they were written; each reading makes them anew. */
export interface Trace extends Iterable<TraceLine> {
  readonly length: number;
}

export interface Simulation {
  readonly history: readonly Operation[];
  readonly trace: Trace;
  readonly facts: SimulationFacts;
  /** Every replica's log after settling, as its files would stand. */
  readonly replicas: readonly SimulatedReplica[];
  /** A rolling hash over every event of the kernel, in hexadecimal. */
  readonly hash: string;
  readonly events: number;
  readonly virtualNs: number;
  /** When load and faults began, on the run's clock: the times of plans count from here. Null when it never came to that. */
  readonly loadStartNs: number | null;
  /** Late messages of the request that nobody ever sent. */
  readonly unsent: readonly string[];
}

/** What `run.json` tells of how the run went; times are virtual. */
export interface SimulationFacts {
  readonly healed: boolean;
  readonly healMs: number;
  readonly settled: boolean;
  readonly settleMs: number;
  readonly residual: readonly string[];
  readonly finalLeaders: Readonly<Record<string, NodeId>>;
  readonly finalReadComplete: boolean;
  /** Why the run never came to its load, if it did not: then there is nothing to judge. */
  readonly error?: string;
}

export interface SimulatedReplica {
  readonly node: NodeId;
  /** `topic-partition`. */
  readonly key: string;
  readonly segments: readonly { readonly baseOffset: number; readonly bytes: Uint8Array }[];
  readonly logStart: number | null;
  /** `leader-epoch-checkpoint`, as pairs. */
  readonly epochs: readonly (readonly [epoch: number, startOffset: number])[];
  /** In `replication-offset-checkpoint`. */
  readonly checkpointedHighWatermark: number;
}
