/**
 * The checker: a run's files in, its results out. `docs/checking.md` and `docs/verdicts.md` are for its users.
 *
 * One pass over the history, one over the trace, one over the final logs; then each family of anomalies looks at what
 * these left, and consequences are put under their causes. Nothing here knows a clock, a file or a promise.
 *
 * Invariant: no input makes this throw. What cannot be judged is unknown and says why; it is never guessed.
 */
import { findOverwritten } from './anomalies/commitment.ts';
import { findNoConvergence } from './anomalies/convergence.ts';
import { findDivergences, noteMissingLogs } from './anomalies/divergence.ts';
import { findEpochRegressions } from './anomalies/epochs.ts';
import { findEnded } from './anomalies/ended.ts';
import { emptyFinding, guaranteeOf, listed, plural, type Finding } from './anomalies/finding.ts';
import { findLeaderFaults } from './anomalies/leadership.ts';
import { findMovedLogStarts } from './anomalies/log-start.ts';
import { findLosses, findLostOnReplicas, findLostWrites } from './anomalies/loss.ts';
import { findAckConflicts, findDuplicates, findInconsistentOffsets } from './anomalies/offsets.ts';
import { findReaderOrder } from './anomalies/reader-order.ts';
import { findSendOrder } from './anomalies/send-order.ts';
import { findTransactionAnomalies } from './anomalies/transactions.ts';
import { findAbortedReads, findPhantoms, findVanishedReads, noteHidden } from './anomalies/visibility.ts';
import {
  beyondTarget,
  leaderLog,
  unknownBecause,
  type Evidence,
  type Promises,
  type RunDescription,
} from './evidence.ts';
import { findExposures } from './exposures.ts';
import { summarizeFaults } from './faults.ts';
import { readFinalLogs, readLeaderValues, type FinalLog, type FinalLogs, type ReplicaFiles } from './final-logs.ts';
import { groupFindings } from './group.ts';
import type { Key } from './history.ts';
import { HistoryIndex } from './index-history.ts';
import { measure } from './measures.ts';
import { readObservations, type Observations } from './observations.ts';
import { findObservedExposures } from './observed-exposures.ts';
import { Malformations, readHistory, type HistorySource } from './parse-history.ts';
import { readTrace } from './parse-trace.ts';
import { rebuildReplicas, type ClusterTrace } from './replicas.ts';
import type { Anomaly, AnomalyKind, Exposure, RunResults } from './results.ts';
import type { Decompressors } from './segments.ts';
import { logsBeyondTarget, uncheckedParts } from './untraced.ts';
import { guaranteeNames, isChecked, verdictOf } from './verdict.ts';
import { whyFromHistory } from './why-history.ts';
import { whyObserved } from './why-observed.ts';

/** Everything of a run that the checker may look at. */
export interface CheckInput {
  /** `run`: a run of ours, whose trace and final logs are missed if they are not there. `history`: a history alone. */
  readonly source: 'run' | 'history';
  readonly run: RunDescription;
  readonly promises: Promises;
  /** Lines of `history.jsonl`, or the operations themselves. */
  readonly history: HistorySource;
  /** Lines of `trace.jsonl`, or the objects that they say, or null. */
  readonly trace: Iterable<string | object> | null;
  /** Lines of `observations.jsonl`, or the objects that they say: of brokers that tell no trace. */
  readonly observations?: Iterable<string | object> | null;
  /** The replicas' files as copied after settling, or null; `nodes` are those whose data directory was copied. */
  readonly logs: { readonly nodes: readonly number[]; readonly files: Iterable<ReplicaFiles> } | null;
  readonly decompressors: Decompressors;
  /** What the reader of the files wants to add. */
  readonly notes?: readonly string[];
}

