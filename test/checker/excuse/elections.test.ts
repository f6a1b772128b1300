/** Which election lacked a lost record, and who truncated it without need. */
import { describe, expect, it } from 'vitest';
import type { RunResults } from '../../../checker/results.ts';
import { s1a } from '../schedules.ts';
import { Story } from '../story.ts';
import { acknowledgedAlone, acknowledgedWithOne, losses, settleUnder1 } from './alone.ts';

describe('the election that lacked the record', () => {
  it('excuses when it was unclean and chose from outside the ISR', () => {
    const story = acknowledgedAlone();
    story.begin(1, [1], { clean: false });
    expect(losses(settleUnder1(story).check())).toEqual(['expected']);
  });

  it('excuses nothing when it was clean, though it chose from outside the ISR', () => {
    const story = acknowledgedAlone();
    story.begin(1, [1], { clean: true });
    expect(losses(settleUnder1(story).check())).toEqual(['violation']);
  });

  it('excuses nothing when it was unclean but chose a member of the ISR', () => {
    const story = new Story({ brokers: 2, minInsyncReplicas: 1, uncleanElection: true, build: 'epoch' });
    story.begin(2, [1, 2]);
    story.commit(1);
    story.send(2);
    story.hw(2, 2);
    // Acknowledged over an ISR whose member never had it: the promise was broken when it was made.
    story.ack(2);
    story.begin(1, [1], { clean: false });
    story.restart(2, 2);
    story.follow(2);
    story.truncateByEpoch(2, 1, 1, 0, 0);
    story.settle();
    expect(losses(story.check())).toEqual(['violation']);
  });

  it('that comes first decides, whatever later elections were like', () => {
    const story = acknowledgedAlone();
    story.begin(1, [1], { clean: true });
    story.begin(2, [1, 2], { clean: false });
    story.restart(3, 2);
    story.follow(3);
    story.truncateByEpoch(3, 1, 2, 0, 0);
    story.settle();
    expect(losses(story.check())).toEqual(['violation']);
  });
});

describe('a truncation by a member of the ISR', () => {
  it('is a violation when the leader to follow held the record, though an unclean election lost it then', () => {
    const story = acknowledgedWithOne();
    story.restart(1, 1);
    story.follow(1);
    story.truncateToHw(1);
    story.begin(2, [2], { clean: false });
    story.restart(3, 1);
    story.follow(1, 3);
    story.truncateToHw(1);
    story.truncateToHw(3);
    story.settle();
    expect(losses(story.check())).toEqual(['violation']);
  });

  it('does not matter once the record has been fetched again: only the last removal counts', () => {
    const story = acknowledgedWithOne();
    story.restart(1, 1);
    story.follow(1);
    story.truncateToHw(1);
    story.copy(3, 1);
    story.begin(2, [2], { clean: false });
    story.restart(3, 1);
    story.follow(1, 3);
    story.truncateToHw(1);
    story.truncateToHw(3);
    story.settle();
    expect(losses(story.check())).toEqual(['expected']);
  });

  it('is judged by the log of a leader that never took the role as it stood before its next one', () => {
    expect(losses(s1a('hw').check())).toEqual(['violation']);
  });

  it('by a replica outside the ISR at the acknowledgement decides nothing', () => {
    const story = acknowledgedAlone();
    story.copy(3, 2);
    story.follow(2);
    story.truncateToHw(2);
    story.begin(1, [1], { clean: false });
    expect(losses(settleUnder1(story).check())).toEqual(['expected']);
  });

  it('is never justified when a new leader truncates itself', () => {
    const story = new Story({ minInsyncReplicas: 1, uncleanElection: true, build: 'hw-elect' });
    story.begin(3, [1, 2, 3]);
    story.commit(1);
    story.send(2);
    story.copy(3, 1, 2);
    story.hw(2, 3);
    story.ack(2);
    story.elect(1, [1, 2]);
    story.lead();
    story.truncate(1, 1, 'high-watermark-on-election', { highWatermark: 1 });
    story.follow(2);
    story.truncateToHw(2);
    story.restart(3, 1);
    story.follow(3);
    story.truncateToHw(3);
    story.settle();
    const results = story.check();
    expect(losses(results)).toEqual(['violation']);
    expect(results.anomalies[0]?.summary).toContain('broker 1 truncated its log without need');
  });
});

