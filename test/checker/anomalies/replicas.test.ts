/** Each anomaly that only replicas can show, in the smallest run that has it, and its nearest lawful neighbour. */
import { describe, expect, it } from 'vitest';
import type { ReplicaFiles } from '../../../checker/final-logs.ts';
import type { Anomaly } from '../../../checker/results.ts';
import { s1a, s1aPrime } from '../schedules.ts';
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
    expect(story.check({ run: { ...run, settled: false } }).guarantees.durability).toBe('unknown');
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

describe('replica-divergence', () => {
  /** Two brokers agree and one holds something else at the offset. */
  function diverged(offset: number): Story {
    const story = quiet(offset);
    story.send(50);
    story.copy(3, 1);
    story.plant(2, 60, offset, 0);
    return story;
  }

  it('is different bytes at one offset, whoever leads', () => {
    const results = diverged(2).check();
    const divergence = results.anomalies.find(({ kind }) => kind === 'replica-divergence');
    expect(divergence).toMatchObject({ offset: 2, values: [50, 60], nodes: [1, 2, 3], guarantee: 'agreement' });
    expect(divergence?.labels).toEqual(['final-logs']);
  });

  it('is also the same bytes under another epoch', () => {
    const story = quiet(1);
    story.send(50);
    story.copy(3, 1);
    story.plant(2, 50, 1, 7);
    expect(kinds(story.check())).toContain('replica-divergence');
  });

  it('is not a difference in length', () => {
    const story = quiet(2);
    story.send(3);
    story.unanswered(3);
    expect(kinds(story.check())).toEqual(['no-convergence']);
  });

  it('is not judged below the largest log start', () => {
    const story = diverged(2);
    story.copy(3, 2);
    const files = story.files().map((file) => (file.node === 1 ? file : { ...file, logStart: 3 }));
    expect(kinds(story.check({ logs: { nodes: [1, 2, 3], files } }))).not.toContain('replica-divergence');
  });

  it('is unknown for a replica that cannot be read, and still found between the others', () => {
    const files = diverged(2).files();
    const broken = (node: number) =>
      files.map((file) =>
        file.node === node ? { ...file, segments: [{ baseOffset: 0, bytes: new Uint8Array(9) }] } : file,
      );
    expect(diverged(2).check({ logs: { nodes: [1, 2, 3], files: broken(2) } }).guarantees.agreement).toBe('unknown');
    expect(diverged(2).check({ logs: { nodes: [1, 2, 3], files: broken(1) } }).guarantees.agreement).toBe(false);
  });

  it('is the same offset in the same epoch with different content, at any time', () => {
    const story = quiet(1);
    for (const [node, hash] of [
      [1, '0000000a'],
      [2, '0000000b'],
    ] as const) {
      story.line(node, {
        event: 'append',
        partition: 'tide-0',
        leaderEpoch: 0,
        batches: [{ base: 1, last: 1, epoch: 0, hash }],
      });
      story.line(node, {
        event: 'truncation',
        partition: 'tide-0',
        leaderEpoch: 0,
        from: 2,
        to: 1,
        rule: 'high-watermark',
        evidence: { highWatermark: 1 },
      });
    }
    const results = story.check();
    expect(kinds(results)).toEqual(['replica-divergence']);
    expect(results.anomalies[0]?.labels).toEqual(['same-epoch']);
  });

  /** A follower that kept its own tail goes on behind its leader's other record, and is repaired later. */
  function repaired(clean: boolean, powerLoss: boolean): Story {
    const story = quiet(1);
    story.send(50);
    story.unanswered(50);
    if (powerLoss) story.restart(1, 1, { flushed: 1 });
    story.begin(2, [1, 2], { clean });
    story.send(60);
    story.send(61);
    story.follow(3);
    story.copy(2, 1, 3);
    story.begin(1, [1, 2]);
    story.follow(3);
    story.truncateByEpoch(3, 1, 1, 0, 1);
    story.settle();
    return story;
  }

  it('is live where a follower went on without having what its leader had', () => {
    const results = repaired(true, false).check();
    expect(results.anomalies.map(({ kind, labels }) => [kind, labels])).toEqual([['replica-divergence', ['live']]]);
  });

  it('is not judged live after an unclean election or a storage fault', () => {
    expect(repaired(false, false).check().anomalies).toEqual([]);
    expect(repaired(true, true).check().anomalies).toEqual([]);
  });
});

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

