/**
 * All that is known of one run, in one value, for the anomalies to judge.
 *
 * What is missing is as important as what is there: {@link Evidence.unknown} collects, by guarantee, why it cannot be
 * judged, and {@link Evidence.notes} what else a reader should know.
 */
import type { FinalLog, FinalLogs } from './final-logs.ts';
import type { FaultRecord, Key } from './history.ts';
import type { HistoryIndex } from './index-history.ts';
import type { Observations } from './observations.ts';
import type { TraceNode } from './parse-trace.ts';
import type { ClusterTrace, PartitionTrace } from './replicas.ts';
import type { Guarantee, TargetSummary } from './results.ts';

/** What `run.json` says, and what was promised. Every field but `configuration` may be missing. */
export interface RunDescription {
  readonly name: string;
  readonly command: string | null;
  readonly configuration: Readonly<Record<string, unknown>>;
  /** Null: the run never got to settling, or nobody knows. */
  readonly settled: boolean | null;
  /** False: after healing some link between live nodes did not answer: perhaps the cluster had no chance. */
  readonly healed: boolean | null;
  readonly settleMs: number | null;
  readonly residual: readonly string[];
  readonly finalLeaders: Readonly<Record<Key, number | null>>;
  /** False: the readers that began after settling did not reach the end of every partition. */
  readonly finalReadComplete: boolean | null;
  /** False: the replicas' logs were not all copied, or not while they stood still. */
  readonly logsCollected: boolean | null;
  /** False: the harness or its environment failed, or was killed. Null: nobody knows. */
  readonly completed: boolean | null;
  readonly error: string | null;
  /** How many lines the harness wrote; fewer in the files now means that they were cut. Null: nobody knows. */
  readonly recordedLines: RecordedLines | null;
  /** False: brokers that others wrote, which tell no trace and are watched from outside. */
  readonly traced?: boolean;
  /** Of such brokers. */
  readonly target?: TargetSummary | null;
  /** Processes that ended without an action of the harness. */
  readonly ends?: readonly ProcessEnd[];
}

export interface RecordedLines {
  readonly history: number;
  readonly trace: number;
  readonly observations?: number | undefined;
}

/** A process that ended without an action of the harness: as it started, or later; by a fault of its own, or not. */
export interface ProcessEnd {
  readonly node: TraceNode;
  readonly detail: string;
  /** Of its own output. */
  readonly lastLines?: readonly string[] | undefined;
  readonly blame: 'node' | 'environment';
  readonly phase: 'start' | 'running';
  readonly time?: number | undefined;
}

/** What the judgement depends on. */
export interface Promises {
  readonly acks: 'all' | 0 | 1;
  readonly minInsyncReplicas: number;
  readonly uncleanElection: boolean;
}

export interface Evidence {
  /** `run`: a run of ours, whose trace and final logs should be there. `history`: a history alone. */
  readonly source: 'run' | 'history';
  readonly run: RunDescription;
  readonly promises: Promises;
  readonly history: HistoryIndex;
  readonly cluster: ClusterTrace | null;
  /** What was seen of brokers that tell no trace. */
  readonly observed: Observations | null;
  readonly logs: FinalLogs | null;
  /** Reasons why a guarantee cannot be judged. */
  readonly unknown: Map<Guarantee, Set<string>>;
  readonly notes: string[];
  /** Keys whose leader's records could not all be unpacked: what is not found there may be there. */
  readonly unreadable: Set<Key>;
}

/** Notes that `guarantee` cannot be judged in some respect. */
export function unknownBecause(evidence: Evidence, guarantee: Guarantee, reason: string): void {
  let reasons = evidence.unknown.get(guarantee);
  if (reasons === undefined) {
    reasons = new Set();
    evidence.unknown.set(guarantee, reasons);
  }
  reasons.add(reason);
}

export function partitionOf(evidence: Evidence, key: Key): PartitionTrace | null {
  return evidence.cluster?.partitions.get(key) ?? null;
}

/** The brokers that a partition is assigned to, by the trace or by what was seen; null where neither tells. */
export function replicasOf({ cluster, observed }: Evidence, key: Key): readonly number[] | null {
  return (cluster ?? observed)?.partitions.get(key)?.replicas ?? null;
}

/** Why the target says that a guarantee cannot be checked on it; null where it can be. */
export function beyondTarget({ run }: Pick<Evidence, 'run'>, guarantee: Guarantee): string | null {
  const able = run.target?.capabilities?.guarantees[guarantee];
  return able === undefined || able === true ? null : able.not;
}

/** The cluster's trace, if nothing is missing from it. */
export function wholeTrace(evidence: Evidence): ClusterTrace | null {
  return evidence.cluster !== null && evidence.cluster.damage.length === 0 ? evidence.cluster : null;
}

