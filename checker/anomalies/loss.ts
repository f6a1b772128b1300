/**
 * Losses: `lost-acked-write`, `offset-moved`, `lost-on-replica`, and without final logs Jepsen's `lost-write`.
 *
 * A value acknowledged under acks=all is lost when, after settling, it is not at its acknowledged offset in the final
 * leader's log below its high watermark, though that offset is at or above the log start. A copy on a replica that does
 * not lead saves nothing. Values lost by one cause (the same election, the same excuse) are one anomaly.
 */
import { leaderLog, finalLeader, partitionOf, unknownBecause, wholeTrace, type Evidence } from '../evidence.ts';
import { judgeLoss, type Fate } from '../excuse.ts';
import type { FinalLog } from '../final-logs.ts';
import type { Key } from '../history.ts';
import { acksAll, outcome, type HistoryIndex } from '../index-history.ts';
import type { Gaps } from '../readers.ts';
import type { Reference } from '../results.ts';
import { firstNotBefore } from '../search.ts';
import { batchAt } from '../segments.ts';
import { isInLog } from '../standing.ts';
import type { Ints } from '../tables.ts';
import { whyLost } from '../why-lost.ts';
import { historyReference, listed, offsetsInWords, plural, rangesOf, type Finding } from './finding.ts';

/**
 * Rows by key that had to be kept: acknowledged under acks=all; and of an indefinite operation with several sends all,
 * once one of them was read, since it counts as a whole.
 */
function acknowledgedRows(evidence: Evidence): Map<number, number[]> {
  const { values, transactions } = evidence.history;
  const rows = new Map<number, number[]>();
  const take = (row: number): void => {
    const key = values.key.get(row);
    const list = rows.get(key);
    if (list === undefined) rows.set(key, [row]);
    else list.push(row);
  };
  for (let row = 0; row < evidence.history.rowCount; row += 1) {
    if (values.outcome.get(row) === outcome.ok && values.acks.get(row) === acksAll) take(row);
  }
  for (const group of transactions.indefinite) {
    if (!group.some((row) => values.readBy.get(row) !== -1)) continue;
    for (const row of group) if (values.acks.get(row) === acksAll) take(row);
  }
  return rows;
}

/** Judges every acknowledged value against the final leaders' logs. */
export function findLosses(evidence: Evidence): Finding[] {
  const findings: Finding[] = [];
  for (const [keyId, rows] of acknowledgedRows(evidence)) {
    const key = evidence.history.keyName(keyId);
    if (partitionOf(evidence, key)?.deleted === true) continue;
    const leader = finalLeader(evidence, key);
    const final = leaderLog(evidence, key);
    if (leader === null || final === null) {
      const unsettled = evidence.run.settled === true ? 'is missing' : 'is not there as it was in the end';
      const what =
        leader === null ? 'no final leader is known' : `the log of its leader, broker ${leader}, ${unsettled}`;
      unknownBecause(evidence, 'durability', `${key}: ${what}`);
      unknownBecause(evidence, 'offsets', `${key}: ${what}`);
      continue;
    }
    if (!evidence.unreadable.has(key)) findings.push(...judgeKey(evidence, key, rows, final));
  }
  return findings;
}

