/** The twin of what leaders may never do, over random traces that need make no other sense. */
import type { CheckInput } from '../../../checker/check.ts';
import type { Found, RunFamily } from './family.ts';
import type { Draws } from './random.ts';
import { TraceLines, type Line } from './trace-lines.ts';

const partition = 'tide-0';
const minInsyncReplicas = 2;

export const leaders: RunFamily = {
  name: 'leaders',
  kinds: ['two-leaders-one-epoch', 'hw-regression', 'ack-below-min-isr', 'epoch-regression'],
  generate: (draws) => new Trace(draws).input(),
  judge,
};

class Trace {
  readonly #draws: Draws;
  readonly #trace = new TraceLines();
  readonly #ends = new Map<number, number>();
  #epoch = 0;

  constructor(draws: Draws) {
    this.#draws = draws;
    this.#trace.add('controller', 'create', { partition, replicas: [1, 2, 3] });
    const steps = 6 + draws.below(22);
    for (let step = 0; step < steps; step += 1) this.#step();
    const plot = draws.below(8);
    if (plot < 2) this.#usurp(plot === 0);
    else if (plot < 5) this.#goBack(plot === 2);
  }

  /** Two brokers lead the newest epoch; the second writes, or does not. */
  #usurp(writes: boolean): void {
    for (const node of [1, 2]) {
      this.#role(node, this.#epoch, 'leader');
      if (node === 1 || writes) this.#append(node, this.#epoch, this.#epoch);
    }
  }

  /** A lower epoch follows a higher one that is still there, or has been cut off before. */
  #goBack(stays: boolean): void {
    const end = this.#ends.get(3) ?? 0;
    this.#append(3, this.#epoch, this.#epoch + 5);
    if (!stays) {
      this.#ends.set(3, end);
      const evidence = { highWatermark: end };
      this.#trace.add(3, 'truncation', {
        partition,
        leaderEpoch: this.#epoch,
        from: end + 1,
        to: end,
        rule: 'high-watermark',
        evidence,
      });
    }
    this.#append(3, this.#epoch, this.#epoch + 4);
  }

  input(): CheckInput {
    return this.#trace.input({ promises: { acks: 'all', minInsyncReplicas, uncleanElection: false } });
  }

  #step(): void {
    const draws = this.#draws;
    const node = 1 + draws.below(draws.pick([2, 3]));
    const end = this.#ends.get(node) ?? 0;
    const leaderEpoch = draws.chance(0.8) ? this.#epoch : draws.below(this.#epoch + 1);
    switch (draws.below(10)) {
      case 0:
        if (draws.chance(0.5)) this.#epoch += 1;
        return;
      case 1:
      case 2:
        this.#role(node, leaderEpoch, draws.pick(['leader', 'leader', 'follower']));
        return;
      case 3:
      case 4:
      case 5:
        this.#append(node, leaderEpoch, draws.chance(0.85) ? leaderEpoch : draws.below(this.#epoch + 1));
        return;
      case 6:
      case 7:
        this.#trace.add(node, 'hw', {
          partition,
          leaderEpoch,
          from: 0,
          to: draws.below(4),
          ...(draws.chance(0.5) ? { isr: [1, 2] } : {}),
        });
        return;
      case 8: {
        const isr = [1, 2, 3].slice(0, 1 + draws.below(3) + (draws.chance(0.4) ? 1 : 0));
        this.#trace.add(node, 'ack', {
          partition,
          leaderEpoch,
          base: end,
          last: end,
          acks: draws.pick([-1, -1, 1]),
          isr,
        });
        return;
      }
      default:
        this.#shorten(node, end, leaderEpoch);
    }
  }

  #role(node: number, leaderEpoch: number, role: string): void {
    const leo = this.#ends.get(node) ?? 0;
    const hw = this.#draws.below(leo + 2);
    const leader = role === 'leader' ? node : 1;
    this.#trace.add(node, 'role', { partition, leaderEpoch, role, leader, leo, hw, isr: [1, 2] });
  }

  #append(node: number, leaderEpoch: number, epoch: number): void {
    const end = this.#ends.get(node) ?? 0;
    this.#ends.set(node, end + 1);
    const batch = { base: end, last: end, epoch, hash: `0000000${epoch}` };
    this.#trace.add(node, 'append', { partition, leaderEpoch, batches: [batch] });
  }

  #shorten(node: number, from: number, leaderEpoch: number): void {
    const to = this.#draws.below(from + 1);
    this.#ends.set(node, to);
    if (this.#draws.chance(0.5)) {
      this.#trace.add(node, 'truncation', {
        partition,
        leaderEpoch,
        from,
        to,
        rule: 'high-watermark',
        evidence: { highWatermark: to },
      });
      return;
    }
    this.#trace.restart(node);
    this.#trace.add(node, 'recover', { partition, logStart: 0, flushed: to, from, to, cut: 'none', hw: 0, epochs: [] });
  }
}

