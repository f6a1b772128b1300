/**
 * `committed-overwritten`: an offset that was below a leader's high watermark later carries another record.
 *
 * By the trace: a record that a leader counted as committed in some epoch, and a record of a later epoch, on any broker,
 * that covers the same offset. What was written before or in that epoch, and thrown away, was never committed and proves
 * nothing. It is judged by the excuse rule from the moment of the commit on: what the configuration allows is none. What
 * one election overwrote is one anomaly; where an acknowledged record was lost the same way it follows from that loss.
 *
 * A high watermark that comes from a checkpoint file may, after an unclean election or a storage fault, be that of
 * another history of the log; then only what a leader computed itself counts.
 */
import { storageFaultSeen, uncleanElectionPossible, wholeTrace, type Evidence } from '../evidence.ts';
import { judgeCommitted, type Fate } from '../excuse.ts';
import { traceReference, type ClusterTrace, type PartitionTrace } from '../replicas.ts';
import { whyLost } from '../why-lost.ts';
import { emptyFinding, listed, offsetsInWords, plural, rangesOf, type Finding } from './finding.ts';

export function findOverwritten(evidence: Evidence): Finding[] {
  const cluster = wholeTrace(evidence);
  if (cluster === null) return [];
  return [...cluster.partitions.values()]
    .filter((partition) => !partition.deleted)
    .flatMap((partition) => overwrittenIn(evidence, cluster, partition));
}

/** A committed record and what took its place. */
interface Overwriting {
  readonly committed: number;
  readonly taken: number;
  readonly offset: number;
}

function overwrittenIn(evidence: Evidence, cluster: ClusterTrace, partition: PartitionTrace): Finding[] {
  const { key, stays } = partition;
  const doubtful = storageFaultSeen(evidence, key) || uncleanElectionPossible(evidence, key);
  const groups = new Map<string, { fate: Fate; found: Overwriting[] }>();
  const seen = new Set<string>();
  for (const [committed, taken] of stays.contested()) {
    const commit = stays.committed.get(committed);
    if (commit === -1 || (doubtful && cluster.store.roles.has(commit))) continue;
    if (stays.epoch.get(taken) <= cluster.store.epoch.get(commit)) continue;
    const offset = Math.max(stays.base.get(committed), stays.base.get(taken));
    const name = `${offset} ${stays.epoch.get(committed)}`;
    if (seen.has(name)) continue;
    seen.add(name);
    const fate = judgeCommitted(evidence, cluster, partition, offset, stays.epoch.get(committed));
    if (fate?.class !== 'violation') continue;
    const cause = `${fate.lacking?.epoch ?? 'none'} ${fate.reason}`;
    const group = groups.get(cause) ?? { fate, found: [] };
    groups.set(cause, group);
    group.found.push({ committed, taken, offset });
  }
  return [...groups.values()].map(({ fate, found }) => overwritten(evidence, cluster, partition, fate, found));
}

function overwritten(
  evidence: Evidence,
  cluster: ClusterTrace,
  partition: PartitionTrace,
  fate: Fate,
  found: readonly Overwriting[],
): Finding {
  const { key, stays } = partition;
  const { store } = cluster;
  const ranges = rangesOf(found.map(({ offset }) => offset));
  const { committed, taken } = found[0] as Overwriting;
  const many = plural(found.length, 'committed record', 'committed records');
  const where = `at ${offsetsInWords(ranges)} of ${key}`;
  const nodes = found.flatMap((each) => [stays.node.get(each.committed), stays.node.get(each.taken)]);
  return {
    ...emptyFinding('committed-overwritten', key),
    offset: ranges[0]?.[0] ?? null,
    summary: `${many} ${where} gave way to others: broker ${stays.node.get(taken)} has one of epoch ${stays.epoch.get(taken)} where one of epoch ${stays.epoch.get(committed)} was committed; ${fate.reason}`,
    nodes: [...new Set(nodes)].sort((x, y) => x - y),
    evidence: listed(
      found.flatMap((each) => [
        traceReference(store, stays.committed.get(each.committed)),
        traceReference(store, stays.appended.get(each.taken)),
      ]),
    ),
    why: whyLost(evidence, key, -1, fate, null),
    ranges,
    lackingEpoch: fate.lacking?.epoch ?? null,
  };
}
