/**
 * The nearest order that passes: two events of a failing run that happen the other way round, and nothing else is changed.
 *
 * Either one message between nodes comes late, just after something that its receiver meets later, or one fault begins
 * just after, or just before, one message. The smallest moves are tried first. Where such a swap makes the run pass, the
 * two events are the race that the failure is about.
 *
 * Invariant: up to the swap the run is the failing one, event by event.
 */
import type { Anomaly } from '../../checker/results.ts';
import { nameOfMessage } from '../sim/late.ts';
import type { Lane, Message } from '../sim/network.ts';
import { simulate } from '../sim/simulate.ts';
import { withFault } from './case.ts';
import type { Case } from './case.ts';
import { momentOf } from './moment.ts';
import type { Neighbour } from './neighbour.ts';
import { judge } from './trial.ts';

/** What replicas, leaders and the controller tell each other. Heartbeats, and thanks for news, decide nothing in between. */
const decisive: ReadonlySet<string> = new Set([
  'Fetch request',
  'Fetch response',
  'OffsetForLeaderEpoch request',
  'OffsetForLeaderEpoch response',
  'PartitionStates request',
  'AlterPartition request',
  'AlterPartition response',
]);
/** Past so many events at most. */
const MOST_APART = 6;
const MOST_RUNS = 600;
/** By so much one event comes after, or before, the other. */
const STEP_MS = 0.001;

/** Null when no single swap within bounds makes it pass. Deterministic, as all runs are. */
export function nearestOrder(failing: Case, anomaly: Anomaly, mayGoOn: () => boolean): Neighbour | null {
  let runs = 0;
  for (const { change, candidate, first, second } of swapsOf(failing, anomaly)) {
    if (runs >= MOST_RUNS || !mayGoOn()) return null;
    runs += 1;
    if (judge(candidate).results.valid !== true) continue;
    /* What came after the moved event in the failing run need not come at all in this one. */
    const { moments } = timelineOf(candidate);
    const [firstMs, secondMs] = [first, second].map((name) => moments.find((moment) => moment.name === name)?.atMs);
    if (firstMs !== undefined && secondMs !== undefined && firstMs < secondMs) {
      return { change, passing: candidate, runs };
    }
  }
  return null;
}

interface Swap {
  readonly change: string;
  readonly candidate: Case;
  readonly movedMs: number;
  /** Names of the two events, in their new order. */
  readonly first: string;
  readonly second: string;
}

/** Something that happened: a message was taken in, a fault began or ended. */
interface Moment {
  /** `response broker-2.1#17`, `f1 began` */
  readonly name: string;
  /** `the Fetch response from 1 to 2 (response broker-2.1#17) comes` */
  readonly words: string;
  readonly atMs: number;
}

interface Arrival extends Moment {
  /** What comes on the same one cannot be overtaken. */
  readonly lane: Lane;
}

function swapsOf(failing: Case, anomaly: Anomaly): Swap[] {
  const timeline = timelineOf(failing, anomaly);
  const arrivals = inOrder(timeline.arrivals);
  /* What each receiver meets: long runs have tens of thousands of messages, so each is put in order once. */
  const metBy = new Map(
    [...Map.groupBy(arrivals, ({ lane }) => lane.to)].map(([to, own]) => [to, inOrder([...own, ...timeline.faults])]),
  );
  const late = arrivals.flatMap(({ name, words, atMs, lane }) => {
    const overtakes = (moment: Moment | Arrival): boolean => !('lane' in moment) || moment.lane !== lane;
    return after(metBy.get(lane.to) ?? [], atMs, overtakes).map((met): Swap => {
      const byMs = micros(met.atMs - atMs + STEP_MS);
      return {
        change: `${words} ${byMs} ms later, after ${met.words}`,
        candidate: { ...failing, late: [...(failing.late ?? []), { message: name, byMs }] },
        movedMs: byMs,
        first: met.name,
        second: name,
      };
    });
  });
  const moved = failing.schedule.faults.flatMap((fault, index) => {
    if (!('ms' in fault.at)) return [];
    const { ms } = fault.at;
    const began = `${fault.id} began`;
    const at = (startMs: number) => ({
      candidate: withFault(failing, index, { ...fault, at: { ms: micros(startMs) } }),
      movedMs: micros(Math.abs(startMs - ms)),
    });
    return [
      ...after(arrivals, ms).map(({ name, words, atMs }): Swap => {
        const move = at(atMs + STEP_MS);
        const change = `${fault.id} begins ${move.movedMs} ms later, after ${words}`;
        return { ...move, change, first: name, second: began };
      }),
      ...before(arrivals, ms).map(({ name, words, atMs }): Swap => {
        const move = at(atMs - STEP_MS);
        const change = `${fault.id} begins ${move.movedMs} ms earlier, before ${words}`;
        return { ...move, change, first: began, second: name };
      }),
    ];
  });
  return [...late, ...moved].toSorted((one, other) => one.movedMs - other.movedMs);
}

