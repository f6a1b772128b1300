/**
 * What was seen from outside of a cluster that tells no trace (`docs/observations.md`), by partition and by broker.
 *
 * Each source is late in its own way, and between two of them there is only time: so nothing here is evidence against
 * anybody. What rests on it are counts (exposures), the last in-sync replicas, and the steps of a story.
 *
 * Invariant: no input makes this throw. A line that cannot be read, or a hole in the `seq` of a boot, is told as damage.
 */
import type { Key } from './history.ts';
import { nodeName, type TraceNode } from './parse-trace.ts';
import type { Reference } from './results.ts';
import { isCount, isNumbers, isWhole, type Fields } from './trace-events.ts';

/** A fact, when it was seen and where that is written. */
interface Seen {
  readonly time: number;
  readonly reference: Reference;
}

export interface SeenRole extends Seen {
  readonly role: 'leader' | 'follower';
  /** Undefined where the line does not say it. */
  readonly leader: number | null | undefined;
  readonly epoch: number | null;
  readonly boot: number;
  /** Seen as it happened, and not up to a poll later. */
  readonly prompt: boolean;
}

export interface SeenElection extends Seen {
  readonly leader: number | null;
  readonly isr: readonly number[];
  readonly epoch: number | null;
}

export interface SeenTruncation extends Seen {
  readonly node: number;
  readonly boot: number;
  /** Null where only the log of the broker tells of it. */
  readonly from: number | null;
  /** Null where the log does not say it. */
  readonly to: number | null;
  /** Of the broker's log, where it said something. */
  readonly words: string | null;
}

export interface SeenAck extends Seen {
  readonly node: number;
  readonly base: number;
  readonly last: number;
  readonly acks: number;
  readonly isr: readonly number[];
  readonly epoch: number | null;
}

/** A value that a replica had from a moment on. */
interface Reached {
  readonly time: number;
  readonly boot: number;
  readonly offset: number;
}

/** One replica; each list in the order of time. */
export interface SeenReplica {
  readonly roles: SeenRole[];
  /** Ends of its log. */
  readonly ends: Reached[];
  readonly highWatermarks: Reached[];
}

export interface SeenPartition {
  readonly key: Key;
  replicas: readonly number[] | null;
  readonly elections: SeenElection[];
  /** The in-sync replicas from a moment on: of elections, and of changes without one. */
  readonly isrs: (Seen & { readonly isr: readonly number[] })[];
  readonly truncations: SeenTruncation[];
  readonly acks: SeenAck[];
  readonly byNode: Map<number, SeenReplica>;
}

export interface Observations {
  readonly partitions: ReadonlyMap<Key, SeenPartition>;
  /** What brokers said as they ended themselves. */
  readonly ended: readonly (Seen & { readonly node: TraceNode; readonly boot: number; readonly words: string })[];
  /** Of brokers whose segments could not be seen any more, why; it is damage too. */
  readonly blind: readonly string[];
  readonly lines: number;
  /** Empty when nothing is missing. */
  readonly damage: readonly string[];
}

const maxNamed = 20;

/** Reads all observations: their lines, or the objects that they would say. A last line that breaks off is no damage. */
export function readObservations(lines: Iterable<string | object>): Observations {
  const reader = new Reader();
  let line = 0;
  let broken: number | null = null;
  for (const text of lines) {
    line += 1;
    if (broken !== null) reader.flaw(`line ${broken} of the observations cannot be read: not JSON`);
    broken = null;
    if (text === '' || text === '\r') continue;
    let parsed: unknown;
    try {
      parsed = typeof text === 'string' ? JSON.parse(text) : text;
    } catch {
      broken = line;
      continue;
    }
    const flaw = reader.take(parsed);
    if (flaw !== null) reader.flaw(`line ${line} of the observations cannot be read: ${flaw}`);
  }
  return reader.finish(line);
}

/** What a line of a broker's log says, without the time and the level that it begins with. */
export function saidIn(words: string): string {
  return words.replace(/^\[[\d:., TZ+-]+\]\s*(?:[A-Z]{4,5}\s+)?/, '');
}

/** The last of a list that was seen by `time`; they are in the order of time. */
export function lastBy<T extends { readonly time: number }>(list: readonly T[], time: number): T | null {
  return list.findLast((each) => each.time <= time) ?? null;
}

class Reader {
  readonly #partitions = new Map<Key, SeenPartition>();
  readonly #ended: (Seen & { node: TraceNode; boot: number; words: string })[] = [];
  readonly #next = new Map<string, number>();
  readonly #damage: string[] = [];
  readonly #blind: string[] = [];
  #flaws = 0;

