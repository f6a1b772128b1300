/**
 * Runs told at random, step by step, that no broker would play: leaders that truncate themselves, elections of anybody
 * with any ISR, disks that lose what they like. The rule of expected losses must judge these as well, and here each of
 * its clauses meets histories on both sides of it, which plays of the real cores seldom reach.
 */
import { Story } from '../story.ts';
import { excuses } from './excuses.ts';
import type { RunFamily } from './family.ts';
import type { Draws } from './random.ts';

export const tales: RunFamily = {
  name: 'tales',
  kinds: ['violation', 'expected'],
  generate: (draws) => new Tale(draws).story.input(),
  judge: (input) => excuses.judge(input),
};

/** One tale; `story` is what it left. */
export class Tale {
  readonly story: Story;
  readonly #draws: Draws;
  readonly #all: readonly number[];
  #leader: number;
  #isr: readonly number[];
  #next = 1;
  #faultsBegun = 0;
  /** Every election is clean and no disk loses anything: then replicas are also compared while they live. */
  readonly #calm: boolean;
  readonly #faults: { readonly name: string; readonly kind: string }[] = [];
  /** Sent to the present leader, not yet acknowledged. */
  #open: number[] = [];
  /** The leader has lost records of its own epoch: written again, they would have the names of others. */
  #spoiled = false;

