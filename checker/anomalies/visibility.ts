/**
 * What readers saw and should not have: `phantom`, `G1a`, `consumer-saw-uncommitted`.
 *
 * A poll of any outcome counts. `phantom`: nobody sent it. `G1a`: its send certainly failed. `consumer-saw-uncommitted`:
 * it was read and is gone, from the final leader's log below the high watermark, or, without logs, from what a reader
 * saw who began to read later and passed over its offset.
 */
import { leaderLog, partitionOf, unknownBecause, type Evidence } from '../evidence.ts';
import { judgeLoss, neverCommitted } from '../excuse.ts';
import { outcome } from '../index-history.ts';
import { Heap } from '../search.ts';
import { historyReference, listed, plural, type Finding } from './finding.ts';
import { historyOf, readAt } from './loss.ts';

export function findPhantoms(evidence: Evidence): Finding[] {
  return rowsRead(evidence)
    .filter((row) => evidence.history.values.outcome.get(row) === outcome.unsent)
    .map((row) =>
      readFinding(evidence, row, 'phantom', (value, where) => `${value} was read ${where}, but nobody sent it`),
    );
}

export function findAbortedReads(evidence: Evidence): Finding[] {
  return rowsRead(evidence)
    .filter((row) => evidence.history.values.outcome.get(row) === outcome.fail)
    .map((row) =>
      readFinding(evidence, row, 'G1a', (value, where) => `${value} was read ${where}, but its send failed`),
    );
}

function rowsRead(evidence: Evidence): number[] {
  const { values } = evidence.history;
  const rows: number[] = [];
  for (let row = 0; row < evidence.history.rowCount; row += 1) if (values.readBy.get(row) !== -1) rows.push(row);
  return rows;
}

function readFinding(
  evidence: Evidence,
  row: number,
  kind: 'phantom' | 'G1a',
  sentence: (value: string, where: string) => string,
): Finding {
  const { history } = evidence;
  const key = history.keyName(history.values.key.get(row));
  const offset = history.values.readOffset.get(row);
  const value = history.valueOf(row);
  return {
    kind,
    class: 'violation',
    key,
    offset,
    values: [value],
    summary: sentence(String(value), `at offset ${offset} of ${key}`),
    labels: [],
    nodes: [],
    evidence: [...historyOf(evidence, row), historyReference(history.values.readBy.get(row))],
    why: [],
    rows: [row],
    ranges: [[offset, offset]],
    lackingEpoch: null,
  };
}

/** What the final leader has, and readers did not see who went from the beginning to the end after settling. */
export function noteHidden(evidence: Evidence): void {
  const { history, run } = evidence;
  const { values } = history;
  if (evidence.logs === null || run.finalReadComplete !== true) return;
  const hidden = new Map<number, number>();
  for (let row = 0; row < history.rowCount; row += 1) {
    if (values.outcome.get(row) !== outcome.ok || values.finalOffset.get(row) === -1) continue;
    // At acks=0 nobody knows when it was written: perhaps after they had read.
    if (values.readFinally.get(row) === 1 || values.acks.get(row) === 0) continue;
    const key = values.key.get(row);
    hidden.set(key, (hidden.get(key) ?? 0) + 1);
  }
  for (const [key, count] of hidden) {
    const many = plural(count, 'acknowledged record stands', 'acknowledged records stand');
    const reason = `${history.keyName(key)}: ${many} in the log of its leader, and the last readers did not see it`;
    unknownBecause(evidence, 'visibility', reason);
  }
}

