/** The nemesis lines of a history, each pair of start and end as one fault. */
import type { FaultLine } from './index-history.ts';
import type { FaultSummary } from './results.ts';

/**
 * A fault without an end line (the run broke off) has no end, and nothing proves that it took effect; one without a start
 * line began when it ended.
 */
export function summarizeFaults(lines: readonly FaultLine[]): FaultSummary[] {
  const faults = new Map<string, FaultSummary>();
  for (const { time, kind, record } of lines) {
    const { fault, phase, nodes } = record;
    const begun = faults.get(fault) ?? {
      fault,
      kind,
      nodes: nodes ?? {},
      startTime: time,
      endTime: null,
      effective: false,
    };
    faults.set(fault, phase === 'start' ? begun : { ...begun, endTime: time, effective: record.effective === true });
  }
  return [...faults.values()];
}