function judgeKey(evidence: Evidence, key: Key, rows: readonly number[], final: FinalLog): Finding[] {
  const { values } = evidence.history;
  // A trace with a hole may have lost the line in which it moved.
  const highWatermark = wholeTrace(evidence)?.partitions.get(key)?.highWatermark.get(final.node) ?? null;
  const readableEnd = final.log.end;
  const lost: number[] = [];
  const moved: number[] = [];
  let lastSurvivor = -1;
  let firstSurvivor = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    const offset = values.offset.get(row);
    const found = values.finalOffset.get(row);
    if (offset !== -1 && offset < final.log.start) continue;
    if (found !== -1 && (offset === -1 || isInLog(evidence, row, offset))) {
      const place = offset === -1 ? found : offset;
      if (highWatermark !== null && place >= highWatermark) {
        if (evidence.run.settled === true) lost.push(row);
        else
          unknownBecause(evidence, 'durability', `${key}: acknowledged records are above the leader's high watermark`);
        continue;
      }
      firstSurvivor = Math.min(firstSurvivor, place);
      lastSurvivor = Math.max(lastSurvivor, place);
    } else if (found !== -1) moved.push(row);
    else if (final.log.flaw !== null && (offset === -1 || offset >= readableEnd)) {
      unknownBecause(evidence, 'durability', `${key}: the leader's log cannot be read beyond offset ${readableEnd}`);
    } else lost.push(row);
  }
  const place = (offset: number): string[] => placeLabels(offset, firstSurvivor, lastSurvivor);
  return [
    ...byCause(evidence, key, lost).map((cause) => lossOf(evidence, key, cause, final, place)),
    ...moved.map((row) => movedValue(evidence, key, row, final.node)),
  ];
}

/** Where the loss lies among the acknowledged records that survived. */
function placeLabels(offset: number, firstSurvivor: number, lastSurvivor: number): string[] {
  const labels: string[] = [];
  if (offset < firstSurvivor) labels.push('lost-prefix');
  if (offset > lastSurvivor) labels.push('lost-tail');
  return labels.length === 0 ? ['lost-middle'] : labels;
}

/** Values that one cause lost. */
interface Cause {
  readonly fate: Fate;
  /** By offset. */
  readonly rows: readonly number[];
}

function byCause(evidence: Evidence, key: Key, rows: readonly number[]): Cause[] {
  const { offset } = evidence.history.values;
  const groups = new Map<string, { fate: Fate; rows: number[] }>();
  for (const row of [...rows].sort((x, y) => offset.get(x) - offset.get(y))) {
    const fate = judgeLoss(evidence, key, row, offset.get(row));
    if (fate.class === 'unknown') {
      unknownBecause(evidence, 'durability', `${key}: acknowledged records are lost, and ${fate.reason}`);
      continue;
    }
    const name = `${fate.class} ${fate.lacking?.epoch ?? 'none'} ${fate.labels.join(' ')}`;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, { fate, rows: [row] });
    else group.rows.push(row);
  }
  return [...groups.values()];
}

function lossOf(
  evidence: Evidence,
  key: Key,
  { fate, rows }: Cause,
  final: FinalLog,
  place: (offset: number) => string[],
): Finding {
  const { history } = evidence;
  const offsets = rows.map((row) => history.values.offset.get(row)).filter((offset) => offset !== -1);
  const ranges = rangesOf(offsets);
  const where = ranges.length === 0 ? 'at an unknown offset' : `at ${offsetsInWords(ranges)}`;
  const many = plural(rows.length, 'acknowledged record is', 'acknowledged records are');
  const why = whyLost(evidence, key, rows[0] as number, fate, final);
  return {
    kind: 'lost-acked-write',
    class: fate.class === 'expected' ? 'expected' : 'violation',
    key,
    offset: offsets[0] ?? null,
    values: listed(rows.map((row) => history.valueOf(row))),
    summary: `${many} missing from the log of ${key}'s final leader, broker ${final.node}, ${where}: ${fate.reason}`,
    labels: [...new Set([...offsets.flatMap(place), ...fate.labels])],
    nodes: [...new Set([final.node, ...fate.removals.map(({ node }) => node)])].sort((x, y) => x - y),
    evidence: listed([
      ...rows.flatMap((row) => historyOf(evidence, row)),
      ...why.flatMap((step) => step.references).filter(({ source }) => source !== 'history'),
    ]),
    why,
    rows,
    ranges,
    lackingEpoch: fate.lacking?.epoch ?? null,
  };
}

/** The operations that sent a value. */
export function historyOf(evidence: Evidence, row: number): Reference[] {
  const { invoked, completed } = evidence.history.values;
  return [invoked.get(row), completed.get(row)].filter((index) => index !== -1).map(historyReference);
}

