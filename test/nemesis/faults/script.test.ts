/** Scripts: written steps, operations of the load among them, each of which has to be proven. */
import { describe, expect, it } from 'vitest';
import { describeSchedule } from '../../../nemesis/describe.ts';
import type { ScriptFault } from '../../../nemesis/schedule.ts';
import { createStage, elect, healthy, scheduleOf } from '../stage.ts';

const partition = 'tide-0';
const script: ScriptFault = {
  id: 's',
  kind: 'script',
  partition,
  at: { ms: 1_000 },
  until: { await: { seen: 'steps-done' }, deadlineMs: 8_000 },
  steps: [
    { step: 'cut', links: [{ from: 'third', to: 'second' }] },
    { step: 'call', operation: 'm1' },
    { step: 'pause', node: 'first' },
    {
      step: 'await',
      what: { seen: 'leads', partition, node: 'second' },
      deadlineMs: 1_000,
      otherwise: 'give-up',
    },
    { step: 'mend' },
    { step: 'restore', node: 'first' },
    {
      step: 'await',
      what: { seen: 'in-sync', partition, node: 'first' },
      deadlineMs: 1_000,
      otherwise: 'give-up',
    },
  ],
};

describe('a script', () => {
  it('takes its steps one after the other, and is proven by every one of them', () => {
    const stage = createStage(scheduleOf(10_000, script));
    stage.give({ type: 'start' });
    healthy(stage);
    stage.pass(1_500);
    elect(stage, partition, 2, 1, [2, 3], [2, 3]);
    stage.pass(100);
    stage.trace('controller', 'isr', { partition, leaderEpoch: 1, to: [1, 2, 3] });
    expect(stage.log).toEqual([
      '1000 start s',
      '1000 links [3→2]',
      '1000 call m1',
      '1000 pause 1',
      '1500 links []',
      '1500 resume 1',
      '1600 end s',
    ]);
    expect(stage.records[1]).toMatchObject({
      effective: true,
      nodes: { first: 1, second: 2, third: 3 },
      roles: { first: partition, second: partition, third: partition },
    });
  });

  it('waits for the end of an operation that it called before it goes on', () => {
    const stage = createStage(scheduleOf(10_000, script), { answers: false });
    stage.give({ type: 'start' });
    healthy(stage);
    stage.pass(1_000);
    stage.answer();
    stage.pass(500);
    expect(stage.log.at(-1)).toBe('1000 call m1');
    stage.answer();
    expect(stage.log.at(-1)).toBe('1500 pause 1');
  });

  it('is not proven where an operation was not acknowledged', () => {
    const stage = createStage(scheduleOf(10_000, script), { answers: false });
    stage.give({ type: 'start' });
    healthy(stage);
    stage.pass(1_000);
    stage.answer();
    stage.answer({ effective: false, facts: { error: 'timeout' } });
    stage.answer();
    elect(stage, partition, 2, 1, [2, 3], [2, 3]);
    stage.answer();
    stage.answer();
    stage.trace('controller', 'isr', { partition, leaderEpoch: 1, to: [1, 2, 3] });
    expect(stage.records[1]).toMatchObject({ phase: 'end', effective: false });
    expect(stage.records[1]?.evidence).toContainEqual({
      action: 'call',
      operation: 'm1',
      error: 'timeout',
      effective: false,
    });
  });

  it('gives up and heals where the election that it is about does not come, and proves nothing', () => {
    const stage = createStage(scheduleOf(10_000, script));
    stage.give({ type: 'start' });
    healthy(stage);
    stage.pass(3_000);
    expect(stage.log.slice(-3)).toEqual(['2000 links []', '2000 resume 1', '2000 end s']);
    expect(stage.records[1]).toMatchObject({ effective: false });
  });

  it('is not proven where its time was up before its last step', () => {
    const stage = createStage(scheduleOf(1_200, script));
    stage.give({ type: 'start' });
    healthy(stage);
    stage.pass(2_000);
    expect(stage.records[1]).toMatchObject({ phase: 'end', effective: false });
  });

  it('follows named nodes where a replay names them', () => {
    const stage = createStage(scheduleOf(10_000, { ...script, nodes: { first: 2, second: 3, third: 1 } }));
    stage.give({ type: 'start' });
    healthy(stage);
    stage.pass(1_000);
    expect(stage.log).toContain('1000 pause 2');
  });

  it('can be read', () => {
    expect(describeSchedule(scheduleOf(10_000, script))).toContain('   call m1\n   pause first\n');
  });
});
