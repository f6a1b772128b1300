/** What `verify-logs` found, as one document: `--json` prints it, and the text for people is made from it. */
import type { PartitionReport, Comparison, CopyReport } from '../../checker/logs/report.ts';
import { worse } from '../../checker/logs/findings.ts';
import type { Verdict } from '../../checker/results.ts';

export interface VerifyDocument {
  readonly schemaVersion: 1;
  readonly type: 'verify-logs';
  readonly valid: Verdict;
  /** 1 before 2 before 0, over all partitions. */
  readonly exit: 0 | 1 | 2;
  /** By broker, then by partition: each replica's log for itself. */
  readonly brokers: Readonly<Record<string, Readonly<Record<string, CopyReport>>>>;
  /** By partition: where the replicas part. */
  readonly comparisons: Readonly<Record<string, Comparison & { readonly compacted: boolean }>>;
}

export function documentOf(reports: readonly PartitionReport[]): VerifyDocument {
  const brokers: Record<string, Record<string, CopyReport>> = {};
  for (const { partition, copies } of reports) {
    for (const [name, copy] of Object.entries(copies)) {
      brokers[name] ??= {};
      brokers[name][partition] = copy;
    }
  }
  const exit = reports.reduce<0 | 1 | 2>((code, { comparison }) => worse(code, comparison.exit), 0);
  return {
    schemaVersion: 1,
    type: 'verify-logs',
    valid: exit === 0 ? true : exit === 1 ? false : 'unknown',
    exit,
    brokers: Object.fromEntries(Object.entries(brokers).sort(([one], [other]) => (one < other ? -1 : 1))),
    comparisons: Object.fromEntries(
      reports.map(({ partition, compacted, comparison }) => [partition, { ...comparison, compacted }]),
    ),
  };
}
