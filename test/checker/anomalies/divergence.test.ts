/** Replicas that disagree: by their logs, by the trace, live. */
import { describe, expect, it } from 'vitest';
import { kinds, quiet, type Story } from '../story.ts';

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

  const isLive = (story: Story, changes = {}): string[] =>
    story
      .check({ logs: null, ...changes })
      .anomalies.filter(({ labels }) => labels.includes('live'))
      .map(({ summary }) => summary);

  it('is live once, in however many epochs the follower went on so, though it was repaired in the first', () => {
    const story = quiet(1);
    story.send(50);
    story.unanswered(50);
    story.begin(2, [1, 2]);
    story.send(60);
    story.send(61);
    story.follow(3);
    story.copy(2, 1, 3);
    story.begin(2, [1, 2]);
    story.send(62);
    story.follow(3);
    story.copy(2, 1, 3);
    expect(isLive(story)).toHaveLength(1);
    const mended = repaired(true, false);
    expect(isLive(mended)).toEqual([
      'broker 3 followed broker 2 in epoch 1 of tide-0 and kept another record at offset 1 than its leader had',
    ]);
    const atOnce = quiet(1);
    atOnce.send(50);
    atOnce.unanswered(50);
    atOnce.begin(2, [1, 2]);
    atOnce.send(60);
    atOnce.send(61);
    atOnce.follow(3);
    atOnce.copy(2, 1, 3);
    atOnce.truncate(3, 1, 'high-watermark', { highWatermark: 1 });
    atOnce.copy(2, 3);
    expect(isLive(atOnce)).toHaveLength(1);
  });

  it('is live also where its leader lost the record later, after it had started again', () => {
    const story = quiet(1);
    story.send(50);
    story.unanswered(50);
    story.begin(2, [1, 2]);
    story.send(60);
    story.send(61);
    story.follow(3);
    story.copy(2, 1, 3);
    story.restart(2, 1);
    story.truncate(2, 1, 'high-watermark', { highWatermark: 1 });
    expect(isLive(story)).toHaveLength(1);
  });

  it('is not live where the trace has holes, nor what the follower took over with its first append', () => {
    const story = repaired(true, false);
    expect(isLive(story, { trace: story.trace.toSpliced(8, 1) })).toEqual([]);
    const taken = quiet(1);
    taken.begin(2, [1, 2]);
    taken.send(60);
    taken.follow(3);
    const batches = [{ base: 1, last: 1, epoch: 0, hash: '0000000b' }];
    taken.line(3, { event: 'append', partition: 'tide-0', leaderEpoch: 1, batches });
    expect(isLive(taken)).toEqual([]);
  });

  it('is found too in a partition of which the trace has no line', () => {
    const story = diverged(1);
    const files = story.files();
    const others = files.map((file) => ({ ...file, key: 'other-0' }));
    const found = story.check({ logs: { nodes: [1, 2, 3], files: [...files, ...others] } }).anomalies;
    expect(
      found.filter(({ kind }) => kind === 'replica-divergence').map(({ key, why }) => [key, why.length > 0]),
    ).toEqual([
      ['other-0', false],
      ['tide-0', true],
    ]);
  });

  it('of one partition hides none of another', () => {
    const story = diverged(1);
    for (const [node, hash] of [
      [1, '0000000a'],
      [2, '0000000b'],
    ] as const)
      story.line(node, {
        event: 'append',
        partition: 'tide-1',
        leaderEpoch: 0,
        batches: [{ base: 1, last: 1, epoch: 0, hash }],
      });
    const found = story.check().anomalies.filter(({ kind }) => kind === 'replica-divergence');
    expect(found.map(({ key, labels }) => [key, labels])).toEqual([
      ['tide-0', ['final-logs']],
      ['tide-1', ['same-epoch']],
    ]);
  });

  it('is not judged live after an unclean election or a storage fault', () => {
    expect(repaired(false, false).check().anomalies).toEqual([]);
    expect(repaired(true, true).check().anomalies).toEqual([]);
  });
});
