/**
 * When an anomaly was complete: the last of the moments that its causal chain names, since the start of the load.
 *
 * What comes after it explains nothing, so a run may end there. An anomaly that names no moment is complete at the end.
 */
import type { Anomaly } from '../../checker/results.ts';
import type { Simulation } from '../sim/simulation.ts';

export function momentOf(anomaly: Anomaly, { history, trace, loadStartNs, virtualNs }: Simulation): number {
  const references = anomaly.why.length === 0 ? anomaly.evidence : anomaly.why.flatMap((step) => step.references);
  const named = new Set<string>();
  let latestNs = -1;
  for (const reference of references) {
    if (reference.source === 'history') latestNs = Math.max(latestNs, history[reference.index]?.time ?? -1);
    if (reference.source === 'trace') named.add(`${reference.node}.${reference.boot}.${reference.seq}`);
  }
  for (const { node, boot, seq, time } of named.size === 0 ? [] : trace) {
    if (named.has(`${node}.${boot}.${seq}`)) latestNs = Math.max(latestNs, time);
  }
  return ((latestNs < 0 ? virtualNs : latestNs) - (loadStartNs ?? 0)) / 1e6;
}