  flaw(text: string): void {
    this.#flaws += 1;
    if (this.#flaws <= maxNamed) this.#damage.push(text);
  }

  /** Takes one parsed line; answers with what is wrong with it. */
  take(parsed: unknown): string | null {
    if (typeof parsed !== 'object' || parsed === null) return 'not an object';
    const fields = parsed as Fields;
    const { seq, time, node, boot, event } = fields;
    const isTime = typeof time === 'number' && Number.isFinite(time);
    const isNode = node === 'controller' || isCount(node);
    if (!isCount(seq) || !isTime || !isCount(boot) || !isNode || typeof event !== 'string')
      return 'it needs seq, time, node, boot and event';
    this.#follow(node, boot, seq);
    const seen = { time, reference: { source: 'observation', node, boot, seq } } as const;
    if (event === 'ended') {
      const { words } = fields;
      this.#ended.push({
        ...seen,
        node,
        boot,
        words: typeof words === 'string' ? saidIn(words) : 'it did not say why',
      });
      return null;
    }
    if (event === 'blind') {
      const why = `the segments of ${nodeName(node)} could not be seen from ${Math.round(time / 1e6)} ms on`;
      this.#blind.push(why);
      this.flaw(typeof fields['words'] === 'string' ? `${why}: ${fields['words']}` : why);
      return null;
    }
    const { partition } = fields;
    if (typeof partition !== 'string') return null;
    const of = this.#partition(partition);
    const sound = node === 'controller' ? decided(of, seen, event, fields) : told(of, seen, node, boot, event, fields);
    return sound ? null : `a broken ${event}`;
  }

  /** `seq` counts from 0 within each boot. */
  #follow(node: TraceNode, boot: number, seq: number): void {
    const name = `${node}.${boot}`;
    const expected = this.#next.get(name) ?? 0;
    if (seq !== expected)
      this.flaw(`the observations of ${nodeName(node)}, boot ${boot}, go from seq ${expected - 1} to ${seq}`);
    this.#next.set(name, seq + 1);
  }

  #partition(key: Key): SeenPartition {
    let partition = this.#partitions.get(key);
    if (partition === undefined) {
      partition = { key, replicas: null, elections: [], isrs: [], truncations: [], acks: [], byNode: new Map() };
      this.#partitions.set(key, partition);
    }
    return partition;
  }

  finish(lines: number): Observations {
    for (const { elections, isrs, truncations, acks, byNode } of this.#partitions.values()) {
      for (const list of [elections, isrs, truncations, acks]) list.sort(byTime);
      for (const { roles, ends, highWatermarks } of byNode.values())
        for (const list of [roles, ends, highWatermarks]) list.sort(byTime);
    }
    const more = this.#flaws - this.#damage.length;
    const damage = more > 0 ? [...this.#damage, `${more} more flaws of the observations`] : this.#damage;
    return { partitions: this.#partitions, ended: this.#ended, blind: this.#blind, lines, damage };
  }
}

function byTime(one: { readonly time: number }, other: { readonly time: number }): number {
  return one.time - other.time;
}

/** What is decided for the whole cluster. False: the line lacks what its event needs. */
function decided(partition: SeenPartition, seen: Seen, event: string, fields: Fields): boolean {
  const { leader, isr, to, replicas } = fields;
  switch (event) {
    case 'create':
      if (!isNumbers(replicas)) return false;
      partition.replicas = replicas;
      return true;
    case 'election':
      if (!(leader === null || isWhole(leader)) || !isNumbers(isr)) return false;
      partition.elections.push({ ...seen, leader, isr, epoch: epochOf(fields) });
      partition.isrs.push({ ...seen, isr });
      return true;
    case 'isr':
      if (!isNumbers(to)) return false;
      partition.isrs.push({ ...seen, isr: to });
      return true;
    default:
      return true;
  }
}

/** What is seen of one broker. False: the line lacks what its event needs. */
function told(
  partition: SeenPartition,
  seen: Seen,
  node: number,
  boot: number,
  event: string,
  fields: Fields,
): boolean {
  const replica = replicaOf(partition, node);
  const { time } = seen;
  const { source, from, to, base, last, acks, isr, role, leader, words } = fields;
  switch (event) {
    case 'append': {
      const end = endOf(fields['batches']);
      if (end !== null) replica.ends.push({ time, boot, offset: end });
      return end !== null;
    }
    case 'truncation':
      // The files tell both; the log what it likes.
      if (source !== 'log' && !(isCount(from) && isCount(to))) return false;
      if (isCount(from) && isCount(to)) replica.ends.push({ time, boot, offset: to });
      partition.truncations.push({
        ...seen,
        node,
        boot,
        from: isCount(from) ? from : null,
        to: isCount(to) ? to : null,
        words: typeof words === 'string' ? saidIn(words) : null,
      });
      return true;
    case 'hw':
      if (isCount(to)) replica.highWatermarks.push({ time, boot, offset: to });
      return isCount(to);
    case 'role':
      if (role !== 'leader' && role !== 'follower') return false;
      replica.roles.push({
        ...seen,
        role,
        leader: leader === null || isWhole(leader) ? leader : undefined,
        epoch: epochOf(fields),
        boot,
        prompt: source === 'log',
      });
      return true;
    case 'ack':
      if (!isCount(base) || !isCount(last) || !isWhole(acks)) return false;
      partition.acks.push({
        ...seen,
        node,
        base,
        last,
        acks,
        isr: isNumbers(isr) ? isr : [],
        epoch: epochOf(fields),
      });
      return true;
    default:
      return true;
  }
}

function replicaOf({ byNode }: SeenPartition, node: number): SeenReplica {
  let replica = byNode.get(node);
  if (replica === undefined) {
    replica = { roles: [], ends: [], highWatermarks: [] };
    byNode.set(node, replica);
  }
  return replica;
}

/** One past the last offset of what was appended. */
function endOf(batches: unknown): number | null {
  if (!Array.isArray(batches)) return null;
  const last: unknown = (batches as readonly Fields[]).at(-1)?.['last'];
  return isCount(last) ? last + 1 : null;
}

function epochOf({ leaderEpoch }: Fields): number | null {
  return isCount(leaderEpoch) ? leaderEpoch : null;
}
