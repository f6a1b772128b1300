/**
 * `replica-divergence`: two replicas disagree about what stands at an offset.
 *
 * Three looks, in falling order of authority. The final logs, compared batch by batch wherever two of them overlap. The
 * same (offset, epoch) with different content, at any time: one leader per epoch writes each offset once, so this is
 * never right. And live: a follower that appends in an epoch has finished truncating, so everything below must be what
 * its leader has; not judged after an unclean election or a storage fault, which may leave more to repair than one
 * round can.
 *
 * Left out: topics under compaction, of which only batches with the same bounds are compared.
 */
import {
  partitionOf,
  replicasOf,
  storageFaultSeen,
  uncleanElectionPossible,
  unknownBecause,
  wholeTrace,
  type Evidence,
} from '../evidence.ts';
import { batchAt, decodeRecords, type Batch, type DecodedLog } from '../segments.ts';
import { text, type FinalLog } from '../final-logs.ts';
import type { Key, Value } from '../history.ts';
import { canonicalValue } from '../micro-operations.ts';
import { brokers, traceReference, type ClusterTrace, type PartitionTrace, type RoleAt } from '../replicas.ts';
import type { Reference } from '../results.ts';
import { whyDiverged } from '../why-diverged.ts';
import type { Stays } from '../stays.ts';
import { covers, listed, offsetsInWords, rangesOf, type Finding } from './finding.ts';

export function findDivergences(evidence: Evidence): Finding[] {
  const findings: Finding[] = [];
  const settled = evidence.run.settled === true;
  if (!settled && evidence.logs !== null) {
    unknownBecause(evidence, 'agreement', 'the run did not settle, so that replicas may still have had to truncate');
  }
  for (const [key, logs] of settled ? (evidence.logs?.byKey ?? []) : []) {
    findings.push(...compareReplicas(evidence, key, [...logs.values()]));
  }
  for (const found of findInTrace(evidence)) {
    const known = findings.some((final) => final.key === found.key && covers(final.ranges, found.offset ?? -1));
    if (!known) findings.push(found);
  }
  return findings;
}

/** Compares all pairs; what differs at neighbouring offsets between the same nodes is one anomaly. */
function compareReplicas(evidence: Evidence, key: Key, logs: readonly FinalLog[]): Finding[] {
  const sorted = [...logs].sort((x, y) => x.node - y.node);
  for (const { node, log } of sorted) {
    if (log.flaw === null) continue;
    const { kind, offset } = log.flaw;
    unknownBecause(
      evidence,
      'agreement',
      `${key}: the log of broker ${node} cannot be read from offset ${offset} on (${kind})`,
    );
  }
  const offsets = new Set<number>();
  for (const [at, one] of sorted.entries()) {
    for (const other of sorted.slice(at + 1)) differingOffsets(evidence, one.log, other.log, offsets);
  }
  const groups: { camps: Map<string, number[]>; name: string; offsets: number[] }[] = [];
  for (const offset of [...offsets].sort((x, y) => x - y)) {
    const camps = campsAt(evidence, sorted, offset);
    const name = [...camps.values()].map((nodes) => nodes.join(',')).join('|');
    const last = groups.at(-1);
    if (last !== undefined && last.name === name && offset - (last.offsets.at(-1) as number) < 1000)
      last.offsets.push(offset);
    else groups.push({ camps, name, offsets: [offset] });
  }
  return groups.map((group) => divergence(evidence, key, sorted, group));
}

/** First offsets of the batches in which two logs differ, from the larger log start on, as far as both have batches. */
function differingOffsets(evidence: Evidence, one: DecodedLog, other: DecodedLog, into: Set<number>): void {
  const start = Math.max(one.start, other.start);
  let x = 0;
  let y = 0;
  for (;;) {
    const a = one.batches[x];
    const b = other.batches[y];
    if (a === undefined || b === undefined) return;
    if (a.last < start) x += 1;
    else if (b.last < start) y += 1;
    else if (a.base === b.base && a.last === b.last) {
      if (isSameBatch(a, b)) {
        // The usual case.
      } else if (a.magic === 2 && b.magic === 2) into.add(Math.max(a.base, start));
      else compareContents(evidence, one, a, other, b, Math.max(start, a.base), into);
      x += 1;
      y += 1;
    } else {
      compareContents(evidence, one, a, other, b, Math.max(start, a.base, b.base), into);
      if (a.last <= b.last) x += 1;
      if (b.last <= a.last) y += 1;
    }
  }
}

