/**
 * Whole findings, word for word: of the smallest history of each kind and its nearest neighbour that is sound, of a few
 * random ones of each family, and of the failure schedules of Kafka's proposals. The twins say that the verdicts are
 * right; these files hold what is said, shown and referred to.
 */
import { describe, expect, it } from 'vitest';
import { checkRun } from '../../checker/check.ts';
import type { Operation } from '../../checker/history.ts';
import type { RunResults } from '../../checker/results.ts';
import { expectGolden } from '../golden.ts';
import { findingsText } from './findings-text.ts';
import { grounded } from './grounded.ts';
import { keepers } from './keepers.ts';
import { s10, s11, s1a, s1aPrime, s1b, s2, s3b } from './schedules.ts';
import { sheaf } from './sheaves.ts';
import { historyInput, quiet, Story } from './story.ts';
import { brawl } from './twins/brawls.ts';
import { finalLogs } from './twins/final-logs.ts';
import { leaders } from './twins/leaders.ts';
import { losses } from './twins/losses.ts';
import { places } from './twins/places.ts';
import { Plot } from './twins/plant.ts';
import { Draws } from './twins/random.ts';
import { readerOrder } from './twins/reader-order.ts';
import { sendOrder } from './twins/send-order.ts';
import { tales } from './twins/tales.ts';
import { transactions } from './twins/transactions.ts';
import { wreck } from './wrecks.ts';

const directory = 'test/checker/golden/words';

function expectWords(name: string, parts: readonly (readonly [title: string, results: RunResults])[]): void {
  const text = parts.map(([title, results]) => `# ${title}\n${findingsText(results)}`).join('\n');
  expectGolden(`${directory}/${name}.txt`, text);
}

function ofHistory(history: Operation[]): RunResults {
  return checkRun(historyInput([], { history }));
}

describe('what is said of', () => {
  it.each([places, losses, readerOrder, sendOrder, transactions])(
    'the smallest histories of the family $name',
    ({ name, plants }) => {
      const told = (tell: (plot: Plot) => void): RunResults => {
        const history: Operation[] = [];
        tell(new Plot(history, 0));
        return ofHistory(history);
      };
      const parts = Object.entries(plants).flatMap(([kind, [present, near]]) => [
        [kind, told(present)] as const,
        [`nearly ${kind}`, told(near)] as const,
      ]);
      expectWords(`smallest-${name.replaceAll(' ', '-')}`, parts);
    },
  );

  it.each([places, losses, readerOrder, sendOrder, transactions])('random histories of the family $name', (family) => {
    const parts = seeds.map((seed) => [`seed ${seed}`, ofHistory(family.generate(new Draws(seed)))] as const);
    expectWords(`random-${family.name.replaceAll(' ', '-')}`, parts);
  });

  it.each([places, losses, readerOrder, sendOrder, transactions])(
    'random histories of the family $name with the logs that their leaders left',
    (family) => {
      const parts = Array.from({ length: 20 }, (_, seed) => {
        return [`seed ${seed}`, checkRun(grounded(new Draws(1000 + seed), family))] as const;
      });
      expectWords(`grounded-${family.name.replaceAll(' ', '-')}`, parts);
    },
  );

  it.each([leaders, finalLogs])('random runs of the family $name', (family) => {
    const parts = seeds.map((seed) => [`seed ${seed}`, checkRun(family.generate(new Draws(seed)))] as const);
    expectWords(`random-${family.name.replaceAll(' ', '-')}`, parts);
  });

  it.each([
    ['log-start', { event: 'log-start', from: 0, to: 2, reason: 'truncate-and-start' }],
    ['deletion', { event: 'delete' }],
  ])('a copy that went by a moved log start or with its replica: %s', (name, line) => {
    const story = new Story({ minInsyncReplicas: 1, uncleanElection: true });
    story.begin(3, [1, 2, 3]);
    story.commit(1);
    story.isr([1, 3]);
    story.send(2);
    story.copy(3, 1);
    story.hw(2, 3);
    story.ack(2);
    story.line(1, { ...line, partition: 'tide-0', leaderEpoch: 0 });
    story.begin(2, [2], { clean: false });
    story.restart(3, 1);
    story.follow(3);
    story.truncateByEpoch(3, 1, 2, 0, 1);
    story.settle((node) => story.follow(node));
    expectWords(`dropped-by-${name}`, [['a loss', story.check()]]);
  });

  it.each([
    ['s1a-hw', () => s1a('hw')],
    ['s1a-epoch', () => s1a('epoch')],
    ['s1a-prime-hw', () => s1aPrime('hw')],
    ['s1a-prime-epoch', () => s1aPrime('epoch')],
    ['s1b', s1b],
    ['s2-hw', () => s2('hw')],
    ['s2-epoch', () => s2('epoch')],
    ['s3b-kip101', s3b],
    ['s10', s10],
    ['s11', s11],
  ] as const)('the schedule %s, with its trace and without', (name, tell) => {
    const story = tell();
    expectWords(`schedule-${name}`, [
      ['with its trace', story.check()],
      ['without its trace', story.check({ trace: null })],
      ['by its history alone', story.check({ trace: null, logs: null })],
      ['as a run that was stopped', story.check({ run: { ...story.input().run, settled: null }, logs: null })],
    ]);
  });
});

