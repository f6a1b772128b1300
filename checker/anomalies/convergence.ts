/**
 * `no-convergence`: after healing, the replicas do not come to agree on their ends, high watermarks and ISR in time.
 *
 * Whether the run settled is what the harness measured, within its bound. A run that says that it did is held to it: in
 * its final state every replica has the leader's end offset, high watermarks stand at that end, and the ISR is full.
 * This is a finding about liveness, told apart from what was lost or contradicted. A cluster of which it was not proven
 * that every link had healed had perhaps no chance.
 */
import { finalLeader, partitionOf, unknownBecause, wholeTrace, type Evidence } from '../evidence.ts';
import type { Key } from '../history.ts';
import { brokers, traceReference, type PartitionTrace } from '../replicas.ts';
import type { Reference } from '../results.ts';
import { listed, type Finding } from './finding.ts';

export function findNoConvergence(evidence: Evidence): Finding[] {
  const { run } = evidence;
  if (evidence.source === 'history') return [];
  if (run.settled === null) {
    unknownBecause(evidence, 'convergence', 'the run never got to settling');
    return [];
  }
  if (run.healed === false) {
    const reasons = listed(run.residual).join('; ');
    unknownBecause(evidence, 'convergence', `it was not proven that everything had healed: ${reasons}`);
    return [];
  }
  if (!run.settled) return [notSettled(evidence)];
  const cluster = wholeTrace(evidence);
  if (cluster === null || evidence.logs === null) {
    unknownBecause(evidence, 'convergence', 'the final state cannot be looked at without a whole trace and the logs');
    return [];
  }
  const findings: Finding[] = [];
  for (const partition of cluster.partitions.values()) {
    if (partition.deleted || partition.elections.length === 0) continue;
    const complaints = complaintsOf(evidence, partition);
    if (complaints.length > 0) findings.push(unsettledPartition(evidence, partition, complaints));
  }
  return findings;
}

function notSettled(evidence: Evidence): Finding {
  const { residual, settleMs } = evidence.run;
  const bound = settleMs === null ? 'within its bound' : `within ${Math.round(settleMs)} ms`;
  const reasons = residual.length === 0 ? '' : `: ${listed(residual).join('; ')}`;
  return finding(null, `the cluster did not settle ${bound} after healing${reasons}`, [], []);
}

/** What is wrong with the final state of one partition, in words; the nodes concerned. */
function complaintsOf(evidence: Evidence, partition: PartitionTrace): { text: string; nodes: number[] }[] {
  const { key } = partition;
  const leader = finalLeader(evidence, key);
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
  partition: PartitionTrace,
  complaints: readonly { readonly text: string; readonly nodes: readonly number[] }[],
): Finding {
  const nodes = [...new Set(complaints.flatMap((complaint) => complaint.nodes))].sort((x, y) => x - y);
  const { cluster } = evidence;
  const references = nodes.flatMap((node) => {
    const row = partitionOf(evidence, partition.key)?.roles.get(node)?.at(-1)?.row;
    return row === undefined || cluster === null ? [] : [traceReference(cluster.store, row)];
  });
  const said = complaints.map(({ text }) => text).join('; ');
  return finding(partition.key, `${partition.key} had not settled at the end: ${said}`, nodes, references);
}

function finding(key: Key | null, summary: string, nodes: readonly number[], evidence: readonly Reference[]): Finding {
  return {
    kind: 'no-convergence',
    class: 'violation',
    key,
    offset: null,
    values: [],
    summary,
    labels: [],
    nodes,
    evidence,
    why: [],
    rows: [],
    ranges: [],
    lackingEpoch: null,
  };
}
