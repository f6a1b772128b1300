/**
 * Replica lanes: what every replica of one partition held at one moment, as data.
 *
 * The trace is replayed once, line by line. At each truncation that matters a still picture is taken just before and
 * just after it, and one at the end. A picture has one lane per replica: its records by offset with the epoch and hash
 * of their batch, its LEO and high watermark, its role. What happened to a record in the end is known here already, so
 * lost records can be marked while they are still there.
 *
 * Left out: how a picture is drawn (`lanes-svg.ts`), and any verdict (the checker's).
 */
import type { Anomaly } from '../../checker/results.ts';
import type { TraceLine } from '../../nemesis/ports.ts';

export interface Cell {
  readonly offset: number;
  readonly epoch: number;
  readonly hash: string;
}

export interface Lane {
  readonly node: number;
  readonly role: 'leader' | 'follower' | 'down' | 'starting';
  /** Epoch of the role. */
  readonly leaderEpoch: number;
  readonly cells: readonly Cell[];
  readonly leo: number;
  readonly hw: number;
}

export interface Cut {
  readonly node: number;
  readonly from: number;
  readonly to: number;
  readonly rule: string;
  /** The evidence in words. */
  readonly because: string;
}

export interface Picture {
  readonly title: string;
  readonly time: number;
  readonly lanes: readonly Lane[];
  /** On pictures just before a truncation: what it will do. */
  readonly cut: Cut | null;
}

export interface Film {
  readonly key: string;
  readonly pictures: readonly Picture[];
  /** Offsets shown in all pictures: first and end. */
  readonly window: readonly [first: number, end: number];
  readonly acknowledged: ReadonlySet<number>;
  readonly lost: ReadonlySet<number>;
  /** Offsets at which two replicas hold different bytes. */
  readonly diverged: ReadonlySet<number>;
  /** Truncations that mattered but are not shown, for lack of room. */
  readonly omitted: number;
}

export interface FilmOptions {
  readonly key: string;
  readonly trace: readonly TraceLine[];
  readonly anomalies: readonly Anomaly[];
  /** Offsets around which the story happens; empty: around whatever truncations there were. */
  readonly focus: readonly number[];
  readonly truncationsMax: number;
}

/** Offsets shown to the left of the story, and in all. */
const CONTEXT = 4;
const WINDOW_MAX = 28;

interface Replica {
  cells: Cell[];
  leo: number;
  hw: number;
  role: Lane['role'];
  leaderEpoch: number;
}

/** The pictures of one partition. */
export function film(options: FilmOptions): Film {
  const { key, trace, anomalies } = options;
  const own = anomalies.filter((anomaly) => anomaly.key === key && anomaly.offset !== null);
  const lost = new Set(own.filter((anomaly) => anomaly.kind === 'lost-acked-write').map(offsetOf));
  const diverged = new Set(own.filter((anomaly) => anomaly.kind === 'replica-divergence').map(offsetOf));
  const acknowledged = new Set<number>();
  const lines = trace.filter((line) => line.partition === key || line.event === 'start' || line.event === 'stop');
  const wanted = wantedTruncations(lines, options);
  const window = windowOf(options.focus, wanted.chosen);

  const replicas = new Map<number, Replica>();
  const pictures: Picture[] = [];
  const take = (title: string, time: number, cut: Cut | null): void => {
    pictures.push({ title, time, lanes: lanesOf(replicas, window), cut });
  };
  let time = 0;
  for (const line of lines) {
    time = line.time;
    if (line.event === 'ack' && line['acks'] === -1) {
      for (let offset = line['base'] as number; offset <= (line['last'] as number); offset += 1)
        acknowledged.add(offset);
    }
    const cut = wanted.chosen.includes(line) ? cutOf(line) : null;
    if (cut !== null)
      take(`broker ${cut.node} is about to ${cut.to < cut.from ? 'truncate' : 'keep its log'}`, line.time, cut);
    apply(replicas, line);
    if (cut !== null && cut.to < cut.from)
      take(`broker ${cut.node} has truncated from ${cut.from} to ${cut.to}`, line.time, null);
  }
  if (replicas.size > 0) take('at the end', time, null);
  return { key, pictures, window, acknowledged, lost, diverged, omitted: wanted.omitted };
}