describe('what is said of', () => {
  const where = { partition: 'tide-0', leaderEpoch: 0 };
  const batchOf = (base: number, hash: string, epoch = 0): object => ({ base, last: base, epoch, hash });

  /** Brokers 3 and 2 lead one epoch and both write. */
  function usurped(how: { readonly clean: boolean; readonly nobody: boolean }): Story {
    const story = new Story();
    if (how.nobody) story.elect(null, [3], { clean: how.clean, reason: 'fenced' });
    story.begin(3, [1, 2, 3], { clean: how.clean });
    story.commit(1);
    const epoch = how.nobody ? 1 : 0;
    const role = { event: 'role', partition: 'tide-0', leaderEpoch: epoch, role: 'leader', leader: 2, hw: 1 };
    story.line(2, { ...role, leo: 1, isr: [2] });
    story.line(2, { event: 'append', ...where, leaderEpoch: epoch, batches: [batchOf(1, '0000000a', epoch)] });
    story.truncate(2, 1, 'high-watermark', { highWatermark: 1 });
    return story;
  }

  it('leaders that break a rule', () => {
    const deleted = usurped({ clean: true, nobody: false });
    deleted.hw(0, 3);
    deleted.line('controller', { event: 'delete', partition: 'tide-0' });
    const fallen = quiet(3);
    fallen.hw(1, 3);
    fallen.hw(2, 3);
    fallen.hw(0, 3);
    fallen.hw(3, 3);
    const below = new Story({ minInsyncReplicas: 3 });
    below.begin(3, [1, 2, 3]);
    for (let value = 1; value <= 7; value += 1) {
      if (value === 4) below.begin(1, [1, 2, 3], { clean: false });
      below.send(value);
      const leader = value < 4 ? 3 : 1;
      below.copy(leader, ...[1, 2, 3].filter((node) => node !== leader));
      below.hw(below.end(leader), 1, 2, 3);
      below.ack(value, leader, value === 1 ? [] : value === 2 ? [1, 2, 3] : [1, 2]);
    }
    const contradicting = (offsets: readonly number[]): Story => {
      const story = quiet(1);
      for (const [node, hash] of [
        [2, '0000000a'],
        [1, '0000000b'],
      ] as const) {
        story.line(node, { event: 'append', ...where, batches: offsets.map((offset) => batchOf(offset, hash)) });
        story.truncate(node, 1, 'high-watermark', { highWatermark: 1 });
      }
      return story;
    };
    expectWords('leaders', [
      ['different bytes in one epoch', contradicting([1]).check()],
      ['different bytes in one epoch at several offsets', contradicting([1, 2, 3]).check()],
      ['two in one epoch', usurped({ clean: true, nobody: false }).check()],
      ['two in one epoch that began uncleanly after nobody led', usurped({ clean: false, nobody: true }).check()],
      ['two in one epoch of a topic that was deleted', deleted.check()],
      ['a high watermark that falls twice', fallen.check()],
      ['acknowledgements below the minimum', below.check()],
      ['the same, of a run that was stopped', below.check({ run: { ...below.input().run, settled: null } })],
    ]);
  });

  it('losses after many elections, and among faults that came and went', () => {
    const elected = (times: number): Story => {
      const story = new Story({ minInsyncReplicas: 1, uncleanElection: true });
      story.begin(3, [1, 2, 3]);
      story.commit(1);
      story.isr([3]);
      story.send(2);
      story.hw(2, 3);
      story.ack(2);
      for (let count = 1; count < times; count += 1) story.elect(count % 2 === 0 ? 3 : null, [3]);
      story.begin(1, [1], { clean: false });
      story.restart(3, 2);
      story.settle((node) => {
        story.follow(node);
        if (story.end(node) > 1) story.truncateByEpoch(node, 1, 1, 0, 0);
      });
      return story;
    };
    const faulty = new Story({ minInsyncReplicas: 1, uncleanElection: true });
    faulty.fault('f1', 'crash', { leader: 3 });
    faulty.fault('f1', 'crash', { leader: 3 }, 'end');
    faulty.fault('f2', 'pause', {});
    faulty.begin(3, [1, 2, 3]);
    faulty.commit(1);
    faulty.isr([3]);
    faulty.fault('f3', 'partition', { one: 1, two: 2 });
    faulty.send(2);
    faulty.hw(2, 3);
    faulty.ack(2);
    faulty.fault('f2', 'pause', {}, 'end');
    faulty.begin(1, [1], { clean: false });
    faulty.restart(3, 2);
    faulty.settle((node) => {
      faulty.follow(node);
      if (faulty.end(node) > 1) faulty.truncateByEpoch(node, 1, 1, 0, 0);
    });
    faulty.fault('f3', 'partition', { one: 1, two: 2 }, 'end');
    faulty.fault('f4', 'crash', { leader: 1 });
    expectWords('losses', [
      ['after eight elections', elected(8).check()],
      ['after nine elections', elected(9).check()],
      ['after twelve elections', elected(12).check()],
      ['among faults', faulty.check()],
    ]);
  });

  it('logs that start later, and epochs that go back', () => {
    const moved = (reason: string | null, to: number): Story => {
      const story = quiet(4);
      for (const node of [3, 1]) story.line(node, { event: 'log-start', ...where, from: 0, to, reason });
      story.line(3, { event: 'log-start', ...where, partition: 'other-0', from: 0, to: 9, reason: 'retention' });
      return story;
    };
    const startingAt = (story: Story, logStart: number): RunResults =>
      story.check({
        logs: { nodes: [1, 2, 3], files: story.files().map((file) => ({ ...file, logStart })) },
      });
    const withEpochs = (epochs: readonly (readonly [number, number])[]): RunResults => {
      const story = quiet(2);
      const files = story.files().map((file) => (file.node === 2 ? { ...file, epochs } : file));
      return story.check({ logs: { nodes: [1, 2, 3], files } });
    };
    const backwards = quiet(1);
    backwards.line(2, { event: 'append', ...where, batches: [batchOf(1, '0000000a', 5), batchOf(2, '0000000b', 3)] });
    backwards.line(2, { event: 'append', ...where, batches: [batchOf(3, '0000000c', 2)] });
    backwards.truncate(2, 1, 'high-watermark', { highWatermark: 1 });
    const planted = quiet(1);
    planted.plant(2, 60, 1, 7);
    planted.plant(2, 61, 2, 3);
    expectWords('log-starts-and-epochs', [
      ['a start that moved for no reason', startingAt(moved(null, 3), 3)],
      ['a start that moved for a reason of no worth', startingAt(moved('behind-leader-start', 2), 2)],
      ['a start that moved further than was recorded', startingAt(moved('delete-records', 2), 3)],
      ['a start that moved by retention', startingAt(moved('retention-time', 3), 3)],
      [
        'a checkpoint whose epochs go back',
        withEpochs([
          [0, 0],
          [2, 1],
          [1, 2],
        ]),
      ],
      [
        'a checkpoint whose offsets stand still',
        withEpochs([
          [0, 0],
          [2, 0],
        ]),
      ],
      [
        'a checkpoint that is in order',
        withEpochs([
          [0, 0],
          [2, 1],
        ]),
      ],
      ['a log whose epochs went back for a while', backwards.check()],
      ['a log whose epochs go back', planted.check()],
      ['both', planted.check({ trace: backwards.trace })],
    ]);
  });
});

