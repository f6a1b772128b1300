/**
 * What clients saw at one offset, in order: who was promised what, what consumers read there, and what was there when
 * everything was read back.
 */
import type { HistoryPart, Sent } from './history-events.ts';

export interface Sighting {
  readonly time: number;
  /** Of the last of several equal ones in a row. */
  readonly until: number;
  readonly kind: 'acknowledged' | 'read' | 'final-read' | 'error';
  readonly value: string;
  readonly times: number;
  readonly processes: readonly string[];
  readonly nodes: readonly number[];
}

const SIGHTINGS_MAX = 12;

export interface Sightings {
  readonly offset: number;
  readonly shown: readonly Sighting[];
  readonly omitted: number;
}

/** Sightings at some offsets of a partition; the same thing seen several times in a row counts as one. */
export function sightingsAt(history: HistoryPart, key: string, offsets: readonly number[]): Sightings[] {
  const seen = new Map(offsets.map((offset) => [offset, [] as Sighting[]]));
  for (const sent of history.sent) {
    if (sent.key !== key || sent.outcome !== 'ok' || sent.offset === null) continue;
    seen.get(sent.offset)?.push(once('acknowledged', sent.time, sent.value, sent.process, sent.node));
  }
  for (const poll of history.polled) {
    if (poll.key !== key) continue;
    for (const [offset, value] of poll.records)
      seen.get(offset)?.push(once(poll.final ? 'final-read' : 'read', poll.time, value, poll.process, poll.node));
    if (poll.error !== 'OFFSET_OUT_OF_RANGE') continue;
    // It does not say where the consumer had been, so it is shown with every offset.
    for (const list of seen.values()) list.push(once('error', poll.time, poll.error, poll.process, poll.node));
  }
  return [...seen].map(([offset, list]) => ({ offset, ...bounded(merged(list)) }));
}

function merged(seen: readonly Sighting[]): Sighting[] {
  const list: Sighting[] = [];
  for (const sighting of [...seen].sort((a, b) => a.time - b.time)) {
    const last = list.at(-1);
    if (last !== undefined && last.kind === sighting.kind && last.value === sighting.value)
      list[list.length - 1] = joined(last, sighting);
    else list.push(sighting);
  }
  return list;
}

/** The last matters most: what stands there in the end. */
function bounded(list: readonly Sighting[]): Omit<Sightings, 'offset'> {
  const shown = list.length <= SIGHTINGS_MAX ? list : [...list.slice(0, SIGHTINGS_MAX - 2), ...list.slice(-2)];
  return { shown, omitted: list.length - shown.length };
}

/** The send that was acknowledged with one of these values, by value. */
export function acknowledgedSends(history: HistoryPart, key: string, values: ReadonlySet<string>): Sent[] {
  return history.sent.filter(
    (sent) => sent.key === key && sent.outcome === 'ok' && sent.offset !== null && values.has(sent.value),
  );
}

function once(kind: Sighting['kind'], time: number, value: string, process: string, node: number | null): Sighting {
  return { kind, time, until: time, value, times: 1, processes: [process], nodes: node === null ? [] : [node] };
}

function joined(first: Sighting, next: Sighting): Sighting {
  return {
    ...first,
    until: next.time,
    times: first.times + 1,
    processes: [...new Set([...first.processes, ...next.processes])],
    nodes: [...new Set([...first.nodes, ...next.nodes])].sort((a, b) => a - b),
  };
}
