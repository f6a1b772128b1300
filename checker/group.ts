/**
 * One cause, one anomaly: which findings follow from which.
 *
 * Loss and divergence are each a root of their own. A value read at two offsets, a record seen and gone, one lost on a
 * single replica are listed under the loss or the divergence that explains them, by the values or the offsets that they
 * share. What nothing explains is a root itself. A consequence still breaks its own guarantee, if its root is a
 * violation: readers did see what they saw.
 */
import { gravityOf, guaranteeOf, listed, type Finding } from './anomalies/finding.ts';
import type { Anomaly, AnomalyKind, WhyStep } from './results.ts';

/** What other anomalies may follow from, whatever else there is. */
const roots: ReadonlySet<AnomalyKind> = new Set([
  'lost-acked-write',
  'lost-write',
  'log-start-moved',
  'replica-divergence',
  'offset-moved',
]);

/** What may explain others where nothing explains it, in the order in which they are asked. */
const branches: readonly string[] = [
  'committed-overwritten',
  'ack-conflict',
  'never-committed',
  'inconsistent-offsets',
  'consumer-saw-uncommitted',
  'realtime-order',
];

/**
 * A kind, but for reads of what was never committed: they are a cause of two values at one offset, since such a record may
 * give way to another. A record that had been committed, was read and is gone has lost its place as the others there.
 */
function branchOf({ kind, labels }: Finding): string {
  return labels.includes('never-committed') ? 'never-committed' : kind;
}

/** So many anomalies of one kind are explained; no more are ever listed. */
const maxExplained = 200;

/** Turns findings into anomalies, most severe first; `explain` tells why of those that do not say so themselves. */
export function groupFindings(
  findings: readonly Finding[],
  explain: (finding: Finding) => readonly WhyStep[],
): Anomaly[] {
  const children = new Map<Finding, Finding[]>();
  const top: Finding[] = [];
  const causes = new Causes();
  const place = (finding: Finding): void => {
    const cause = roots.has(finding.kind) ? null : causes.of(finding);
    if (cause !== null) listIn(children, cause).push(finding);
    else {
      top.push(finding);
      if (roots.has(finding.kind) || branches.includes(branchOf(finding))) causes.add(finding);
    }
  };
  for (const finding of findings) if (roots.has(finding.kind)) place(finding);
  for (const branch of branches) for (const finding of findings) if (branchOf(finding) === branch) place(finding);
  for (const finding of findings) if (!roots.has(finding.kind) && !branches.includes(branchOf(finding))) place(finding);
  const explained = new Map<AnomalyKind, number>();
  return top.sort(bySeverity).map((finding) => {
    const count = explained.get(finding.kind) ?? 0;
    explained.set(finding.kind, count + 1);
    const why = finding.why.length > 0 || count >= maxExplained ? finding.why : explain(finding);
    return anomalyOf({ ...finding, why }, children.get(finding) ?? []);
  });
}

/** Causes with ranges longer than this are asked about every finding; of a finding's only so much is looked up. */
const maxNarrow = 64;

/** So many causes are known by one value, offset or election: the first of them explains as well as the last. */
const maxNear = 32;

/** The possible causes of one partition, by what a finding may share with them: so that many of each are found at once. */
class CausesOfKey {
  readonly byRow = new Map<number, Finding[]>();
  readonly byOffset = new Map<number, Finding[]>();
  readonly byElection = new Map<number, Finding[]>();
  /** Those with long ranges, and divergences. */
  readonly wide = new Set<Finding>();

  add(cause: Finding): void {
    for (const row of cause.rows) note(this.byRow, row, cause);
    if (cause.lackingEpoch !== null) note(this.byElection, cause.lackingEpoch, cause);
    if (cause.kind === 'replica-divergence') this.wide.add(cause);
    for (const [from, to] of cause.ranges) {
      if (to - from >= maxNarrow) this.wide.add(cause);
      else for (let offset = from; offset <= to; offset += 1) note(this.byOffset, offset, cause);
    }
  }

  near(finding: Finding): Iterable<Finding> {
    const found = new Set(this.wide);
    const take = (causes: readonly Finding[] | undefined): void => {
      for (const cause of causes ?? []) found.add(cause);
    };
    for (const row of finding.rows) take(this.byRow.get(row));
    if (finding.lackingEpoch !== null) take(this.byElection.get(finding.lackingEpoch));
    for (const [from, to] of finding.ranges)
      for (let offset = from; offset <= Math.min(to, from + maxNarrow); offset += 1) take(this.byOffset.get(offset));
    return found;
  }
}

