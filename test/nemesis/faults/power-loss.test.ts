/** Power loss: what it does to processes, and how it lives with other faults that want them down. */
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../harness/plan/random.ts';
import { drawPowerLoss } from '../../../nemesis/faults/power-loss.ts';
import type { Fault, Target } from '../../../nemesis/schedule.ts';
import { createStage, healthy, scheduleOf } from '../stage.ts';

const powerLoss = (id: string, at: number, ms: number, targets: Target): Fault => ({
  id,
  kind: 'power-loss',
  at: { ms: at },
  until: { ms },
  targets,
});

describe('a power loss', () => {
  it('hits several nodes at once, and all start again at its end', () => {
    const stage = createStage(scheduleOf(10_000, powerLoss('f1', 1_000, 500, { role: 'all' })));
    stage.give({ type: 'start' });
    healthy(stage);
    stage.pass(2_000);
    expect(stage.log).toEqual([
      '1000 start f1',
      '1000 power-loss 1',
      '1000 power-loss 2',
      '1000 power-loss 3',
      '1500 start 1',
      '1500 start 2',
      '1500 start 3',
      '1500 end f1',
    ]);
    expect(stage.records[1]).toMatchObject({ effective: true });
  });

  it('is harsher than a crash that wants the same node down at that moment, which then proves nothing', () => {
    const crash: Fault = {
      id: 'f2',
      kind: 'crash',
      at: { ms: 1_000 },
      until: { ms: 700 },
      targets: { role: 'nodes', nodes: [1] },
    };
    const stage = createStage(scheduleOf(10_000, powerLoss('f1', 1_000, 500, { role: 'nodes', nodes: [1] }), crash));
    stage.give({ type: 'start' });
    stage.pass(2_000);
    expect(stage.log.filter((line) => / (kill|power-loss|start) 1$/.test(line))).toEqual([
      '1000 power-loss 1',
      '1700 start 1',
    ]);
    const effective = stage.records.filter(({ phase }) => phase === 'end').map((end) => [end.fault, end.effective]);
    expect(Object.fromEntries(effective)).toEqual({ f1: true, f2: false });
  });

  it('is never aimed at the controller', () => {
    const stage = createStage(scheduleOf(3_000, powerLoss('f1', 1_000, 500, { role: 'controller' })));
    stage.give({ type: 'start' });
    stage.pass(4_000);
    expect(stage.log.some((line) => line.includes('power-loss'))).toBe(false);
    const context = { partitions: ['tide-0'], brokers: [1, 2, 3], sessionTimeoutMs: 1_500, lagTimeMs: 2_000 };
    const random = createRandom(1).stream('faults');
    const drawn = Array.from({ length: 200 }, () => drawPowerLoss(context, random).targets.role);
    expect(new Set(drawn)).toEqual(
      new Set(['one', 'minority', 'majority', 'all', 'leader', 'isr-follower', 'last-in-isr']),
    );
  });
});
