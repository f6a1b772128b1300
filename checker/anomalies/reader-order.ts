/**
 * How readers go on: `poll-skip`, `nonmonotonic-poll`, and `int-poll-skip`, `int-nonmonotonic-poll` within one operation.
 *
 * `poll-skip`: between two records that a process read one after the other, a known record stands that it was not given;
 * known are acknowledgements under acks=all and whatever anybody polled. A hole in the offsets alone is none.
 * `nonmonotonic-poll`: a process is given an offset that is not above the one that it read last. Jepsen compares places in
 * the order of values, so that one value at two offsets sends every reader back and forth; here offsets are compared.
 *
 * What a reader passes over because it is gone is judged by the excuse rule and follows from that loss.
 */
import { unknownBecause, type Evidence } from '../evidence.ts';
import type { StepBack } from '../readers.ts';
import type { AnomalyKind } from '../results.ts';
import { firstNotBefore } from '../search.ts';
import { classByRecords, isDeleted, standsAt } from '../standing.ts';
import { emptyFinding, historyReference, inWords, listed, maxFindings, rangesOf, type Finding } from './finding.ts';

export function findReaderOrder(evidence: Evidence): Finding[] {
  const { stepsBack, stepsBackWithin } = evidence.history.readers;
  return [
    ...skips(evidence),
    ...stepsBack.flatMap((step) => steppedBack(evidence, step, 'nonmonotonic-poll')),
    ...stepsBackWithin.flatMap((step) => steppedBack(evidence, step, 'int-nonmonotonic-poll')),
  ];
}

function skips(evidence: Evidence): Finding[] {
  const { gaps } = evidence.history.readers;
  const findings: Finding[] = [];
  const known = new Map<number, Float64Array>();
  for (let gap = 0; gap < gaps.count && findings.length < maxFindings; gap += 1) {
    const [between, within, key] = [gaps.between.get(gap), gaps.within.get(gap), gaps.key.get(gap)];
    if ((between === -1 && within === -1) || isDeleted(evidence, key)) continue;
    let offsets = known.get(key);
    if (offsets === undefined) {
      offsets = evidence.history.rows.knownOffsets(key);
      known.set(key, offsets);
    }
    const skipped = inGap(offsets, gaps.after.get(gap), gaps.before.get(gap));
    if (skipped.length === 0) continue;
    const range = { key, after: gaps.after.get(gap), before: gaps.before.get(gap), skipped };
    if (between !== -1) findings.push(...skip(evidence, range, between, 'poll-skip'));
    if (within !== -1) findings.push(...skip(evidence, range, within, 'int-poll-skip'));
  }
  return findings;
}

interface Skipped {
  readonly key: number;
  readonly after: number;
  readonly before: number;
  readonly skipped: readonly number[];
}

/** So many of the records in one gap are looked at. */
const maxInGap = 100;

function inGap(offsets: Float64Array, after: number, before: number): number[] {
  const found: number[] = [];
  for (let at = firstNotBefore(offsets.length, (each) => (offsets[each] as number) <= after); ; at += 1) {
    const offset = offsets[at];
    if (offset === undefined || offset >= before || found.length === maxInGap) return found;
    found.push(offset);
  }
}

function skip(
  evidence: Evidence,
  { key, after, before, skipped }: Skipped,
  index: number,
  kind: AnomalyKind,
): Finding[] {
  const { history } = evidence;
  const name = history.keyName(key);
  const rows = skipped.map((offset) => history.rows.ownerOf(key, offset));
  const standing = skipped.findIndex((offset, at) => standsAt(evidence, rows[at] as number, offset) === true);
  const at = Math.max(standing, 0);
  const verdict = classByRecords(evidence, [
    { row: rows[at] as number, offset: skipped[at] as number },
    { row: history.rows.ownerOf(key, after), offset: after },
    { row: history.rows.ownerOf(key, before), offset: before },
  ]);
  if (verdict === 'unknown') {
    unknownBecause(
      evidence,
      'order',
      `${name}: readers passed over records that may be gone, as a configuration allows`,
    );
    return [];
  }
  const values = listed(rows.map((row) => history.valueOf(row)));
  const shown = inWords([...values.slice(0, 5).map(String), ...(values.length > 5 ? ['more'] : [])]);
  // What stands was skipped by the reader alone; what is gone follows from its loss.
  const concerned = standing === -1 ? rows : [rows[at] as number];
  const offsets = standing === -1 ? skipped : [skipped[at] as number];
  return [
    {
      ...emptyFinding(kind, name),
      class: verdict,
      offset: skipped[0] as number,
      values,
      summary: `a reader went from offset ${after} of ${name} to ${before} and passed over ${shown}`,
      evidence: listed([historyReference(index), ...rows.slice(0, 10).flatMap((row) => sightings(evidence, row))]),
      rows: concerned,
      ranges: rangesOf(offsets),
    },
  ];
}

function sightings({ history: { values } }: Evidence, row: number): ReturnType<typeof historyReference>[] {
  const index = values.completed.get(row) === -1 ? values.readBy.get(row) : values.completed.get(row);
  return index === -1 ? [] : [historyReference(index)];
}

function steppedBack(evidence: Evidence, step: StepBack, kind: AnomalyKind): Finding[] {
  const { history } = evidence;
  const { key, row, from, to, index, before } = step;
  if (isDeleted(evidence, key)) return [];
  const name = history.keyName(key);
  const verdict = classByRecords(evidence, [
    { row, offset: from },
    { row: history.rows.ownerOf(key, to), offset: to },
  ]);
  if (verdict === 'unknown') {
    unknownBecause(evidence, 'order', `${name}: readers went back behind records that may be gone`);
    return [];
  }
  const how = index === before ? 'within one operation' : 'from one operation to the next';
  return [
    {
      ...emptyFinding(kind, name),
      class: verdict,
      offset: to,
      values: [history.valueOf(row)],
      summary: `a reader of ${name} went ${how} from offset ${from} back to ${to}`,
      evidence: [...new Set([before, index])].map(historyReference),
      rows: [row],
      ranges: [[to, Math.max(to, from)]],
    },
  ];
}
