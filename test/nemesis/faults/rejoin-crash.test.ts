/** The composite, step by step, with the lines that a real cluster would write. */
import { describe, expect, it } from 'vitest';
import { drawRejoinCrash } from '../../../nemesis/faults/rejoin-crash.ts';
import type { Fault } from '../../../nemesis/schedule.ts';
import { createStage, elect, healthy, scheduleOf } from '../stage.ts';
import type { Stage } from '../stage.ts';

/** Draws the smallest number, and the first of what is offered. */
const smallest = {
  int: (from: number) => from,
  chance: () => false,
  pick: <T>(items: readonly T[]): T => items[0] as T,
  shuffle: <T>(items: readonly T[]): T[] => [...items],
};

function rejoin(): Fault {
  const context = { partitions: ['tide-0'], brokers: [1, 2, 3], sessionTimeoutMs: 1_500, lagTimeMs: 2_000 };
  return {
    ...drawRejoinCrash(context, smallest),
    id: 'f1',
    at: { await: { seen: 'full-isr' }, fromMs: 500, deadlineMs: 3_000 },
  };
}

function play(fault: Fault = rejoin()): Stage {
  const stage = createStage(scheduleOf(30_000, fault));
  stage.give({ type: 'start' });
  healthy(stage);
  stage.pass(500);
  elect(stage, 'tide-0', 3, 1, [1, 2, 3], [1, 2, 3]);
  return stage;
}

function isrOf(stage: Stage, leaderEpoch: number, from: readonly number[], to: readonly number[]): void {
  stage.trace('controller', 'isr', { partition: 'tide-0', leaderEpoch, from, to });
}

describe('rejoin-crash', () => {
  it('lets a follower leave the ISR, moves the leadership, and ends the new leader as soon as the follower is back', () => {
    const stage = play();
    stage.pass(1_500);
    isrOf(stage, 1, [1, 2, 3], [2, 3]);
    stage.pass(20);
    elect(stage, 'tide-0', 2, 2, [2, 3], [2, 3]);
    stage.pass(200);
    isrOf(stage, 2, [2, 3], [1, 2, 3]);
    stage.pass(1_600);
    elect(stage, 'tide-0', 1, 3, [1, 3], [1, 3]);
    stage.pass(1_000);
    expect(stage.log).toEqual([
      '500 start f1',
      '500 move tide-0 to 3',
      '500 links [1→3 3→1]',
      '750 links [1→3 2→3 3→1 3→2]',
      '750 links [1→3 2→3 3→1 3→2] slow [2→1 by 50]',
      '2000 move tide-0 to 2',
      '2220 links [1→3 2→1 2→3 3→1 3→2] slow [2→1 by 50]',
      '2220 kill 2',
      '3920 links []',
      '3920 start 2',
      '3920 end f1',
    ]);
    expect(stage.records.at(-1)).toMatchObject({
      nodes: { leader: 3, 'next-leader': 2, follower: 1 },
      effective: true,
    });
  });

  it('ends the new leader all the same where the follower does not come back, as under a build that makes it wait', () => {
    const stage = play();
    stage.pass(1_500);
    isrOf(stage, 1, [1, 2, 3], [2, 3]);
    elect(stage, 'tide-0', 2, 2, [2, 3], [2, 3]);
    stage.pass(2_000);
    expect(stage.log).toContain('4000 kill 2');
  });

  it('gives up and heals when the follower stays in the ISR, and is not effective', () => {
    const stage = play();
    stage.pass(6_000);
    expect(stage.log.slice(-2)).toEqual(['4750 links []', '4750 end f1']);
    expect(stage.records.at(-1)).toMatchObject({ effective: false });
    expect(stage.records.at(-1)?.steps?.at(-1)).toMatchObject({
      step: 'await follower is out of the ISR of tide-0',
      came: false,
    });
  });

  it('has no roles for two replicas', () => {
    const stage = createStage(scheduleOf(30_000, rejoin()));
    stage.give({ type: 'start' });
    healthy(stage);
    isrOf(stage, 0, [1, 2, 3], [1, 2]);
    stage.pass(6_000);
    expect(stage.log).toEqual(['4000 start f1', '4000 end f1']);
  });
});