/** The truncations worth a picture: those that removed something near the focus first, in the order of time. */
function wantedTruncations(
  lines: readonly TraceLine[],
  { focus, truncationsMax }: FilmOptions,
): { readonly chosen: readonly TraceLine[]; readonly omitted: number } {
  const all = lines.filter((line) => line.event === 'truncation');
  const removing = all.filter((line) => (line['to'] as number) < (line['from'] as number));
  const near = removing.filter((line) =>
    focus.some(
      (offset) =>
        offset >= (line['to'] as number) - WINDOW_MAX / 2 && offset <= (line['from'] as number) + WINDOW_MAX / 2,
    ),
  );
  // A build that kept everything has its story too: the questions that it asked around these offsets.
  const asked = all.filter((line) => focus.some((offset) => Math.abs((line['to'] as number) - offset) <= 3));
  const candidates = near.length > 0 ? near : asked.length > 0 ? asked : removing;
  return { chosen: candidates.slice(0, truncationsMax), omitted: Math.max(0, candidates.length - truncationsMax) };
}

function windowOf(focus: readonly number[], truncations: readonly TraceLine[]): readonly [number, number] {
  const points = [...focus, ...truncations.flatMap((line) => [line['to'] as number, (line['from'] as number) - 1])];
  if (points.length === 0) return [0, WINDOW_MAX];
  const first = Math.max(0, Math.min(...points) - CONTEXT);
  return [first, Math.min(first + WINDOW_MAX, Math.max(...points) + 1 + CONTEXT)];
}

function lanesOf(replicas: ReadonlyMap<number, Replica>, [first, end]: readonly [number, number]): Lane[] {
  return [...replicas]
    .sort(([a], [b]) => a - b)
    .map(([node, replica]) => ({
      node,
      role: replica.role,
      leaderEpoch: replica.leaderEpoch,
      cells: replica.cells.filter((cell) => cell.offset >= first && cell.offset < end),
      leo: replica.leo,
      hw: replica.hw,
    }));
}

function apply(replicas: Map<number, Replica>, line: TraceLine): void {
  if (line.node === 'controller') return;
  if (line.event === 'start' || line.event === 'stop') {
    const replica = replicas.get(line.node);
    if (replica !== undefined) replica.role = line.event === 'start' ? 'starting' : 'down';
    return;
  }
  let replica = replicas.get(line.node);
  if (replica === undefined) {
    replica = { cells: [], leo: 0, hw: 0, role: 'starting', leaderEpoch: -1 };
    replicas.set(line.node, replica);
  }
  switch (line.event) {
    case 'append':
      for (const batch of line['batches'] as readonly { base: number; last: number; epoch: number; hash: string }[]) {
        for (let offset = batch.base; offset <= batch.last; offset += 1) {
          replica.cells.push({ offset, epoch: batch.epoch, hash: batch.hash });
        }
        replica.leo = batch.last + 1;
      }
      return;
    case 'hw':
      replica.hw = line['to'] as number;
      return;
    case 'role':
      replica.role = line['role'] as Lane['role'];
      replica.leaderEpoch = line.leaderEpoch ?? -1;
      replica.leo = line['leo'] as number;
      replica.hw = line['hw'] as number;
      return;
    case 'recover':
      replica.hw = line['hw'] as number;
      replica.role = 'starting';
      cutTo(replica, line['to'] as number);
      return;
    case 'truncation':
      cutTo(replica, line['to'] as number);
      replica.hw = Math.min(replica.hw, replica.leo);
      return;
    case 'log-start': {
      const start = line['to'] as number;
      replica.cells = replica.cells.filter((cell) => cell.offset >= start);
      replica.leo = Math.max(replica.leo, start);
      return;
    }
    default:
  }
}

function cutTo(replica: Replica, end: number): void {
  while ((replica.cells.at(-1)?.offset ?? -1) >= end) replica.cells.pop();
  replica.leo = end;
}

function cutOf(line: TraceLine): Cut {
  const evidence = line['evidence'] as Readonly<Record<string, unknown>>;
  return {
    node: line.node as number,
    from: line['from'] as number,
    to: line['to'] as number,
    rule: String(line['rule']),
    because: becauseOf(evidence),
  };
}

/** The evidence of a truncation in words. */
export function becauseOf(evidence: Readonly<Record<string, unknown>>): string {
  if ('highWatermark' in evidence) return `its own high watermark is ${String(evidence['highWatermark'])}`;
  if ('question' in evidence) {
    const { epoch: asked } = evidence['question'] as { epoch: number };
    const { epoch, endOffset } = evidence['answer'] as { epoch: number; endOffset: number };
    return `asked broker ${String(evidence['leader'])} where epoch ${asked} ends; answer: epoch ${epoch} ends at ${endOffset}`;
  }
  if ('leaderEnd' in evidence)
    return `broker ${String(evidence['leader'])} has only offsets ${String(evidence['leaderStart'])} to ${String(evidence['leaderEnd'])}`;
  return '';
}

function offsetOf(anomaly: Anomaly): number {
  return anomaly.offset ?? -1;
}
