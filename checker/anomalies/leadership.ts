/**
 * What a leader may never do, by the brokers' own lines: `two-leaders-one-epoch`, `hw-regression`, `ack-below-min-isr`.
 *
 * `two-leaders-one-epoch`: two brokers append under one leader epoch; whatever comes of it, an epoch no longer names one
 * log. `hw-regression`: the high watermark goes back within one leadership, so that what could be read cannot any more;
 * across an election it may, since a new leader knows less than its predecessor. `ack-below-min-isr`: acks=all was
 * acknowledged by an ISR, as the leader itself knew it, that is smaller than min.insync.replicas.
 *
 * A deleted topic's name may come back, and its epochs begin anew: such partitions are left out.
 */
import { wholeTrace, type Evidence } from '../evidence.ts';
import type { Key } from '../history.ts';
import { acksAll } from '../index-history.ts';
import { leaderships, type Leadership } from '../leaderships.ts';
import { brokers, traceReference, type AckAt, type ClusterTrace, type PartitionTrace } from '../replicas.ts';
import type { WhyStep } from '../results.ts';
import { emptyFinding, listed, plural, type Finding } from './finding.ts';

export function findLeaderFaults(evidence: Evidence): Finding[] {
  const { cluster } = evidence;
  if (cluster === null) return [];
  const findings = ackedBelowMinimum(evidence, cluster);
  // A missing line may be the one by which a leader was deposed.
  if (wholeTrace(evidence) === null) return findings;
  const all = leaderships(cluster.store).filter(({ key }) => cluster.partitions.get(key)?.deleted === false);
  return [...findings, ...sharedEpochs(cluster, all), ...fallenHighWatermarks(cluster, all)];
}

function sharedEpochs(cluster: ClusterTrace, all: readonly Leadership[]): Finding[] {
  const writers = new Map<string, Leadership[]>();
  for (const leadership of all) {
    if (leadership.wrote === -1) continue;
    const name = `${leadership.key} ${leadership.epoch}`;
    const others = writers.get(name) ?? [];
    writers.set(name, others);
    if (others.every(({ node }) => node !== leadership.node)) others.push(leadership);
  }
  return [...writers.values()].filter((group) => group.length > 1).map((group) => sharedEpoch(cluster, group));
}

function sharedEpoch(cluster: ClusterTrace, group: readonly Leadership[]): Finding {
  const { key, epoch } = group[0] as Leadership;
  const nodes = group.map(({ node }) => node);
  const { a, batches } = cluster.store;
  const first = Math.min(...group.map(({ wrote }) => batches.base.get(a.get(wrote))));
  return {
    ...emptyFinding('two-leaders-one-epoch', key),
    offset: first,
    summary: `${brokers(nodes)} each led ${key} in epoch ${epoch} and wrote to it`,
    nodes,
    evidence: group.flatMap(({ row, wrote }) => [
      traceReference(cluster.store, row),
      traceReference(cluster.store, wrote),
    ]),
    why: [...electionsOf(cluster, key, epoch), ...group.flatMap((leadership) => told(cluster, leadership))],
    lackingEpoch: epoch,
  };
}

function fallenHighWatermarks(cluster: ClusterTrace, all: readonly Leadership[]): Finding[] {
  return all.flatMap((leadership) => {
    const { key, node, epoch, row, fall } = leadership;
    if (fall === null) return [];
    const { from, to } = fall;
    const summary = `the high watermark of broker ${node}, leader of ${key} in epoch ${epoch}, went back from ${from} to ${to}`;
    return {
      ...emptyFinding('hw-regression', key),
      offset: to,
      summary,
      labels: ['leader'],
      nodes: [node],
      evidence: [traceReference(cluster.store, row), traceReference(cluster.store, fall.row)],
      why: [
        ...electionsOf(cluster, key, epoch),
        ...told(cluster, leadership),
        step(cluster, fall.row, `Its high watermark, which had been ${from}, became ${to}.`),
      ],
      ranges: [[to, from - 1] as const],
      lackingEpoch: epoch,
    };
  });
}

function ackedBelowMinimum(evidence: Evidence, cluster: ClusterTrace): Finding[] {
  const findings: Finding[] = [];
  for (const partition of cluster.partitions.values()) {
    const least = leastIsr(evidence, partition);
    const below = partition.acks.filter(({ acks, isr, row }) => {
      return acks === acksAll && cluster.store.isr.get(row) !== -1 && isr.length < least;
    });
    if (below.length > 0) findings.push(belowMinimum(cluster, partition, below, least));
  }
  return findings;
}

/** The bound cannot exceed the number of replicas. */
function leastIsr(evidence: Evidence, { replicas }: PartitionTrace): number {
  const { minInsyncReplicas } = evidence.promises;
  return replicas === null ? minInsyncReplicas : Math.min(minInsyncReplicas, replicas.length);
}

function belowMinimum(
  cluster: ClusterTrace,
  partition: PartitionTrace,
  acks: readonly AckAt[],
  least: number,
): Finding {
  const first = acks[0] as AckAt;
  const many = plural(acks.length, 'acknowledgement', 'acknowledgements');
  return {
    ...emptyFinding('ack-below-min-isr', partition.key),
    offset: first.base,
    summary: `${many} of acks=all for ${partition.key} with fewer than ${least} in-sync replicas: broker ${first.node} acknowledged offset ${first.base} with ${first.isr.length === 0 ? 'none' : first.isr.join(', ')}`,
    nodes: [...new Set(acks.map(({ node }) => node))].sort((x, y) => x - y),
    evidence: listed(acks.map(({ row }) => traceReference(cluster.store, row))),
    why: acks.slice(0, 5).map(({ row, node, base, epoch, isr }) => {
      const known = isr.length === 0 ? 'without any in-sync replica' : `with the in-sync replicas ${isr.join(', ')}`;
      return step(
        cluster,
        row,
        `Broker ${node}, leader in epoch ${epoch}, acknowledged offset ${base} (acks=all) ${known}.`,
      );
    }),
    ranges: listed(acks.map(({ base, last }) => [base, last] as const)),
  };
}

/** Whom the controller had elected in that epoch. */
function electionsOf(cluster: ClusterTrace, key: Key, epoch: number): WhyStep[] {
  const elections = cluster.partitions.get(key)?.elections.filter((election) => election.epoch === epoch) ?? [];
  return elections.map(({ row, line }) => {
    const text = line.leader === null ? 'Nobody was elected' : `Broker ${line.leader} was elected`;
    return step(cluster, row, `${text} (epoch ${epoch}, ${line.clean ? 'clean' : 'unclean'}, ${line.reason}).`);
  });
}

/** How a broker came to lead, and what it wrote first. */
function told(cluster: ClusterTrace, { key, node, epoch, row, wrote }: Leadership): WhyStep[] {
  const role = cluster.store.roles.get(row);
  const state = role === undefined ? '' : `; its log ended at ${role.leo}, its high watermark was ${role.hw}`;
  const steps = [step(cluster, row, `Broker ${node} took the lead of ${key} in epoch ${epoch}${state}.`)];
  if (wrote === -1) return steps;
  const { a, batches } = cluster.store;
  const offset = batches.base.get(a.get(wrote));
  return [...steps, step(cluster, wrote, `Broker ${node} wrote its first record of that epoch at offset ${offset}.`)];
}

function step({ store }: ClusterTrace, row: number, text: string): WhyStep {
  return { text, time: store.time.get(row), references: [traceReference(store, row)] };
}
