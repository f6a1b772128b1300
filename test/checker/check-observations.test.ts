/**
 * What a verdict says of a run that was watched from outside, by brokers that tell no trace: every note on observations
 * word for word, what cannot be judged for want of a trace, and what a target says that it cannot show.
 */
import { describe, expect, it } from 'vitest';
import { Foreign } from './foreign.ts';
import { quietRun } from './quiet-run.ts';
import { key } from './story.ts';

describe('observations', () => {
  const watched = (): Foreign => {
    const run = new Foreign(key);
    run.elect(2, [2, 1, 3], 0);
    for (const node of [1, 2, 3]) run.role(node, 2, 0);
    for (const node of [2, 1, 3]) run.append(node, 0, 0);
    run.ack(2, 0, [2, 1, 3], 0);
    run.sent(0, 10, 0);
    run.poll(9, [[0, 10]]);
    for (const node of [1, 2, 3]) run.log(node, [10]);
    return run;
  };

  it('that were cut are damaged', () => {
    const run = watched();
    const lines = { history: run.history.length, trace: 0, observations: run.observations.length };
    run.run = { recordedLines: lines };
    expect(run.check().guarantees.convergence).toBe(true);
    run.run = { recordedLines: { ...lines, observations: lines.observations + 1 } };
    const { notes, guarantees } = run.check();
    expect(notes).toContain(
      `the observations end at line ${lines.observations}, and the harness wrote ${lines.observations + 1}`,
    );
    expect(guarantees.convergence).toBe('unknown');
  });

  it('that are missing leave convergence and exposures in doubt', () => {
    const results = watched().check({ observations: null });
    expect(results.notes).toContain('convergence unknown: there are no observations');
    expect(results).toMatchObject({ exposures: null, exposuresUnknown: 'there are no observations' });
  });

  it('are told with their first twenty flaws', () => {
    const run = watched();
    run.observations.push(...Array.from({ length: 30 }, () => '7'), '7');
    expect(run.check().notes.filter((note) => note.includes('of the observations'))).toHaveLength(20);
  });

  it('of a cluster that nobody could write to prove nothing of what it keeps', () => {
    const run = new Foreign(key);
    run.elect(2, [2, 1, 3], 0);
    run.poll(9, []);
    for (const node of [1, 2, 3]) run.log(node, []);
    expect(run.check().notes).toContain('durability unknown: no record was acknowledged');
    run.promises = { ...run.promises, acks: 1 };
    expect(run.check().notes.join()).not.toContain('no record was acknowledged');
    expect(watched().check().notes.join()).not.toContain('no record was acknowledged');
  });

  it('leave topics aside that are of no operation, of no leader and of no line', () => {
    const run = watched();
    run.bytes(1, new Uint8Array(9), '__consumer_offsets-0');
    expect(run.check().notes.join()).not.toContain('__consumer_offsets');
    run.run = { finalLeaders: { [key]: 2, '__consumer_offsets-0': 1 } };
    expect(run.check().notes.join()).toContain('__consumer_offsets-0: the log of broker 1 cannot be read');
  });

  it('leave aside what the target says that it cannot show, and name the rest of what is not checked', () => {
    const capabilities = { exposures: true, guarantees: { order: true, agreement: { not: 'its logs are packed' } } };
    const named = (run: Foreign): string[] => run.check().notes.filter((note) => note.includes('not checked'));
    const run = watched();
    run.run = { target: { name: 'x', capabilities } as never };
    expect(named(run)).toEqual([
      'agreement is not checked: its logs are packed',
      'not checked of durability, for want of a trace: acknowledgements by too few in-sync replicas (ack-below-min-isr), and why a log starts later (log-start-moved)',
      'not checked of offsets, for want of a trace: committed records that were overwritten and that no client had seen (committed-overwritten)',
      'not checked of visibility, for want of a trace: high watermarks that went back (hw-regression)',
      'not checked of convergence, for want of a trace: the high watermarks in the end',
    ]);
    const weak = new Foreign(key);
    weak.promises = { ...weak.promises, acks: 1 };
    weak.poll(9, []);
    expect(named(weak)[0]).toBe('durability is not checked: acks=1 promises nothing about an acknowledged record');
    expect(named(weak).slice(1).join()).not.toContain('durability');
  });

  it('of which some are known and others are not tell both', () => {
    const run = watched();
    run.hw(3, 0);
    run.hw(1, 0);
    run.elect(1, [1, 2, 3], 1);
    run.role(3, 1, 1);
    run.role(2, 1, 1, 2);
    const results = run.check();
    expect(results.exposures).toHaveLength(1);
    expect(results.notes).toContain(
      'there may have been more exposures: at one moment at which a broker became follower, its high watermark was not known',
    );
    expect(results).not.toHaveProperty('exposuresUnknown');
    expect(quietRun({})).not.toHaveProperty('exposuresUnknown');
  });

  it('name topics of which nobody else told', () => {
    const run = watched();
    run.bytes(1, new Uint8Array(9), 'other-0');
    run.see('controller', 'metadata', { event: 'create', replicas: [1], partition: 'other-0' });
    expect(run.check().notes.join()).toContain('other-0: the log of broker 1 cannot be read');
  });

  it('are not enough for durability where logs cannot be had, and nobody read to the end', () => {
    const run = watched();
    const capabilities = { exposures: true, guarantees: { agreement: { not: 'its logs are packed' } } };
    const doubt = 'durability unknown: nobody read every partition to its end after settling';
    run.run = { target: { name: 'x', capabilities } as never, finalReadComplete: null };
    expect(run.check().notes).toContain(doubt);
    run.run = { target: { name: 'x', capabilities } as never, finalReadComplete: true };
    expect(run.check().notes).not.toContain(doubt);
    const none = { exposures: true, guarantees: { durability: { not: 'it keeps nothing' } } };
    run.run = { target: { name: 'x', capabilities: none } as never };
    expect(run.check().notes.filter((note) => note.startsWith('durability'))).toEqual([
      'durability is not checked: it keeps nothing',
    ]);
  });

  it('of exposures that the target cannot show tell why', () => {
    const run = watched();
    const capabilities = { exposures: { not: 'it tells no high watermark' }, guarantees: {} };
    run.run = { target: { name: 'x', capabilities } as never };
    expect(run.check()).toMatchObject({ exposures: null, exposuresUnknown: 'it tells no high watermark' });
  });
});
