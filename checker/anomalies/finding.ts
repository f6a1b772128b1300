/**
 * An anomaly while it is still being judged: with what {@link ../group.ts} needs to tell causes from consequences.
 *
 * The table below names the guarantee that each kind breaks. Adding a kind means one line here, one in `results.ts`,
 * and one function beside this file.
 */
import type { Key } from '../history.ts';
import type { Anomaly, AnomalyKind, Guarantee, Reference } from '../results.ts';

export interface Finding extends Omit<Anomaly, 'guarantee' | 'consequences'> {
  /** Rows of the history's values concerned. */
  readonly rows: readonly number[];
  /** Offsets concerned, as ranges with inclusive ends. */
  readonly ranges: readonly (readonly [first: number, last: number])[];
  /** Leader epoch of the election that made it final, where one did. */
  readonly lackingEpoch: number | null;
}

/** The guarantee that each kind breaks; the gravest kinds come first. */
export const guaranteeOf: Readonly<Record<AnomalyKind, Guarantee>> = {
  'lost-acked-write': 'durability',
  'lost-write': 'durability',
  'log-start-moved': 'durability',
  'replica-divergence': 'agreement',
  'two-leaders-one-epoch': 'agreement',
  'committed-overwritten': 'offsets',
  'epoch-regression': 'agreement',
  'ack-below-min-isr': 'durability',
  'offset-moved': 'offsets',
  'ack-conflict': 'offsets',
  'inconsistent-offsets': 'offsets',
  duplicate: 'offsets',
  'hw-regression': 'visibility',
  phantom: 'visibility',
  G1a: 'visibility',
  'consumer-saw-uncommitted': 'visibility',
  'precommitted-read': 'transactions',
  G1c: 'transactions',
  'G1c-process': 'transactions',
  'G1c-realtime': 'transactions',
  'realtime-order': 'order',
  'nonmonotonic-send': 'order',
  'int-nonmonotonic-send': 'order',
  'nonmonotonic-poll': 'order',
  'int-nonmonotonic-poll': 'order',
  'poll-skip': 'order',
  'int-poll-skip': 'order',
  'lost-on-replica': 'durability',
  'broker-suicide': 'convergence',
  'failed-start': 'convergence',
  'no-convergence': 'convergence',
  malformed: 'offsets',
};

const gravity = Object.keys(guaranteeOf);

/** A smaller number is graver. */
export function gravityOf(kind: AnomalyKind): number {
  return gravity.indexOf(kind);
}

/** A violation of which nothing but kind and partition is known yet. */
export function emptyFinding(kind: AnomalyKind, key: Key | null): Finding {
  return {
    kind,
    class: 'violation',
    key,
    offset: null,
    values: [],
    summary: '',
    labels: [],
    nodes: [],
    evidence: [],
    why: [],
    rows: [],
    ranges: [],
    lackingEpoch: null,
  };
}

/** So many findings of one kind are made up; a history that has more is as wrong as it can be. */
export const maxFindings = 10_000;

/** So many values and references are listed of one anomaly; its summary tells the whole number. */
const maxListed = 100;

export function listed<T>(items: readonly T[]): readonly T[] {
  return items.length <= maxListed ? items : items.slice(0, maxListed);
}

export function historyReference(index: number): Reference {
  return { source: 'history', index };
}

export function covers(ranges: Finding['ranges'], offset: number): boolean {
  return ranges.some(([first, last]) => first <= offset && offset <= last);
}

/** Sorted offsets as inclusive ranges. */
export function rangesOf(offsets: readonly number[]): [number, number][] {
  const ranges: [number, number][] = [];
  for (const offset of [...offsets].sort((x, y) => x - y)) {
    const last = ranges.at(-1);
    if (last !== undefined && offset <= last[1] + 1) last[1] = Math.max(last[1], offset);
    else ranges.push([offset, offset]);
  }
  return ranges;
}

/** `offset 7`, `offsets 7 to 9`, `offsets 1, 3 and 7 to 9`. */
export function offsetsInWords(ranges: Finding['ranges']): string {
  const parts = ranges.slice(0, 5).map(([first, last]) => (first === last ? String(first) : `${first} to ${last}`));
  if (ranges.length > 5) parts.push(`${ranges.length - 5} more ranges`);
  const single = ranges.length === 1 && ranges[0]?.[0] === ranges[0]?.[1];
  return `${single ? 'offset' : 'offsets'} ${inWords(parts)}`;
}

export function inWords(parts: readonly string[]): string {
  if (parts.length < 2) return parts.join('');
  return `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

export function plural(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
