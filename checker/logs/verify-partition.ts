/**
 * One partition: the log of each replica is checked for itself, and all of them against each other.
 *
 * Replicas hold the same bytes, unless the topic is compacted: cleaners work on their own, so then what is left is
 * compared record by record.
 */
import { compareCompacted } from './compacted.ts';
import type { Differences } from './differences.ts';
import { worse } from './findings.ts';
import { Lane, type ByteTools } from './lane.ts';
import { Lockstep } from './lockstep.ts';
import type { Comparison, CopyReport, Outcome, PartitionReport } from './report.ts';
import type { ReplicaCopy } from './source.ts';

/** Reads all replicas of a partition to their ends. `compacted`: the caller knows that the topic is. */
export function verifyPartition(
  partition: string,
  copies: readonly ReplicaCopy[],
  compacted: boolean,
  tools: ByteTools,
): PartitionReport {
  const byRecords = compacted || copies.some(({ checkpoints }) => checkpoints.cleaner !== null);
  const lanes = copies.map((copy) => new Lane(copy, compacted, tools));
  const outcome = byRecords ? compareCompacted(lanes, tools) : outcomeOf(new Lockstep(lanes, tools).run());
  return {
    partition,
    compacted: byRecords,
    copies: Object.fromEntries(lanes.map((lane) => [lane.name, reportOf(lane)])),
    comparison: comparisonOf(lanes, outcome),
  };
}

function outcomeOf(differences: Differences): Outcome {
  return {
    differences: differences.list,
    differencesTotal: differences.total,
    pairs: differences.pairs(),
    notes: [],
  };
}

function reportOf({ copy, ledger }: Lane): CopyReport {
  const { checkpoints } = copy;
  return {
    records: ledger.records,
    batches: ledger.batches,
    bytes: ledger.bytes,
    first: ledger.first === -1 ? null : ledger.first,
    last: ledger.last === -1 ? null : ledger.last,
    leo: ledger.leo,
    logStart: ledger.logStart,
    hw: checkpoints.highWatermark,
    recoveryPoint: checkpoints.recoveryPoint,
    formats: [...ledger.formats].sort(),
    codecs: [...ledger.codecs].sort(),
    epochs: ledger.epochs.runs,
    control: ledger.control,
    openTransactions: ledger.openTransactions,
    leaderEpochCheckpoint: checkpoints.leaderEpochs?.map(({ epoch, start }) => [epoch, start] as const) ?? null,
    findings: ledger.findings.list,
    findingsTotal: ledger.findings.total,
  };
}

function comparisonOf(lanes: readonly Lane[], outcome: Outcome): Comparison {
  const lengths = new Set(lanes.map(({ ledger }) => ledger.leo));
  const verdict =
    lanes.length < 2
      ? 'not-compared'
      : outcome.differencesTotal > 0
        ? 'diverge'
        : lengths.size > 1
          ? 'length'
          : 'agree';
  const findings = lanes.reduce<0 | 1 | 2>((exit, { ledger }) => worse(exit, ledger.findings.exit), 0);
  return {
    verdict,
    first: firstOf(outcome),
    ...outcome,
    exit: worse(findings, verdict === 'diverge' ? 1 : verdict === 'length' ? 2 : 0),
  };
}

function firstOf({ differences }: Outcome): Comparison['first'] {
  const [difference] = differences;
  if (difference === undefined) return null;
  const values = new Map(
    difference.sides.flatMap(({ copies, record }) => copies.map((name) => [name, record?.value ?? null] as const)),
  );
  const byName = [...values.keys()].sort().map((name) => [name, values.get(name) as string | null] as const);
  return { offset: difference.offset, values: Object.fromEntries(byName) };
}
