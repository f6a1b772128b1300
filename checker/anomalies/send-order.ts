/**
 * In which order sends took their places: `realtime-order`, `nonmonotonic-send`, `int-nonmonotonic-send`.
 *
 * `realtime-order`: a was acknowledged before b was invoked, and yet b has the lower offset in the same partition; whoever
 * sent them. `nonmonotonic-send`: the next send of one process to a key does not land above its last. The same within one
 * operation is `int-nonmonotonic-send`. a must be acknowledged under acks=all; b has the offset at which it was
 * acknowledged so, or, if it was not, at which it was read.
 *
 * While the history is read, each send notes the highest acknowledgement that came before it: only sends that landed at
 * or below it are looked at here.
 */
import { unknownBecause, type Evidence } from '../evidence.ts';
import { acksAll, outcome } from '../index-history.ts';
import type { AnomalyKind } from '../results.ts';
import { firstNotBefore } from '../search.ts';
import { classByRecords, isDeleted, standsAt } from '../standing.ts';
import { emptyFinding, maxFindings, type Finding } from './finding.ts';
import { historyOf } from './loss.ts';

export function findSendOrder(evidence: Evidence): Finding[] {
  const suspects = new Map<number, number[]>();
  const { values } = evidence.history;
  for (let row = 0; row < evidence.history.rowCount; row += 1) {
    const floor = values.floor.get(row);
    const offset = floor === -1 ? -1 : provenOffset(evidence, row);
    if (offset === -1 || offset > values.offset.get(floor)) continue;
    const key = values.key.get(row);
    const list = suspects.get(key);
    if (list === undefined) suspects.set(key, [row]);
    else list.push(row);
  }
  const findings: Finding[] = [];
  const places = placesWithin(evidence);
  for (const [key, rows] of suspects) {
    if (isDeleted(evidence, key)) continue;
    const witnesses = new Witnesses(evidence, key);
    for (const row of rows.slice(0, maxFindings)) findings.push(...outOfOrder(evidence, row, witnesses));
    findings.push(...sendsBack(evidence, key, new Set(rows.slice(0, maxFindings)), places));
    if (findings.length >= maxFindings) break;
  }
  return [...findings, ...sendsBackWithin(evidence)];
}

/** Where a value certainly came to stand; −1 where nothing proves it. */
function provenOffset({ history: { values } }: Evidence, row: number): number {
  if (isPromised(values.outcome.get(row), values.acks.get(row)) && values.offset.get(row) !== -1)
    return values.offset.get(row);
  return values.readOffset.get(row);
}

function isPromised(became: number, acks: number): boolean {
  return became === outcome.ok && acks === acksAll;
}

/** Acknowledged rows of one key that stand: by the time of their acknowledgement, with the highest offset up to then. */
class Witnesses {
  readonly #rows: readonly number[];
  readonly #highest: readonly number[];
  readonly #evidence: Evidence;

  constructor(evidence: Evidence, key: number) {
    const { values } = evidence.history;
    const rows: number[] = [];
    for (let row = 0; row < evidence.history.rowCount; row += 1) {
      if (values.key.get(row) !== key) continue;
      if (!isPromised(values.outcome.get(row), values.acks.get(row))) continue;
      if (standsAt(evidence, row, values.offset.get(row)) === true) rows.push(row);
    }
    rows.sort((x, y) => values.completed.get(x) - values.completed.get(y));
    let best = -1;
    this.#highest = rows.map((row) => {
      if (best === -1 || values.offset.get(row) > values.offset.get(best)) best = row;
      return best;
    });
    this.#rows = rows;
    this.#evidence = evidence;
  }

  /** The standing row with the highest offset that was acknowledged before `index`; −1 for none. */
  before(index: number): number {
    const { completed } = this.#evidence.history.values;
    const count = firstNotBefore(this.#rows.length, (at) => completed.get(this.#rows[at] as number) < index);
    return this.#highest[count - 1] ?? -1;
  }
}

function outOfOrder(evidence: Evidence, row: number, witnesses: Witnesses): Finding[] {
  const { values } = evidence.history;
  const offset = provenOffset(evidence, row);
  const standing = witnesses.before(values.invoked.get(row));
  const isAbove = (other: number): boolean => other !== -1 && values.offset.get(other) > offset;
  const floor = values.floor.get(row);
  const earlier = isAbove(standing) ? standing : isAbove(floor) ? floor : -1;
  if (earlier === -1) return [];
  return pair(evidence, 'realtime-order', earlier, row, 'was acknowledged before it was sent');
}

