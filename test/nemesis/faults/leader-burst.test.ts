/** Leader burst: fast moves of one partition, past a broker that hears nothing of them. */
import { describe, expect, it } from 'vitest';
import type { Fault } from '../../../nemesis/schedule.ts';
import { createStage, elect, healthy, scheduleOf } from '../stage.ts';

const burst: Fault = {
  id: 'f1',
  kind: 'leader-burst',
  partition: 'tide-0',
  at: { ms: 1_000 },
  until: { await: { seen: 'steps-done' }, deadlineMs: 3_000 },
  steps: [
    { step: 'cut', links: [{ from: 'controller', to: 'deaf' }] },
    { step: 'move', partition: 'tide-0', to: 'other' },
    { step: 'wait', ms: 50 },
    { step: 'move', partition: 'tide-0', to: 'leader' },
    { step: 'mend' },
  ],
};

describe('a leader burst', () => {
  it('moves the leadership to and fro while one broker is deaf', () => {
    const stage = createStage(scheduleOf(10_000, burst));
    stage.give({ type: 'start' });
    healthy(stage);
    stage.pass(1_000);
    elect(stage, 'tide-0', 2, 1, [1, 2, 3], [1, 2]);
    stage.pass(1_000);
    expect(stage.log).toEqual([
      '1000 start f1',
      '1000 links [controller→3]',
      '1000 move tide-0 to 2',
      '1050 move tide-0 to 1',
      '1050 links []',
      '1050 end f1',
    ]);
    expect(stage.records[1]).toMatchObject({ effective: true, nodes: { leader: 1, other: 2, deaf: 3 } });
  });

  it('hits nobody where it names a node that is not of this cluster', () => {
    const stage = createStage(scheduleOf(10_000, { ...burst, nodes: { leader: 1, other: 99, deaf: 3 } }));
    stage.give({ type: 'start' });
    healthy(stage);
    stage.pass(3_000);
    expect(stage.log.filter((line) => /links|move/.test(line))).toEqual([]);
    expect(stage.records.at(-1)).toMatchObject({ phase: 'end', effective: false });
  });

  it('waits for somebody to lead, and is over when nobody does', () => {
    const stage = createStage(scheduleOf(10_000, burst));
    stage.give({ type: 'start' });
    healthy(stage);
    elect(stage, 'tide-0', 1, 1, [1], [1]);
    stage.pass(3_000);
    expect(stage.log.filter((line) => line.includes('move'))).toEqual([]);
    expect(stage.records.at(-1)).toMatchObject({ phase: 'end', effective: false });
  });
});