describe('what is said of brawls', () => {
  it.each([0, 1, 2, 3, 4])('as in golden file %i', (part) => {
    const drawn = Array.from({ length: 14 }, (_, at) => part * 14 + at);
    expectWords(
      `brawls-${part}`,
      drawn.map((seed) => [`brawl ${seed}`, ofHistory(brawl(new Draws(seed), ['a-0', 'b-0']))] as const),
    );
  });

  it('refers to operations that there are', () => {
    for (let seed = 0; seed < 80; seed += 1) {
      const history = brawl(new Draws(seed), ['a-0', 'b-0']);
      for (const { evidence, consequences } of ofHistory(history).anomalies) {
        for (const reference of [...evidence, ...consequences.flatMap((each) => each.evidence)]) {
          expect(reference.source === 'history' && history[reference.index] !== undefined, `seed ${seed}`).toBe(true);
        }
      }
    }
  });
});

describe('what is said of tales', () => {
  it.each([0, 1, 2, 3])('as in golden file %i', (part) => {
    const drawn = Array.from({ length: 14 }, (_, at) => 100 + part * 14 + at);
    expectWords(
      `tales-${part}`,
      drawn.map((seed) => [`tale ${seed}`, checkRun(tales.generate(new Draws(seed)))] as const),
    );
  });
});