/** The next moments that count, nearest first; `moments` are in order. */
function after<T extends Moment>(moments: readonly T[], ms: number, counts: (moment: T) => boolean = () => true): T[] {
  const nearest: T[] = [];
  for (let at = firstFrom(moments, ms); at < moments.length && nearest.length < MOST_APART; at += 1) {
    const moment = moments[at] as T;
    if (counts(moment)) nearest.push(moment);
  }
  return nearest;
}

/** The last moments, nearest first; `moments` are in order. */
function before<T extends Moment>(moments: readonly T[], ms: number): T[] {
  const end = firstFrom(moments, ms);
  return inOrder(moments.slice(Math.max(0, end - MOST_APART), end), -1);
}

/** The place of the first that is not earlier. */
function firstFrom(moments: readonly Moment[], ms: number): number {
  let [low, high] = [0, moments.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((moments[middle] as Moment).atMs < ms) low = middle + 1;
    else high = middle;
  }
  return low;
}

function inOrder<T extends Moment>(moments: readonly T[], sign: 1 | -1 = 1): T[] {
  return moments.toSorted((one, other) => sign * (one.atMs - other.atMs));
}

interface Timeline {
  readonly arrivals: readonly Arrival[];
  readonly faults: readonly Moment[];
  /** All of them. */
  readonly moments: readonly Moment[];
}

/** What happened under load, up to the moment at which the anomaly was complete, if there is one. */
function timelineOf(played: Case, anomaly?: Anomaly): Timeline {
  const taken: { readonly lane: Lane; readonly message: Message; readonly nowNs: number }[] = [];
  const simulation = simulate(played, {
    onMessage(lane, message, nowNs) {
      if (decisive.has(sortOf(message))) taken.push({ lane, message, nowNs });
    },
  });
  const msOf = (ns: number): number => (ns - (simulation.loadStartNs ?? 0)) / 1e6;
  const lastMs = anomaly === undefined ? Infinity : momentOf(anomaly, simulation);
  const inTime = ({ atMs }: Moment): boolean => atMs >= 0 && atMs <= lastMs;
  const messages = taken.map(({ lane, message, nowNs }): Arrival => {
    const name = nameOfMessage(lane, message);
    const words = `the ${sortOf(message)} from ${lane.from.name} to ${lane.to.name} (${name}) comes`;
    return { name, words, atMs: msOf(nowNs), lane };
  });
  const records = simulation.history.flatMap(({ value, time }): Moment[] => {
    if (value === null || !('fault' in value)) return [];
    const name = `${value.fault} ${value.phase === 'start' ? 'began' : 'ended'}`;
    return [{ name, words: name, atMs: msOf(time) }];
  });
  const [arrivals, faults] = [messages.filter(inTime), records.filter(inTime)];
  return { arrivals, faults, moments: [...arrivals, ...faults] };
}

/** `Fetch response` */
function sortOf({ api, kind }: Message): string {
  return `${api} ${kind}`;
}

/** Whole microseconds. */
function micros(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
