/** Slow links: what the runtime is told, and what proves that a link was slow. */
import { describe, expect, it } from 'vitest';
import type { Fault } from '../../../nemesis/schedule.ts';
import { uniteSlowLinks } from '../../../nemesis/topologies.ts';
import { createStage, healthy, scheduleOf } from '../stage.ts';

const slow = (id: string, at: number, ms: number, delayMs: number): Fault => ({
  id,
  kind: 'slow-links',
  at: { ms: at },
  until: { ms },
  topology: { shape: 'control-plane', side: { role: 'nodes', nodes: [2] }, direction: 'inward' },
  delayMs,
  jitterMs: 5,
  loss: 0,
});

describe('slow links', () => {
  it('are wanted while the fault lasts, beside whatever is cut', () => {
    const cut: Fault = {
      id: 'f2',
      kind: 'partition',
      at: { ms: 1_200 },
      until: { ms: 100 },
      topology: { shape: 'control-plane', side: { role: 'nodes', nodes: [3] }, direction: 'both' },
    };
    const stage = createStage(scheduleOf(10_000, slow('f1', 1_000, 500, 40), cut));
    stage.give({ type: 'start' });
    healthy(stage);
    stage.pass(2_000);
    expect(stage.log.filter((line) => line.includes('links'))).toEqual([
      '1000 links [] slow [controller→2 by 40]',
      '1200 links [3→controller controller→3] slow [controller→2 by 40]',
      '1300 links [] slow [controller→2 by 40]',
      '1500 links []',
    ]);
  });

  it('are proved by what they delayed', () => {
    const stage = createStage(scheduleOf(10_000, slow('f1', 1_000, 500, 40)));
    stage.give({ type: 'start' });
    stage.pass(2_000);
    expect(stage.records[1]).toMatchObject({
      effective: true,
      roles: { topology: 'links to the controller, inward: nodes 2', slowness: '40 to 45 ms' },
      evidence: [{ action: 'slow', slowed: { 'controller→2': 1 } }],
    });
  });

  it('are as slow as the slowest of those who want them so', () => {
    const link = { from: 1, to: 2 } as const;
    const [united] = uniteSlowLinks([
      [{ ...link, delayMs: 10, jitterMs: 9, loss: 0 }],
      [{ ...link, delayMs: 20, jitterMs: 0, loss: 0.1 }],
    ]);
    expect(united).toEqual({ ...link, delayMs: 20, jitterMs: 9, loss: 0.1 });
  });
});
