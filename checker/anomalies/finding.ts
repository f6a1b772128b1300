/**
 * An anomaly while it is still being judged: with what {@link ../group.ts} needs to tell causes from consequences.
 *
 * The table below names the guarantee that each kind breaks. Adding a kind means one line here, one in `results.ts`,
 * and one function beside this file.
 */
import type { Anomaly, AnomalyKind, Guarantee, Reference } from '../results.ts';

export interface Finding extends Omit<Anomaly, 'guarantee' | 'consequences'> {
  /** Rows of the history's values concerned. */
  readonly rows: readonly number[];
  /** Offsets concerned, as ranges with inclusive ends. */
  readonly ranges: readonly (readonly [first: number, last: number])[];
  /** Leader epoch of the election that made it final, where one did. */
  readonly lackingEpoch: number | null;
}

export const guaranteeOf: Readonly<Record<AnomalyKind, Guarantee>> = {
  'lost-acked-write': 'durability',
  'lost-write': 'durability',
  'lost-on-replica': 'durability',
  'replica-divergence': 'agreement',
  'inconsistent-offsets': 'offsets',
  'offset-moved': 'offsets',
  duplicate: 'offsets',
  malformed: 'offsets',
  phantom: 'visibility',
  G1a: 'visibility',
  'consumer-saw-uncommitted': 'visibility',
  'no-convergence': 'convergence',
};

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
