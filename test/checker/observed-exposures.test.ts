import { describe, expect, it } from 'vitest';
import { readObservations, saidIn } from '../../checker/observations.ts';
import { findObservedExposures, type ObservedExposures } from '../../checker/observed-exposures.ts';
import { Foreign } from './foreign.ts';

const key = 'tide-7-0';

/** Broker 1 leads; 2 and 3 hold offset 3, which is acknowledged, and know of a high watermark of 3. */
function before(): Foreign {
  const run = new Foreign(key);
  run.elect(1, [1, 2, 3], 0);
  for (const node of [1, 2, 3]) run.role(node, 1, 0);
  for (const offset of [0, 1, 2, 3]) for (const node of [1, 2, 3]) run.append(node, offset);
  for (const node of [2, 3]) run.hw(node, 3);
  run.ack(1, 3, [1, 2, 3], 0);
  run.pass(1000);
  return run;
}

function found(run: Foreign): ObservedExposures {
  return findObservedExposures(readObservations(run.observations));
}

describe('an exposure that was seen', () => {
  it('is a member of the ISR that follows anew with an acknowledged record at its high watermark', () => {
    const run = before();
    run.elect(2, [2, 3], 1);
    run.role(3, 2, 1);
    expect(found(run)).toMatchObject({
      exposures: [{ key, node: 3, leaderEpoch: 1, highWatermark: 3, endOffset: 4, acknowledged: [3, 3] }],
      doubt: null,
    });
  });

  it('is one too where the truncation is seen before the election and the role', () => {
    const run = before();
    run.cut(3, 4, 3);
    run.elect(2, [2, 3], 1);
    run.role(3, 2, 1);
    expect(found(run).exposures).toMatchObject([{ node: 3, endOffset: 4 }]);
  });

  it('counts once, though the log says earlier than the metadata that the broker follows', () => {
    const run = before();
    run.see(3, 'log', { event: 'role', role: 'follower' });
    run.elect(2, [2, 3], 1);
    run.role(3, 2, 1);
    run.hw(3, 4);
    expect(found(run).exposures).toHaveLength(1);
  });

  it('is none where the high watermark covers all, or the log ends below what was acknowledged', () => {
    const covered = before();
    covered.hw(3, 4);
    const short = before();
    short.cut(3, 4, 3);
    short.pass(1000);
    for (const run of [covered, short]) {
      run.elect(2, [2, 3], 1);
      run.role(3, 2, 1);
      expect(found(run)).toEqual({ exposures: [], doubt: null });
    }
  });

  it('is none outside of the ISR, nor where the record was acknowledged without the broker', () => {
    const outside = before();
    outside.elect(2, [2], 1);
    outside.role(3, 2, 1);
    expect(found(outside).exposures).toEqual([]);
    const without = new Foreign(key);
    without.elect(1, [1, 2, 3], 0);
    for (const node of [1, 2, 3]) without.role(node, 1, 0);
    for (const node of [1, 2, 3]) without.append(node, 0);
    without.hw(3, 0);
    without.ack(1, 0, [1, 2], 0);
    without.elect(2, [2, 3], 1);
    without.role(3, 2, 1);
    expect(found(without).exposures).toEqual([]);
  });

  it('is none for who goes on behind the same leader, nor for what that leader acknowledged itself', () => {
    const same = before();
    same.elect(1, [1, 2, 3], 1);
    same.role(3, 1, 1);
    expect(found(same).exposures).toEqual([]);
    const own = before();
    own.hw(3, 4);
    own.elect(2, [2, 3], 1);
    own.append(2, 4);
    own.append(3, 4);
    own.ack(2, 4, [2, 3], 0);
    own.role(3, 2, 1);
    expect(found(own).exposures).toEqual([]);
  });

  it('is none for a former leader: what it acknowledged itself was below its high watermark', () => {
    const run = before();
    run.elect(2, [1, 2, 3], 1);
    run.role(1, 2, 1);
    run.hw(3, 4);
    expect(found(run)).toEqual({ exposures: [], doubt: null });
  });

  it('is none for who had started anew and was not in the ISR when it followed, whenever its leader was elected', () => {
    const run = before();
    run.elect(2, [2, 3], 1);
    run.pass(500);
    run.see('controller', 'metadata', { event: 'isr', leaderEpoch: 1, from: [2, 3], to: [2] });
    run.pass(500);
    run.cut(3, 4, 3);
    run.role(3, 2, 1, 2);
    expect(found(run)).toEqual({ exposures: [], doubt: null });
  });

  it('works with epochs that nobody tells', () => {
    const run = new Foreign(key);
    const election = { event: 'election', clean: null };
    run.see('controller', 'metadata', { ...election, leader: 1, isr: [1, 2, 3] });
    run.see(3, 'metadata', { event: 'role', role: 'follower', leader: 1 });
    run.append(3, 0);
    run.hw(3, 0);
    run.see(1, 'client', { event: 'ack', base: 0, last: 0, acks: -1, isr: [1, 2, 3] });
    run.see('controller', 'metadata', { ...election, leader: 2, isr: [2, 3] });
    run.see(3, 'metadata', { event: 'role', role: 'follower', leader: 2 });
    expect(found(run).exposures).toMatchObject([{ node: 3, leaderEpoch: -1, highWatermark: 0, acknowledged: [0, 0] }]);
  });
});