describe('what is said of followers that keep what they had', () => {
  it.each([0, 1, 2])('as in golden file %i', (part) => {
    const drawn = Array.from({ length: 16 }, (_, at) => part * 16 + at);
    expectWords(
      `keepers-${part}`,
      drawn.map((seed) => [`story ${seed}`, keepers(new Draws(seed)).check()] as const),
    );
  });
});

describe('what is said of wrecks of runs', () => {
  it.each([0, 1, 2, 3, 4, 5])('as in golden file %i', (part) => {
    const drawn = Array.from({ length: 12 }, (_, at) => part * 12 + at);
    expectWords(
      `wrecks-${part}`,
      drawn.map((seed) => [`wreck ${seed}`, checkRun(wreck(new Draws(seed)))] as const),
    );
  });
});

describe('what is said of replicas whose batches differ in bounds, formats and records', () => {
  it.each([0, 1, 2, 3, 4])('as in golden file %i', (part) => {
    const drawn = Array.from({ length: 16 }, (_, at) => part * 16 + at);
    expectWords(
      `sheaves-${part}`,
      drawn.map((seed) => [`sheaf ${seed}`, checkRun(sheaf(new Draws(seed)))] as const),
    );
  });
});

describe('the order in which the traces of brokers come', () => {
  it.each([
    ['s1a', () => s1a('hw')],
    ['s1a-prime', () => s1aPrime('hw')],
    ['s2', () => s2('hw')],
    ['s3b', s3b],
    ['s10', s10],
  ] as const)('changes nothing of what is said: %s', (_, tell) => {
    const story = tell();
    const nodeOf = (line: string): number => Number((JSON.parse(line) as { node: unknown }).node);
    const trace = story.trace.toSorted((x, y) => nodeOf(y) - nodeOf(x));
    expect(findingsText(story.check({ trace }))).toBe(findingsText(story.check()));
  });
});

const seeds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