function isSameBatch(a: Batch, b: Batch): boolean {
  return a.crc === b.crc && a.epoch === b.epoch && a.size === b.size;
}

/**
 * Batches with different bounds, or of an older format, which a broker may write anew: compared record by record where
 * they overlap.
 */
function compareContents(
  evidence: Evidence,
  one: DecodedLog,
  a: Batch,
  other: DecodedLog,
  b: Batch,
  from: number,
  into: Set<number>,
): void {
  const decompressors = evidence.logs?.decompressors ?? {};
  const mine = decodeRecords(one, a, decompressors);
  const theirs = decodeRecords(other, b, decompressors);
  if (mine === null || theirs === null) {
    if (from <= Math.min(a.last, b.last)) into.add(from);
    return;
  }
  const values = new Map(theirs.map((record) => [record.offset, record]));
  for (const record of mine) {
    if (record.offset < from) continue;
    const match = values.get(record.offset);
    // A record that only one side has may have been compacted away on the other.
    if (match !== undefined && !(sameBytes(record.value, match.value) && sameBytes(record.key, match.key))) {
      into.add(record.offset);
    }
  }
}

function sameBytes(a: Uint8Array | null, b: Uint8Array | null): boolean {
  if (a === null || b === null) return a === b;
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}

/** Nodes by what they hold at `offset`. */
function campsAt(evidence: Evidence, logs: readonly FinalLog[], offset: number): Map<string, number[]> {
  const camps = new Map<string, number[]>();
  const there = logs.filter(({ log }) => offset >= log.start && offset < log.end);
  const byContents = there.some(({ log }) => (batchAt(log, offset)?.magic ?? 2) < 2);
  for (const { node, log } of there) {
    const batch = batchAt(log, offset);
    const name =
      batch === null
        ? 'nothing'
        : byContents
          ? contentsAt(evidence, log, batch, offset)
          : `${batch.epoch} ${batch.base} ${batch.crc}`;
    const nodes = camps.get(name);
    if (nodes === undefined) camps.set(name, [node]);
    else nodes.push(node);
  }
  return camps;
}

/** Key and value of the record at an offset, as a name. */
function contentsAt(evidence: Evidence, log: DecodedLog, batch: Batch, offset: number): string {
  const records = decodeRecords(log, batch, evidence.logs?.decompressors ?? {});
  if (records === null) return `unreadable ${batch.crc}`;
  const record = records.find((each) => each.offset === offset);
  if (record === undefined) return 'nothing';
  return [record.key, record.value].map((bytes) => (bytes === null ? 'null' : text(bytes))).join(' ');
}

function divergence(
  evidence: Evidence,
  key: Key,
  logs: readonly FinalLog[],
  group: { readonly camps: ReadonlyMap<string, readonly number[]>; readonly offsets: readonly number[] },
): Finding {
  const offset = group.offsets[0] as number;
  const ranges = rangesOf(group.offsets);
  const holders = [...group.camps.values()].map((nodes) => {
    const log = logs.find(({ node }) => node === nodes[0])?.log;
    const value = log === undefined ? null : valueAt(evidence, log, offset);
    const batch = log === undefined ? null : batchAt(log, offset);
    // Message formats v0 and v1 have no epochs.
    const epoch = batch === null || batch.epoch === -1 ? null : batch.epoch;
    return { nodes, value, epoch };
  });
  const said = holders.map(({ nodes, value, epoch }) => {
    const what = value === null ? 'another record' : String(value);
    return `${brokers(nodes)} ${nodes.length === 1 ? 'holds' : 'hold'} ${what}${epoch === null ? '' : ` (epoch ${epoch})`}`;
  });
  const nodes = holders.flatMap((holder) => holder.nodes).sort((x, y) => x - y);
  const why = whyDiverged(evidence, key, offset, holders);
  const references: Reference[] = holders.flatMap(({ nodes: camp, epoch }) =>
    camp.map((node) => ({ source: 'log' as const, node, offset, epoch })),
  );
  return {
    kind: 'replica-divergence',
    class: 'violation',
    key,
    offset,
    values: holders.flatMap(({ value }) => (value === null ? [] : [value])),
    summary: `the replicas of ${key} differ at ${offsetsInWords(ranges)}: at ${offset}, ${said.join('; ')}`,
    labels: ['final-logs'],
    nodes,
    evidence: listed([...references, ...why.flatMap((step) => step.references)]),
    why,
    rows: [],
    ranges,
    lackingEpoch: null,
  };
}

