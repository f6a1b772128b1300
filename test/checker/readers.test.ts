/** How readers go on from record to record: gaps, steps back, what proves a loss, and what moves a reader lawfully. */
import { describe, expect, it } from 'vitest';
import { Readers, type AssignContext, type PollContext } from '../../checker/readers.ts';
import { ValueRows } from '../../checker/value-rows.ts';

/** Key 0 and key 1; row n is the value n of key 0. Operations are counted by `poll`: 1 for the first, then 2, … */
class Told {
  readonly rows = new ValueRows();
  readonly readers = new Readers(this.rows);
  index = 0;

  constructor() {
    for (const key of ['a-0', 'b-0']) this.rows.keyId(key);
    for (let value = 0; value < 50; value += 1) this.rows.rowOf(0, value);
  }

  /** One whole poll of `process`: the given offsets of key 0, or those of `key`. */
  poll(process: number, offsets: readonly number[], context: Partial<PollContext> & { key?: number } = {}): this {
    const { key = 0, ...more } = context;
    this.index += 1;
    this.readers.begin(process, this.index * 10);
    const type = more.type ?? 'ok';
    const time = this.index;
    const known = { process, type, index: this.index, invokedAt: time, time, clean: type === 'ok', rebalanced: null };
    this.readers.beginPoll({ ...known, ...more });
    for (const offset of offsets) this.readers.read(key, offset, offset);
    return this;
  }

  assign(process: number, keys: readonly number[], how: Partial<AssignContext> = {}): this {
    this.readers.assigned(process, keys, { sought: false, subscribes: false, final: false, ...how });
    return this;
  }

  /** Gaps as `after-before` with those of their columns that are set. */
  get gaps(): Record<string, Record<string, number>> {
    const { gaps } = this.readers;
    const found: Record<string, Record<string, number>> = {};
    for (let row = 0; row < gaps.count; row += 1) {
      const columns = ['between', 'within', 'proof', 'since', 'sinceIndex', 'final'] as const;
      const set = columns.map((name) => [name, gaps[name].get(row)] as const).filter(([, index]) => index !== -1);
      found[`${gaps.key.get(row)}: ${gaps.after.get(row)}-${gaps.before.get(row)}`] = Object.fromEntries(set);
    }
    return found;
  }

  get back(): string[] {
    const tell = (how: string) => (step: Readers['stepsBack'][number]) =>
      `${how} ${step.from} to ${step.to} in ${step.index} after ${step.before}, row ${step.row}`;
    return [...this.readers.stepsBack.map(tell('between')), ...this.readers.stepsBackWithin.map(tell('within'))];
  }
}

const told = (): Told => new Told();

describe('a reader that goes forwards', () => {
  it('without passing over anything leaves nothing', () => {
    const { gaps, back } = told().poll(1, [3, 4]).poll(1, [5]).poll(1, []).poll(1, [6]);
    expect([gaps, back]).toEqual([{}, []]);
  });

  it('passes over what lies between two of its polls', () => {
    expect(told().poll(1, [3]).poll(1, [5]).poll(1, [6, 7]).poll(1, [11]).gaps).toEqual({
      '0: 3-5': { between: 2, proof: 2, since: 10, sinceIndex: 2 },
      '0: 7-11': { between: 4, proof: 4, since: 10, sinceIndex: 4 },
    });
  });

  it('passes over what lies between two records of one poll', () => {
    expect(told().poll(1, [3, 4, 6]).gaps).toEqual({ '0: 4-6': { within: 1, proof: 1, since: 10, sinceIndex: 1 } });
  });

  it('goes on in each key by itself', () => {
    expect(told().poll(1, [3]).poll(1, [8], { key: 1 }).poll(1, [4]).poll(1, [10], { key: 1 }).gaps).toEqual({
      '1: 8-10': { between: 4, proof: 4, since: 10, sinceIndex: 4 },
    });
  });

  it('like others has one gap with them: the first that passed over it, and the one that began last', () => {
    const gaps = told().poll(1, [3]).poll(2, [3]).poll(2, [5]).poll(1, [5]).poll(3, [3, 5]).gaps;
    expect(gaps).toEqual({ '0: 3-5': { between: 3, within: 5, proof: 3, since: 50, sinceIndex: 5 } });
  });

  it('is not told of a gap in which one that began later was already, nor twice of one that it passed over again', () => {
    const early = told().poll(1, [3]).poll(2, [3]).poll(2, [5]).poll(1, [5]);
    expect(early.gaps['0: 3-5']).toMatchObject({ since: 20, sinceIndex: 3 });
    const again = told().poll(1, [3]).poll(1, [5]).poll(1, [3]).poll(1, [5]);
    expect(again.gaps['0: 3-5']).toMatchObject({ between: 2, proof: 2, since: 10, sinceIndex: 2 });
  });

  it('has a gap of its own where only one end is another', () => {
    expect(
      Object.keys(told().poll(1, [3, 5]).poll(2, [3, 6]).poll(3, [2, 5]).poll(4, [3, 5], { key: 1 }).gaps),
    ).toEqual(['0: 3-5', '0: 3-6', '0: 2-5', '1: 3-5']);
  });
});

