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
  const { arrivals, faults } = timelineOf(failing, anomaly);
  const late = arrivals.flatMap((arrival) => {
    const { name, words, atMs, lane } = arrival;
    const others = arrivals.filter((other) => other.lane.to === lane.to && other.lane !== lane);
    return after([...others, ...faults], atMs).map((met): Swap => {
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

/** The next moments, nearest first. */
function after<T extends Moment>(moments: readonly T[], ms: number): T[] {
  const later = moments.filter(({ atMs }) => atMs >= ms);
  return later.toSorted((one, other) => one.atMs - other.atMs).slice(0, MOST_APART);
}

/** The last moments, nearest first. */
function before<T extends Moment>(moments: readonly T[], ms: number): T[] {
  const earlier = moments.filter(({ atMs }) => atMs < ms);
  return earlier.toSorted((one, other) => other.atMs - one.atMs).slice(0, MOST_APART);
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
  const simulation = simulate(played, { onMessage: (lane, message, nowNs) => taken.push({ lane, message, nowNs }) });
  const msOf = (ns: number): number => (ns - (simulation.loadStartNs ?? 0)) / 1e6;
  const lastMs = anomaly === undefined ? Infinity : momentOf(anomaly, simulation);
  const inTime = ({ atMs }: Moment): boolean => atMs >= 0 && atMs <= lastMs;
  const messages = taken.flatMap(({ lane, message, nowNs }): Arrival[] => {
    const sort = `${message.api} ${message.kind}`;
    if (!decisive.has(sort)) return [];
    const name = nameOfMessage(lane, message);
    return [
      { name, words: `the ${sort} from ${lane.from.name} to ${lane.to.name} (${name}) comes`, atMs: msOf(nowNs), lane },
    ];
  });
  const records = simulation.history.flatMap(({ value, time }): Moment[] => {
    if (value === null || !('fault' in value)) return [];
    const name = `${value.fault} ${value.phase === 'start' ? 'began' : 'ended'}`;
    return [{ name, words: name, atMs: msOf(time) }];
  });
  const [arrivals, faults] = [messages.filter(inTime), records.filter(inTime)];
  return { arrivals, faults, moments: [...arrivals, ...faults] };
}

/** Whole microseconds. */
function micros(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