function valueAt(evidence: Evidence, log: DecodedLog, offset: number): Value | null {
  const batch = batchAt(log, offset);
  if (batch === null) return null;
  const records = decodeRecords(log, batch, evidence.logs?.decompressors ?? {});
  const value = records?.find((record) => record.offset === offset)?.value ?? null;
  if (value === null) return null;
  return canonicalValue(text(value));
}

function findInTrace(evidence: Evidence): Finding[] {
  const cluster = evidence.cluster;
  if (cluster === null) return [];
  const findings: Finding[] = [];
  for (const partition of cluster.partitions.values()) {
    findings.push(...contradictions(evidence, cluster, partition));
    if (wholeTrace(evidence) === null || storageFaultSeen(evidence, partition.key)) continue;
    if (!uncleanElectionPossible(evidence, partition.key))
      findings.push(...liveDivergences(evidence, cluster, partition));
  }
  return findings;
}

/** The same offset in the same epoch with different content. */
function contradictions(evidence: Evidence, cluster: ClusterTrace, partition: PartitionTrace): Finding[] {
  const { stays } = partition;
  const findings: Finding[] = [];
  for (const [one, other] of stays.contradictions.slice(0, 1)) {
    const offset = stays.base.get(one);
    const epoch = stays.epoch.get(one);
    const nodes = [stays.node.get(one), stays.node.get(other)];
    const more = stays.contradictions.length - 1;
    const tail = more > 0 ? `, and ${more} more such pairs` : '';
    const summary = `${brokers(nodes)} wrote different records at offset ${offset} of ${partition.key} in one leader epoch, ${epoch}${tail}`;
    findings.push(traceDivergence(evidence, cluster, partition, [one, other], summary, 'same-epoch'));
  }
  return findings;
}

/** For each follower and each epoch in which it appended: all that it has below that append must be its leader's. */
function liveDivergences(evidence: Evidence, cluster: ClusterTrace, partition: PartitionTrace): Finding[] {
  const rivals = rivalStays(partition.stays);
  if (rivals.size === 0) return [];
  const firsts = firstAppends(cluster, partition);
  const findings: Finding[] = [];
  const pairs = new Set<string>();
  for (const [node, roles] of partition.roles) {
    for (const role of roles) {
      const { leader } = role.line;
      if (role.line.role !== 'follower' || leader === null) continue;
      const first = firsts.get(`${node} ${role.epoch}`);
      const rivalsOfBoth = rivals.get(`${node} ${leader}`);
      if (first === undefined || rivalsOfBoth === undefined) continue;
      const found = compareWithLeader(cluster, partition, role, first, rivalsOfBoth);
      if (found === null) continue;
      const [mine, theirs] = found;
      const { stays } = partition;
      const name = `${stays.base.get(mine)} ${stays.epoch.get(mine)} ${stays.epoch.get(theirs)}`;
      if (pairs.has(name)) continue;
      pairs.add(name);
      const summary = `broker ${node} followed broker ${leader} in epoch ${role.epoch} of ${partition.key} and kept another record at offset ${stays.base.get(mine)} than its leader had`;
      findings.push(traceDivergence(evidence, cluster, partition, [mine, theirs], summary, 'live'));
    }
  }
  return findings;
}

/**
 * Stays of two nodes that begin at one offset and differ, by the names of both nodes, in the order of their offsets. Only
 * where a log was cut, or should have been, are there any: so what is looked at for each role follows the conflicts and
 * not the length of the log.
 */
function rivalStays(stays: Stays): Map<string, (readonly [mine: number, theirs: number])[]> {
  const found = new Map<string, (readonly [number, number])[]>();
  for (const together of stays.differing()) {
    for (const mine of together) {
      for (const theirs of together) {
        if (stays.isSameBatch(mine, theirs) || stays.node.get(mine) === stays.node.get(theirs)) continue;
        const name = `${stays.node.get(mine)} ${stays.node.get(theirs)}`;
        const pairs = found.get(name);
        if (pairs === undefined) found.set(name, [[mine, theirs]]);
        else pairs.push([mine, theirs]);
      }
    }
  }
  return found;
}

