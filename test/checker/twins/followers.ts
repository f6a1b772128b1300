/**
 * The twin of replicas that differ while a run goes on, over random traces of brokers that cut what they should, or less.
 *
 * Two definitions. A leader writes each offset once in its epoch, so two records of one offset and one epoch are one too
 * many. And a follower that appends in an epoch has cut before what was to be cut: below that append it holds nothing else
 * than its leader does, by the time that this leadership ends.
 */
import type { CheckInput } from '../../../checker/check.ts';
import type { Found, RunFamily } from './family.ts';
import type { Draws } from './random.ts';
import { TraceLines, type Line } from './trace-lines.ts';

const partition = 'tide-0';
const brokers = [1, 2, 3];

export const followers: RunFamily = {
  name: 'followers',
  kinds: ['replica-divergence'],
  generate: (draws) => new Trace(draws).input(),
  judge,
};

interface Written {
  readonly base: number;
  readonly epoch: number;
  readonly hash: string;
}

class Trace {
  readonly #draws: Draws;
  readonly #trace = new TraceLines();
  readonly #logs = new Map<number, Written[]>(brokers.map((node) => [node, []]));
  /** The epoch in which a broker believes to lead, or to follow somebody. */
  readonly #roles = new Map<number, { readonly epoch: number; readonly leader: number }>();
  readonly #leaders = new Map<number, number>();
  #epoch = -1;
  #written = 0;

  constructor(draws: Draws) {
    this.#draws = draws;
    this.#trace.add('controller', 'create', { partition, replicas: brokers });
    this.#elect();
    const steps = 16 + draws.below(24);
    for (let step = 0; step < steps; step += 1) this.#step();
  }

  input(): CheckInput {
    return this.#trace.input();
  }

  #step(): void {
    const draws = this.#draws;
    // A leader writes more often than anybody fetches: tails of their own are what this is about.
    const node = draws.chance(0.4) ? (this.#leaders.get(this.#epoch) as number) : draws.pick(brokers);
    const role = this.#roles.get(node);
    switch (draws.below(8)) {
      case 0:
        if (draws.chance(0.8)) this.#elect();
        return;
      case 1:
        this.#restart(node);
        return;
      default:
        if (role === undefined) this.#hear(node);
        else if (role.leader === node) this.#append(node, role.epoch);
        else this.#fetch(node, role.leader, role.epoch);
        // News of an election arrives late.
        if (draws.chance(0.3)) this.#hear(draws.pick(brokers));
    }
  }

  #elect(): void {
    this.#epoch += 1;
    const leader = this.#draws.pick(brokers);
    const fields = { previousLeader: null, isr: brokers, clean: true, reason: 'test' };
    this.#trace.add('controller', 'election', { partition, leaderEpoch: this.#epoch, leader, ...fields });
    this.#leaders.set(this.#epoch, leader);
    for (const node of brokers) if (this.#draws.chance(0.6)) this.#hear(node);
  }

