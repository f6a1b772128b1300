/** Each mark in a smallest trace that hits it, and in a neighbour that does not. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Operation } from '../../../checker/history.ts';
import type { Exposure } from '../../../checker/results.ts';
import { allMarks, marks, marksOf, type Mark } from '../../../harness/explore/marks.ts';
import type { TraceLine } from '../../../nemesis/ports.ts';
import {
  ack,
  append,
  create,
  election,
  follows,
  hw,
  isrChange,
  leads,
  recover,
  traceOf,
  truncation,
} from './trace-lines.ts';

const all = [1, 2, 3];

function marksIn(trace: readonly TraceLine[], history: readonly Partial<Operation>[] = []): readonly Mark[] {
  return [...marksOf(trace, history as readonly Operation[], { exposures: [] })];
}

interface Case {
  readonly mark: Mark;
  readonly hit: readonly TraceLine[];
  readonly near: readonly TraceLine[];
}

const ledByOne = [create(...all), election(0, 1, all), leads(1, 0, 0, 0), follows(2, 1, 0, 0, 0)] as const;

const cases: readonly Case[] = [
  {
    mark: 'truncation-below-acknowledged',
    hit: traceOf(...ledByOne, append(1, 0, 0), append(2, 0, 0), ack(1, 0), truncation(2, 1, 1, 0, 'high-watermark')),
    near: traceOf(...ledByOne, append(1, 0, 0), append(2, 0, 0), truncation(2, 1, 1, 0, 'high-watermark'), ack(1, 0)),
  },
  {
    mark: 'two-elections-in-a-row',
    hit: traceOf(...ledByOne, election(1, 2, all), election(2, 3, all)),
    near: traceOf(...ledByOne, election(1, 2, all), leads(2, 1, 0, 0), election(2, 3, all)),
  },
  {
    mark: 'unacknowledged-tail-survived',
    hit: traceOf(...ledByOne, append(1, 0, 0), append(2, 0, 0), election(1, 2, all), leads(2, 1, 1, 0), hw(2, 0, 1)),
    near: traceOf(
      ...ledByOne,
      append(1, 0, 0),
      append(2, 0, 0),
      ack(1, 0),
      election(1, 2, all),
      leads(2, 1, 1, 0),
      hw(2, 0, 1),
    ),
  },
  {
    mark: 'fenced-fetch',
    hit: traceOf({ node: 1, event: 'fenced', by: 'Fetch' }),
    near: traceOf({ node: 1, event: 'fenced', by: 'Produce' }),
  },
  {
    mark: 'fenced-epoch-question',
    hit: traceOf({ node: 1, event: 'fenced', by: 'OffsetForLeaderEpoch' }),
    near: traceOf({ node: 1, event: 'fenced', by: 'Fetch' }),
  },
  {
    mark: 'isr-of-one',
    hit: traceOf(...ledByOne, isrChange(0, all, [1])),
    near: traceOf(...ledByOne, isrChange(0, all, [1, 2])),
  },
  {
    mark: 'leader-returned',
    hit: traceOf(...ledByOne, election(1, null, [1]), recover(1, 0, 0), election(2, 1, [1])),
    near: traceOf(...ledByOne, election(1, 2, [2]), recover(1, 0, 0), election(2, 1, [1])),
  },
  {
    mark: 'hw-lag-at-election',
    hit: traceOf(...ledByOne, hw(1, 0, 1), election(1, 2, all), leads(2, 1, 1, 0)),
    near: traceOf(...ledByOne, hw(1, 0, 1), election(1, 2, all), leads(2, 1, 1, 1)),
  },
  {
    mark: 'leader-missed-epoch',
    hit: traceOf(...ledByOne, follows(1, 3, 2, 0, 0)),
    near: traceOf(...ledByOne, follows(1, 3, 1, 0, 0)),
  },
  {
    mark: 'follower-missed-epoch',
    hit: traceOf(...ledByOne, follows(2, 3, 2, 0, 0)),
    near: traceOf(...ledByOne, recover(2, 0, 0), follows(2, 3, 2, 0, 0)),
  },
  {
    mark: 'old-leader-appended',
    hit: traceOf(...ledByOne, election(1, 2, all), append(1, 0, 0)),
    near: traceOf(...ledByOne, append(1, 0, 0), election(1, 2, all)),
  },
  {
    mark: 'epoch-answered-below',
    hit: traceOf(
      truncation(2, 3, 3, 1, 'leader-epoch', { question: { epoch: 2 }, answer: { epoch: 0, endOffset: 1 } }),
    ),
    near: traceOf(
      truncation(2, 3, 3, 1, 'leader-epoch', { question: { epoch: 2 }, answer: { epoch: 2, endOffset: 1 } }),
    ),
  },
  {
    mark: 'truncated-in-steps',
    hit: traceOf(truncation(2, 3, 3, 2, 'leader-epoch'), truncation(2, 3, 2, 1, 'leader-epoch')),
    near: traceOf(truncation(2, 3, 3, 2, 'leader-epoch'), truncation(2, 4, 2, 1, 'leader-epoch')),
  },
  {
    mark: 'logs-had-parted',
    hit: traceOf(
      ...ledByOne,
      append(1, 0, 0),
      election(1, 2, all),
      leads(2, 1, 0, 0),
      append(2, 0, 1),
      follows(1, 2, 1, 1, 0),
    ),
    near: traceOf(...ledByOne, append(1, 0, 0), election(1, 2, all), leads(2, 1, 0, 0), follows(1, 2, 1, 1, 0)),
  },
  {
    mark: 'unclean-election',
    hit: traceOf(...ledByOne, election(1, 2, [2], false)),
    near: traceOf(...ledByOne, election(1, 2, all)),
  },
  {
    mark: 'power-loss-cut-tail',
    hit: traceOf(recover(1, 3, 2, 'power-loss')),
    near: traceOf(recover(1, 3, 3, 'power-loss')),
  },
  {
    mark: 'offset-out-of-range',
    hit: traceOf(truncation(2, 1, 3, 2, 'offset-out-of-range')),
    near: traceOf(truncation(2, 1, 3, 2, 'high-watermark')),
  },
  {
    mark: 'isr-change-at-election',
    hit: traceOf(...ledByOne, isrChange(0, all, [1, 2], 'broker-1.1#7'), election(1, 2, all)),
    near: traceOf(...ledByOne, isrChange(0, all, [1, 2], 'broker-1.1#7'), hw(1, 0, 1), election(1, 2, all)),
  },
  {
    mark: 'isr-grew-again',
    hit: traceOf(...ledByOne, isrChange(0, [1], [1, 2])),
    near: traceOf(...ledByOne, isrChange(0, [1, 2], [1])),
  },
  {
    mark: 'controller-restarted',
    hit: traceOf({ node: 'controller', event: 'start', boot: 2 }),
    near: traceOf({ node: 'controller', event: 'start', boot: 1 }),
  },
  {
    mark: 'leaderless',
    hit: traceOf(...ledByOne, election(1, null, [1])),
    near: traceOf(...ledByOne, election(1, 2, [1])),
  },
];

describe('the mark', () => {
  it.each(cases)('$mark is hit by its smallest trace, and not by a neighbour of it', ({ mark, hit, near }) => {
    expect(marksIn(hit)).toContain(mark);
    expect(marksIn(near)).not.toContain(mark);
  });

  it('refused-by-min-isr comes from the history', () => {
    expect(marksIn([], [{ type: 'fail', error: 'NOT_ENOUGH_REPLICAS' }])).toEqual(['refused-by-min-isr']);
    expect(marksIn([], [{ type: 'fail', error: 'timeout' }])).toEqual([]);
  });

  it('exposure is the checker’s', () => {
    expect([...marksOf([], [], { exposures: [{} as Exposure] })]).toEqual(['exposure']);
    expect([...marksOf([], [], { exposures: null })]).toEqual([]);
  });

  it('of every name has a case here', () => {
    const tested = new Set<Mark>([...cases.map(({ mark }) => mark), 'refused-by-min-isr', 'exposure']);
    expect(tested).toEqual(new Set(allMarks));
  });

  it('of every name stands in the documentation, with what it means', () => {
    const page = readFileSync('docs/exploring.md', 'utf8');
    for (const mark of allMarks) expect(page).toContain(`| \`${mark}\` | ${marks[mark]} |`);
  });

  it('isr-change-at-election is none where the leader had long time to hear', () => {
    const trace = traceOf(...ledByOne, isrChange(0, all, [1, 2], 'broker-1.1#7'), {
      ...election(1, 2, all),
      time: 1e9,
    });
    expect(marksIn(trace)).not.toContain('isr-change-at-election');
  });
});

it('a high watermark over no replicas is a follower’s, whether the line leaves them out or has room for them', () => {
  const elected = [...ledByOne, append(1, 0, 0), append(2, 0, 0), election(1, 2, all), leads(2, 1, 1, 0)] as const;
  const told = hw(2, 0, 1, false);
  for (const line of [told, { ...told, isr: undefined }])
    expect(marksIn(traceOf(...elected, line))).not.toContain('unacknowledged-tail-survived');
  expect(marksIn(traceOf(...elected, hw(2, 0, 1)))).toContain('unacknowledged-tail-survived');
});