/** The lowest pair of stays that differ, when a follower first appended in the epoch of `role`, in the line `first`. */
function compareWithLeader(
  { position, store }: ClusterTrace,
  partition: PartitionTrace,
  role: RoleAt,
  first: number,
  rivals: readonly (readonly [mine: number, theirs: number])[],
): readonly [mine: number, theirs: number] | null {
  const leader = role.line.leader as number;
  const taken = partition.roles
    .get(leader)
    ?.find((other) => other.epoch === role.epoch && other.line.role === 'leader');
  if (taken === undefined) return null;
  const span = leadershipSpan({ position, store }, partition, leader, taken);
  const place = position[first] as number;
  const { stays } = partition;
  const isThere = (stay: number, at: number): boolean => {
    const removed = stays.removed.get(stay);
    return (
      (position[stays.appended.get(stay)] as number) <= at && (removed === -1 || (position[removed] as number) > at)
    );
  };
  // What it appends in that line itself it has from this leader.
  const before = (stay: number): boolean => (position[stays.appended.get(stay)] as number) < place;
  return rivals.find(([mine, theirs]) => before(mine) && isThere(mine, place) && isThere(theirs, span)) ?? null;
}

/** The line in which a node first appended in an epoch, by the names of both. */
function firstAppends({ position, store }: ClusterTrace, { stays }: PartitionTrace): Map<string, number> {
  const firsts = new Map<string, number>();
  for (let stay = 0; stay < stays.count; stay += 1) {
    const row = stays.appended.get(stay);
    const name = `${stays.node.get(stay)} ${store.epoch.get(row)}`;
    const first = firsts.get(name);
    if (first === undefined || (position[row] as number) < (position[first] as number)) firsts.set(name, row);
  }
  return firsts;
}

/** Place of the leader's last line within this leadership: before its next role, or before it restarted. */
function leadershipSpan(
  { store, position }: Pick<ClusterTrace, 'store' | 'position'>,
  partition: PartitionTrace,
  leader: number,
  taken: RoleAt,
): number {
  const place = position[taken.row] as number;
  const rows = store.rowsOf(leader);
  const next = partition.roles.get(leader)?.find((role) => (position[role.row] as number) > place);
  const end = next === undefined ? rows.length - 1 : (position[next.row] as number) - 1;
  const boot = store.boot.get(taken.row);
  let last = end;
  while (last > place && store.boot.get(rows[last] as number) !== boot) last -= 1;
  return last;
}

function traceDivergence(
  evidence: Evidence,
  cluster: ClusterTrace,
  partition: PartitionTrace,
  pair: readonly [number, number],
  summary: string,
  label: string,
): Finding {
  const { stays } = partition;
  const offset = stays.base.get(pair[0]);
  const holders = pair.map((stay) => ({ nodes: [stays.node.get(stay)], value: null, epoch: stays.epoch.get(stay) }));
  const nodes = [...new Set(pair.map((stay) => stays.node.get(stay)))].sort((x, y) => x - y);
  return {
    kind: 'replica-divergence',
    class: 'violation',
    key: partition.key,
    offset,
    values: [],
    summary,
    labels: [label],
    nodes,
    evidence: pair.map((stay) => traceReference(cluster.store, stays.appended.get(stay))),
    why: whyDiverged(evidence, partition.key, offset, holders),
    rows: [],
    ranges: [[offset, Math.max(stays.last.get(pair[0]), stays.last.get(pair[1]))]],
    lackingEpoch: null,
  };
}

/** The partition's replicas whose logs should be there and are not make agreement unknown. */
export function noteMissingLogs(evidence: Evidence): void {
  const { logs } = evidence;
  if (logs === null) return;
  const keys = new Set([...logs.byKey.keys(), ...evidence.history.keys]);
  for (const key of keys) {
    const present = logs.byKey.get(key);
    const expected = replicasOf(evidence, key) ?? [];
    const missing = expected.filter((node) => !(present?.has(node) ?? false));
    if (missing.length > 0 && partitionOf(evidence, key)?.deleted !== true) {
      unknownBecause(evidence, 'agreement', `${key}: the log of ${brokers(missing)} is missing`);
    }
  }
}
