/**
 * The lines of a trace that a report is made of, as typed events.
 *
 * A report must come about for damaged files, and for traces that were written by somebody else: a line that lacks what
 * its event needs is no event here. What that means for the verdict is the checker's business. `docs/trace.md` is the
 * contract; fetches and fenced requests are left out, since no picture shows them.
 */

export interface TracedBatch {
  readonly base: number;
  readonly last: number;
  readonly epoch: number;
  readonly hash: string;
}

interface Common {
  readonly time: number;
  readonly node: number | 'controller';
  readonly boot: number;
  readonly seq: number;
  readonly partition: string | null;
  readonly leaderEpoch: number;
  readonly msg: string | null;
}

export type TraceEvent = Common &
  (
    | { readonly event: 'start' | 'stop' | 'delete' }
    | { readonly event: 'fence' | 'unfence'; readonly broker: number; readonly reason: string }
    | { readonly event: 'recover'; readonly to: number; readonly hw: number; readonly cut: string }
    | { readonly event: 'append'; readonly batches: readonly TracedBatch[] }
    /** Null: from here on nobody saw it. */
    | { readonly event: 'hw'; readonly to: number | null }
    | { readonly event: 'ack'; readonly base: number; readonly last: number; readonly acks: number }
    | {
        readonly event: 'role';
        readonly role: 'leader' | 'follower';
        readonly leader: number | null;
        readonly leo: number;
        /** Null where nobody saw it. */
        readonly hw: number | null;
      }
    | {
        readonly event: 'truncation';
        readonly from: number;
        readonly to: number;
        readonly rule: string;
        readonly evidence: Readonly<Record<string, unknown>>;
      }
    | {
        readonly event: 'election';
        readonly leader: number | null;
        readonly isr: readonly number[];
        /** Null where nobody tells. */
        readonly clean: boolean | null;
        readonly reason: string;
      }
    | { readonly event: 'isr'; readonly isr: readonly number[] }
    | { readonly event: 'log-start'; readonly to: number }
  );

export type EventOf<E extends TraceEvent['event']> = Extract<TraceEvent, { readonly event: E }>;

/** Reads one parsed line; null for what is no event of interest, or lacks what it needs. */
export function traceEvent(line: unknown): TraceEvent | null {
  if (!isObject(line)) return null;
  const { time, node } = line;
  if (!isNumber(time) || !(isNumber(node) || node === 'controller')) return null;
  const common: Common = {
    time,
    node,
    boot: numberOr(line['boot'], 0),
    seq: numberOr(line['seq'], 0),
    partition: stringOr(line['partition'], null),
    leaderEpoch: numberOr(line['leaderEpoch'], -1),
    msg: stringOr(line['msg'], null),
  };
  const { event } = line;
  switch (event) {
    case 'start':
    case 'stop':
    case 'delete':
      return { ...common, event };
    case 'fence':
    case 'unfence': {
      const { broker } = line;
      return isNumber(broker) ? { ...common, event, broker, reason: stringOr(line['reason'], '') } : null;
    }
    default:
      return common.partition === null ? null : partitionEvent(common, line);
  }
}

function partitionEvent(common: Common, line: Fields): TraceEvent | null {
  const { event, to, leader } = line;
  switch (event) {
    case 'recover':
      if (!isNumber(to)) return null;
      return { ...common, event, to, hw: numberOr(line['hw'], 0), cut: stringOr(line['cut'], 'none') };
    case 'append':
      return { ...common, event, batches: list(line['batches']).filter(isBatch) };
    case 'hw':
      return to === null || isNumber(to) ? { ...common, event, to } : null;
    case 'log-start':
      return isNumber(to) ? { ...common, event, to } : null;
    case 'ack': {
      const { base, last } = line;
      if (!isNumber(base) || !isNumber(last) || last < base) return null;
      return { ...common, event, base, last, acks: numberOr(line['acks'], -1) };
    }
    case 'role': {
      const { role, leo, hw } = line;
      if ((role !== 'leader' && role !== 'follower') || !isNumber(leo) || !(hw === null || isNumber(hw))) return null;
      return { ...common, event, role, leader: isNumber(leader) ? leader : null, leo, hw };
    }
    case 'truncation': {
      const { from, rule, evidence } = line;
      if (!isNumber(from) || !isNumber(to)) return null;
      return {
        ...common,
        event,
        from,
        to,
        rule: stringOr(rule, 'unknown'),
        evidence: isObject(evidence) ? evidence : {},
      };
    }
    case 'election':
      return {
        ...common,
        event,
        leader: isNumber(leader) ? leader : null,
        isr: list(line['isr']).filter(isNumber),
        clean: line['clean'] === null ? null : line['clean'] !== false,
        reason: stringOr(line['reason'], ''),
      };
    case 'isr':
      return { ...common, event, isr: list(to).filter(isNumber) };
    default:
      return null;
  }
}

/** Sorted by time, without ever swapping two lines of one node. */
export function inClockOrder(events: readonly TraceEvent[]): TraceEvent[] {
  const latest = new Map<TraceEvent['node'], number>();
  const keyed = events.map((event, index) => {
    const time = Math.max(event.time, latest.get(event.node) ?? Number.NEGATIVE_INFINITY);
    latest.set(event.node, time);
    return { event, time, index };
  });
  keyed.sort((a, b) => a.time - b.time || a.index - b.index);
  return keyed.map(({ event }) => event);
}

type Fields = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value);
}

function isBatch(value: unknown): value is TracedBatch {
  return (
    isObject(value) &&
    isNumber(value['base']) &&
    isNumber(value['last']) &&
    value['last'] >= value['base'] &&
    isNumber(value['epoch']) &&
    typeof value['hash'] === 'string'
  );
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function numberOr(value: unknown, otherwise: number): number {
  return isNumber(value) ? value : otherwise;
}

function stringOr<T>(value: unknown, otherwise: T): string | T {
  return typeof value === 'string' ? value : otherwise;
}
