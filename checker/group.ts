/**
 * One cause, one anomaly: which findings follow from which.
 *
 * Loss and divergence are each a root of their own. A value read at two offsets, a record seen and gone, one lost on a
 * single replica are listed under the loss or the divergence that explains them, by the values or the offsets that they
 * share. What nothing explains is a root itself. A consequence still breaks its own guarantee, if its root is a
 * violation: readers did see what they saw.
 */
import { covers, guaranteeOf, listed, type Finding } from './anomalies/finding.ts';
import type { Anomaly, AnomalyKind } from './results.ts';

const roots: ReadonlySet<AnomalyKind> = new Set([
  'lost-acked-write',
  'lost-write',
  'replica-divergence',
  'offset-moved',
]);

/** Turns findings into anomalies, most severe first. */
export function groupFindings(findings: readonly Finding[]): Anomaly[] {
  const children = new Map<Finding, Finding[]>();
  const top: Finding[] = [];
  const causes = findings.filter(({ kind }) => roots.has(kind));
  const conflicts: Finding[] = [];
  for (const finding of findings) {
    const cause = roots.has(finding.kind) ? null : causeOf(finding, causes, conflicts);
    if (cause === null) {
      top.push(finding);
      if (finding.kind === 'inconsistent-offsets') conflicts.push(finding);
    } else {
      const list = children.get(cause) ?? [];
      list.push(finding);
      children.set(cause, list);
    }
  }
  return top.map((finding) => anomalyOf(finding, children.get(finding) ?? [])).sort(bySeverity);
}

/**
 * The cause of a finding, a violation before an expected loss where both explain it. Findings must come in the order of
 * `check.ts`: inconsistent offsets before what may follow from them.
 */
function causeOf(finding: Finding, causes: readonly Finding[], conflicts: readonly Finding[]): Finding | null {
  const near = [...causes, ...conflicts].filter(({ key }) => key === finding.key);
  const explaining = near.filter((cause) => explains(cause, finding));
  return explaining.find((cause) => cause.class === 'violation') ?? explaining[0] ?? null;
}

function explains(cause: Finding, finding: Finding): boolean {
  const sharesValue = cause.rows.some((row) => finding.rows.includes(row));
  const sharesOffset = finding.offset !== null && covers(cause.ranges, finding.offset);
  const isConflict = cause.kind === 'inconsistent-offsets';
  switch (finding.kind) {
    case 'duplicate':
      return sharesValue && !isConflict;
    case 'inconsistent-offsets':
      return (sharesValue || sharesOffset) && !isConflict;
    case 'consumer-saw-uncommitted':
      return sharesValue || (!isConflict && (sharesOffset || sameElection(cause, finding)));
    case 'lost-on-replica':
      return cause.kind === 'replica-divergence' && finding.nodes.every((node) => cause.nodes.includes(node));
    case 'lost-acked-write':
    case 'lost-write':
    case 'replica-divergence':
    case 'offset-moved':
    case 'phantom':
    case 'G1a':
    case 'no-convergence':
    case 'malformed':
      return false;
  }
}

function sameElection(cause: Finding, finding: Finding): boolean {
  return finding.lackingEpoch !== null && cause.lackingEpoch === finding.lackingEpoch;
}

function anomalyOf(finding: Finding, children: readonly Finding[]): Anomaly {
  const byKind = new Map<AnomalyKind, Finding[]>();
  for (const child of children) {
    const list = byKind.get(child.kind) ?? [];
    list.push(child);
    byKind.set(child.kind, list);
  }
  const { kind, key, offset, values, summary, labels, nodes, evidence, why } = finding;
  return {
    kind,
    class: finding.class,
    key,
    offset,
    values,
    summary,
    labels,
    nodes,
    evidence,
    why,
    guarantee: guaranteeOf[kind],
    consequences: [...byKind].map(([childKind, list]) => ({
      kind: childKind,
      count: list.length,
      summary: list[0]?.summary ?? '',
      evidence: listed(list.flatMap((child) => child.evidence)),
    })),
  };
}

const order: readonly AnomalyKind[] = [
  'lost-acked-write',
  'lost-write',
  'replica-divergence',
  'offset-moved',
  'inconsistent-offsets',
  'duplicate',
  'phantom',
  'G1a',
  'consumer-saw-uncommitted',
  'lost-on-replica',
  'no-convergence',
  'malformed',
];

function bySeverity(a: Anomaly, b: Anomaly): number {
  if (a.class !== b.class) return a.class === 'violation' ? -1 : 1;
  const rank = order.indexOf(a.kind) - order.indexOf(b.kind);
  if (rank !== 0) return rank;
  if (a.key !== b.key) return (a.key ?? '') < (b.key ?? '') ? -1 : 1;
  return (a.offset ?? -1) - (b.offset ?? -1);
}
