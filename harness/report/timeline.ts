/**
 * The timeline of one partition, as data: phases of the run, faults, who led and who followed, elections, truncations and
 * acknowledgements, between two moments.
 *
 * Faults are packed into as few rows as keep their labels apart. Everything is bounded by what an eye can tell apart:
 * acknowledgements are counted per column, neighbouring spans too short to be seen are merged.
 */
import type { FaultSeen, HistoryPart } from './history-events.ts';
import type { Outage } from './outages.ts';
import type { EventOf, TraceEvent } from './trace-events.ts';

export interface Timeline {
  readonly key: string;
  readonly from: number;
  readonly to: number;
  readonly phases: readonly { readonly name: string; readonly from: number; readonly to: number }[];
  readonly faults: readonly TimedFault[];
  /** Who led, as the controller decided it. */
  readonly reigns: readonly Reign[];
  readonly brokers: readonly BrokerLine[];
  /** Acknowledgements under any acks, by column of equal length. */
  readonly acknowledged: readonly number[];
  /** Sends that ended `fail` or `info`, by column. */
  readonly failed: readonly number[];
}

export interface TimedFault {
  readonly fault: FaultSeen;
  readonly from: number;
  readonly to: number;
}

export interface Reign {
  readonly from: number;
  readonly to: number;
  readonly epoch: number;
  readonly leader: number | null;
  /** False where the epoch began without an election. */
  readonly elected: boolean;
  /** Null where nobody tells. */
  readonly clean: boolean | null;
  readonly reason: string;
}

export interface BrokerLine {
  readonly node: number;
  readonly spans: readonly RoleSpan[];
  readonly outages: readonly Outage[];
  /** Times between the controller's fence and unfence. */
  readonly fenced: readonly { readonly from: number; readonly to: number }[];
  readonly truncations: readonly EventOf<'truncation'>[];
}

export interface RoleSpan {
  readonly from: number;
  readonly to: number;
  readonly role: 'leader' | 'follower';
  readonly epoch: number;
}

export interface TimelineRequest {
  readonly key: string;
  /** Of this partition, and of the cluster. */
  readonly trace: readonly TraceEvent[];
  readonly history: HistoryPart;
  readonly outages: readonly Outage[];
  readonly from: number;
  readonly to: number;
  readonly columns: number;
}

/** Spans and marks drawn in one row, at most. */
const MARKS_MAX = 400;

export function makeTimeline(request: TimelineRequest): Timeline {
  const { key, trace, history, from, to } = request;
  const own = trace.filter((event) => event.partition === key);
  const cluster = trace.filter((event) => event.partition === null);
  const roles = own.filter((event) => event.event === 'role');
  const cuts = own.filter((event) => event.event === 'truncation').filter((cut) => cut.to < cut.from);
  const brokers = [...new Set(trace.map(({ node }) => node))]
    .filter((node) => node !== 'controller')
    .sort((a, b) => a - b);
  const shortest = (to - from) / MARKS_MAX;
  return {
    key,
    from,
    to,
    phases: phasesOf(history, from, to),
    faults: history.faults
      .map((fault) => ({ fault, from: fault.startTime, to: fault.endTime ?? to }))
      .filter((fault) => fault.to >= from && fault.from <= to),
    reigns: within(reignsOf(own, to), from, to, shortest),
    brokers: brokers.map((node) => ({
      node,
      spans: within(roleSpans(node, cluster, roles, to), from, to, shortest),
      outages: request.outages.filter((outage) => outage.node === node && outage.to >= from && outage.from <= to),
      fenced: within(fencedSpans(node, cluster, to), from, to, 0).slice(0, MARKS_MAX),
      truncations: cuts.filter((cut) => cut.node === node && cut.time >= from && cut.time <= to).slice(0, MARKS_MAX),
    })),
    acknowledged: countBy(
      request,
      own.filter(({ event }) => event === 'ack').map(({ time }) => time),
    ),
    failed: countBy(
      request,
      history.sent
        .filter((sent) => sent.key === key && (sent.outcome === 'fail' || sent.outcome === 'info'))
        .map(({ time }) => time),
    ),
  };
}

