/** What happened to acknowledged records, by the copied logs: each kind in the smallest run that has it, and its nearest lawful neighbour. */
import { describe, expect, it } from 'vitest';
import type { ReplicaFiles } from '../../../checker/final-logs.ts';
import { s1aPrime } from '../schedules.ts';
import { kinds, quiet, Story } from '../story.ts';

describe('a run at rest', () => {
  it('is valid', () => {
    const results = quiet(3).check();
    expect(results).toMatchObject({ valid: true, anomalies: [], notes: [] });
    expect(results.guarantees).toMatchObject({
      durability: true,
      agreement: true,
      offsets: true,
      visibility: true,
      convergence: true,
    });
    expect(results.measures).toMatchObject({ acknowledged: 3, elections: 1, truncations: 0, exposures: 0 });
  });
});

describe('lost-acked-write', () => {
  /** The client was told of an offset at which the leader has nothing, or something else. */
  it.each([
    ['lost-tail', [1, 2, 3], 4, 3],
    ['lost-tail', [1, 2, 3], 4, 700],
  ])('is labelled %s where nothing acknowledged survives behind it', (label, _, value, offset) => {
    const story = quiet(3);
    story.invoke(value);
    story.acked(value, offset);
    const results = story.check();
    expect(kinds(results)).toEqual(['lost-acked-write']);
    expect(results.anomalies[0]).toMatchObject({ labels: [label], offset, values: [value], class: 'violation' });
  });

  it('is labelled lost-prefix before, and lost-middle among what survived', () => {
    const story = new Story();
    story.begin(3, [1, 2, 3]);
    story.send(8);
    story.commit(1);
    story.send(9);
    story.commit(2);
    story.settle();
    story.invoke(10);
    story.invoke(11);
    story.acked(10, 0);
    story.acked(11, 2);
    const results = story.check();
    const labels = results.anomalies.flatMap((anomaly) => anomaly.labels);
    expect(labels.sort()).toEqual(['lost-middle', 'lost-prefix']);
    expect(results.anomalies[0]?.values).toEqual([10, 11]);
  });

  it('is one anomaly for all that one election lost', () => {
    const story = new Story();
    story.begin(3, [1, 2, 3]);
    story.commit(1);
    for (const value of [2, 3, 4]) {
      story.send(value);
      story.copy(3, 1, 2);
      story.hw(story.end(3), 3);
      story.ack(value);
    }
    story.elect(2, [1, 2, 3]);
    story.follow(1);
    story.truncateToHw(1);
    story.begin(1, [1, 3]);
    for (const node of [2, 3]) {
      story.restart(node, 1);
      story.follow(node);
      story.truncateToHw(node);
    }
    story.settle();
    const results = story.check();
    expect(kinds(results)).toEqual(['lost-acked-write']);
    expect(results.anomalies[0]?.values).toEqual([2, 3, 4]);
    expect(results.anomalies[0]?.summary).toContain('3 acknowledged records are missing');
    expect(results.anomalies[0]?.summary).toContain('offsets 1 to 3');
  });

  it('is not a record below the log start', () => {
    const story = quiet(3);
    const files = story.files().map((file) => ({ ...file, logStart: 3 }));
    for (const node of [1, 2, 3]) {
      story.line(node, {
        event: 'log-start',
        partition: 'tide-0',
        leaderEpoch: 0,
        from: 0,
        to: 3,
        reason: 'retention',
      });
    }
    story.invoke(9);
    story.acked(9, 1);
    expect(kinds(story.check({ logs: { nodes: [1, 2, 3], files } }))).toEqual(['ack-conflict']);
    expect(kinds(story.check())).toEqual(['lost-acked-write']);
  });

  it('of a value without a known offset is decided by whether it stands anywhere', () => {
    const story = quiet(1);
    story.send(2);
    story.settle();
    story.acked(2, null);
    expect(story.check()).toMatchObject({ valid: true, anomalies: [] });
    story.invoke(3);
    story.acked(3, null);
    expect(kinds(story.check())).toEqual(['lost-acked-write']);
  });

  it('is not decided by a leader that is not known, whose log is missing, or cannot be read that far', () => {
    const story = quiet(2);
    const files = story.files();
    const torn = files.map((file) =>
      file.node === 3
        ? { ...file, segments: [{ baseOffset: 0, bytes: file.segments[0]!.bytes.subarray(0, 80) }] }
        : file,
    );
    for (const changes of [
      { trace: null },
      { logs: { nodes: [1, 2], files: files.filter(({ node }) => node !== 3) } },
      { logs: { nodes: [1, 2, 3], files: torn } },
    ]) {
      const results = story.check(changes);
      expect(results.anomalies).toEqual([]);
      expect(results.guarantees.durability).toBe('unknown');
    }
  });

  it('leaves in doubt what was read and where it stands, too, if there is no log of the leader to look it up in', () => {
    const story = quiet(2);
    story.poll(90, [[0, 1]]);
    const without = { nodes: [1, 2], files: story.files().filter(({ node }) => node !== 3) };
    expect(story.check({ logs: without }).guarantees).toMatchObject({ offsets: 'unknown', visibility: 'unknown' });
    const [first, second, third] = story.files() as [ReplicaFiles, ReplicaFiles, ReplicaFiles];
    const cut = { ...third, segments: [{ baseOffset: 0, bytes: third.segments[0]!.bytes.subarray(0, 20) }] };
    const torn = { nodes: [1, 2, 3], files: [first, second, cut] };
    expect(story.check({ logs: torn }).guarantees.visibility).toBe('unknown');
    expect(story.check().valid).toBe(true);
  });

  it('is not a record above the high watermark of a trace from which lines are missing', () => {
    const story = quiet(2);
    const trace = story.trace.filter((line) => !line.includes('"event":"hw"') || line.includes('"to":1'));
    const results = story.check({ trace });
    expect(results).toMatchObject({ valid: 'unknown', anomalies: [] });
    expect(results.guarantees.convergence).toBe('unknown');
  });

  it('is not a record above the high watermark while the run has not settled, and is one once it has', () => {
    const story = quiet(1);
    story.send(2);
    story.copy(3, 1, 2);
    story.ack(2);
    const run = story.input().run;
    const unsettled = story.check({ run: { ...run, settled: false } });
    expect(unsettled.guarantees.durability).toBe('unknown');
    expect(unsettled.notes.join()).toContain("tide-0: acknowledged records are above the leader's high watermark");
    expect(kinds(story.check())).toContain('lost-acked-write');
  });
});