/** Judges a run. */
export function checkRun(input: CheckInput): RunResults {
  const malformed = new Malformations();
  const history = new HistoryIndex({ acks: input.promises.acks });
  const reading = readHistory(input.history, malformed, (operation) => history.add(operation));
  history.finish();
  const cluster = input.trace === null ? null : clusterTrace(input, input.trace);
  const notes = [...(input.notes ?? [])];
  const observed = observationsOf(input);
  const logs = finalLogs(input, cluster, observed, history, notes);
  const { source, run, promises } = input;
  const evidence: Evidence = {
    source,
    run,
    promises,
    history,
    cluster,
    observed,
    logs,
    unknown: new Map(),
    notes,
    unreadable: new Set<Key>(),
  };
  if (reading.torn) notes.push('the last line of the history breaks off: the recorder was stopped while it wrote');
  const { recordedLines } = run;
  if (recordedLines !== null && reading.lines < recordedLines.history)
    malformed.add(
      reading.lines + 1,
      `the history ends before it, and the harness wrote ${recordedLines.history} lines`,
    );
  noteGaps(evidence);
  const findings = [
    ...withoutDoubtful(evidence, malformed, allFindings(evidence)),
    ...malformedLines(evidence, malformed),
  ];
  const all = groupFindings(findings, (finding) => [
    ...whyFromHistory(evidence, finding),
    ...whyObserved(evidence, finding),
  ]);
  const anomalies = mostOf(all, notes);
  const { exposures, doubt } = exposuresOf(evidence);
  if (exposures !== null && doubt !== null) notes.push(`there may have been more exposures: ${doubt}`);
  const { valid, guarantees } = verdictOf(evidence, all);
  return {
    schemaVersion: 1,
    type: 'run',
    valid,
    run: describe(run),
    guarantees,
    notes: [...notes, ...reasonsOf(evidence)],
    anomalies,
    exposures,
    ...(exposures === null && doubt !== null ? { exposuresUnknown: doubt } : {}),
    faults: summarizeFaults(history.faults),
    measures: measure(evidence, exposures),
  };
}

/** The trace, with what the other files of the run tell of what is missing from it. */
function clusterTrace({ source, run, logs }: CheckInput, lines: Iterable<string | object>): ClusterTrace {
  const store = readTrace(lines);
  const cluster = rebuildReplicas(store);
  if (source === 'history') return cluster;
  const damage: string[] = [];
  const { recordedLines } = run;
  if (recordedLines !== null && store.lines < recordedLines.trace)
    damage.push(`the trace ends at line ${store.lines}, and the harness wrote ${recordedLines.trace}`);
  for (const node of logs?.nodes ?? []) {
    if (!store.nodes.includes(node)) damage.push(`the trace holds no line of broker ${node}`);
  }
  return { ...cluster, damage: [...damage, ...cluster.damage] };
}

/** Of brokers that tell no trace: what was seen of them, with what the run tells of what is missing from it. */
function observationsOf({ run, observations }: CheckInput): Observations | null {
  if (observations === undefined || observations === null) return null;
  const observed = readObservations(observations);
  const recorded = run.recordedLines?.observations;
  if (recorded === undefined || observed.lines >= recorded) return observed;
  const cut = `the observations end at line ${observed.lines}, and the harness wrote ${recorded}`;
  return { ...observed, damage: [cut, ...observed.damage] };
}

function exposuresOf({ run, cluster, observed }: Evidence): {
  readonly exposures: readonly Exposure[] | null;
  readonly doubt: string | null;
} {
  if (cluster !== null) return { exposures: findExposures(cluster), doubt: null };
  const able = run.target?.capabilities?.exposures ?? true;
  if (able !== true) return { exposures: null, doubt: able.not };
  if (observed !== null) return findObservedExposures(observed);
  return { exposures: null, doubt: run.traced === false ? 'there are no observations' : 'there is no trace' };
}

/** So many anomalies of one kind are listed; the verdict counts all of them. */
const maxOfKind = 200;

function mostOf(anomalies: readonly Anomaly[], notes: string[]): Anomaly[] {
  const counts = new Map<string, number>();
  const listed = anomalies.filter(({ kind }) => {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return count <= maxOfKind;
  });
  for (const [kind, count] of counts) {
    if (count > maxOfKind) notes.push(`${count - maxOfKind} more anomalies of the kind ${kind} are not listed`);
  }
  return listed;
}

function allFindings(evidence: Evidence): Finding[] {
  const losses = evidence.logs === null ? findLostWrites(evidence) : lossesByLogs(evidence);
  noteHidden(evidence);
  return [
    ...losses,
    ...findMovedLogStarts(evidence),
    ...findDivergences(evidence),
    ...findLeaderFaults(evidence),
    ...findOverwritten(evidence),
    ...findEpochRegressions(evidence),
    ...findAckConflicts(evidence),
    ...findInconsistentOffsets(evidence),
    ...findDuplicates(evidence).filter((found) => !movedOnly(found, losses)),
    ...findPhantoms(evidence),
    ...findAbortedReads(evidence),
    ...findVanishedReads(evidence),
    ...findTransactionAnomalies(evidence),
    ...findSendOrder(evidence),
    ...findReaderOrder(evidence),
    ...findLostOnReplicas(evidence),
    ...findEnded(evidence),
    ...findNoConvergence(evidence),
  ];
}

