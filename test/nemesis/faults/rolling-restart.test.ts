/** Rolling restart: one broker after the other, in good order, at the pace of the ISR. */
import { describe, expect, it } from 'vitest';
import type { Fault } from '../../../nemesis/schedule.ts';
import { createStage, elect, healthy, scheduleOf } from '../stage.ts';
import type { Stage } from '../stage.ts';

const rolling: Fault = {
  id: 'f1',
  kind: 'rolling-restart',
  at: { ms: 1_000 },
  until: { await: { seen: 'steps-done' }, deadlineMs: 20_000 },
  draw: 1,
  downMs: 100,
  patienceMs: 2_000,
};

function acts(stage: Stage): string[] {
  return stage.log.filter((line) => / (stop|start) \d$/.test(line));
}

/** Everybody is in sync again, and knows the leader. */
function recover(stage: Stage, epoch: number): void {
  for (const partition of ['tide-0', 'tide-1']) elect(stage, partition, 1, epoch, [1, 2, 3], [1, 2, 3]);
}

describe('a rolling restart', () => {
  it('stops the next broker when every ISR is full again, or when patience has ended', () => {
    const stage = createStage(scheduleOf(30_000, rolling));
    stage.give({ type: 'start' });
    healthy(stage);
    stage.pass(1_500);
    expect(acts(stage)).toEqual(['1000 stop 1', '1100 start 1']);
    recover(stage, 1);
    expect(acts(stage).at(-1)).toBe('1500 stop 3');
    stage.pass(3_000);
    expect(acts(stage).slice(3)).toEqual(['1600 start 3', '3600 stop 2', '3700 start 2']);
    recover(stage, 2);
    expect(stage.records.at(-1)).toMatchObject({ phase: 'end', effective: true });
  });

  it('counts for nothing when every process had to be killed', () => {
    const stage = createStage(scheduleOf(30_000, rolling), { answers: false });
    stage.give({ type: 'start' });
    stage.pass(1_000);
    while (stage.nowMs() < 25_000) {
      while (stage.open.length > 0) {
        const stopping = stage.open[0]?.action.port === 'process' && stage.open[0].action.verb === 'stop';
        stage.answer(stopping ? { effective: false, facts: { orderly: false } } : undefined);
      }
      stage.pass(100);
    }
    expect(stage.records.at(-1)).toMatchObject({ phase: 'end', effective: false });
  });
});
