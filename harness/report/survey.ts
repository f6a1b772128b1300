/**
 * What is worth a picture in the life of a partition, found by replaying all of it: the acknowledgement that is at stake,
 * the truncations near the story, the record that took a freed offset; and what became of each record in the end.
 *
 * That a record is lost is the checker's word, not found here: only where the checker found a loss does this look for which
 * acknowledged records the final leader lacks, to mark them all.
 */
import type { FilmRequest } from './picture.ts';
import { batchAt, batchName, Replicas, sameBatch, type Acknowledged } from './replicas.ts';
import { isNear } from './story.ts';
import type { EventOf, TraceEvent, TracedBatch } from './trace-events.ts';

const TRUNCATIONS_MAX = 5;
/** How far from the focus a truncation may be and still belong to the story. */
const NEAR = 3;

export interface Survey {
  readonly truncations: ReadonlySet<TraceEvent>;
  readonly omitted: number;
  /** Names of batches that were acknowledged and are not in the final leader's log. */
  readonly lost: ReadonlySet<string>;
  /** The first of them. */
  readonly firstLost: Acknowledged | null;
  readonly acknowledgement: EventOf<'ack'> | null;
  readonly overwriting: EventOf<'append'> | null;
  readonly valueOf: ReadonlyMap<string, string>;
  /** The whole replay, at its end. */
  readonly final: Replicas;
  readonly leaders: ReadonlyMap<number, number | null>;
  readonly focus: readonly number[];
}

/** Replays all events of a partition once. */
export function surveyOf(request: FilmRequest, events: readonly TraceEvent[]): Survey {
  const final = new Replicas();
  const leaders = new Map<number, number | null>();
  const valueOf = new Map<string, string>();
  for (const event of events) {
    final.apply(event);
    // A change of the ISR can begin an epoch, too: the leader stays.
    if (event.event === 'election' || (event.event === 'isr' && !leaders.has(event.leaderEpoch)))
      leaders.set(event.leaderEpoch, final.leader);
    if (event.event !== 'append' || event.msg === null) continue;
    const value = request.values.get(event.msg);
    const [batch] = event.batches;
    if (value !== undefined && batch !== undefined && batch.base === batch.last) valueOf.set(batchName(batch), value);
  }
  const lostBatches = request.lossFound ? lostOf(final) : [];
  const lostOffsets = lostBatches.map(({ batch }) => batch.base);
  const first = request.focus[0] ?? lostOffsets[0] ?? 0;
  const focus = [...new Set([...request.focus, ...lostOffsets.filter((offset) => isNear(offset, first))])];
  const { chosen, omitted } = chooseTruncations(events, focus);
  const firstLost = lostBatches.find(({ batch }) => isNear(batch.base, first)) ?? null;
  const promised = final.acknowledged.find(({ batch }) =>
    firstLost === null ? focus.includes(batch.base) : batch.base === firstLost.batch.base,
  );
  return {
    truncations: new Set(chosen),
    omitted,
    lost: new Set(lostBatches.map(({ batch }) => batchName(batch))),
    firstLost,
    acknowledgement: promised === undefined ? null : acknowledgementOf(events, promised.batch, promised.time),
    overwriting: promised === undefined || firstLost === null ? null : overwritingOf(events, promised.batch),
    valueOf,
    final,
    leaders,
    focus,
  };
}

function lostOf(final: Replicas): Replicas['acknowledged'] {
  const leader = final.leader === null ? undefined : final.byNode.get(final.leader);
  if (leader === undefined) return [];
  const start = leader.batches[0]?.base ?? 0;
  return final.acknowledged.filter(({ batch }) => {
    const stands = batchAt(leader.batches, batch.base);
    return batch.base >= start && (stands === null || !sameBatch(stands, batch));
  });
}

/** The truncations worth a picture, in the order of time: those at the focus first, then near it, then any that cut. */
function chooseTruncations(
  events: readonly TraceEvent[],
  focus: readonly number[],
): { readonly chosen: readonly TraceEvent[]; readonly omitted: number } {
  const all = events.filter((event) => event.event === 'truncation').filter(({ from }) => from > 0);
  const ranked = all
    .map((event) => ({ event, rank: relevance(event, focus) }))
    .filter(({ event, rank }) => rank > 0 && !isRepeated(event, all))
    .sort((a, b) => b.rank - a.rank);
  const chosen = new Set(ranked.slice(0, TRUNCATIONS_MAX).map(({ event }) => event));
  const omitted = all.filter((event) => event.to < event.from && !chosen.has(event)).length;
  return { chosen: all.filter((event) => chosen.has(event)), omitted };
}

/** A follower that keeps all, and soon is told of the next epoch and keeps all again: once is enough. */
function isRepeated(event: EventOf<'truncation'>, all: readonly EventOf<'truncation'>[]): boolean {
  if (event.to < event.from) return false;
  const next = all.find(({ node, time }) => node === event.node && time > event.time);
  return next !== undefined && next.from === event.from && next.to === event.to;
}

function relevance({ from, to }: EventOf<'truncation'>, focus: readonly number[]): number {
  const cuts = to < from;
  if (cuts && focus.some((offset) => offset >= to && offset < from)) return 4;
  const near = focus.some((offset) => offset >= to - NEAR && offset < from + NEAR);
  // A build that kept everything has its story too: the questions that it asked around these offsets.
  if (near) return cuts ? 3 : 2;
  return cuts && focus.length === 0 ? 1 : 0;
}

function acknowledgementOf(events: readonly TraceEvent[], batch: TracedBatch, time: number): EventOf<'ack'> | null {
  const found = events.find(
    (event) => event.event === 'ack' && event.time === time && event.base <= batch.base && batch.base <= event.last,
  );
  return found?.event === 'ack' ? found : null;
}

/** The first append of another record at the offset of a lost one. */
function overwritingOf(events: readonly TraceEvent[], lost: TracedBatch): EventOf<'append'> | null {
  const found = events.find(
    (event) =>
      event.event === 'append' &&
      event.batches.some((batch) => batch.base <= lost.base && lost.base <= batch.last && batch.epoch > lost.epoch),
  );
  return found?.event === 'append' ? found : null;
}