describe('exposures that nobody can know', () => {
  it('are null where no follower told its high watermark', () => {
    const run = before();
    const silent = run.observations.filter((line) => !line.includes('"hw"'));
    expect(findObservedExposures(readObservations(silent)).exposures).toEqual([]);
    run.elect(2, [2, 3], 1);
    run.role(3, 2, 1);
    const dark = run.observations.filter((line) => !line.includes('"hw"'));
    expect(findObservedExposures(readObservations(dark))).toEqual({
      exposures: null,
      doubt: 'no high watermark of a follower was seen',
    });
  });

  it('are doubted where a broker had started anew, and told beside those that are known', () => {
    const run = before();
    run.elect(2, [2, 3], 1);
    run.role(3, 2, 1);
    run.role(2, 2, 1);
    run.elect(3, [3, 2], 2);
    run.role(2, 3, 2, 2);
    const { exposures, doubt } = found(run);
    expect(exposures).toHaveLength(1);
    expect(doubt).toBe('at one moment at which a broker became follower, its high watermark was not known');
  });

  it('are doubted of a broker that has led since its high watermark was seen, and acknowledged nothing', () => {
    const run = before();
    run.elect(3, [1, 2, 3], 1);
    run.role(3, 3, 1);
    run.elect(2, [1, 2, 3], 2);
    run.role(3, 2, 2);
    expect(found(run)).toMatchObject({ exposures: null });
    run.ack(3, 4, [1, 2, 3], 1);
    run.elect(1, [1, 2, 3], 3);
    run.role(3, 1, 3);
    expect(found(run).doubt).toContain('at one moment');
  });

  it('are null where none was seen and lines are missing', () => {
    const run = before();
    const holed = run.observations.toSpliced(4, 1);
    expect(findObservedExposures(readObservations(holed))).toEqual({
      exposures: null,
      doubt: 'observations are missing',
    });
  });
});

describe('what a log says', () => {
  it.each([
    ['[2026-11-30 00:08:05,063] INFO Truncating log t-0 to offset 3.', 'Truncating log t-0 to offset 3.'],
    ['[Log partition=t-0, dir=/data] Truncating to offset 3', '[Log partition=t-0, dir=/data] Truncating to offset 3'],
    ['FATAL no', 'FATAL no'],
  ])('is told without its time: %s', (line, said) => {
    expect(saidIn(line)).toBe(said);
  });
});

describe('observations', () => {
  it('that are broken are named with their line, and the last may break off', () => {
    const lines = ['{"seq":', '{"seq":0}', ...before().observations.slice(0, 1), '{"seq":1,"ti'];
    expect(readObservations(lines).damage).toEqual([
      'line 1 of the observations cannot be read: not JSON',
      'line 2 of the observations cannot be read: it needs seq, time, node, boot and event',
    ]);
  });

  it.each(['election', 'isr', 'create', 'append', 'truncation', 'hw', 'role', 'ack'])(
    'of a broken %s are damage',
    (event) => {
      const node = ['election', 'isr', 'create'].includes(event) ? 'controller' : 1;
      const run = new Foreign(key, [1]);
      run.observations.pop();
      const line = JSON.stringify({ seq: 0, time: 1, node, boot: 1, event, partition: key });
      expect(readObservations([line]).damage).toEqual([`line 1 of the observations cannot be read: a broken ${event}`]);
    },
  );
});