function judge(input: CheckInput): Found {
  const lines = [...(input.trace ?? [])] as Line[];
  const found: Found = { present: [], near: [] };
  const perNode = [1, 2, 3].map((node) => lines.filter((line) => line.node === node));
  judgeEpochs(perNode, found);
  for (const [at, own] of perNode.entries()) {
    judgeHighWatermarks(at + 1, own, found);
    judgeLog(at + 1, own, found);
  }
  const acks = lines.filter(({ event }) => event === 'ack');
  const isBelow = (line: Line): boolean => (line['isr'] as number[]).length < minInsyncReplicas;
  if (acks.some((line) => line['acks'] === -1 && isBelow(line))) found.present.push(`ack-below-min-isr ${partition}`);
  if (acks.some((line) => isBelow(line) !== (line['acks'] === -1))) found.near.push('ack-below-min-isr');
  return found;
}

/** The epoch that the broker of these lines leads as it writes the line at `at`, with the line by which it began to. */
function leadership(own: readonly Line[], at: number): { readonly epoch: unknown; readonly since: number } | null {
  const { boot } = own[at] as Line;
  const role = own.findLastIndex((line, place) => place <= at && line.event === 'role' && line.boot === boot);
  const line = own[role];
  if (line === undefined || line['role'] !== 'leader') return null;
  let since = role;
  for (let place = role - 1; place >= 0; place -= 1) {
    const before = own[place] as Line;
    if (
      before.boot !== boot ||
      (before.event === 'role' && (before['role'] !== 'leader' || before['leaderEpoch'] !== line['leaderEpoch']))
    )
      break;
    if (before.event === 'role') since = place;
  }
  return { epoch: line['leaderEpoch'], since };
}

function judgeEpochs(perNode: readonly (readonly Line[])[], found: Found): void {
  for (let epoch = 0; epoch < 30; epoch += 1) {
    const leading = perNode.map((own) => own.filter((_, at) => leadership(own, at)?.epoch === epoch));
    const wrote = leading.filter((own) => own.some((line) => line.event === 'append' && line['leaderEpoch'] === epoch));
    if (wrote.length > 1) found.present.push(`two-leaders-one-epoch ${epoch}`);
    // The other led it too, and never wrote.
    else if (wrote.length === 1 && leading.filter((own) => own.length > 0).length > 1)
      found.near.push('two-leaders-one-epoch');
  }
}

function judgeHighWatermarks(node: number, own: readonly Line[], found: Found): void {
  const fallen = new Set<number>();
  let last = -1;
  for (const [at, line] of own.entries()) {
    const value = line.event === 'hw' ? (line['to'] as number) : line.event === 'role' ? (line['hw'] as number) : null;
    if (value === null) continue;
    // Between two leaderships, or as a follower, it may.
    if (value < last) found.near.push('hw-regression');
    last = value;
    const led = leadership(own, at);
    if (led === null) continue;
    const before = own.slice(led.since, at).some((each) => {
      const known = each.event === 'hw' ? each['to'] : each.event === 'role' ? each['hw'] : -1;
      return (known as number) > value;
    });
    if (before) fallen.add(led.since);
  }
  for (const since of fallen) found.present.push(`hw-regression ${node} ${since}`);
}

function judgeLog(node: number, own: readonly Line[], found: Found): void {
  let log: number[] = [];
  let highest = -1;
  let drops = false;
  for (const line of own) {
    if (line.event === 'truncation' || line.event === 'recover') log = log.slice(0, line['to'] as number);
    if (line.event !== 'append') continue;
    const [{ epoch }] = line['batches'] as [{ epoch: number }];
    if ((log.at(-1) ?? -1) > epoch) drops = true;
    // What was higher has been cut off before.
    else if (highest > epoch) found.near.push('epoch-regression');
    highest = Math.max(highest, epoch);
    log.push(epoch);
  }
  if (drops) found.present.push(`epoch-regression ${node}`);
}