function movedValue(evidence: Evidence, key: Key, row: number, leader: number): Finding {
  const { history } = evidence;
  const offset = history.values.offset.get(row);
  const found = history.values.finalOffset.get(row);
  const value = history.valueOf(row);
  return {
    kind: 'offset-moved',
    class: 'violation',
    key,
    offset,
    values: [value],
    summary: `${String(value)} was acknowledged at offset ${offset} of ${key} but stands at offset ${found}`,
    labels: [],
    nodes: [leader],
    evidence: historyOf(evidence, row),
    why: [],
    rows: [row],
    ranges: [
      [offset, offset],
      [found, found],
    ],
    lackingEpoch: null,
  };
}

/** Acknowledged records that the leader has and another replica, after settling, has not. */
export function findLostOnReplicas(evidence: Evidence): Finding[] {
  const { history, logs } = evidence;
  if (logs === null || evidence.run.settled !== true) return [];
  const findings: Finding[] = [];
  for (const [keyId, rows] of acknowledgedRows(evidence)) {
    const key = history.keyName(keyId);
    const leader = leaderLog(evidence, key);
    if (leader === null) continue;
    const kept = rows.filter((row) => {
      const offset = history.values.offset.get(row);
      return offset >= leader.log.start && isInLog(evidence, row, offset);
    });
    for (const [node, final] of logs.byKey.get(key) ?? []) {
      if (node === leader.node || final.log.flaw !== null) continue;
      const missing = kept.filter((row) => {
        const offset = history.values.offset.get(row);
        return offset >= final.log.start && batchAt(final.log, offset) === null;
      });
      if (missing.length > 0) findings.push(lostOnReplica(evidence, key, node, final, missing));
    }
  }
  return findings;
}

function lostOnReplica(evidence: Evidence, key: Key, node: number, final: FinalLog, rows: readonly number[]): Finding {
  const { history } = evidence;
  const ranges = rangesOf(rows.map((row) => history.values.offset.get(row)));
  const many = plural(rows.length, 'acknowledged record', 'acknowledged records');
  return {
    kind: 'lost-on-replica',
    class: 'violation',
    key,
    offset: ranges[0]?.[0] ?? null,
    values: listed(rows.map((row) => history.valueOf(row))),
    summary: `broker ${node} lacks ${many} of ${key} that the leader has, at ${offsetsInWords(ranges)}: its log ends at ${final.log.end}`,
    labels: [],
    nodes: [node],
    evidence: listed(rows.flatMap((row) => historyOf(evidence, row))),
    why: [],
    rows,
    ranges,
    lackingEpoch: null,
  };
}

/**
 * Jepsen's `lost-write`, for histories without final logs: acknowledged, and a reader passed over its offset or read
 * another value there. For a value that nobody read any reader will do; one that was read once is lost only if a reader
 * who began after settling misses it. A value that was only never read is `unseen`: that alone proves nothing.
 */
export function findLostWrites(evidence: Evidence): Finding[] {
  const { history } = evidence;
  const findings: Finding[] = [];
  const all = gapsByKey(history.readers.gaps, history.readers.gaps.proof);
  const final = gapsByKey(history.readers.gaps, history.readers.gaps.final);
  for (const [keyId, rows] of acknowledgedRows(evidence)) {
    const key = history.keyName(keyId);
    const missed = new Map<number, number>();
    let unseen = 0;
    for (const row of rows) {
      if (history.values.readFinally.get(row) === 1) continue;
      const read = history.values.readBy.get(row) !== -1;
      const offset = history.values.offset.get(row);
      const gaps = (read ? final : all).get(keyId);
      const witness = offset === -1 ? -1 : witnessOf(evidence, keyId, offset, gaps, read);
      if (witness !== -1) missed.set(row, witness);
      else if (!read && history.values.outcome.get(row) === outcome.ok) unseen += 1;
      else if (history.conflicts.has(`${keyId}:${offset}`)) {
        unknownBecause(evidence, 'durability', `${key}: other values were read where acknowledged ones had been`);
      }
    }
    if (unseen > 0) {
      const many = plural(unseen, 'acknowledged record was', 'acknowledged records were');
      unknownBecause(evidence, 'durability', `${key}: ${many} never read, which proves nothing`);
    }
    for (const group of byCause(evidence, key, [...missed.keys()])) {
      findings.push(lostWrites(evidence, key, group, missed));
    }
  }
  return findings;
}