describe('a truncation', () => {
  /** Brokers 1 and 3 have the second record, acknowledged by both, and lose it by what `truncate` tells. */
  function truncatedBy(truncate: (story: Story) => void): RunResults {
    const story = acknowledgedWithOne();
    truncate(story);
    story.begin(2, [2], { clean: false });
    story.settle((node) => {
      story.follow(node);
      if (story.end(node) > 1) story.truncateByEpoch(node, 1, 2, 0, 1);
    });
    return story.check();
  }

  it('is excused where the leader to follow lacked the record', () => {
    expect(losses(truncatedBy(() => {}))).toEqual(['expected']);
  });

  it('has no excuse before the broker has heard of a leader since it started', () => {
    const results = truncatedBy((story) => {
      story.restart(1, 1);
      story.truncateToHw(1);
    });
    expect(losses(results)).toEqual(['violation']);
    expect(results.anomalies[0]?.summary).toContain('broker 1 truncated its log without need');
  });

  it('has no excuse while nobody leads', () => {
    const results = truncatedBy((story) => {
      story.elect(null, [1, 3]);
      story.follow(1);
      story.truncate(1, 1, 'high-watermark', { highWatermark: 1 });
    });
    expect(losses(results)).toEqual(['violation']);
  });

  it('has no excuse where a leader throws away what it wrote, though it had not told that it leads', () => {
    const story = new Story({ minInsyncReplicas: 1, uncleanElection: true });
    story.begin(1, [1, 2, 3]);
    story.commit(1);
    story.elect(1, [1]);
    story.send(2);
    story.ack(2);
    story.truncate(1, 1, 'high-watermark', { highWatermark: 1 });
    story.begin(2, [2], { clean: false });
    story.settle((node) => story.follow(node));
    expect(losses(story.check())).toEqual(['violation']);
  });

  it('by several brokers without need is told of the first of them, in whatever order their traces come', () => {
    const story = new Story({ minInsyncReplicas: 1 });
    story.begin(2, [1, 2, 3]);
    story.commit(1);
    story.send(2);
    story.copy(2, 1, 3);
    story.ack(2);
    for (const node of [3, 1]) {
      story.restart(node, 1);
      story.follow(node);
      story.truncateToHw(node);
    }
    story.begin(3, [1, 3]);
    story.settle((node) => {
      story.follow(node);
      if (story.end(node) > 1) story.truncateByEpoch(node, 1, 3, 0, 1);
    });
    const nodeOf = (line: string): number => Number((JSON.parse(line) as { node: unknown }).node);
    const trace = story.trace.toSorted((x, y) => nodeOf(y) - nodeOf(x));
    expect(losses(story.check({ trace }))).toEqual(['violation']);
    expect(story.check({ trace }).anomalies[0]?.summary).toContain('broker 1 truncated its log without need');
  });

  it('under a second leader of the same epoch, who had an older record at that place, was called for by that leader', () => {
    const story = new Story({ minInsyncReplicas: 1, uncleanElection: true });
    story.begin(2, [1, 2, 3]);
    story.commit(1);
    story.send(9);
    story.begin(3, [1, 3]);
    story.send(2);
    story.copy(3, 1);
    story.ack(2);
    const role = { event: 'role', partition: 'tide-0', leaderEpoch: 1, leader: 2, isr: [1, 3], hw: 1 };
    story.line(2, { ...role, role: 'leader', leo: 2 });
    story.line(1, { ...role, role: 'follower', leo: 2 });
    story.truncate(1, 1, 'high-watermark', { highWatermark: 1 });
    story.begin(2, [2], { clean: false });
    story.restart(3, 1);
    story.settle((node) => {
      story.follow(node);
      if (node === 3) story.truncateByEpoch(3, 1, 2, 0, 1);
    });
    expect(losses(story.check())).toEqual(['expected']);
  });

  it('under a second leader of the same epoch, who never had the record, was called for by that leader', () => {
    const story = new Story({ minInsyncReplicas: 1, uncleanElection: true });
    story.begin(3, [1, 2, 3]);
    story.commit(1);
    story.isr([1, 3]);
    story.send(2);
    story.copy(3, 1);
    story.ack(2);
    const role = { event: 'role', partition: 'tide-0', leaderEpoch: 0, leader: 2, isr: [1, 2, 3], hw: 1 };
    story.line(2, { ...role, role: 'leader', leo: 1 });
    story.line(1, { ...role, role: 'follower', leo: 2 });
    story.truncate(1, 1, 'high-watermark', { highWatermark: 1 });
    story.begin(2, [2], { clean: false });
    story.restart(3, 1);
    story.settle((node) => {
      story.follow(node);
      if (story.end(node) > 1) story.truncateByEpoch(node, 1, 2, 0, 1);
    });
    expect(losses(story.check())).toEqual(['expected']);
  });
});

describe('a leader outside the ISR at the acknowledgement', () => {
  /** Broker 2 fetched the record and leads; broker 1 leads after it, without the record; broker 3 lost its disk. */
  function twoUncleanLeaders(truncates: boolean): Story {
    const story = acknowledgedAlone();
    story.copy(3, 2);
    story.begin(2, [2], { clean: false });
    if (truncates) story.truncate(2, 1, 'high-watermark-on-election', { highWatermark: 1 });
    story.begin(1, [1], { clean: false });
    story.restart(3, 1, { flushed: 1 });
    story.follow(2, 3);
    if (!truncates) story.truncateByEpoch(2, 1, 1, 0, 0);
    story.settle();
    return story;
  }

  it('that truncates itself is not excused by a later unclean election', () => {
    expect(losses(twoUncleanLeaders(true).check())).toEqual(['violation']);
    expect(losses(twoUncleanLeaders(false).check())).toEqual(['expected']);
  });
});