function lossesByLogs(evidence: Evidence): Finding[] {
  const { logs, history } = evidence;
  for (const key of logs?.byKey.keys() ?? []) {
    const final = leaderLog(evidence, key);
    if (logs === null || final === null) continue;
    const unreadable = readLeaderValues(history, key, final.log, logs.decompressors);
    if (unreadable > 0) {
      const reason = `${key}: ${unreadable} batches of the leader's log are compressed in a way that cannot be unpacked here`;
      evidence.unreadable.add(key);
      unknownBecause(evidence, 'durability', reason);
      unknownBecause(evidence, 'visibility', reason);
    }
  }
  return findLosses(evidence);
}

/** An acknowledged value that only stands elsewhere is moved, not doubled. */
function movedOnly(duplicate: Finding, losses: readonly Finding[]): boolean {
  const [row] = duplicate.rows;
  const moved = losses.find((loss) => loss.kind === 'offset-moved' && loss.rows[0] === row);
  return moved !== undefined && duplicate.ranges.length === moved.ranges.length;
}

/** The replicas' logs, unless they may be incomplete: a record that was not copied is not a lost one. */
function finalLogs(
  input: CheckInput,
  cluster: ClusterTrace | null,
  observed: Observations | null,
  history: HistoryIndex,
  notes: string[],
): FinalLogs | null {
  const { logs, run, decompressors } = input;
  // What a target keeps elsewhere, or in another form, would seem to be empty.
  if (logs === null || logsBeyondTarget(input)) return null;
  if (areCopiesDoubtful(run)) {
    const why =
      run.settled === null
        ? 'the run was stopped before it settled, and they may be incomplete'
        : 'not all of them were copied, or not while the replicas stood still';
    notes.push(`the copied logs are left out: ${why}`);
    return null;
  }
  const files = run.traced === false ? ofThisRun(logs.files, run, observed, history) : logs.files;
  return withEmptyLogs(readFinalLogs(files, logs.nodes, decompressors), cluster ?? observed);
}

/** A cluster of brokers that others wrote may serve several runs, and keeps topics of its own, which it compacts. */
function* ofThisRun(
  files: Iterable<ReplicaFiles>,
  run: RunDescription,
  observed: Observations | null,
  history: HistoryIndex,
): Generator<ReplicaFiles, void, undefined> {
  const own = new Set([
    ...history.keys,
    ...Object.keys(run.finalLeaders),
    ...(observed === null ? [] : observed.partitions.keys()),
  ]);
  for (const file of files) if (own.has(file.key)) yield file;
}

function areCopiesDoubtful(run: RunDescription): boolean {
  return run.settled === null || run.logsCollected === false;
}

/** A node whose data was copied and that has no folder for one of its partitions has an empty log there. */
function withEmptyLogs(logs: FinalLogs, cluster: ClusterTrace | Observations | null): FinalLogs {
  const byKey = new Map<Key, ReadonlyMap<number, FinalLog>>(logs.byKey);
  for (const partition of cluster?.partitions.values() ?? []) {
    const present = new Map(byKey.get(partition.key) ?? []);
    for (const node of partition.replicas ?? []) {
      if (present.has(node) || !logs.nodes.has(node)) continue;
      const log = { segments: [], start: 0, end: 0, batches: [], flaw: null };
      present.set(node, { node, log });
    }
    byKey.set(partition.key, present);
  }
  return { ...logs, byKey };
}

/** What is missing, and what cannot be judged for that. */
function noteGaps(evidence: Evidence): void {
  const { source, run, cluster, logs, history } = evidence;
  if (history.counts.ok + history.counts.fail + history.counts.info === 0) {
    for (const guarantee of guaranteeNames)
      unknownBecause(evidence, guarantee, 'the history holds no completed operation');
  }
  if (source === 'run') {
    if (run.error !== null) evidence.notes.push(`the run did not end well: ${run.error}`);
    else if (run.completed === false) evidence.notes.push('the run was not completed');
    // Of a run that did not settle they are told as the reasons.
    if (run.settled !== false) evidence.notes.push(...listed(run.residual));
    if (run.finalReadComplete === false) {
      unknownBecause(evidence, 'visibility', 'the last readers did not reach the end of every partition');
    }
    noteNoTrace(evidence);
    if (logsBeyondTarget(evidence)) {
      // There only the last readers can tell what is left.
      if (run.finalReadComplete !== true)
        unknownBecause(evidence, 'durability', 'nobody read every partition to its end after settling');
    } else if (logs === null) {
      for (const guarantee of ['durability', 'agreement', 'offsets', 'visibility'] as const) {
        unknownBecause(evidence, guarantee, 'the final logs of the replicas are missing');
      }
    }
  }
  if (cluster !== null && cluster.damage.length > 0) {
    for (const damage of cluster.damage.slice(0, 20)) evidence.notes.push(damage);
    unknownBecause(evidence, 'agreement', 'the trace is damaged');
  }
  for (const [name, count] of history.unknown) {
    const many = plural(count, 'operation', 'operations');
    evidence.notes.push(`${many} ${JSON.stringify(name)} of the history are not understood, and were left aside`);
  }
  noteMissingLogs(evidence);
}

