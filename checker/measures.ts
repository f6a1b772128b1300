/** Figures of a run: how much was done, and how hard it was tried. None of them is a verdict. */
import { countSendSkips } from './anomalies/send-order.ts';
import { countOffsetCycles } from './anomalies/transactions.ts';
import { leaderLog, type Evidence } from './evidence.ts';
import { outcome } from './index-history.ts';
import type { Exposure } from './results.ts';

export function measure(evidence: Evidence, exposures: readonly Exposure[] | null): Record<string, number> {
  const { history, cluster, observed, run } = evidence;
  const { counts } = history;
  const measures: Record<string, number> = {
    operations: counts.invoked,
    operationsOk: counts.ok,
    operationsFail: counts.fail,
    operationsInfo: counts.info,
    sends: counts.sends,
    sendsOk: counts.sendsOk,
    sendsFail: counts.sendsFail,
    sendsInfo: counts.sendsInfo,
    polls: counts.polls,
    polledRecords: counts.polledRecords,
    ...valueCounts(evidence),
    ...readerCounts(evidence),
    ...countOffsetCycles(evidence),
  };
  if (cluster !== null) {
    const partitions = [...cluster.partitions.values()];
    measures['elections'] = sum(partitions.map(({ elections }) => elections.length));
    measures['uncleanElections'] = sum(
      partitions.map((each) => each.elections.filter(({ line }) => !line.clean).length),
    );
    measures['truncations'] = sum(
      partitions.map((each) => each.truncations.filter(({ line }) => line.to < line.from).length),
    );
    measures['traceLines'] = cluster.store.rowCount;
  }
  if (observed !== null) {
    const partitions = [...observed.partitions.values()];
    measures['electionsSeen'] = sum(partitions.map(({ elections }) => elections.length));
    measures['truncationsSeen'] = sum(
      partitions.map(
        (each) => each.truncations.filter(({ from, to }) => from !== null && to !== null && to < from).length,
      ),
    );
    measures['observations'] = observed.lines;
  }
  if (exposures !== null) measures['exposures'] = exposures.length;
  if (run.settleMs !== null) measures['settleMs'] = run.settleMs;
  return measures;
}

/** Values acknowledged, read, never read, and lost where nothing had been promised. */
function valueCounts(evidence: Evidence): Record<string, number> {
  const { history } = evidence;
  const { values } = history;
  const decided = history.keys.map((key) => leaderLog(evidence, key) !== null && !evidence.unreadable.has(key));
  const counts = { acknowledged: 0, recordsRead: 0, unseen: 0, lostUnpromised: 0 };
  for (let row = 0; row < history.rowCount; row += 1) {
    const read = values.readBy.get(row) !== -1;
    if (read) counts.recordsRead += 1;
    if (values.outcome.get(row) !== outcome.ok) continue;
    counts.acknowledged += 1;
    if (!read) counts.unseen += 1;
    const unpromised = values.acks.get(row) === 0 || values.acks.get(row) === 1;
    if (unpromised && decided[values.key.get(row)] === true && values.finalOffset.get(row) === -1) {
      counts.lostUnpromised += 1;
    }
  }
  return counts;
}

/** What a way of reading or sending always allows; those that are zero are left out. */
function readerCounts(evidence: Evidence): Record<string, number> {
  const { counts, longestLag } = evidence.history.readers;
  const all = {
    sendSkips: countSendSkips(evidence),
    skipsUnderSubscribe: counts.subscribedGaps,
    stepsBackUnderSubscribe: counts.subscribedStepsBack,
    positionsOutOfRange: counts.outOfRange,
  };
  const found = Object.entries(all).filter(([, count]) => count > 0);
  return { realtimeLagMs: longestLag / 1e6, ...Object.fromEntries(found) };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
