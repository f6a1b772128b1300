/**
 * `no-convergence`: after healing, the replicas do not come to agree on their ends, high watermarks and ISR in time.
 *
 * Whether the run settled is what the harness measured, within its bound. A run that says that it did is held to it: in
 * its final state every replica has the leader's end offset, high watermarks stand at that end, and the ISR is full.
 * This is a finding about liveness, told apart from what was lost or contradicted. A cluster of which it was not proven
 * that every link had healed had perhaps no chance.
 *
 * Of brokers that tell no trace the last ISR is the one that was seen in their metadata; high watermarks are left out.
 */
import { finalLeader, partitionOf, unknownBecause, wholeTrace, type Evidence } from '../evidence.ts';
import type { Key } from '../history.ts';
import type { Observations } from '../observations.ts';
import { brokers, traceReference, type ClusterTrace } from '../replicas.ts';
import type { Reference } from '../results.ts';
import { endedSteps } from './ended.ts';
import { emptyFinding, listed, plural, type Finding } from './finding.ts';

/** A broker that was back for so long, half of the usual bound, could have caught up, on a busy host too. */
const rejoinNs = 30e9;

export function findNoConvergence(evidence: Evidence): Finding[] {
  const { run } = evidence;
  if (evidence.source === 'history') return [];
  if (run.settled === null) {
    unknownBecause(evidence, 'convergence', 'the run never got to settling');
    return [];
  }
  if (run.healed === false) {
    const reasons = listed(run.residual).join('; ');
    const why = 'it was not proven that everything had healed';
    unknownBecause(evidence, 'convergence', reasons === '' ? why : `${why}: ${reasons}`);
    return [];
  }
  const [blind] = evidence.observed?.blind ?? [];
  if (blind !== undefined) {
    unknownBecause(evidence, 'convergence', `whether the cluster settled was not seen: ${blind}`);
    return [];
  }
  const states = finalStates(evidence);
  if (!run.settled) return notSettled(evidence, states ?? []);
  if (states === null || evidence.logs === null) {
    const what = run.traced === false ? 'observations without a gap' : 'a whole trace';
    unknownBecause(evidence, 'convergence', `the final state cannot be looked at without ${what} and the logs`);
    return [];
  }
  const findings: Finding[] = [];
  for (const partition of states) {
    const complaints = complaintsOf(evidence, partition);
    if (complaints.length > 0) findings.push(unsettledPartition(evidence, partition.key, complaints));
  }
  return findings;
}

/** A partition at the end, as the trace tells it or as it was last seen. */
interface FinalState {
  readonly key: Key;
  readonly replicas: readonly number[] | null;
  readonly isr: readonly number[];
  readonly highWatermark: ReadonlyMap<number, number>;
  /** As last seen, where there is no trace that says it. */
  readonly leader?: number | null;
}

/** Null where the last lines may be missing. */
function finalStates(evidence: Evidence): FinalState[] | null {
  if (evidence.run.traced === false) return lastSeen(evidence.observed);
  const cluster = wholeTrace(evidence);
  return cluster === null ? null : lastTold(cluster);
}

function lastTold({ partitions }: ClusterTrace): FinalState[] {
  return [...partitions.values()].filter(({ deleted, elections }) => !deleted && elections.length > 0);
}

function lastSeen(observed: Observations | null): FinalState[] | null {
  if (observed === null || observed.damage.length > 0) return null;
  return [...observed.partitions.values()]
    .filter(({ elections }) => elections.length > 0)
    .map(({ key, replicas, isrs, elections }) => {
      const { leader = null } = elections.at(-1) ?? {};
      return { key, replicas, isr: isrs.at(-1)?.isr ?? [], highWatermark: new Map(), leader };
    });
}

/** With the brokers that are not in sync everywhere, and what those of them said that ended by themselves. */
function notSettled(evidence: Evidence, states: readonly FinalState[]): Finding[] {
  const { run } = evidence;
  const { residual, settleMs, ends = [] } = run;
  const bound = settleMs === null ? 'within its bound' : `within ${Math.round(settleMs)} ms`;
  const missing = new Map<number, number>();
  for (const { replicas, isr } of states)
    for (const node of replicas ?? []) if (!isr.includes(node)) missing.set(node, (missing.get(node) ?? 0) + 1);
  const nodes = run.traced === false ? [...missing.keys()].sort((x, y) => x - y) : [];
  const excused = new Set(nodes.filter((node) => endedByEnvironment(evidence, node)));
  const isExcused = excused.size > 0 && nodes.length === excused.size;
  if (isExcused && !states.some((state) => isAtOddsWithout(evidence, state, excused))) {
    const who = `${brokers(nodes)} ${nodes.length === 1 ? 'was' : 'were'} ended by the environment and did not come back`;
    unknownBecause(evidence, 'convergence', who);
    return [];
  }
  const never = nodes.map(
    (node) =>
      `broker ${node} did not come back into the ISR of ${plural(missing.get(node) ?? 0, 'partition', 'partitions')}`,
  );
  const reasons = [...listed(residual), ...never];
  const why = ends.filter(({ node, blame }) => blame === 'node' && nodes.includes(Number(node))).flatMap(endedSteps);
  const told = reasons.length === 0 ? '' : `: ${reasons.join('; ')}`;
  return [
    {
      ...finding(null, `the cluster did not settle ${bound} after healing${told}`, nodes, []),
      why: listed(why),
    },
  ];
}