/** Who leads and who is in sync, a run should tell: by its trace, or by what was seen of brokers that tell none. */
function noteNoTrace(evidence: Evidence): void {
  const { run, cluster, observed, history } = evidence;
  if (run.traced === false) {
    // A description that is wrong may let nobody write: then nothing was put to the test.
    if (!history.sends.acknowledgedUnderAll) unknownBecause(evidence, 'durability', 'no record was acknowledged');
    if (observed === null) unknownBecause(evidence, 'convergence', 'there are no observations');
    else evidence.notes.push(...observed.damage.slice(0, 20));
  } else if (cluster === null) {
    for (const guarantee of ['agreement', 'convergence'] as const)
      unknownBecause(evidence, guarantee, 'there is no trace');
  }
}

function reasonsOf(evidence: Evidence): string[] {
  const reasons: string[] = [];
  if (!isChecked(evidence, 'durability') && beyondTarget(evidence, 'durability') === null) {
    const { acks } = evidence.promises;
    reasons.push(`durability is not checked: acks=${acks} promises nothing about an acknowledged record`);
  }
  for (const guarantee of guaranteeNames) {
    if (!isChecked(evidence, guarantee)) continue;
    const all = [...(evidence.unknown.get(guarantee) ?? [])];
    for (const reason of all.slice(0, 10)) reasons.push(`${guarantee} unknown: ${reason}`);
    if (all.length > 10) reasons.push(`${guarantee} unknown: ${all.length - 10} more reasons`);
  }
  return [...reasons, ...uncheckedParts(evidence)];
}

/**
 * Kinds that rest on something that is *not* in the history: the send of a value, the read of an offset, a line between
 * two others. It may stand in a line that cannot be read.
 */
function restsOnAbsence(evidence: Evidence, kind: AnomalyKind): boolean {
  const guarantee = guaranteeOf[kind];
  if (guarantee === 'order' || guarantee === 'transactions') return !kind.startsWith('int-');
  return kind === 'phantom' || kind === 'lost-write' || (kind === 'consumer-saw-uncommitted' && evidence.logs === null);
}

function withoutDoubtful(evidence: Evidence, malformed: Malformations, findings: readonly Finding[]): Finding[] {
  if (malformed.count === 0) return [...findings];
  const doubtful = findings.filter(({ kind }) => restsOnAbsence(evidence, kind));
  for (const kind of new Set(doubtful.map((finding) => finding.kind))) {
    const count = doubtful.filter((finding) => finding.kind === kind).length;
    evidence.notes.push(`${count} ${kind} ${count === 1 ? 'is' : 'are'} left out: what is missed may be malformed`);
  }
  return findings.filter((finding) => !doubtful.includes(finding));
}

/** Malformed lines are shown, break nothing, and leave every guarantee in doubt: nobody knows what they said. */
function malformedLines(evidence: Evidence, malformed: Malformations): Finding[] {
  if (malformed.count === 0) return [];
  const [first] = malformed.named;
  for (const guarantee of guaranteeNames) unknownBecause(evidence, guarantee, 'lines of the history are malformed');
  const named = malformed.named.map(({ line, detail }) => `line ${line}: ${detail}`);
  const more = malformed.count - named.length;
  for (const text of named) evidence.notes.push(`history ${text}`);
  const summary = `${malformed.count} malformed in the history; the first is line ${first?.line}: ${first?.detail}`;
  if (more > 0) evidence.notes.push(`${more} more lines of the history are malformed`);
  return [{ ...emptyFinding('malformed', null), class: 'expected', summary }];
}

function describe(run: RunDescription): RunResults['run'] {
  const { configuration } = run;
  const { build, runtime, seed } = configuration;
  return {
    name: run.name,
    build: typeof build === 'string' ? build : 'unknown',
    runtime: typeof runtime === 'string' ? runtime : 'unknown',
    seed: typeof seed === 'number' ? seed : null,
    configuration,
    command: run.command,
    ...(run.target === undefined || run.target === null ? {} : { target: run.target }),
  };
}
