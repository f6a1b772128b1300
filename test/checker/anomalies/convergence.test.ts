/** Runs that did not settle, or did not end well: what is still judged, and by what. */
import { describe, expect, it } from 'vitest';
import { s1a, s1aPrime } from '../schedules.ts';
import { kinds, quiet, type Story } from '../story.ts';

describe('no-convergence', () => {
  it('is what the run measured: it did not settle within its bound', () => {
    const story = quiet(1);
    const run = { ...story.input().run, settled: false, settleMs: 30_000, residual: ['tide-0: nobody leads'] };
    const results = story.check({ run });
    expect(kinds(results)).toEqual(['no-convergence']);
    expect(results.anomalies[0]?.summary).toBe(
      'the cluster did not settle within 30000 ms after healing: tide-0: nobody leads',
    );
    expect(results.guarantees).toMatchObject({ convergence: false, durability: true });
  });

  it('is also a final state that belies a run which says that it settled', () => {
    const story = quiet(1);
    story.isr([1, 3]);
    const results = story.check();
    expect(kinds(results)).toEqual(['no-convergence']);
    expect(results.anomalies[0]).toMatchObject({ key: 'tide-0', nodes: [2] });
  });

  it('is unknown where it was not proven that everything had healed: the cluster may have had no chance', () => {
    const story = quiet(1);
    const residual = ['no round trip from 1 to 2: no answer', 'tide-0: the ISR is 1, 3 of 1, 2, 3'];
    const results = story.check({ run: { ...story.input().run, settled: false, healed: false, residual } });
    expect(results).toMatchObject({ valid: 'unknown', anomalies: [], guarantees: { convergence: 'unknown' } });
    for (const reason of residual) expect(results.notes.join('\n')).toContain(reason);
  });

  it('is not a process that ended by itself, if everything came to rest again; that is noted', () => {
    const story = quiet(1);
    const residual = ['broker 2 ended by itself: exit code 1: it said why'];
    const results = story.check({ run: { ...story.input().run, residual } });
    expect(results).toMatchObject({ valid: true, anomalies: [], notes: residual });
  });

  it('is unknown where the run never got to settling', () => {
    const story = quiet(1);
    const results = story.check({ run: { ...story.input().run, settled: null, completed: false, error: 'no engine' } });
    expect(results.guarantees.convergence).toBe('unknown');
    expect(results.valid).toBe('unknown');
    expect(results.notes.join()).toContain('no engine');
  });
});

describe('a run that did not settle', () => {
  /** Broker 2 was cut off with a tail of its own, and never came back. */
  function cutOff(): Story {
    const story = quiet(1);
    story.send(50);
    story.unanswered(50);
    story.begin(1, [1, 2]);
    story.commit(2);
    return story;
  }

  it('is not judged by logs that may still have had to be truncated', () => {
    const story = cutOff();
    const run = { ...story.input().run, settled: false };
    expect(kinds(story.check())).toContain('replica-divergence');
    const results = story.check({ run });
    expect(kinds(results)).toEqual(['no-convergence']);
    expect(results.guarantees).toMatchObject({ durability: true, agreement: 'unknown' });
  });

  it('has lost what its leader, as it was in the end, does not have', () => {
    const story = s1a('hw');
    const run = { ...story.input().run, settled: false };
    expect(kinds(story.check({ run }))).toEqual(['lost-acked-write', 'no-convergence']);
  });

  it('has lost nothing by a log that was copied too early, or whose leader has not begun to lead', () => {
    const story = cutOff();
    const run = { ...story.input().run, settled: false };
    const files = story.files().map((file) => ({ ...file, segments: [{ baseOffset: 0, bytes: new Uint8Array() }] }));
    const early = story.check({ run, logs: { nodes: [1, 2, 3], files } });
    expect(kinds(early)).toEqual(['no-convergence']);
    expect(early.guarantees.durability).toBe('unknown');
    story.elect(3, [3], { clean: false });
    expect(story.check({ run }).guarantees.durability).toBe('unknown');
  });

  it('is not judged by logs at all if it was stopped before settling: they may be half copied', () => {
    const story = s1aPrime('epoch');
    const files = story.files().map((file) => ({ ...file, segments: [{ baseOffset: 0, bytes: new Uint8Array() }] }));
    const results = story.check({ run: { ...story.input().run, settled: null }, logs: { nodes: [1, 2, 3], files } });
    expect(results).toMatchObject({ valid: 'unknown', anomalies: [] });
    expect(results.notes.join()).toContain('the copied logs are left out');
  });
});

describe('a run that settled, and failed after that', () => {
  it('is not judged by logs that were copied in part', () => {
    const story = s1aPrime('epoch');
    const files = story.files().slice(0, 2);
    const half = files.map((file) => ({ ...file, segments: [{ baseOffset: 0, bytes: new Uint8Array() }] }));
    const run = { ...story.input().run, logsCollected: false, completed: false, error: 'the disk is full' };
    const results = story.check({ run, logs: { nodes: [1, 2], files: half } });
    expect(results).toMatchObject({ valid: 'unknown', anomalies: [] });
    expect(results.notes.join()).toContain('the copied logs are left out');
    expect(story.check({ run: { ...run, logsCollected: true } }).anomalies).toEqual([]);
  });

  it('leaves visibility in doubt if the last readers did not reach the end', () => {
    const story = s1aPrime('epoch');
    const results = story.check({ run: { ...story.input().run, finalReadComplete: false } });
    expect(results).toMatchObject({ valid: 'unknown', guarantees: { visibility: 'unknown', durability: true } });
  });

  it('leaves visibility in doubt if the last readers were not shown what the leader has', () => {
    const story = quiet(3);
    const run = { ...story.input().run, finalReadComplete: true };
    story.poll(
      100,
      [
        [0, 1],
        [1, 2],
      ],
      { final: true },
    );
    const hidden = story.check({ run });
    expect(hidden).toMatchObject({ valid: 'unknown', anomalies: [], guarantees: { visibility: 'unknown' } });
    expect(hidden.notes.join()).toContain('1 acknowledged record stands in the log of its leader');
    story.poll(101, [[2, 3]], { final: true });
    expect(story.check({ run })).toMatchObject({ valid: true, notes: [] });
  });
});