  constructor(draws: Draws) {
    this.#draws = draws;
    this.#all = draws.chance(0.3) ? [1, 2] : [1, 2, 3];
    this.#calm = draws.chance(0.25);
    const uncleanElection = !this.#calm && draws.chance(0.7);
    const minInsyncReplicas = 1 + draws.below(2);
    this.story = new Story({ brokers: this.#all.length, minInsyncReplicas, uncleanElection, build: 'hw' });
    this.#leader = draws.pick(this.#all);
    this.#isr = this.#all;
    this.story.begin(this.#leader, this.#all);
    for (let count = 1 + draws.below(3); count > 0; count -= 1) this.#commit();
    for (let count = 3 + draws.below(12); count > 0; count -= 1) this.#step();
    this.#settle();
  }

  #step(): void {
    const story = this.story;
    const node = this.#draws.pick(this.#all);
    switch (this.#draws.below(15)) {
      case 0:
        return this.#commit();
      case 1:
        return this.#send();
      case 2:
        return this.#acknowledge();
      case 3:
        if (node !== this.#leader) story.copy(this.#leader, node);
        return;
      case 4:
        this.#isr = this.#some(this.#leader);
        return story.isr(this.#isr);
      case 5:
      case 6:
        return this.#elect(node);
      case 7:
        return this.#restart(node);
      case 8:
        return this.#acknowledgeAlone();
      case 9:
        return this.#electNobody();
      case 10:
      case 11:
        return this.#poll(node);
      case 12:
      case 13:
        return this.#fault(node);
      default:
        return this.#truncate(node);
    }
  }

  /** Any brokers, one of them for certain. */
  #some(certain: number): number[] {
    return this.#all.filter((node) => node === certain || this.#draws.chance(0.5));
  }

  #commit(): void {
    while (this.#spoiled) this.#elect(this.#leader);
    this.#open = [];
    this.story.commit(this.#next);
    this.#next += 1;
  }

  /** A reader gets what a broker has, committed or not; now and then one record is left out. */
  #poll(node: number): void {
    const { story } = this;
    const records = story.records(node);
    const skipped = this.#draws.below(records.length * 3 + 1);
    const seen = records.filter((_, at) => at !== skipped).slice(this.#draws.below(2));
    story.poll(100 + this.#draws.below(2) * 100 + this.#next, seen, this.#draws.chance(0.2) ? { final: true } : {});
  }

  #send(): void {
    while (this.#spoiled) this.#elect(this.#leader);
    this.story.send(this.#next);
    this.#open.push(this.#next);
    this.#next += 1;
  }

  #acknowledge(): void {
    const value = this.#open.shift();
    if (value === undefined) return;
    if (this.#draws.chance(0.5)) this.story.hw(this.story.end(this.#leader), this.#leader);
    this.story.ack(value);
  }

  /** The leader is the whole ISR when it acknowledges; it may lose that, or another may be elected. */
  #acknowledgeAlone(): void {
    this.#isr = [this.#leader];
    this.story.isr(this.#isr);
    this.#send();
    this.#acknowledge();
    if (this.#draws.chance(0.5)) this.#restart(this.#leader);
    this.#elect(this.#draws.pick(this.#all));
  }

  /** Nobody leads for a while; who hears of it may truncate all the same. */
  #electNobody(): void {
    this.story.elect(null, [this.#leader]);
    const node = this.#draws.pick(this.#all);
    this.story.follow(node);
    this.#truncate(node);
    this.#elect(this.#draws.pick(this.#all));
  }

  #elect(node: number): void {
    this.#spoiled = false;
    this.#open = [];
    this.#leader = node;
    this.#isr = this.#some(node);
    const story = this.story;
    story.elect(node, this.#isr, { clean: this.#calm || this.#draws.chance(0.5) });
    if (this.#draws.chance(0.8)) {
      story.lead();
      if (this.#draws.chance(0.2)) this.#truncate(node);
    }
    for (const follower of this.#all.filter((each) => each !== node && this.#draws.chance(0.5))) {
      story.follow(follower);
      if (this.#draws.chance(0.7)) this.#truncate(follower);
      if (this.#draws.chance(0.5)) story.copy(node, follower);
    }
  }

  #restart(node: number): void {
    const end = this.story.end(node);
    const flushed = this.#draws.below(end + 1);
    if (node === this.#leader) this.#spoil();
    this.story.restart(node, this.#draws.below(end + 1), !this.#calm && this.#draws.chance(0.5) ? { flushed } : null);
  }

  #spoil(): void {
    this.#open = [];
    this.#spoiled = true;
  }

  #truncate(node: number): void {
    const end = this.story.end(node);
    if (end === 0) return;
    if (node === this.#leader) this.#spoil();
    const to = end - 1 - this.#draws.below(Math.min(end, 2));
    const other = this.#draws.pick(this.#all);
    const answer = { leader: other, question: { epoch: 0 }, answer: { epoch: 0, endOffset: to } };
    switch (this.#draws.below(6)) {
      case 0:
        return this.story.truncate(node, to, 'leader-epoch', answer);
      case 1:
        return this.story.truncate(node, to, 'high-watermark-on-election', { highWatermark: to });
      case 2:
        return this.story.truncate(node, to, 'offset-out-of-range', { leader: other, leaderStart: 0, leaderEnd: to });
      case 3:
        return this.story.truncate(node, to, 'whim', {});
      default:
        return this.story.truncate(node, to, 'high-watermark', { highWatermark: to });
    }
  }

  /** A fault that harms no disk begins, or one that is under way ends. */
  #fault(node: number): void {
    const kind = this.#draws.pick(['crash', 'partition', 'pause']);
    const under = this.#faults.pop();
    if (under !== undefined && this.#draws.chance(0.6)) {
      const evidence = this.#draws.chance(0.7) ? { effective: true } : { effective: false };
      this.story.operation({
        process: 'nemesis',
        type: 'info',
        f: under.kind,
        value: { fault: under.name, phase: 'end', roles: {}, nodes: {}, ...evidence },
      });
      return;
    }
    this.#faultsBegun += 1;
    const name = `f${this.#faultsBegun}`;
    this.#faults.push({ name, kind });
    this.story.fault(name, kind, this.#draws.pick<Record<string, number>>([{}, { leader: node }, { one: 1, two: 2 }]));
  }

  /** The last leader's log, whatever it has become, is everybody's in the end. */
  #settle(): void {
    const story = this.story;
    story.begin(this.#leader, [this.#leader], { clean: this.#calm || this.#draws.chance(0.5) });
    story.settle((node) => {
      story.follow(node);
      const common = story.commonEnd(this.#leader, node);
      if (common < story.end(node)) story.truncate(node, common, 'high-watermark', { highWatermark: common });
    });
  }
}
