/**
 * From anomalies and gaps in the evidence to verdicts: per guarantee, and for the whole.
 *
 * The lattice: unknown beats true, false beats unknown. A guarantee that this kind of source can say nothing about is
 * `not-checked` and stays out of the whole; evidence that should be there and is missing makes it unknown. A whole of
 * which nothing was checked is unknown.
 */
import { guaranteeOf } from './anomalies/finding.ts';
import { beyondTarget, type Evidence } from './evidence.ts';
import type { Anomaly, Guarantee, GuaranteeVerdict, Verdict } from './results.ts';

export const guaranteeNames: readonly Guarantee[] = [
  'durability',
  'agreement',
  'offsets',
  'visibility',
  'order',
  'transactions',
  'convergence',
];

export function verdictOf(
  evidence: Evidence,
  anomalies: readonly Anomaly[],
): { readonly valid: Verdict; readonly guarantees: Record<Guarantee, GuaranteeVerdict> } {
  const broken = new Set<Guarantee>();
  for (const anomaly of anomalies) {
    if (anomaly.class !== 'violation') continue;
    broken.add(anomaly.guarantee);
    for (const { kind } of anomaly.consequences) broken.add(guaranteeOf[kind]);
  }
  const guarantees = Object.fromEntries(
    guaranteeNames.map((guarantee) => [guarantee, verdictFor(evidence, guarantee, broken)]),
  ) as Record<Guarantee, GuaranteeVerdict>;
  return { valid: joinVerdicts(Object.values(guarantees)), guarantees };
}

function verdictFor(evidence: Evidence, guarantee: Guarantee, broken: ReadonlySet<Guarantee>): GuaranteeVerdict {
  if (broken.has(guarantee)) return false;
  if (!isChecked(evidence, guarantee)) return 'not-checked';
  return evidence.unknown.has(guarantee) ? 'unknown' : true;
}

/** Whether this kind of source can hold evidence for the guarantee, and the configuration promises it at all. */
export function isChecked(evidence: Evidence, guarantee: Guarantee): boolean {
  if (beyondTarget(evidence, guarantee) !== null) return false;
  switch (guarantee) {
    case 'transactions':
      return evidence.history.transactions.seen;
    case 'durability':
      return evidence.promises.acks === 'all' || evidence.history.sends.acknowledgedUnderAll;
    case 'agreement':
    case 'convergence':
      return evidence.source === 'run' || evidence.logs !== null;
    case 'offsets':
    case 'visibility':
    case 'order':
      return true;
  }
}

/** False beats unknown, unknown beats true; what is not checked stays out. */
function joinVerdicts(verdicts: readonly GuaranteeVerdict[]): Verdict {
  if (verdicts.includes(false)) return false;
  return verdicts.includes('unknown') || !verdicts.includes(true) ? 'unknown' : true;
}
