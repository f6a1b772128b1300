/**
 * Observations of brokers that tell no trace, completed so that they can be drawn and told like a trace.
 *
 * What a line of observation lacks and earlier lines say is put in: the end of a log and the high watermark at a role,
 * the rule by which a log was cut as far as the broker's own log told it, the request that brought a record. Which record
 * stands where is known by offset and epoch; in formats without epochs, by the leader that was followed when it was
 * written. That is good enough to look at. The checker, which judges, compares bytes.
 *
 * What nobody saw stays null. Lines are taken in the order of their time, which is when they were seen.
 */
import { saidIn } from '../../checker/observations.ts';
import { isNumber, isObject } from './trace-events.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What the observations of a run rest on. */
export interface ObservedFrom {
  /** Lines by source. */
  readonly sources: Readonly<Record<string, number>>;
  /** Some leader epochs were counted, not told. */
  readonly epochsCounted: boolean;
  /** Who was seen to be the active controller, and from when on; null: nobody. */
  readonly controllers: readonly { readonly time: number; readonly controller: number | null }[];
}

/** A broker's log tells of a truncation within so long of the moment at which its file became shorter. */
const togetherNs = 1e9;

/** Lines of `docs/trace.md`, made of lines of `docs/observations.md`. */
export function completeObservations(lines: readonly unknown[]): Fields[] {
  const sorted = lines
    .filter((line) => isObject(line))
    .filter(({ time }) => typeof time === 'number')
    .sort((one, other) => (one['time'] as number) - (other['time'] as number));
  return new Completion(sorted).done();
}

/** Counts lines by their source. */
export function sourcesOf(lines: readonly unknown[]): ObservedFrom {
  const sources: Record<string, number> = {};
  const controllers: { time: number; controller: number | null }[] = [];
  let epochsCounted = false;
  for (const line of lines) {
    if (!isObject(line) || typeof line['source'] !== 'string') continue;
    const { event, time, controller = null } = line;
    if (event === 'active-controller' && isNumber(time) && (controller === null || isNumber(controller)))
      controllers.push({ time, controller });
    sources[line['source']] = (sources[line['source']] ?? 0) + 1;
    epochsCounted ||= line['epochSeen'] === false;
  }
  return { sources, epochsCounted, controllers };
}

interface Batch {
  readonly base: number;
  readonly last: number;
  readonly epoch: number;
  readonly hash: string;
  /** The line that appended it, to which the request is added when it is acknowledged. */
  readonly line: Record<string, unknown>;
}

/** One replica while the lines go by. */
interface Replica {
  leader: number | null;
  epoch: number;
  leo: number;
  hw: number | null;
  readonly batches: Batch[];
  /** Acknowledged before the file was seen to hold it. */
  waiting: Fields[];
}

class Completion {
  readonly #lines: readonly Fields[];
  readonly #out: Record<string, unknown>[] = [];
  readonly #replicas = new Map<string, Replica>();
  readonly #epochs = new Map<string, number>();
  /** Who was last seen to be elected. */
  readonly #leaders = new Map<string, number | null>();
  /** By partition, broker: what its log said of truncations. */
  readonly #said = new Map<string, Fields[]>();

  constructor(lines: readonly Fields[]) {
    this.#lines = lines;
    for (const line of lines) {
      if (line['event'] !== 'truncation' || typeof line['words'] !== 'string') continue;
      const name = nameOf(line);
      this.#said.set(name, [...(this.#said.get(name) ?? []), line]);
    }
  }

  done(): Fields[] {
    for (const line of this.#lines) this.#take(line);
    return this.#out;
  }

  #take(line: Fields): void {
    const { event, node, leaderEpoch, partition } = line;
    if (event === 'start') this.#start(line);
    else if (event === 'ended') this.#add({ ...line, event: 'stop' });
    else if (typeof partition !== 'string') this.#add(line);
    else if (node === 'controller') {
      if (isNumber(leaderEpoch)) this.#epochs.set(partition, leaderEpoch);
      if (event === 'election') this.#leaders.set(partition, isNumber(line['leader']) ? line['leader'] : null);
      this.#add({ clean: null, ...line, reason: 'as seen from outside' });
    } else if (isNumber(node)) this.#ofBroker(line, partition, node);
  }