  /** A broker takes its role of the newest epoch; a follower cuts what is too much, or not, or not enough. */
  #hear(node: number): void {
    const leader = this.#leaders.get(this.#epoch) as number;
    if (this.#roles.get(node)?.epoch === this.#epoch) return;
    this.#roles.set(node, { epoch: this.#epoch, leader });
    const role = leader === node ? 'leader' : 'follower';
    const leo = this.#logOf(node).length;
    this.#trace.add(node, 'role', { partition, leaderEpoch: this.#epoch, role, leader, leo, hw: 0, isr: brokers });
    if (role === 'leader') return;
    const theirs = this.#logOf(leader);
    const differs = this.#logOf(node).findIndex(({ hash }, at) => theirs[at]?.hash !== hash);
    const right = differs === -1 ? leo : differs;
    const to = this.#draws.chance(0.3) ? right : right + this.#draws.below(leo - right + 1);
    if (to === leo) return;
    this.#logs.set(node, this.#logOf(node).slice(0, to));
    const evidence = { highWatermark: to };
    this.#trace.add(node, 'truncation', {
      partition,
      leaderEpoch: this.#epoch,
      from: leo,
      to,
      rule: 'high-watermark',
      evidence,
    });
  }

  #append(node: number, epoch: number): void {
    this.#written += 1;
    const hash = `${this.#written}`.padStart(8, '0');
    this.#write(node, epoch, [{ base: this.#logOf(node).length, epoch, hash }]);
  }

  /** Whatever the leader has beyond the follower's end, and now and then something of its own making. */
  #fetch(node: number, leader: number, leaderEpoch: number): void {
    const end = this.#logOf(node).length;
    const missing = this.#logOf(leader).slice(end, end + 1 + this.#draws.below(3));
    const [first] = missing;
    if (first === undefined) return;
    if (this.#draws.chance(0.012)) missing[0] = { ...first, hash: `${'9'.repeat(6)}${10 + node}` };
    this.#write(node, leaderEpoch, missing);
  }

  #write(node: number, leaderEpoch: number, batches: readonly Written[]): void {
    this.#logOf(node).push(...batches);
    this.#trace.add(node, 'append', {
      partition,
      leaderEpoch,
      batches: batches.map((batch) => ({ ...batch, last: batch.base })),
    });
  }

  #restart(node: number): void {
    this.#trace.restart(node);
    this.#roles.delete(node);
    const end = this.#logOf(node).length;
    const fields = { logStart: 0, flushed: end, from: end, to: end, cut: 'none', hw: 0, epochs: [] };
    this.#trace.add(node, 'recover', { partition, ...fields });
  }

  #logOf(node: number): Written[] {
    return this.#logs.get(node) as Written[];
  }
}

function judge(input: CheckInput): Found {
  const lines = [...(input.trace ?? [])] as Line[];
  const own = new Map(brokers.map((node) => [node, lines.filter((line) => line.node === node)]));
  const found: Found = { present: [], near: [] };
  const written = lines.filter(({ event }) => event === 'append').flatMap(writtenBy);
  if (written.some((one) => written.some((other) => isSamePlace(one, other) && one.hash !== other.hash)))
    found.present.push(`replica-divergence ${partition}`);
  for (const node of brokers) {
    for (const role of own.get(node) as Line[]) {
      if (role.event !== 'role' || role['role'] !== 'follower') continue;
      if (keptAnother(own.get(node) as Line[], own.get(role['leader'] as number) as Line[], role['leaderEpoch']))
        found.present.push(`replica-divergence ${partition}`);
    }
  }
  // Somebody wrote something else at an offset, which was cut in time, or was never met.
  if (written.some((one) => written.some((other) => one.base === other.base && one.epoch !== other.epoch)))
    found.near.push('replica-divergence');
  return found;
}

/** Whether the follower held something else than its leader when it first appended in that epoch. */
function keptAnother(mine: readonly Line[], theirs: readonly Line[], epoch: unknown): boolean {
  const first = mine.findIndex((line) => line.event === 'append' && line['leaderEpoch'] === epoch);
  const taken = theirs.findIndex(
    (line) => line.event === 'role' && line['role'] === 'leader' && line['leaderEpoch'] === epoch,
  );
  if (first === -1 || taken === -1) return false;
  const { boot } = theirs[taken] as Line;
  const over = theirs.findIndex((line, at) => at > taken && (line.event === 'role' || line.boot !== boot));
  const leaders = logAfter(theirs.slice(0, over === -1 ? theirs.length : over));
  return [...logAfter(mine.slice(0, first))].some(([offset, hash]) => {
    const other = leaders.get(offset);
    return other !== undefined && other !== hash;
  });
}

function logAfter(lines: readonly Line[]): Map<number, string> {
  const log = new Map<number, string>();
  for (const line of lines) {
    for (const { base, hash } of line.event === 'append' ? writtenBy(line) : []) log.set(base, hash);
    if (line.event === 'truncation')
      for (const offset of log.keys()) if (offset >= (line['to'] as number)) log.delete(offset);
  }
  return log;
}

function writtenBy(line: Line): readonly Written[] {
  return line['batches'] as Written[];
}

function isSamePlace(one: Written, other: Written): boolean {
  return one.base === other.base && one.epoch === other.epoch;
}
