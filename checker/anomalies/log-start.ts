/**
 * `log-start-moved`: the final leader's log starts above an acknowledged record, and nobody recorded why.
 *
 * Deleting records on request and retention move a log's start, and the trace names them as the reason. A follower that
 * begins anew where its leader's log starts only takes over what its leader did. Without a whole trace nobody knows the
 * reason, and durability is unknown where it matters.
 */
import { leaderLog, partitionOf, unknownBecause, wholeTrace, type Evidence } from '../evidence.ts';
import type { FinalLog } from '../final-logs.ts';
import { acksAll, outcome } from '../index-history.ts';
import { kind } from '../parse-trace.ts';
import { traceReference, type ClusterTrace } from '../replicas.ts';
import type { WhyStep } from '../results.ts';
import { emptyFinding, historyReference, listed, offsetsInWords, plural, rangesOf, type Finding } from './finding.ts';

export function findMovedLogStarts(evidence: Evidence): Finding[] {
  const { history } = evidence;
  const findings: Finding[] = [];
  const below = rowsBelowStart(evidence);
  const cluster = wholeTrace(evidence);
  for (const [keyId, { final, rows }] of below) {
    const key = history.keyName(keyId);
    if (cluster === null) {
      if (evidence.source === 'run')
        unknownBecause(
          evidence,
          'durability',
          `${key}: its log starts above acknowledged records, and nothing tells why`,
        );
      continue;
    }
    const recorded = recordedStart(cluster, key);
    const unexplained = rows.filter((row) => history.values.offset.get(row) >= recorded);
    if (unexplained.length > 0) findings.push(movedLogStart(evidence, cluster, key, final, unexplained));
  }
  return findings;
}

/** Acknowledged values below the log start of their final leader, by key. */
function rowsBelowStart(evidence: Evidence): Map<number, { readonly final: FinalLog; readonly rows: number[] }> {
  const { history } = evidence;
  const { values } = history;
  const logs = history.keys.map((key) => {
    return partitionOf(evidence, key)?.deleted === true ? null : leaderLog(evidence, key);
  });
  const found = new Map<number, { final: FinalLog; rows: number[] }>();
  for (let row = 0; row < history.rowCount; row += 1) {
    if (values.outcome.get(row) !== outcome.ok || values.acks.get(row) !== acksAll) continue;
    const key = values.key.get(row);
    const final = logs[key] ?? null;
    const offset = values.offset.get(row);
    if (final === null || offset === -1 || offset >= final.log.start) continue;
    const known = found.get(key);
    if (known === undefined) found.set(key, { final, rows: [row] });
    else known.rows.push(row);
  }
  return found;
}

/** Below this offset records were removed for a recorded reason. */
function recordedStart({ store }: ClusterTrace, key: string): number {
  let start = 0;
  for (const [row, reason] of store.reasons) {
    if (store.key.get(row) === store.keyId(key) && isLawful(reason)) start = Math.max(start, store.b.get(row));
  }
  return start;
}

function isLawful(reason: string): boolean {
  return /delete-records|retention|compaction/.test(reason);
}

function movedLogStart(
  evidence: Evidence,
  cluster: ClusterTrace,
  key: string,
  final: FinalLog,
  rows: readonly number[],
): Finding {
  const { history } = evidence;
  const { store } = cluster;
  const ranges = rangesOf(rows.map((row) => history.values.offset.get(row)));
  const many = plural(rows.length, 'acknowledged record', 'acknowledged records');
  const moves: WhyStep[] = store
    .rowsOf(final.node)
    .filter((row) => store.kind.get(row) === kind.logStart && store.key.get(row) === store.keyId(key))
    .map((row) => ({
      text: `Broker ${final.node} moved the start of its log from ${store.a.get(row)} to ${store.b.get(row)} (${store.reasons.get(row) ?? 'no reason given'}).`,
      time: store.time.get(row),
      references: [traceReference(store, row)],
    }));
  return {
    ...emptyFinding('log-start-moved', key),
    offset: ranges[0]?.[0] ?? null,
    values: listed(rows.map((row) => history.valueOf(row))),
    summary: `the log of ${key}'s final leader, broker ${final.node}, starts at ${final.log.start}, above ${many} at ${offsetsInWords(ranges)}, and neither a deletion nor retention is recorded`,
    nodes: [final.node],
    why: listed(moves),
    evidence: listed([
      ...moves.flatMap(({ references }) => references),
      ...rows.map((row) => historyReference(history.values.completed.get(row))),
    ]),
    rows,
    ranges,
  };
}