describe('a reader that goes back', () => {
  it('from one poll to the next, to the same record or a lower one', () => {
    const { back, readers } = told().poll(1, [3, 4]).poll(1, [4]).poll(1, [2]).poll(1, [3]);
    expect(back).toEqual(['between 4 to 4 in 2 after 1, row 4', 'between 4 to 2 in 3 after 2, row 4']);
    expect(readers.counts).toEqual({ stepsBack: 2, subscribedGaps: 0, subscribedStepsBack: 0, outOfRange: 0 });
  });

  it('within one poll', () => {
    const { back, readers } = told().poll(1, [3, 4, 4, 1]);
    expect(back).toEqual(['within 4 to 4 in 1 after 1, row 4', 'within 4 to 1 in 1 after 1, row 4']);
    expect(readers.counts.stepsBack).toBe(2);
  });

  it('within a poll of any outcome', () => {
    for (const type of ['fail', 'info'] as const)
      expect(told().poll(1, [3, 2, 5], { type })).toMatchObject({
        back: ['within 3 to 2 in 1 after 1, row 3'],
        gaps: { '0: 2-5': { within: 1 } },
      });
  });

  it('is told ten thousand times, and counted on', () => {
    const many = told();
    for (let count = 0; count < 10_005; count += 1) many.poll(1, [1]);
    expect(many.readers.stepsBack).toHaveLength(10_000);
    expect(many.readers.counts.stepsBack).toBe(10_004);
  });
});

describe('a poll that failed', () => {
  it('may or may not have moved the reader past what it read', () => {
    const after = (offset: number) => told().poll(1, [3]).poll(1, [4, 6], { type: 'info' }).poll(1, [offset]);
    const passed = { '0: 4-6': { within: 2 } };
    for (const offset of [4, 5, 6, 7]) expect([after(offset).gaps, after(offset).back]).toEqual([passed, []]);
    expect(after(8).gaps).toEqual({ ...passed, '0: 6-8': { between: 3 } });
    expect(after(3).back).toEqual(['between 3 to 3 in 3 after 1, row 3']);
  });

  it('counts from the furthest of several, and no more once a poll was ok', () => {
    const run = told().poll(1, [3]).poll(1, [6], { type: 'fail' }).poll(1, [4], { type: 'info' });
    expect(Object.keys(run.poll(1, [8]).gaps)).toEqual(['0: 3-6', '0: 6-8']);
    expect(run.poll(1, [9]).back).toEqual([]);
    expect(Object.keys(run.poll(1, [11]).gaps)).toContain('0: 9-11');
    expect(Object.keys(told().poll(1, [3]).poll(1, [9], { type: 'info' }).poll(1, [4]).poll(1, [6]).gaps)).toEqual([
      '0: 3-9',
      '0: 4-6',
    ]);
  });

  it('goes on from what the last ok poll read, and from nothing where there was none', () => {
    expect(told().poll(1, [5], { type: 'info' }).poll(1, [2]).back).toEqual([]);
    expect(told().poll(1, [5], { type: 'info' }).poll(1, [9]).gaps).toEqual({});
  });

  it('proves nothing, and what comes next proves only what is read without a break from there on', () => {
    expect(told().poll(1, [3]).poll(1, [5], { clean: false }).gaps).toEqual({ '0: 3-5': { between: 2 } });
    expect(told().poll(1, [3]).poll(1, [], { type: 'fail' }).poll(1, [5]).poll(1, [7]).gaps).toEqual({
      '0: 3-5': { between: 3 },
      '0: 5-7': { between: 4, proof: 4, since: 10, sinceIndex: 4 },
    });
  });
});