/** Whether nothing but its environment keeps a broker away that has ended: one that came back had its chance to rejoin. */
function endedByEnvironment({ run, observed, history }: Evidence, node: number): boolean {
  const own = (run.ends ?? []).filter((end) => end.node === node);
  if (own.length === 0 || own.some(({ blame }) => blame === 'node')) return false;
  const back = observed === null ? null : backSince(observed, node);
  return back === null || history.lastTime - back < rejoinNs;
}

/** When it was first seen again after it had last ended; null where it was not. */
function backSince({ ended, partitions }: Observations, node: number): number | null {
  const lastBoot = Math.max(...ended.filter((end) => end.node === node).map(({ boot }) => boot));
  const signs = [...partitions.values()].flatMap(({ byNode }) => {
    const { roles = [], ends = [], highWatermarks = [] } = byNode.get(node) ?? {};
    return [...roles, ...ends, ...highWatermarks].filter(({ boot }) => boot > lastBoot).map(({ time }) => time);
  });
  return signs.length === 0 ? null : Math.min(...signs);
}

/** Whether those that are there had not come to agree either. */
function isAtOddsWithout(evidence: Evidence, state: FinalState, excused: ReadonlySet<number>): boolean {
  if (state.isr.every((node) => excused.has(node))) return false;
  const complaints = evidence.logs === null ? [] : complaintsOf(evidence, state);
  return complaints.some(({ nodes }) => !nodes.some((node) => excused.has(node)));
}

/** What is wrong with the final state of one partition, in words; the nodes concerned. */
function complaintsOf(evidence: Evidence, partition: FinalState): { text: string; nodes: number[] }[] {
  const { key } = partition;
  const leader = finalLeader(evidence, key);
  if (leader === null && (partition.leader ?? null) !== null) {
    const doubt = `${key}: broker ${partition.leader} was last seen to lead it, of which the run's description says nothing`;
    unknownBecause(evidence, 'convergence', doubt);
    return [];
  }
  if (leader === null) return [{ text: 'nobody leads it', nodes: [] }];
  const complaints: { text: string; nodes: number[] }[] = [];
  const missing = (partition.replicas ?? []).filter((node) => !partition.isr.includes(node));
  if (missing.length > 0) complaints.push({ text: `${brokers(missing)} not in its ISR`, nodes: missing });
  const logs = evidence.logs?.byKey.get(key);
  const own = logs?.get(leader)?.log;
  if (logs === undefined || own === undefined || own.flaw !== null) {
    unknownBecause(
      evidence,
      'convergence',
      `${key}: the whole log of its leader, broker ${leader}, is not there to compare with`,
    );
    return complaints;
  }
  const { end } = own;
  for (const [node, { log }] of logs) {
    if (log.flaw === null && log.end !== end) {
      complaints.push({ text: `the log of broker ${node} ends at ${log.end}, the leader's at ${end}`, nodes: [node] });
    }
    const highWatermark = partition.highWatermark.get(node);
    if (highWatermark !== undefined && highWatermark !== end) {
      const text = `the high watermark of broker ${node} is ${highWatermark}, the leader's log ends at ${end}`;
      complaints.push({ text, nodes: [node] });
    }
  }
  return complaints;
}

function unsettledPartition(
  evidence: Evidence,
  key: Key,
  complaints: readonly { readonly text: string; readonly nodes: readonly number[] }[],
): Finding {
  const nodes = [...new Set(complaints.flatMap((complaint) => complaint.nodes))].sort((x, y) => x - y);
  const { cluster } = evidence;
  const references = nodes.flatMap((node) => {
    const row = partitionOf(evidence, key)?.roles.get(node)?.at(-1)?.row;
    return row === undefined || cluster === null ? [] : [traceReference(cluster.store, row)];
  });
  const said = complaints.map(({ text }) => text).join('; ');
  return finding(key, `${key} had not settled at the end: ${said}`, nodes, references);
}

function finding(key: Key | null, summary: string, nodes: readonly number[], evidence: readonly Reference[]): Finding {
  return { ...emptyFinding('no-convergence', key), summary, nodes, evidence };
}
