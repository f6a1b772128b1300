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

/**
 * Turns findings into anomalies, most severe first. Findings must come in the order of `check.ts`: inconsistent offsets
 * before what may follow from them.
 */
export function groupFindings(findings: readonly Finding[]): Anomaly[] {
  const children = new Map<Finding, Finding[]>();
  const top: Finding[] = [];
  const causes = new Causes();
  for (const finding of findings) if (roots.has(finding.kind)) causes.add(finding);
  for (const finding of findings) {
    const cause = roots.has(finding.kind) ? null : causes.of(finding);
    if (cause === null) {
      top.push(finding);
      if (finding.kind === 'inconsistent-offsets') causes.addConflict(finding);
    } else listIn(children, cause).push(finding);
  }
  return top.map((finding) => anomalyOf(finding, children.get(finding) ?? [])).sort(bySeverity);
}

/** The possible causes, by key; there may be many findings, but a partition has few roots. */
class Causes {
  readonly #byKey = new Map<string | null, Finding[]>();
  readonly #rows = new Map<Finding, ReadonlySet<number>>();
  readonly #conflictsByRow = new Map<number, Finding>();

  add(cause: Finding): void {
    listIn(this.#byKey, cause.key).push(cause);
    this.#rows.set(cause, new Set(cause.rows));
  }

  /** Two values at one offset explain that one of them was seen and is gone. */
  addConflict(conflict: Finding): void {
    for (const row of conflict.rows) this.#conflictsByRow.set(row, conflict);
  }

  /** The cause of a finding: a violation before an expected loss, where both explain it. */
  of(finding: Finding): Finding | null {
    const explaining = (this.#byKey.get(finding.key) ?? []).filter((cause) => this.#explains(cause, finding));
    const root = explaining.find((cause) => cause.class === 'violation') ?? explaining[0];
    if (root !== undefined) return root;
    if (finding.kind !== 'consumer-saw-uncommitted') return null;
    return this.#conflictsByRow.get(finding.rows[0] ?? -1) ?? null;
  }

  #explains(cause: Finding, finding: Finding): boolean {
    const rows = this.#rows.get(cause);
    const sharesValue = finding.rows.some((row) => rows?.has(row) ?? false);
    const sharesOffset = finding.offset !== null && covers(cause.ranges, finding.offset);
    switch (finding.kind) {
      case 'duplicate':
        return sharesValue;
      case 'inconsistent-offsets':
        return sharesValue || sharesOffset;
      case 'consumer-saw-uncommitted':
        return sharesValue || sharesOffset || sameElection(cause, finding);
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
}

function listIn<K>(map: Map<K, Finding[]>, key: K): Finding[] {
  let list = map.get(key);
  if (list === undefined) {
    list = [];
    map.set(key, list);
  }
  return list;
}

function sameElection(cause: Finding, finding: Finding): boolean {
  return finding.lackingEpoch !== null && cause.lackingEpoch === finding.lackingEpoch;
}

function anomalyOf(finding: Finding, children: readonly Finding[]): Anomaly {
  const byKind = new Map<AnomalyKind, Finding[]>();
  for (const child of children) {
    listIn(byKind, child.kind).push(child);
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