describe('a reader that reads everything back', () => {
  const final = (process: number): Told => {
    const run = told();
    run.readers.beginFinal(process);
    return run;
  };

  it('proves what is gone from the start of the log on', () => {
    expect(final(1).poll(1, [2]).poll(1, [4]).gaps).toEqual({
      '0: -1-2': { proof: 1, since: 10, sinceIndex: 1, final: 1 },
      '0: 2-4': { between: 2, proof: 2, since: 10, sinceIndex: 2, final: 2 },
    });
    expect(final(1).poll(1, [0]).gaps).toEqual({});
    expect(told().poll(1, [2]).gaps).toEqual({});
  });

  it('proves nothing of the start once a poll failed', () => {
    expect(final(1).poll(1, [], { clean: false }).poll(1, [2]).gaps).toEqual({});
    const late = told().poll(1, [], { type: 'fail' });
    late.readers.beginFinal(1);
    expect(late.poll(1, [2]).poll(1, [4]).gaps).toEqual({
      '0: 2-4': { between: 3, proof: 3, since: 10, sinceIndex: 3, final: 3 },
    });
    const read = told().poll(1, [7]);
    read.readers.beginFinal(1);
    expect(read.poll(1, [2], { key: 1 }).gaps).toEqual({});
  });

  it('is one whose polls are clean', () => {
    const run = final(1);
    expect(run.poll(1, []).readers.readsFinally).toBe(true);
    expect(run.poll(1, [], { clean: false }).readers.readsFinally).toBe(false);
    expect(run.poll(2, []).readers.readsFinally).toBe(false);
  });

  it('may be one that was assigned so', () => {
    const run = told().assign(1, [0], { final: true }).poll(1, [2]);
    expect(run.gaps).toEqual({ '0: -1-2': { proof: 1, since: 10, sinceIndex: 1, final: 1 } });
    expect(run.readers.readsFinally).toBe(true);
    expect(told().assign(1, [0]).poll(1, [2]).gaps).toEqual({});
  });
});

describe('an assignment', () => {
  it('of the same key lets its reader go on, and proves nothing of what it passes over then', () => {
    const run = told().poll(1, [3]).assign(1, [0]);
    expect(run.poll(1, [5]).gaps).toEqual({ '0: 3-5': { between: 2 } });
    expect(run.poll(1, [7]).gaps['0: 5-7']).toEqual({ between: 3, proof: 3, since: 20, sinceIndex: 3 });
    expect(told().poll(1, [3]).assign(1, [0]).poll(1, [3]).back).toEqual(['between 3 to 3 in 2 after 1, row 3']);
  });

  it.each<[string, (run: Told) => Told]>([
    ['that seeks', (run) => run.assign(1, [0], { sought: true })],
    ['of other keys', (run) => run.assign(1, [1])],
    ['that takes the key anew', (run) => run.assign(1, []).assign(1, [0])],
    ['of another kind', (run) => run.assign(1, [0], { subscribes: true })],
  ])('%s moves the reader', (_, assign) => {
    const { gaps, back, readers } = assign(told().poll(1, [3]))
      .poll(1, [9])
      .poll(1, [10]);
    expect([gaps, back]).toEqual([{}, []]);
    expect(readers.counts).toMatchObject({ subscribedGaps: 0, subscribedStepsBack: 0 });
    expect(assign(told().poll(1, [3])).poll(1, [1]).back).toEqual([]);
  });

  it('of another process moves nobody else', () => {
    expect(told().poll(1, [3]).assign(2, [0], { sought: true }).poll(1, [1]).back).toHaveLength(1);
  });
});

