/**
 * What a history alone says about offsets: `ack-conflict`, `inconsistent-offsets` and `duplicate`.
 *
 * `inconsistent-offsets`: one offset with two values, by acknowledgements under acks=all and by polls. An acknowledgement
 * under acks 0 or 1 promises nothing, so it contradicts nothing. `duplicate`: one value at two offsets, by any
 * acknowledgement, by polls and in the final leader's log; a client makes one attempt per operation.
 */
import { leaderLog, unknownBecause, type Evidence } from '../evidence.ts';
import { judgeLoss } from '../excuse.ts';
import { acksAll, outcome, type OffsetConflict } from '../index-history.ts';
import { emptyFinding, historyReference, inWords, listed, type Finding } from './finding.ts';
import { historyOf } from './loss.ts';

export function findInconsistentOffsets(evidence: Evidence): Finding[] {
  const findings: Finding[] = [];
  for (const conflict of evidence.history.conflicts.values()) {
    const finding = inconsistency(evidence, conflict);
    if (finding !== null) findings.push(finding);
  }
  return findings.sort((x, y) => (x.offset ?? 0) - (y.offset ?? 0));
}

/** Two acknowledgements under acks=all that name one offset. */
export function findAckConflicts(evidence: Evidence): Finding[] {
  const { history } = evidence;
  const { values } = history;
  const findings: Finding[] = [];
  for (const conflict of history.conflicts.values()) {
    const acked = conflict.sightings.filter(
      ({ row }) => isPromised(evidence, row) && values.offset.get(row) === conflict.offset,
    );
    const verdict = acked.length < 2 ? 'unknown' : classOfConflict(evidence, conflict);
    // The doubt itself is told of the offset with two values.
    if (verdict === 'unknown') continue;
    const key = history.keyName(conflict.key);
    const names = inWords(acked.map(({ row }) => String(history.valueOf(row))));
    findings.push({
      ...emptyFinding('ack-conflict', key),
      class: verdict,
      offset: conflict.offset,
      values: acked.map(({ row }) => history.valueOf(row)),
      summary: `offset ${conflict.offset} of ${key} was acknowledged to ${acked.length} sends: ${names}`,
      evidence: listed(acked.flatMap(({ row }) => historyOf(evidence, row))),
      rows: acked.map(({ row }) => row),
      ranges: [[conflict.offset, conflict.offset]],
    });
  }
  return findings.sort((x, y) => (x.offset ?? 0) - (y.offset ?? 0));
}

function isPromised({ history: { values } }: Evidence, row: number): boolean {
  return values.outcome.get(row) === outcome.ok && values.acks.get(row) === acksAll;
}

function inconsistency(evidence: Evidence, conflict: OffsetConflict): Finding | null {
  const { history } = evidence;
  const key = history.keyName(conflict.key);
  const rows = conflict.sightings.map(({ row }) => row);
  const verdict = classOfConflict(evidence, conflict);
  if (verdict === 'unknown') {
    unknownBecause(evidence, 'offsets', `${key}: an offset had two values, and nothing shows whether that is allowed`);
    return null;
  }
  const names = inWords(rows.map((row) => String(history.valueOf(row))));
  return {
    kind: 'inconsistent-offsets',
    class: verdict,
    key,
    offset: conflict.offset,
    values: rows.map((row) => history.valueOf(row)),
    summary: `offset ${conflict.offset} of ${key} was seen with ${rows.length} values: ${names}`,
    labels: [],
    nodes: [],
    evidence: listed(conflict.sightings.flatMap(({ index }) => (index === -1 ? [] : [historyReference(index)]))),
    why: [],
    rows,
    ranges: [[conflict.offset, conflict.offset]],
    lackingEpoch: null,
  };
}

/** Two values at one offset are expected only if every one that is gone from there was lost as expected. */
function classOfConflict(evidence: Evidence, conflict: OffsetConflict): 'violation' | 'expected' | 'unknown' {
  const { history } = evidence;
  const key = history.keyName(conflict.key);
  const decided = leaderLog(evidence, key) !== null;
  const gone = conflict.sightings.filter(
    ({ row }) => !decided || history.values.finalOffset.get(row) !== conflict.offset,
  );
  const fates = gone.map(({ row }) => judgeLoss(evidence, key, row, conflict.offset).class);
  if (!decided) {
    // One of them still stands, nobody knows which: an excuse for any but one is an excuse.
    const violations = fates.filter((fate) => fate === 'violation').length;
    if (violations <= 1) return fates.includes('unknown') ? 'unknown' : 'expected';
    return 'violation';
  }
  if (fates.includes('violation')) return 'violation';
  return fates.includes('unknown') ? 'unknown' : 'expected';
}

export function findDuplicates(evidence: Evidence): Finding[] {
  return [...offsetsOfRows(evidence)].map(([row, offsets]) => duplicate(evidence, row, offsets));
}

/** Offsets of the values that have more than one, each with an operation that saw it (−1: only the log shows it). */
function offsetsOfRows(evidence: Evidence): Map<number, Map<number, number>> {
  const { history } = evidence;
  const { values } = history;
  const found = new Map<number, Map<number, number>>();
  const add = (row: number, offset: number, index: number): void => {
    if (offset === -1) return;
    let offsets = found.get(row);
    if (offsets === undefined) {
      offsets = new Map();
      found.set(row, offsets);
    }
    if ((offsets.get(offset) ?? -1) === -1) offsets.set(offset, index);
  };
  const suspicious = new Set(history.extraOffsets.keys());
  for (let row = 0; row < history.rowCount; row += 1) {
    const acknowledged = acknowledgedOffset(evidence, row);
    const read = values.readOffset.get(row);
    const final = values.finalOffset.get(row);
    const differ = (x: number, y: number): boolean => x !== -1 && y !== -1 && x !== y;
    if (differ(acknowledged, read) || differ(acknowledged, final) || differ(read, final)) suspicious.add(row);
  }
  for (const row of suspicious) {
    add(row, acknowledgedOffset(evidence, row), values.completed.get(row));
    add(row, values.readOffset.get(row), values.readBy.get(row));
    add(row, values.finalOffset.get(row), -1);
  }
  for (const { row, offset, index } of [...history.extraOffsets.values()].flat()) add(row, offset, index);
  return found;
}

function acknowledgedOffset(evidence: Evidence, row: number): number {
  const { values } = evidence.history;
  return values.outcome.get(row) === outcome.ok ? values.offset.get(row) : -1;
}

function duplicate(evidence: Evidence, row: number, offsets: ReadonlyMap<number, number>): Finding {
  const { history } = evidence;
  const key = history.keyName(history.values.key.get(row));
  const value = history.valueOf(row);
  const sorted = [...offsets.keys()].sort((x, y) => x - y);
  const completed = history.values.completed.get(row);
  const seen = [...offsets.values()].filter((index) => index !== -1 && index !== completed);
  return {
    kind: 'duplicate',
    class: 'violation',
    key,
    offset: sorted[0] ?? null,
    values: [value],
    summary: `${String(value)} stands at ${sorted.length} offsets of ${key}: ${inWords(sorted.map(String))}`,
    labels: [],
    nodes: [],
    evidence: listed([...historyOf(evidence, row), ...seen.map(historyReference)]),
    why: [],
    rows: [row],
    ranges: sorted.map((offset) => [offset, offset] as const),
    lackingEpoch: null,
  };
}