/** Consecutive sends of one process to the key, of which the second is among `suspects`. */
function sendsBack(
  evidence: Evidence,
  key: number,
  suspects: ReadonlySet<number>,
  places: ReadonlyMap<number, number>,
): Finding[] {
  const { values } = evidence.history;
  const rows: number[] = [];
  for (let row = 0; row < evidence.history.rowCount; row += 1) {
    const became = values.outcome.get(row);
    if (values.key.get(row) !== key || provenOffset(evidence, row) === -1) continue;
    if (became === outcome.ok || became === outcome.info) rows.push(row);
  }
  const placeOf = (row: number): number => places.get(row) ?? 0;
  rows.sort((x, y) => values.invoked.get(x) - values.invoked.get(y) || placeOf(x) - placeOf(y));
  const last = new Map<number, number>();
  const findings: Finding[] = [];
  for (const row of rows) {
    const process = values.process.get(row);
    const before = last.get(process);
    last.set(process, row);
    if (before === undefined || !suspects.has(row) || values.invoked.get(before) === values.invoked.get(row)) continue;
    if (!isPromised(values.outcome.get(before), values.acks.get(before))) continue;
    if (provenOffset(evidence, row) <= values.offset.get(before))
      findings.push(...pair(evidence, 'nonmonotonic-send', before, row, 'was sent before by the same process'));
  }
  return findings;
}

/** The place of a send among those of its operation to the same key; those that come first are left out. */
function placesWithin({ history: { transactions } }: Evidence): Map<number, number> {
  const places = new Map<number, number>();
  for (let at = 0; at < transactions.sendPairs.length; at += 2) {
    const before = places.get(transactions.sendPairs.get(at)) ?? 0;
    places.set(transactions.sendPairs.get(at + 1), before + 1);
  }
  return places;
}

function sendsBackWithin(evidence: Evidence): Finding[] {
  const { values, transactions } = evidence.history;
  const findings: Finding[] = [];
  for (let at = 0; at < transactions.sendPairs.length && findings.length < maxFindings; at += 2) {
    const [before, row] = [transactions.sendPairs.get(at), transactions.sendPairs.get(at + 1)];
    const [from, to] = [provenOffset(evidence, before), provenOffset(evidence, row)];
    if (to === -1 || to > from || isDeleted(evidence, values.key.get(row))) continue;
    findings.push(...pair(evidence, 'int-nonmonotonic-send', before, row, 'was sent before in the same operation'));
  }
  return findings;
}

function pair(evidence: Evidence, kind: AnomalyKind, earlier: number, later: number, how: string): Finding[] {
  const { history } = evidence;
  const name = history.keyName(history.values.key.get(later));
  const from = provenOffset(evidence, earlier);
  const to = provenOffset(evidence, later);
  const verdict = classByRecords(evidence, [
    { row: earlier, offset: from },
    { row: later, offset: to },
  ]);
  if (verdict === 'unknown') {
    unknownBecause(evidence, 'order', `${name}: records took offsets below older ones, which may be gone`);
    return [];
  }
  const [older, newer] = [String(history.valueOf(earlier)), String(history.valueOf(later))];
  return [
    {
      ...emptyFinding(kind, name),
      class: verdict,
      offset: to,
      values: [history.valueOf(earlier), history.valueOf(later)],
      summary: `${newer} has offset ${to} of ${name}, and ${older}, at offset ${from}, ${how}`,
      evidence: [...historyOf(evidence, earlier), ...historyOf(evidence, later)],
      rows: [later, earlier],
      ranges: [[to, to]],
    },
  ];
}

/** Sends of one operation between which another record stands: transactions interleave, so this is a measure. */
export function countSendSkips(evidence: Evidence): number {
  const { values, transactions, rows } = evidence.history;
  const known = new Map<number, Float64Array>();
  let count = 0;
  for (let at = 0; at < transactions.sendPairs.length; at += 2) {
    const [before, row] = [transactions.sendPairs.get(at), transactions.sendPairs.get(at + 1)];
    const [from, to] = [provenOffset(evidence, before), provenOffset(evidence, row)];
    if (from === -1 || to <= from + 1) continue;
    const key = values.key.get(row);
    const offsets = known.get(key) ?? rows.knownOffsets(key);
    known.set(key, offsets);
    const next = offsets[firstNotBefore(offsets.length, (each) => (offsets[each] as number) <= from)];
    if (next !== undefined && next < to) count += 1;
  }
  return count;
}