describe('who has subscribed', () => {
  it('is moved by the group: what it skips or repeats between polls is only counted', () => {
    const run = told().assign(1, [0], { subscribes: true }).poll(1, [3]).poll(1, [5]).poll(1, [5]).poll(1, [6]);
    expect([run.gaps, run.back]).toEqual([{}, []]);
    expect(run.readers.counts).toEqual({ stepsBack: 0, subscribedGaps: 1, subscribedStepsBack: 1, outOfRange: 0 });
  });

  it('is judged within one poll, unless its keys changed hands then', () => {
    const subscribed = () => told().assign(1, [0], { subscribes: true });
    expect(subscribed().poll(1, [3, 5, 4])).toMatchObject({
      gaps: { '0: 3-5': { within: 1 } },
      back: ['within 5 to 4 in 1 after 1, row 5'],
    });
    const rebalanced = (key: number) => subscribed().poll(1, [3, 5, 4], { rebalanced: new Set([key]) });
    expect([rebalanced(0).gaps, rebalanced(0).back]).toEqual([{}, []]);
    expect(rebalanced(1).back).toHaveLength(1);
  });

  it('goes on where it was when it subscribes again', () => {
    const run = told().assign(1, [0], { subscribes: true }).poll(1, [3]).assign(1, [0], { subscribes: true });
    expect(run.poll(1, [5]).readers.counts.subscribedGaps).toBe(1);
  });
});

describe('a position that a broker denied', () => {
  it('lets the reader start over in that key', () => {
    const run = told().poll(1, [3]).poll(1, [3], { key: 1 });
    run.readers.outOfRange(1, 0);
    run.readers.outOfRange(1, 0);
    run.readers.outOfRange(9, 0);
    expect(run.readers.counts.outOfRange).toBe(1);
    expect(run.poll(1, [0]).back).toEqual([]);
    expect(run.poll(1, [1], { key: 1 }).back).toHaveLength(1);
  });

  it('may be any of them', () => {
    const run = told().poll(1, [3]).poll(1, [3], { key: 1 }).poll(2, [3]);
    run.readers.outOfRangeEverywhere(1);
    run.readers.outOfRangeEverywhere(9);
    expect(run.readers.counts.outOfRange).toBe(2);
    expect(run.poll(1, [0]).poll(1, [0], { key: 1 }).back).toEqual([]);
    expect(run.poll(2, [0]).back).toHaveLength(1);
  });
});

describe('a process that ends', () => {
  it('begins anew when it is seen again', () => {
    const run = told().poll(1, [3]);
    run.readers.end(1);
    run.readers.end(7);
    expect(run.poll(1, [1]).poll(1, [5]).gaps).toEqual({
      '0: 1-5': { between: 3, proof: 3, since: 20, sinceIndex: 3 },
    });
    expect(run.back).toEqual([]);
  });
});

describe('the longest lag', () => {
  /** The offsets were first seen at these times, in nanoseconds. */
  const seen = (...times: readonly (readonly [offset: number, time: number])[]): Told => {
    const run = told();
    for (const [offset, time] of times) run.rows.sawAt(0, offset, offset, 0, time);
    return run;
  };

  it('is how long a reader went on polling without a record that was known', () => {
    const run = seen([3, 0], [4, 100]).poll(1, [3]).poll(1, [4], { invokedAt: 350 });
    expect(run.readers.longestLag).toBe(250);
    expect(run.poll(1, [5], { invokedAt: 900 }).readers.longestLag).toBe(250);
  });

  it('counts also what it had not been given in the end', () => {
    const run = seen([3, 0], [4, 100]).poll(1, [3]).poll(1, [], { invokedAt: 350 }).poll(2, []);
    expect(run.readers.longestLag).toBe(0);
    run.readers.endAll();
    expect(run.readers.longestLag).toBe(250);
    const ended = seen([3, 0], [4, 100]).poll(1, [3]).poll(1, [], { invokedAt: 350, type: 'fail', clean: false });
    ended.readers.end(1);
    expect(ended.readers.longestLag).toBe(0);
  });

  it('is none where nothing more was known, or a poll failed, or the reader had read nothing', () => {
    expect(seen([3, 0]).poll(1, [3]).poll(1, [4], { invokedAt: 350 }).readers.longestLag).toBe(0);
    expect(
      seen([3, 0], [4, 100]).poll(1, [3]).poll(1, [4], { invokedAt: 350, type: 'info', clean: false }).readers
        .longestLag,
    ).toBe(0);
    const late = seen([3, 0], [4, 100]).poll(1, [4], { type: 'fail', invokedAt: 350 }).poll(1, [], { invokedAt: 400 });
    late.readers.endAll();
    expect(late.readers.longestLag).toBe(0);
    const first = seen([1, 0], [4, 100]).poll(1, [1]).poll(1, [], { invokedAt: 400 });
    first.readers.endAll();
    expect(first.readers.longestLag).toBe(300);
  });
});
