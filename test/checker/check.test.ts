import { describe, expect, it } from 'vitest';
import { Foreign } from './foreign.ts';
import { leaderChangeThenDeath, s10, s11, s1a, s1aPrime, s1b, s2, s3b } from './schedules.ts';
import { key, kinds, Story } from './story.ts';

describe('the failure schedules', () => {
  it('S1a: a record that a follower truncated needlessly and that the next leader lacks is a violation', () => {
    const results = s1a('hw').check();
    expect(kinds(results)).toEqual(['lost-acked-write']);
    expect(results.valid).toBe(false);
    expect(results.guarantees).toMatchObject({ durability: false, agreement: true, convergence: true });
    expect(results.anomalies[0]).toMatchObject({ key: 'tide-0', offset: 1, values: [2], labels: ['lost-tail'] });
    expect(results.exposures).toHaveLength(1);
  });

  it('S1a: a build that asks its leader keeps everything, and was exposed all the same', () => {
    const results = s1a('epoch').check();
    expect(results.anomalies).toEqual([]);
    expect(results.valid).toBe(true);
    expect(results.exposures?.map(({ node, leaderEpoch }) => [node, leaderEpoch])).toEqual([[1, 1]]);
  });

  it('S1a′: loss and divergence are two roots, and what readers saw follows from the loss', () => {
    const results = s1aPrime('hw').check();
    expect(kinds(results)).toEqual(['lost-acked-write', 'replica-divergence']);
    const [loss] = results.anomalies;
    expect(loss?.consequences.map(({ kind }) => kind).sort()).toEqual([
      'ack-conflict',
      'committed-overwritten',
      'consumer-saw-uncommitted',
      'inconsistent-offsets',
    ]);
    expect(results.guarantees).toMatchObject({
      durability: false,
      agreement: false,
      offsets: false,
      visibility: false,
    });
  });

  it('S1a′ on the epoch build is clean', () => {
    expect(s1aPrime('epoch').check()).toMatchObject({ valid: true, anomalies: [] });
  });

  it('S1b: an unclean election does not excuse a truncation that nothing called for', () => {
    expect(kinds(s1b().check())).toEqual(['lost-acked-write']);
  });

  it('S2: the loss is expected, the divergence is a violation', () => {
    const results = s2('hw').check();
    expect(kinds(results)).toEqual(['replica-divergence']);
    expect(kinds(results, 'expected')).toEqual(['lost-acked-write']);
    expect(results.guarantees).toMatchObject({ durability: true, agreement: false });
  });

  it('S2 on the epoch build loses as expected, and that fails nothing', () => {
    const results = s2('epoch').check();
    expect(kinds(results, 'expected')).toEqual(['lost-acked-write']);
    expect(results.valid).toBe(true);
    expect(results.anomalies[0]?.labels).not.toContain('last-replica-standing');
  });

  it('S10: the loss is expected and labelled as the last replica standing', () => {
    const results = s10().check();
    expect(kinds(results, 'expected')).toEqual(['lost-acked-write']);
    expect(results.anomalies[0]?.labels).toContain('last-replica-standing');
    expect(results.valid).toBe(true);
  });

  it('S11: the loss is expected, and what readers saw is its consequence', () => {
    const results = s11().check();
    expect(results.anomalies).toHaveLength(1);
    expect(results.anomalies[0]).toMatchObject({ kind: 'lost-acked-write', class: 'expected' });
    expect(results.anomalies[0]?.consequences.map(({ kind }) => kind).sort()).toEqual([
      'ack-conflict',
      'consumer-saw-uncommitted',
      'inconsistent-offsets',
    ]);
    expect(results.valid).toBe(true);
  });

  it('S3b: a clean election of a broker that never had the record is a violation', () => {
    expect(kinds(s3b().check())).toEqual(['lost-acked-write', 'replica-divergence']);
  });

  it('S12: under acks=1 a lost record breaks no promise and is a measure', () => {
    const story = new Story({ acks: 1 });
    story.begin(3, [1, 2, 3]);
    story.send(1);
    story.ack(1);
    story.begin(2, [1, 2], { reason: 'fenced' });
    story.restart(3, 0);
    story.follow(3);
    story.truncateToHw(3);
    story.settle();
    const results = story.check();
    expect(results).toMatchObject({ valid: true, anomalies: [], guarantees: { durability: 'not-checked' } });
    expect(results.measures['lostUnpromised']).toBe(1);
  });

  it('a live look at the trace alone sees the divergence of S1a′', () => {
    const story = leaderChangeThenDeath('hw');
    story.truncateToHw(3);
    story.send(3);
    story.send(4);
    story.copy(1, 3);
    const results = story.check({ logs: null });
    expect(kinds(results)).toContain('replica-divergence');
    expect(results.anomalies.find(({ kind }) => kind === 'replica-divergence')?.labels).toEqual(['live']);
  });
});

describe('a value that stands elsewhere in the end', () => {
  const standing = (...values: readonly number[]): string[] => {
    const run = new Foreign(key);
    run.elect(2, [2, 1, 3], 0);
    for (const node of [1, 2, 3]) run.role(node, 2, 0);
    for (const node of [2, 1, 3]) for (const offset of values.keys()) run.append(node, offset, 0);
    run.ack(2, 0, [2, 1, 3], 0);
    run.sent(0, 10, 0);
    run.poll(9, []);
    for (const node of [1, 2, 3]) run.log(node, values);
    return run
      .check()
      .anomalies.flatMap(({ kind, consequences }) => [kind, ...consequences.map((each) => each.kind)])
      .sort();
  };

  it('has moved, and is doubled only if it stands at a third place', () => {
    expect(standing(8, 10)).toEqual(['offset-moved']);
    expect(standing(8, 10, 10)).toEqual(['duplicate', 'offset-moved']);
    expect(standing(10, 10)).toEqual(['duplicate']);
  });

  it('and is gone from where it was acknowledged is lost and doubled', () => {
    const run = new Foreign(key);
    run.elect(2, [2, 1, 3], 0);
    for (const node of [1, 2, 3]) run.role(node, 2, 0);
    for (const [process, offset] of [0, 2].entries()) {
      for (const node of [2, 1, 3]) run.append(node, offset, 0);
      run.ack(2, offset, [2, 1, 3], 0);
      run.sent(process, 10 + offset, offset);
    }
    run.poll(8, [[5, 10]], false);
    run.poll(9, []);
    for (const node of [1, 2, 3]) run.log(node, [8, 9, 7]);
    const found = run
      .check()
      .anomalies.flatMap(({ kind, consequences }) => [kind, ...consequences.map((each) => each.kind)]);
    expect(found).toEqual(expect.arrayContaining(['lost-acked-write', 'duplicate']));
  });
});