describe('very many anomalies', () => {
  it('are all counted, and listed only up to a bound', () => {
    const story = quiet(1);
    for (let value = 1000; value < 1500; value += 1) story.poll(value, [[value, value]]);
    const results = story.check();
    expect(results.anomalies.filter(({ kind }) => kind === 'phantom')).toHaveLength(200);
    expect(results.notes.join()).toContain('300 more anomalies of the kind phantom');
  });
});

describe('exposures', () => {
  it('need an acknowledged record at or above the follower’s own high watermark', () => {
    const story = quiet(1);
    story.send(2);
    story.copy(3, 1, 2);
    story.begin(2, [1, 2, 3]);
    expect(story.check().exposures).toEqual([]);
  });

  it('need a member of the ISR', () => {
    const story = quiet(1);
    story.send(2);
    story.copy(3, 1, 2);
    story.hw(2, 3);
    story.ack(2);
    story.elect(2, [2, 3]);
    story.follow(1);
    expect(story.check().exposures).toEqual([]);
    story.elect(3, [1, 2, 3]);
    story.follow(1);
    expect(story.check().exposures).toMatchObject([
      { key: 'tide-0', node: 1, leaderEpoch: 2, highWatermark: 1, endOffset: 2, acknowledged: [1, 1] },
    ]);
  });

  it('need an acknowledgement of an earlier epoch', () => {
    const story = quiet(1);
    story.send(2);
    story.copy(3, 1, 2);
    story.hw(2, 3);
    story.ack(2);
    story.restart(1, 1);
    story.follow(1);
    expect(story.check().exposures).toEqual([]);
  });

  it('need a leader that is new to the follower, in this boot', () => {
    const story = quiet(1);
    story.send(2);
    story.copy(3, 1, 2);
    story.hw(2, 3);
    story.ack(2);
    const exposures = (): number => story.check().exposures?.length ?? -1;
    story.elect(3, [1, 2, 3]);
    story.follow(1);
    expect(exposures()).toBe(0);
    story.elect(null, [1, 2, 3]);
    story.follow(1);
    expect(exposures()).toBe(0);
    story.elect(2, [1, 2, 3]);
    story.follow(1);
    expect(exposures()).toBe(1);
    story.restart(1, 1);
    story.follow(1);
    expect(exposures()).toBe(2);
  });

  it('need the very record that was acknowledged, not another at its offset', () => {
    const story = quiet(1);
    story.send(2);
    story.hw(2, 3);
    story.ack(2);
    story.plant(1, 9, 1, 0);
    story.line(1, {
      event: 'append',
      partition: 'tide-0',
      leaderEpoch: 0,
      batches: [{ base: 1, last: 1, epoch: 5, hash: '00000001' }],
    });
    story.elect(2, [1, 2, 3]);
    story.follow(1);
    expect(story.check().exposures).toEqual([]);
  });
});

describe('the trace', () => {
  it('may arrive in any order between nodes and boots', () => {
    const story = s1aPrime('hw');
    const expected = story.check();
    const reversed = [...story.trace].reverse();
    const results = story.check({ trace: reversed });
    const told = ({ kind, summary, why }: Anomaly) => [kind, summary, why.map(({ text }) => text)];
    expect(results.anomalies.map(told)).toEqual(expected.anomalies.map(told));
    expect(results.exposures).toEqual(expected.exposures);
  });

  it('that shows less than a broker found on its disk is damaged', () => {
    const story = quiet(2);
    story.line(1, {
      event: 'recover',
      partition: 'tide-0',
      logStart: 0,
      flushed: 9,
      from: 9,
      to: 9,
      cut: 'none',
      hw: 1,
      epochs: [],
    });
    const results = story.check();
    expect(results.notes.join()).toContain('broker 1 recovered tide-0 up to offset 9');
    expect(results.guarantees.agreement).toBe('unknown');
  });

  it('whose last line breaks off is whole up to there', () => {
    const story = quiet(2);
    expect(story.check({ trace: [...story.trace, '{"seq":'] })).toMatchObject({ valid: true, notes: [] });
  });

  it('with lines of events that nobody knows yet is read all the same', () => {
    const story = quiet(2);
    story.line(1, { event: 'compaction', partition: 'tide-0', from: 0, to: 1 });
    expect(story.check().valid).toBe(true);
  });
});
