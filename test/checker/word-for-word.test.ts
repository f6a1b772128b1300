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
import { s10, s11, s1a, s1aPrime, s1b, s2, s3b } from './schedules.ts';
import { sheaf } from './sheaves.ts';
import { historyInput, Story } from './story.ts';
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

  it.each([leaders, finalLogs, tales])('random runs of the family $name', (family) => {
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
