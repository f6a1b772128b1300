/** The composite, step by step, with the lines that a real cluster would write. */
import { describe, expect, it } from 'vitest';
import { drawHandoverCrash } from '../../nemesis/faults/handover-crash.ts';
import type { Fault, HandoverCrashFault } from '../../nemesis/schedule.ts';
import { acknowledge, createStage, elect, healthy, scheduleOf, takeRole } from './stage.ts';
import type { Stage } from './stage.ts';

/** Draws that always take the first of what is offered, and the smallest number; `ending` picks the first end. */
const draws = (ending: 'pause' | 'kill' | 'move') => ({
  int: (from: number) => from,
  chance: () => false,
  pick: <T>(items: readonly T[]): T => items.find((item) => item === ending) ?? (items[0] as T),
  shuffle: <T>(items: readonly T[]): T[] => [...items],
});

function handover(ending: 'pause' | 'kill' | 'move'): Fault {
  const context = { partitions: ['tide-0'], brokers: [1, 2, 3], sessionTimeoutMs: 1_500, lagTimeMs: 2_000 };
  const drawn: Omit<HandoverCrashFault, 'id' | 'at'> = drawHandoverCrash(context, draws(ending));
  return { ...drawn, id: 'f1', at: { await: { seen: 'full-isr' }, fromMs: 500, deadlineMs: 3_000 } };
}

function play(fault: Fault): Stage {
  const stage = createStage(scheduleOf(20_000, fault));
  stage.give({ type: 'start' });
  healthy(stage);
  stage.pass(600);
  return stage;
}

describe('handover-crash', () => {
  it('ends the leader, then the next leader once the follower has its role, and lets them come back', () => {
    const stage = play(handover('kill'));
    stage.pass(40);
    acknowledge(stage, 'tide-0', 1);
    stage.pass(1_500);
    elect(stage, 'tide-0', 2, 1, [2, 3], [2]);
    stage.pass(20);
    takeRole(stage, 'tide-0', 3, 2, 1);
    stage.pass(1_600);
    elect(stage, 'tide-0', 3, 2, [3], [3]);
    stage.pass(1_000);
    expect(stage.log).toEqual([
      '500 start f1',
      '640 links [1→3 2→3]',
      '660 kill 1',
      '2160 kill 2',
      '3860 links []',
      '3860 start 1',
      '4160 start 2',
      '4160 end f1',
    ]);
    expect(stage.records.at(-1)).toMatchObject({
      nodes: { leader: 1, 'next-leader': 2, follower: 3 },
      effective: true,
    });
  });

  it('with a planned move it first makes the last in assignment order the leader, so that the follower comes before it', () => {
    const stage = play(handover('move'));
    elect(stage, 'tide-0', 3, 1, [1, 2, 3], [1, 2, 3]);
    stage.pass(10);
    stage.trace(3, 'ack', { partition: 'tide-0', leaderEpoch: 1, base: 4, last: 4, acks: -1 });
    stage.pass(10);
    elect(stage, 'tide-0', 2, 2, [1, 2, 3], [2, 1]);
    stage.pass(1_600);
    elect(stage, 'tide-0', 1, 3, [1, 3], [1]);
    stage.pass(1_000);
    expect(stage.log).toEqual([
      '500 start f1',
      '500 move tide-0 to 3',
      '600 links [2→1]',
      '610 move tide-0 to 2',
      '620 pause 2',
      '2320 links []',
      '2320 resume 2',
      '2320 end f1',
    ]);
    expect(stage.records.at(-1)).toMatchObject({ effective: true });
  });

  it('waits for a full ISR before it begins, and tells in its record that it came', () => {
    const stage = createStage(scheduleOf(20_000, handover('pause')));
    stage.give({ type: 'start' });
    healthy(stage);
    stage.trace('controller', 'isr', { partition: 'tide-1', leaderEpoch: 0, from: [2, 3, 1], to: [2, 3] });
    stage.pass(1_400);
    expect(stage.log).toEqual([]);
    stage.trace('controller', 'isr', { partition: 'tide-1', leaderEpoch: 0, from: [2, 3], to: [2, 3, 1] });
    expect(stage.log).toContain('1400 start f1');
  });

  it('gives up and heals when the first election does not come, and is not effective', () => {
    const stage = play(handover('kill'));
    acknowledge(stage, 'tide-0', 1);
    stage.pass(4_000);
    expect(stage.log.slice(-3)).toEqual(['3120 links []', '3120 start 1', '3120 end f1']);
    expect(stage.records.at(-1)).toMatchObject({ effective: false });
    expect(stage.records.at(-1)?.steps?.at(-1)).toMatchObject({ step: 'await next-leader leads tide-0', came: false });
  });

  it('is not begun when the ISR is too small for its roles', () => {
    const stage = createStage(scheduleOf(20_000, handover('kill')));
    stage.give({ type: 'start' });
    healthy(stage);
    stage.trace('controller', 'isr', { partition: 'tide-0', leaderEpoch: 0, from: [1, 2, 3], to: [1, 2] });
    stage.pass(6_000);
    expect(stage.log).toEqual(['4000 start f1', '4000 end f1']);
  });

  it('runs alone: what is due meanwhile begins when it is over', () => {
    const other: Fault = {
      id: 'f2',
      kind: 'pause',
      at: { ms: 700 },
      until: { ms: 100 },
      targets: { role: 'nodes', nodes: [3] },
    };
    const stage = createStage(scheduleOf(20_000, handover('kill'), other));
    stage.give({ type: 'start' });
    healthy(stage);
    acknowledge(stage, 'tide-0', 1);
    stage.pass(8_000);
    const ended = stage.log.findIndex((line) => line.endsWith('end f1'));
    expect(ended).toBeGreaterThan(0);
    expect(stage.log.findIndex((line) => line.endsWith('start f2'))).toBeGreaterThan(ended);
  });
});