function lostWrites(evidence: Evidence, key: Key, { fate, rows }: Cause, missed: ReadonlyMap<number, number>): Finding {
  const { history } = evidence;
  const ranges = rangesOf(rows.map((row) => history.values.offset.get(row)));
  const many = plural(rows.length, 'acknowledged record', 'acknowledged records');
  return {
    kind: 'lost-write',
    class: fate.class === 'expected' ? 'expected' : 'violation',
    key,
    offset: ranges[0]?.[0] ?? null,
    values: listed(rows.map((row) => history.valueOf(row))),
    summary: `readers passed over ${many} of ${key}, at ${offsetsInWords(ranges)}: ${fate.reason}`,
    labels: fate.labels,
    nodes: [],
    evidence: listed(rows.flatMap((row) => [...historyOf(evidence, row), historyReference(missed.get(row) as number)])),
    why: whyLost(evidence, key, rows[0] as number, fate, null),
    rows,
    ranges,
    lackingEpoch: fate.lacking?.epoch ?? null,
  };
}

/** The operation that read another value at the offset, or passed over it; −1 for none. */
function witnessOf(
  evidence: Evidence,
  key: number,
  offset: number,
  gaps: SortedGaps | undefined,
  onlyFinal: boolean,
): number {
  const { history } = evidence;
  for (const sighting of history.conflicts.get(`${key}:${offset}`)?.sightings ?? []) {
    if (onlyFinal && history.values.readFinally.get(sighting.row) === 0) continue;
    const readBy = readAt(history, sighting.row, offset);
    if (readBy !== -1) return readBy;
  }
  return gaps === undefined ? -1 : passedOverBy(gaps, offset);
}

/** The first operation that read the value of a row at this offset, or −1. */
export function readAt(history: HistoryIndex, row: number, offset: number): number {
  if (history.values.readOffset.get(row) === offset) return history.values.readBy.get(row);
  const extras = history.extraOffsets.get(row) ?? [];
  return extras.find((extra) => extra.offset === offset && extra.index !== -1)?.index ?? -1;
}

/** A gap of one key, and the operation that passed over it. */
interface PassedOver {
  readonly after: number;
  readonly before: number;
  readonly index: number;
}

/** Gaps of one key, sorted by their start; `widest[i]` is the one of 0…i that reaches furthest. */
interface SortedGaps {
  readonly sorted: readonly PassedOver[];
  readonly widest: readonly PassedOver[];
}

/** The gaps of which `by` names an operation, by key. */
function gapsByKey(gaps: Gaps, by: Ints): Map<number, SortedGaps> {
  const lists = new Map<number, PassedOver[]>();
  for (let row = 0; row < gaps.count; row += 1) {
    const index = by.get(row);
    if (index === -1) continue;
    const gap = { after: gaps.after.get(row), before: gaps.before.get(row), index };
    const key = gaps.key.get(row);
    const list = lists.get(key);
    if (list === undefined) lists.set(key, [gap]);
    else list.push(gap);
  }
  const found = new Map<number, SortedGaps>();
  for (const [key, sorted] of lists) {
    sorted.sort((x, y) => x.after - y.after);
    let reach = sorted[0] as PassedOver;
    const widest = sorted.map((gap) => {
      if (gap.before > reach.before) reach = gap;
      return reach;
    });
    found.set(key, { sorted, widest });
  }
  return found;
}

function passedOverBy(gaps: SortedGaps, offset: number): number {
  const beyond = firstNotBefore(gaps.sorted.length, (at) => (gaps.sorted[at] as PassedOver).after < offset);
  const reach = gaps.widest[beyond - 1];
  return reach !== undefined && reach.before > offset ? reach.index : -1;
}