/** The leader after everything: as the controller traced it last, or as the run noted. Null: nobody leads, or unknown. */
export function finalLeader(evidence: Evidence, key: Key): number | null {
  const noted = evidence.run.finalLeaders[key];
  // A trace that is not whole may lack the last election.
  if (noted !== undefined && wholeTrace(evidence) === null) return noted;
  const elected = partitionOf(evidence, key)?.elections.at(-1);
  return elected === undefined ? (noted ?? null) : elected.line.leader;
}

/**
 * The final leader's log; null when it is not known, was not copied, or, in a run that did not settle, was copied while
 * it still changed or before its leader had begun to lead.
 */
export function leaderLog(evidence: Evidence, key: Key): FinalLog | null {
  const leader = finalLeader(evidence, key);
  const final = leader === null ? undefined : evidence.logs?.byKey.get(key)?.get(leader);
  if (leader === null || final === undefined) return null;
  const isLast = evidence.run.traced === false ? isLastSeen : isLastState;
  return evidence.run.settled === true || isLast(evidence, key, final) ? final : null;
}

/** As it was last seen from outside: such a cluster may be unable to settle, where its brokers end themselves. */
function isLastSeen({ observed, run }: Evidence, key: Key, { node, log }: FinalLog): boolean {
  const partition = observed?.damage.length === 0 ? observed.partitions.get(key) : undefined;
  const seen = partition?.byNode.get(node);
  const role = seen?.roles.at(-1);
  const election = partition?.elections.at(-1);
  if (role === undefined || election === undefined || run.logsCollected !== true) return false;
  const isNewest = role.role === 'leader' && (role.epoch ?? -1) >= (election.epoch ?? -1) && election.leader === node;
  return isNewest && (seen?.ends.at(-1)?.offset ?? 0) === log.end;
}

function isLastState(evidence: Evidence, key: Key, final: FinalLog): boolean {
  const partition = wholeTrace(evidence)?.partitions.get(key);
  const epoch = partition?.elections.at(-1)?.epoch;
  const role = partition?.roles.get(final.node)?.at(-1);
  if (partition === undefined || epoch === undefined || role === undefined) return false;
  return role.line.role === 'leader' && role.epoch >= epoch && partition.end.get(final.node) === final.log.end;
}

/** Every fault that may destroy what was written counts; a kind that we do not know counts too. */
const harmlessToStorage: ReadonlySet<string> = new Set([
  'partition',
  'slow-links',
  'lossy-links',
  'pause',
  'crash',
  'leader-move',
  'leader-burst',
  'handover-crash',
  'rejoin-crash',
  'rolling-restart',
  'upgrade',
  'slow-disk',
  'clock-skew',
  // Jepsen's names: of its nemeses for partitions, processes, membership and clocks.
  'start-partition',
  'stop-partition',
  'kill',
  'start',
  'resume',
  'start-pause',
  'stop-pause',
  'start-kill',
  'stop-kill',
  'join',
  'join-node',
  'leave',
  'leave-node',
  'remove-node',
  'grow',
  'shrink',
  'bump',
  'strobe',
  'reset',
  'bump-clock',
  'strobe-clock',
  'reset-clock',
  'check-offsets',
  'check-clock-offsets',
]);

/** True when the history, or the trace of this partition, shows a fault that may have destroyed stored records; one that proved ineffective may not. */
export function storageFaultSeen(evidence: Evidence, key: Key): boolean {
  const { faults } = evidence.history;
  const ineffective = new Set(
    faults.filter(({ record }) => record.effective === false).map(({ record }) => record.fault),
  );
  const mayHarm = ({ kind, record }: (typeof faults)[number]): boolean =>
    kind === 'script' ? scriptMayHarm(record, faults) : !harmlessToStorage.has(kind) && !ineffective.has(record.fault);
  if (faults.some(mayHarm)) return true;
  const { cluster } = evidence;
  const partition = partitionOf(evidence, key);
  if (cluster === null || partition === null) return false;
  for (const rows of partition.recoveries.values()) {
    if (rows.some((row) => cluster.store.recoveries.get(row)?.cut === 'power-loss')) return true;
  }
  return false;
}

/** A script has done what the record of its end says, whether or not it went as it should; without one, nobody knows. */
function scriptMayHarm(record: FaultRecord, faults: HistoryIndex['faults']): boolean {
  const { fault, phase, evidence } = record;
  if (phase === 'end') return evidence?.every(({ action }) => action !== 'power-loss') !== true;
  return !faults.some((other) => other.record.fault === fault && other.record.phase === 'end');
}

/** True when a leader from outside the ISR was elected, or may have been where no trace says, or none to the end. */
export function uncleanElectionPossible(evidence: Evidence, key: Key): boolean {
  const partition = wholeTrace(evidence)?.partitions.get(key);
  if (partition?.elections.some((election) => !election.line.clean) === true) return true;
  return (partition === undefined || evidence.run.settled === null) && evidence.promises.uncleanElection;
}