function note(map: Map<number, Finding[]>, key: number, cause: Finding): void {
  const list = listIn(map, key);
  if (list.length < maxNear) list.push(cause);
}

class Causes {
  readonly #byKey = new Map<string | null, CausesOfKey>();
  readonly #rows = new Map<Finding, ReadonlySet<number>>();

  add(cause: Finding): void {
    let causes = this.#byKey.get(cause.key);
    if (causes === undefined) {
      causes = new CausesOfKey();
      this.#byKey.set(cause.key, causes);
    }
    causes.add(cause);
    this.#rows.set(cause, new Set(cause.rows));
  }

  /**
   * The cause of a finding: a root before others. It must be of the same class: nothing is excused because something else
   * at the same place is, and nothing is held against what is allowed.
   */
  of(finding: Finding): Finding | null {
    const rule = follows[finding.kind];
    if (rule === undefined) return null;
    const near = [...(this.#byKey.get(finding.key)?.near(finding) ?? [])];
    const explaining = near.filter((cause) => cause.class === finding.class && rule(this.#link(cause, finding)));
    const rank = ({ kind }: Finding): number => gravityOf(kind) + (roots.has(kind) ? 0 : 1000);
    return explaining.sort((x, y) => rank(x) - rank(y))[0] ?? null;
  }

  #link(cause: Finding, finding: Finding): Link {
    const rows = this.#rows.get(cause) as ReadonlySet<number>;
    return {
      cause,
      finding,
      sharesValue: finding.rows.some((row) => rows.has(row)),
      sharesOffset: overlaps(cause.ranges, finding.ranges),
      sameElection: finding.lackingEpoch !== null && cause.lackingEpoch === finding.lackingEpoch,
    };
  }
}

/** What a possible cause and a finding have in common. */
interface Link {
  readonly cause: Finding;
  readonly finding: Finding;
  readonly sharesValue: boolean;
  readonly sharesOffset: boolean;
  readonly sameElection: boolean;
}

const sameRecord = (link: Link): boolean => link.sharesValue || link.sharesOffset;
const sameLoss = (link: Link): boolean => sameRecord(link) || link.sameElection;
const sameReplica = ({ cause, finding }: Link): boolean =>
  cause.kind === 'replica-divergence' && finding.nodes.every((node) => cause.nodes.includes(node));

/** Which kinds can follow from another, and when they do. */
const follows: { readonly [K in AnomalyKind]?: (link: Link) => boolean } = {
  duplicate: ({ sharesValue }) => sharesValue,
  'ack-conflict': sameRecord,
  'inconsistent-offsets': sameRecord,
  'committed-overwritten': sameLoss,
  'consumer-saw-uncommitted': sameLoss,
  'hw-regression': sameLoss,
  'lost-on-replica': sameReplica,
  'epoch-regression': sameReplica,
  'poll-skip': sameRecord,
  'int-poll-skip': sameRecord,
  'nonmonotonic-poll': sameRecord,
  'int-nonmonotonic-poll': sameRecord,
  'realtime-order': ({ cause, sharesValue }) => sharesValue && cause.kind !== 'realtime-order',
  'nonmonotonic-send': ({ sharesValue }) => sharesValue,
  'int-nonmonotonic-send': ({ cause, sharesValue }) => sharesValue && cause.kind !== 'realtime-order',
};

/** Both sorted, with inclusive ends. */
function overlaps(some: Finding['ranges'], others: Finding['ranges']): boolean {
  return others.some(([first, last]) => some.some((range) => range[0] <= last && first <= range[1]));
}

function listIn<K>(map: Map<K, Finding[]>, key: K): Finding[] {
  let list = map.get(key);
  if (list === undefined) {
    list = [];
    map.set(key, list);
  }
  return list;
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
      summary: (list[0] as Finding).summary,
      evidence: listed(list.flatMap((child) => child.evidence)),
    })),
  };
}

function bySeverity(a: Finding, b: Finding): number {
  if (a.class !== b.class) return a.class === 'violation' ? -1 : 1;
  const rank = gravityOf(a.kind) - gravityOf(b.kind);
  if (rank !== 0) return rank;
  if (a.key !== b.key) return (a.key ?? '') < (b.key ?? '') ? -1 : 1;
  return (a.offset ?? -1) - (b.offset ?? -1);
}