describe('offset-moved', () => {
  it('is an acknowledged value that stands elsewhere', () => {
    const story = quiet(1);
    story.send(2);
    story.settle();
    story.acked(2, 7);
    const results = story.check();
    expect(kinds(results)).toEqual(['offset-moved']);
    expect(results.anomalies[0]).toMatchObject({ offset: 7, values: [2], guarantee: 'offsets' });
  });

  it('is a duplicate where the value stands at its offset as well', () => {
    const story = quiet(2);
    for (const node of [1, 2, 3]) story.plant(node, 1, 2, 0);
    for (const node of [1, 2, 3]) {
      story.line(node, { event: 'hw', partition: 'tide-0', leaderEpoch: 0, from: 2, to: 3 });
    }
    expect(kinds(story.check())).toEqual(['duplicate']);
  });
});

describe('lost-on-replica', () => {
  it('is a replica that, after settling, lacks what the leader has', () => {
    const story = quiet(1);
    story.send(2);
    story.copy(3, 1);
    story.hw(2, 3);
    story.ack(2);
    const results = story.check();
    expect(kinds(results)).toEqual(['lost-on-replica', 'no-convergence']);
    expect(results.anomalies[0]).toMatchObject({ nodes: [2], values: [2] });
  });

  it('is a consequence of the divergence that explains it', () => {
    const story = s1aPrime('hw');
    story.commit(4);
    const files = story.files();
    const shorter = files.map((file) =>
      file.node === 3
        ? { ...file, segments: [{ baseOffset: 0, bytes: file.segments[0]!.bytes.subarray(0, -69) }] }
        : file,
    );
    const results = story.check({ logs: { nodes: [1, 2, 3], files: shorter } });
    const divergence = results.anomalies.find(({ kind }) => kind === 'replica-divergence');
    expect(divergence?.consequences.map(({ kind }) => kind)).toContain('lost-on-replica');
  });

  it('is not judged before settling: the replica is merely behind', () => {
    const story = quiet(1);
    story.send(2);
    story.copy(3, 1);
    story.hw(2, 3);
    story.ack(2);
    const run = { ...story.input().run, settled: false, residual: ['tide-0: broker 2 is behind'] };
    const results = story.check({ run });
    expect(kinds(results)).toEqual(['no-convergence']);
    expect(results.anomalies[0]?.summary).toContain('broker 2 is behind');
  });

  it('is also a replica without any log, on a node whose data was copied', () => {
    const story = quiet(1);
    const files = story.files().filter(({ node }) => node !== 2);
    expect(kinds(story.check({ logs: { nodes: [1, 2, 3], files } }))).toContain('lost-on-replica');
    const results = story.check({ logs: { nodes: [1, 3], files } });
    expect(results.anomalies).toEqual([]);
    expect(results.guarantees.agreement).toBe('unknown');
  });
});

describe('very many anomalies', () => {
  it('are all counted, and listed only up to a bound', () => {
    const story = quiet(1);
    for (let value = 1000; value < 1500; value += 1) story.poll(value, [[value, value]]);
    const results = story.check();
    expect(results.anomalies.filter(({ kind }) => kind === 'phantom')).toHaveLength(200);
    expect(results.notes.join()).toContain('300 more anomalies of the kind phantom');
  });
});