/** Values that were read and are gone. */
export function findVanishedReads(evidence: Evidence): Finding[] {
  const { history } = evidence;
  const { values } = history;
  const gone = new Map<number, number>();
  for (const row of rowsRead(evidence)) {
    const key = history.keyName(values.key.get(row));
    if (partitionOf(evidence, key)?.deleted === true) continue;
    const final = leaderLog(evidence, key);
    const offset = values.readOffset.get(row);
    if (values.finalOffset.get(row) !== -1 || evidence.unreadable.has(key)) continue;
    if (final === null) {
      if (evidence.logs !== null)
        unknownBecause(evidence, 'visibility', `${key}: there is no log of its leader to look up what was read`);
    } else if (final.log.flaw !== null && offset >= final.log.end) {
      unknownBecause(evidence, 'visibility', `${key}: the leader's log cannot be read beyond offset ${final.log.end}`);
    } else if (offset >= final.log.start) gone.set(row, -1);
  }
  if (evidence.logs === null) for (const [row, index] of passedOverLater(evidence)) gone.set(row, index);
  const findings: Finding[] = [];
  for (const [row, laterRead] of gone) {
    const finding = vanished(evidence, row, laterRead);
    if (finding !== null) findings.push(finding);
  }
  return findings;
}

/**
 * Without logs: read once, and passed over by a reader who began after that. The values of a key are gone through by
 * offset, with the gaps that are open there by when their latest reader began.
 */
function passedOverLater(evidence: Evidence): Map<number, number> {
  const { history } = evidence;
  const { values } = history;
  const gone = new Map<number, number>();
  const { gaps } = history.readers;
  const gapsOfKey = new Map<number, number[]>();
  for (let gap = 0; gap < gaps.count; gap += 1) {
    if (gaps.since.get(gap) !== -1) listIn(gapsOfKey, gaps.key.get(gap)).push(gap);
  }
  if (gapsOfKey.size === 0) return gone;
  const rowsOfKey = new Map<number, number[]>();
  for (const row of rowsRead(evidence))
    if (gapsOfKey.has(values.key.get(row))) listIn(rowsOfKey, values.key.get(row)).push(row);
  for (const [key, rows] of rowsOfKey) {
    const pending = listIn(gapsOfKey, key).sort((x, y) => gaps.after.get(y) - gaps.after.get(x));
    const open = new Heap((gap) => gaps.since.get(gap));
    for (const row of rows.sort((x, y) => values.readOffset.get(x) - values.readOffset.get(y))) {
      const offset = values.readOffset.get(row);
      while (pending.length > 0 && gaps.after.get(pending.at(-1) as number) < offset)
        open.push(pending.pop() as number);
      while (open.top !== -1 && gaps.before.get(open.top) <= offset) open.pop();
      if (open.top !== -1 && values.readBy.get(row) < gaps.since.get(open.top))
        gone.set(row, gaps.sinceIndex.get(open.top));
    }
  }
  return gone;
}

function listIn(map: Map<number, number[]>, key: number): number[] {
  let list = map.get(key);
  if (list === undefined) {
    list = [];
    map.set(key, list);
  }
  return list;
}

function vanished(evidence: Evidence, row: number, laterRead: number): Finding | null {
  const { history } = evidence;
  const key = history.keyName(history.values.key.get(row));
  const offset = history.values.readOffset.get(row);
  const fate = judgeLoss(evidence, key, row, offset);
  const never = neverCommitted(evidence, key, row, offset);
  if (fate.class === 'unknown' && !never) {
    unknownBecause(evidence, 'visibility', `${key}: records were read and are gone, and ${fate.reason}`);
    return null;
  }
  const value = history.valueOf(row);
  const detail = never ? 'no high watermark had ever passed it' : 'it is gone';
  return {
    kind: 'consumer-saw-uncommitted',
    class: !never && fate.class === 'expected' ? 'expected' : 'violation',
    key,
    offset,
    values: [value],
    summary: `${String(value)} was read at offset ${offset} of ${key}, but ${detail}`,
    labels: [never ? 'never-committed' : 'vanished'],
    nodes: [],
    evidence: listed([
      ...historyOf(evidence, row),
      historyReference(Math.max(readAt(history, row, offset), 0)),
      ...(laterRead === -1 ? [] : [historyReference(laterRead)]),
    ]),
    why: [],
    rows: [row],
    ranges: [[offset, offset]],
    lackingEpoch: fate.lacking?.epoch ?? null,
  };
}
