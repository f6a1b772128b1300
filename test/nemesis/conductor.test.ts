/** The conductor, driven by hand-made trace lines. */
import { describe, expect, it } from 'vitest';
import { isFinished } from '../../nemesis/conductor.ts';
import type { Fault } from '../../nemesis/schedule.ts';
import { createStage, finish, healthy, scheduleOf } from './stage.ts';

const isolate = (id: string, node: number, at: number, ms: number): Fault => ({
  id,
  kind: 'partition',
  at: { ms: at },
  until: { ms },
  topology: { shape: 'isolated-node', side: { role: 'nodes', nodes: [node] }, controller: false, clients: false },
});
const process = (id: string, node: number, at: number, ms: number) => ({
  id,
  at: { ms: at },
  until: { ms },
  targets: { role: 'nodes', nodes: [node] } as const,
});
const pause = (...fault: Parameters<typeof process>) => ({ ...process(...fault), kind: 'pause' }) as const;
const crash = (...fault: Parameters<typeof process>) => ({ ...process(...fault), kind: 'crash' }) as const;

describe('the conductor', () => {
  it('begins a fault at its time and heals it at its end, with a record for each', () => {
    const stage = createStage(scheduleOf(10_000, isolate('f1', 1, 1_000, 500)));
    stage.give({ type: 'start' });
    healthy(stage);
    stage.pass(2_000);
    expect(stage.log).toEqual(['1000 start f1', '1000 links [1→2 1→3 2→1 3→1]', '1500 links []', '1500 end f1']);
    expect(stage.records[0]).toMatchObject({
      nodes: { side: 1, rest: [2, 3] },
      roles: { topology: 'isolated node: nodes 1' },
    });
  });

  it('counts what the cuts of a fault swallowed as its evidence', () => {
    const stage = createStage(scheduleOf(10_000, isolate('f1', 1, 1_000, 500)));
    stage.give({ type: 'start' });
    stage.pass(2_000);
    expect(stage.records[1]).toMatchObject({
      effective: true,
      evidence: [{ action: 'cut', dropped: { '1→2': 1, '1→3': 1, '2→1': 1, '3→1': 1 } }],
    });
  });

  it('marks a partition that swallowed nothing as ineffective', () => {
    const stage = createStage(scheduleOf(10_000, isolate('f1', 1, 1_000, 500)), { answers: false });
    stage.give({ type: 'start' });
    stage.pass(1_000);
    stage.answer({ effective: true, facts: { dropped: {} } });
    stage.pass(500);
    stage.answer({ effective: true, facts: { dropped: { '1→2': 0 } } });
    expect(stage.records[1]).toMatchObject({ phase: 'end', effective: false });
  });

  it('unites the cuts of several faults into one wanted network', () => {
    const stage = createStage(scheduleOf(10_000, isolate('f1', 1, 1_000, 1_000), isolate('f2', 2, 1_500, 1_000)));
    stage.give({ type: 'start' });
    stage.pass(3_000);
    expect(stage.log.filter((line) => line.includes('links'))).toEqual([
      '1000 links [1→2 1→3 2→1 3→1]',
      '1500 links [1→2 1→3 2→1 2→3 3→1 3→2]',
      '2000 links [1→2 2→1 2→3 3→2]',
      '2500 links []',
    ]);
  });

  it('keeps a node down while any fault holds it down, and paused while another still pauses it', () => {
    const stage = createStage(scheduleOf(10_000, pause('f1', 1, 1_000, 3_000), crash('f2', 1, 2_000, 1_000)));
    stage.give({ type: 'start' });
    stage.pass(5_000);
    expect(stage.log).toEqual([
      '1000 start f1',
      '1000 pause 1',
      '2000 start f2',
      '2000 kill 1',
      '3000 start 1',
      '3000 pause 1',
      '3000 end f2',
      '4000 resume 1',
      '4000 end f1',
    ]);
  });

  it('does not count a kill that another fault had brought about', () => {
    const stage = createStage(scheduleOf(10_000, crash('f1', 1, 1_000, 3_000), crash('f2', 1, 2_000, 500)));
    stage.give({ type: 'start' });
    stage.pass(5_000);
    const end = (fault: string) => stage.records.find((value) => value.fault === fault && value.phase === 'end');
    expect(end('f1')).toMatchObject({ effective: true });
    expect(end('f2')).toMatchObject({ effective: false, evidence: [{ note: 'already down' }] });
  });

  it('ends every fault and heals the whole network when the time is up', () => {
    const stage = createStage(scheduleOf(2_000, isolate('f1', 1, 1_000, 9_000), crash('f2', 2, 1_500, 9_000)));
    stage.give({ type: 'start' });
    stage.pass(2_000);
    expect(stage.log.slice(-4)).toEqual(['2000 links []', '2000 start 2', '2000 end f1', '2000 end f2']);
    expect(isFinished(stage.state)).toBe(true);
  });

  it('heals on stop, begins nothing more, and puts what never began on record', () => {
    const stage = createStage(scheduleOf(9_000, pause('f1', 1, 1_000, 5_000), pause('f2', 2, 3_000, 500)));
    stage.give({ type: 'start' });
    stage.pass(2_000);
    stage.give({ type: 'stop' });
    stage.pass(5_000);
    expect(stage.stopped.size).toBe(0);
    expect(isFinished(stage.state)).toBe(true);
    expect(stage.log).not.toContain('3000 pause 2');
    expect(stage.records.at(-1)).toMatchObject({ fault: 'f1', phase: 'end' });
    expect(stage.records.filter(({ fault }) => fault === 'f2')).toMatchObject([
      { phase: 'start', nodes: {} },
      { phase: 'end', effective: false, steps: [{ note: 'not begun: the run was stopped' }] },
    ]);
  });

  it('can be stopped before it started', () => {
    const stage = createStage(scheduleOf(9_000, pause('f1', 1, 1_000, 5_000)));
    stage.give({ type: 'stop' });
    expect(isFinished(stage.state)).toBe(true);
  });

  it('waits a second for somebody to take the role that a fault is aimed at, then gives it up', () => {
    const fault: Fault = {
      ...pause('f1', 1, 1_000, 500),
      kind: 'pause',
      targets: { role: 'leader', partition: 'tide-0' },
    };
    const late = createStage(scheduleOf(10_000, fault));
    late.give({ type: 'start' });
    late.pass(1_700);
    healthy(late);
    expect(late.log).toContain('1700 pause 1');

    const never = createStage(scheduleOf(10_000, fault));
    never.give({ type: 'start' });
    never.pass(3_000);
    expect(never.records.at(-1)).toMatchObject({
      effective: false,
      steps: [{ note: 'not begun: nobody had the role' }],
    });
  });

  it('begins a fault when what it awaits is seen, and at the deadline in any case', () => {
    const seen = { seen: 'truncation', partition: 'tide-0' } as const;
    const fault: Fault = { ...pause('f1', 1, 0, 500), at: { await: seen, fromMs: 1_000, deadlineMs: 1_500 } };
    const stage = createStage(scheduleOf(10_000, fault));
    stage.give({ type: 'start' });
    healthy(stage);
    stage.trace(3, 'truncation', { partition: 'tide-0', leaderEpoch: 1, from: 3, to: 2 });
    stage.pass(1_200);
    expect(stage.log).toEqual([]);
    stage.trace(3, 'truncation', { partition: 'tide-0', leaderEpoch: 1, from: 3, to: 2 });
    expect(stage.log).toContain('1200 pause 1');

    const silent = createStage(scheduleOf(10_000, fault));
    silent.give({ type: 'start' });
    silent.pass(2_500);
    expect(silent.log).toContain('1500 pause 1');
  });

  it('does not take a cluster for whole while a restarted broker has taken no role yet', () => {
    const full = { seen: 'full-isr' } as const;
    const late: Fault = { ...pause('f2', 3, 0, 500), at: { await: full, fromMs: 1_000, deadlineMs: 3_000 } };
    const stage = createStage(scheduleOf(10_000, crash('f1', 2, 500, 600), late));
    stage.give({ type: 'start' });
    healthy(stage);
    stage.pass(1_500);
    expect(stage.log).toEqual(['500 start f1', '500 kill 2', '1100 start 2', '1100 end f1']);
    healthy(stage);
    expect(stage.log).toContain('1500 pause 3');
  });

  it('ends a fault when what its end awaits is seen', () => {
    const until = { await: { seen: 'isr-size', partition: 'tide-0', atMost: 2 }, deadlineMs: 4_000 } as const;
    const stage = createStage(scheduleOf(10_000, { ...pause('f1', 3, 1_000, 0), until }));
    stage.give({ type: 'start' });
    healthy(stage);
    stage.pass(2_200);
    stage.trace('controller', 'isr', { partition: 'tide-0', leaderEpoch: 0, from: [1, 2, 3], to: [1, 2] });
    expect(stage.log.slice(-2)).toEqual(['2200 resume 3', '2200 end f1']);
  });

  it('counts an action without an answer as failed, and goes on', () => {
    const stage = createStage(scheduleOf(3_000, pause('f1', 1, 1_000, 500)), { answers: false });
    stage.give({ type: 'start' });
    stage.pass(30_000);
    expect(stage.log).toContain('11000 resume 1');
    finish(stage, 40_000);
    expect(stage.records.at(-1)).toMatchObject({ phase: 'end', effective: false });
  });

  it('tries to heal again when a start failed', () => {
    const stage = createStage(scheduleOf(9_000, crash('f1', 1, 1_000, 500)), { answers: false });
    stage.give({ type: 'start' });
    stage.pass(1_000);
    stage.answer();
    stage.pass(500);
    stage.answer({ effective: false, facts: { error: 'port in use' } });
    stage.answer();
    expect(stage.log.slice(-3)).toEqual(['1500 start 1', '1500 start 1', '1500 end f1']);
    expect(stage.stopped.size).toBe(0);
  });
});