/** First and last moment of a run, from whatever is known of it. */
export function extentOf(trace: readonly TraceEvent[], history: HistoryPart): readonly [from: number, to: number] {
  const times = [
    trace[0]?.time,
    trace.at(-1)?.time,
    history.loadFrom,
    history.end,
    ...history.faults.flatMap((fault) => [fault.startTime, fault.endTime]),
  ].filter((time) => time !== null && time !== undefined);
  if (times.length === 0) return [0, 1e9];
  const from = Math.min(...times);
  return [from, Math.max(from + 1e6, ...times)];
}

function phasesOf(history: HistoryPart, from: number, to: number): Timeline['phases'] {
  const marks = [
    { name: 'start', at: from },
    { name: 'load and faults', at: history.loadFrom },
    { name: 'settling', at: history.faults.length === 0 ? null : lastSend(history) },
    { name: 'reading back', at: history.finalFrom },
  ].flatMap(({ name, at }) => (at === null ? [] : [{ name, at }]));
  return marks
    .map(({ name, at }, index) => ({ name, from: Math.max(from, at), to: Math.min(to, marks[index + 1]?.at ?? to) }))
    .filter((phase) => phase.to > phase.from);
}

function lastSend(history: HistoryPart): number | null {
  const times = history.sent.map(({ time }) => time);
  return times.length === 0 ? null : times.reduce((a, b) => Math.max(a, b));
}

function reignsOf(own: readonly TraceEvent[], end: number): Reign[] {
  const reigns: Reign[] = [];
  for (const event of own) {
    const last = reigns.at(-1);
    const elected = event.event === 'election';
    // A change of the ISR can begin an epoch, too: the leader stays.
    if (!elected && !(event.event === 'isr' && event.leaderEpoch > (last?.epoch ?? -1))) continue;
    if (last !== undefined) reigns[reigns.length - 1] = { ...last, to: event.time };
    reigns.push({
      from: event.time,
      to: end,
      epoch: event.leaderEpoch,
      leader: elected ? event.leader : (last?.leader ?? null),
      elected,
      clean: elected ? event.clean : true,
      reason: elected ? event.reason : 'the in-sync replicas changed',
    });
  }
  return reigns;
}

/** Who a broker took itself for, from its own lines: a start ends what it was before. */
function roleSpans(
  node: number,
  cluster: readonly TraceEvent[],
  roles: readonly EventOf<'role'>[],
  end: number,
): RoleSpan[] {
  const turns = [
    ...roles.filter((event) => event.node === node),
    ...cluster.filter((event) => event.node === node && (event.event === 'start' || event.event === 'stop')),
  ].sort((a, b) => a.time - b.time);
  return turns.flatMap((turn, index) =>
    turn.event === 'role'
      ? [{ from: turn.time, to: turns[index + 1]?.time ?? end, role: turn.role, epoch: turn.leaderEpoch }]
      : [],
  );
}

function fencedSpans(node: number, cluster: readonly TraceEvent[], end: number): { from: number; to: number }[] {
  const spans: { from: number; to: number }[] = [];
  let since: number | null = null;
  for (const event of cluster) {
    if ((event.event !== 'fence' && event.event !== 'unfence') || event.broker !== node) continue;
    if (event.event === 'fence') since ??= event.time;
    else if (since !== null) {
      spans.push({ from: since, to: event.time });
      since = null;
    }
  }
  if (since !== null) spans.push({ from: since, to: end });
  return spans;
}

/** The spans between two moments, cut to them; what is too short to be seen gives its place to its neighbour. */
function within<S extends { readonly from: number; readonly to: number }>(
  spans: readonly S[],
  from: number,
  to: number,
  shortest: number,
): S[] {
  const kept: S[] = [];
  for (const span of spans) {
    if (span.to < from || span.from > to) continue;
    const cut = { ...span, from: Math.max(from, span.from), to: Math.min(to, span.to) };
    const last = kept.at(-1);
    if (last !== undefined && cut.to - cut.from < shortest && kept.length >= MARKS_MAX / 2)
      kept[kept.length - 1] = { ...last, to: cut.to };
    else if (kept.length < MARKS_MAX) kept.push(cut);
  }
  return kept;
}

function countBy({ from, to, columns }: TimelineRequest, times: readonly number[]): number[] {
  const counts = Array.from<number>({ length: columns }).fill(0);
  for (const time of times) {
    if (time < from || time > to) continue;
    const column = Math.min(columns - 1, Math.floor(((time - from) / (to - from)) * columns));
    counts[column] = (counts[column] ?? 0) + 1;
  }
  return counts;
}
