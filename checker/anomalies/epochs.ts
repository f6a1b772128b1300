/**
 * `epoch-regression`: leader epochs along a log, or in a leader epoch checkpoint, decrease.
 *
 * Every leader stamps its epoch into what it writes, and a newer leader's epoch is higher. A log in which a lower one
 * follows a higher was joined from two histories that contradict each other. Looked for in three places: the copied
 * logs, the copied checkpoints (strictly increasing in epoch and in offset), and the trace, where it is seen even if the
 * log was mended later.
 */
import { wholeTrace, type Evidence } from '../evidence.ts';
import type { FinalLog } from '../final-logs.ts';
import type { Key } from '../history.ts';
import { traceReference, type ClusterTrace, type PartitionTrace } from '../replicas.ts';
import type { Batch } from '../segments.ts';
import { emptyFinding, type Finding } from './finding.ts';

export function findEpochRegressions(evidence: Evidence): Finding[] {
  const findings: Finding[] = [];
  const found = new Set<string>();
  for (const [key, logs] of evidence.logs?.byKey ?? []) {
    for (const final of logs.values()) {
      const finding = inLog(key, final) ?? inCheckpoint(key, final);
      if (finding === null) continue;
      findings.push(finding);
      found.add(`${key} ${final.node}`);
    }
  }
  const cluster = wholeTrace(evidence);
  for (const partition of cluster?.partitions.values() ?? []) {
    if (cluster === null || partition.deleted) continue;
    for (const finding of inTrace(cluster, partition)) {
      if (!found.has(`${partition.key} ${finding.nodes[0]}`)) findings.push(finding);
    }
  }
  return findings;
}

function inLog(key: Key, { node, log }: FinalLog): Finding | null {
  let before: Batch | null = null;
  for (const batch of log.batches) {
    // Message formats v0 and v1 have no epochs.
    if (batch.magic < 2) continue;
    if (before === null || before.epoch <= batch.epoch) {
      before = batch;
      continue;
    }
    return {
      ...regression(key, node, batch.base),
      summary: `in the log of broker ${node} for ${key} epoch ${batch.epoch} at offset ${batch.base} follows epoch ${before.epoch}`,
      labels: ['final-logs'],
      evidence: [
        { source: 'log', node, offset: before.base, epoch: before.epoch },
        { source: 'log', node, offset: batch.base, epoch: batch.epoch },
      ],
    };
  }
  return null;
}

function inCheckpoint(key: Key, { node, epochs }: FinalLog): Finding | null {
  for (const [at, [epoch, start]] of (epochs ?? []).entries()) {
    const before = epochs?.[at - 1];
    if (before === undefined || (before[0] < epoch && before[1] < start)) continue;
    return {
      ...regression(key, node, start),
      summary: `the leader epoch checkpoint of broker ${node} for ${key} goes from epoch ${before[0]} at offset ${before[1]} to epoch ${epoch} at offset ${start}`,
      labels: ['checkpoint'],
      evidence: [{ source: 'log', node, offset: start, epoch }],
    };
  }
  return null;
}

/** The first on each broker. */
function inTrace({ store }: ClusterTrace, { key, stays, epochDrops }: PartitionTrace): Finding[] {
  const first = new Map<number, number>();
  for (const stay of epochDrops) if (!first.has(stays.node.get(stay))) first.set(stays.node.get(stay), stay);
  return [...first].map(([node, stay]) => ({
    ...regression(key, node, stays.base.get(stay)),
    summary: `broker ${node} appended a record of epoch ${stays.epoch.get(stay)} to ${key} at offset ${stays.base.get(stay)}, behind one of a later epoch`,
    labels: ['trace'],
    evidence: [traceReference(store, stays.appended.get(stay))],
    why: [
      {
        text: `Broker ${node}, in epoch ${store.epoch.get(stays.appended.get(stay))}, appended it behind what it had of a later epoch, and had not truncated that.`,
        time: store.time.get(stays.appended.get(stay)),
        references: [traceReference(store, stays.appended.get(stay))],
      },
    ],
  }));
}

function regression(key: Key, node: number, offset: number): Finding {
  return { ...emptyFinding('epoch-regression', key), offset, nodes: [node], ranges: [[offset, offset]] };
}
