/** The nemesis lines of a history, each pair of start and end as one fault. */
import type { FaultLine } from './index-history.ts';
import type { FaultSummary } from './results.ts';

/** A fault without an end line (the run broke off) has no end, and nothing proves that it took effect. */
export function summarizeFaults(lines: readonly FaultLine[]): FaultSummary[] {
  const faults = new Map<string, FaultSummary>();
  for (const { time, kind, record } of lines) {
    const known = faults.get(record.fault);
    if (record.phase === 'start' || known === undefined) {
      const start = { fault: record.fault, kind, nodes: record.nodes ?? {}, startTime: time, endTime: null };
      faults.set(record.fault, { ...start, effective: record.effective === true });
    }
    if (record.phase === 'end') {
      const begun = faults.get(record.fault) as FaultSummary;
      faults.set(record.fault, { ...begun, endTime: time, effective: record.effective === true });
    }
  }
  return [...faults.values()];
}