  /** What a process knew of high watermarks went with it. */
  #start(line: Fields): void {
    this.#add(line);
    for (const [name, replica] of this.#replicas) {
      const [partition, node] = name.split(' ');
      if (node === String(line['node'])) this.#forgetHighWatermark({ ...line, partition }, replica);
    }
  }

  #forgetHighWatermark(line: Fields, replica: Replica): void {
    if (replica.hw === null) return;
    this.#add({ ...line, event: 'hw', from: replica.hw, to: null });
    replica.hw = null;
  }

  #ofBroker(line: Fields, partition: string, node: number): void {
    const replica = this.#replica(nameOf(line));
    const { to, from, leader, leaderEpoch } = line;
    switch (line['event']) {
      case 'role': {
        replica.leader = line['role'] === 'leader' ? node : isNumber(leader) ? leader : null;
        replica.epoch = isNumber(leaderEpoch) ? leaderEpoch : (this.#epochs.get(partition) ?? -1);
        const { leo, hw, epoch } = replica;
        return this.#add({ ...line, leader: replica.leader, leaderEpoch: epoch, leo, hw, isr: [] });
      }
      case 'append':
        return this.#append(line, partition, node, replica);
      case 'hw': {
        if (!isNumber(to)) return;
        const before = replica.hw;
        replica.hw = to;
        return this.#add({ ...line, from: before });
      }
      case 'truncation':
        if (isNumber(from) && isNumber(to)) this.#truncate(line, replica, to);
        return;
      case 'ack':
        return this.#acknowledge(line, replica);
      default:
        return this.#add(line);
    }
  }

  #append(line: Fields, partition: string, node: number, replica: Replica): void {
    const batches: readonly unknown[] = Array.isArray(line['batches']) ? line['batches'] : [];
    // A leader does not say how its own rises.
    if (replica.leader === node) this.#forgetHighWatermark(line, replica);
    for (const batch of batches) {
      if (!isObject(batch) || !isNumber(batch['base']) || !isNumber(batch['last'])) continue;
      const { base, last } = batch;
      const known = isNumber(batch['epoch']) && batch['epoch'] >= 0 ? batch['epoch'] : null;
      const named = known === null ? this.#recordAt(partition, node, replica, base) : recordOf(known);
      const leaderEpoch = replica.epoch === -1 ? named.epoch : replica.epoch;
      const copied = replica.leader !== null && replica.leader !== node;
      const told: Record<string, unknown> = {
        ...line,
        leaderEpoch,
        copied,
        batches: [{ base, last, ...named }],
      };
      dropFrom(replica, base);
      replica.batches.push({ base, last, ...named, line: told });
      replica.leo = last + 1;
      this.#add(told);
    }
    const waiting = replica.waiting;
    replica.waiting = [];
    for (const ack of waiting) this.#acknowledge({ ...ack, time: line['time'] }, replica);
  }

  /**
   * Of a message without an epoch: what the followed leader holds there, else what is written in the epoch of now. A
   * leader that does not know yet that there is another writes in its own.
   */
  #recordAt(partition: string, node: number, replica: Replica, base: number): { epoch: number; hash: string } {
    const newest = this.#epochs.get(partition) ?? -1;
    // That it follows may be seen after what it fetched.
    const leader = newest > replica.epoch ? (this.#leaders.get(partition) ?? null) : replica.leader;
    const followed =
      leader === null || leader === node ? undefined : this.#replicas.get(`${partition} ${leader}`)?.batches;
    const theirs = followed?.findLast((batch) => batch.base === base);
    if (theirs !== undefined) return { epoch: theirs.epoch, hash: theirs.hash };
    const deposed = replica.leader === node && leader !== node;
    return recordOf(Math.max(deposed ? replica.epoch : newest, replica.epoch, 0));
  }

  #truncate(line: Fields, replica: Replica, to: number): void {
    dropFrom(replica, to);
    replica.leo = to;
    if (replica.hw !== null) replica.hw = Math.min(replica.hw, to);
    const time = line['time'] as number;
    const said = this.#said
      .get(nameOf(line))
      ?.find((each) => (each['to'] ?? to) === to && Math.abs((each['time'] as number) - time) < togetherNs);
    const evidence = said === undefined ? {} : { words: saidIn(String(said['words'])) };
    const leaderEpoch = Math.max(replica.epoch, this.#epochs.get(String(line['partition'])) ?? -1);
    this.#add({ ...line, leaderEpoch, rule: 'unknown', evidence });
  }

  #acknowledge(line: Fields, replica: Replica): void {
    const { base, last, msg } = line;
    if (!isNumber(base) || !isNumber(last)) return;
    if (replica.leo <= last) {
      replica.waiting.push(line);
      return;
    }
    const batch = replica.batches.findLast((each) => each.base <= base && base <= each.last);
    if (batch?.base === base && batch.last === last && typeof msg === 'string') batch.line['msg'] ??= msg;
    this.#add(line);
  }

  #add(line: Fields): void {
    this.#out.push(line);
  }

  #replica(name: string): Replica {
    let replica = this.#replicas.get(name);
    if (replica === undefined) {
      replica = { leader: null, epoch: -1, leo: 0, hw: null, batches: [], waiting: [] };
      this.#replicas.set(name, replica);
    }
    return replica;
  }
}

function nameOf({ partition, node }: Fields): string {
  return `${String(partition)} ${String(node)}`;
}

/** A record by its epoch alone: one leader writes each offset of an epoch once. */
function recordOf(epoch: number): { epoch: number; hash: string } {
  return { epoch, hash: `seen-${epoch}` };
}

function dropFrom({ batches }: Replica, end: number): void {
  while (batches.length > 0 && (batches.at(-1) as Batch).last >= end) batches.pop();
}
