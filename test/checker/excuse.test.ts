/** Both sides of every clause of the rule of expected loss. */
import { describe, expect, it } from 'vitest';
import type { CheckInput } from '../../checker/check.ts';
import type { RunResults } from '../../checker/results.ts';
import { findingsText } from './findings-text.ts';
import { s10, s11, s1a, s2 } from './schedules.ts';
import { kinds, Story, type StoryOptions } from './story.ts';

const losses = (results: RunResults): string[] =>
  results.anomalies.filter(({ kind }) => kind === 'lost-acked-write').map((anomaly) => anomaly.class);

/** Broker 3 leads, and alone acknowledges the second record; what comes then decides. */
function acknowledgedAlone(options: StoryOptions = {}): Story {
  const story = new Story({ minInsyncReplicas: 1, uncleanElection: true, build: 'epoch', ...options });
  story.begin(3, [1, 2, 3]);
  story.commit(1);
  story.isr([3]);
  story.send(2);
  story.hw(2, 3);
  story.ack(2);
  return story;
}

/** Broker 3 comes back and follows broker 1, which lacks the second record. */
function settleUnder1(story: Story): Story {
  story.restart(3, 2);
  story.follow(3);
  story.truncateByEpoch(3, 1, 1, 0, 0);
  story.settle();
  return story;
}

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
    const story = new Story({ brokers: 3, minInsyncReplicas: 1, uncleanElection: true });
    story.begin(3, [1, 2, 3]);
    story.commit(1);
    story.isr([1, 3]);
    story.send(2);
    story.copy(3, 1);
    story.hw(2, 3);
    story.ack(2);
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
    const story = new Story({ brokers: 3, minInsyncReplicas: 1, uncleanElection: true });
    story.begin(3, [1, 2, 3]);
    story.commit(1);
    story.isr([1, 3]);
    story.send(2);
    story.copy(3, 1);
    story.hw(2, 3);
    story.ack(2);
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
    const story = new Story({ minInsyncReplicas: 1, uncleanElection: true });
    story.begin(3, [1, 2, 3]);
    story.commit(1);
    story.isr([1, 3]);
    story.send(2);
    story.copy(3, 1);
    story.hw(2, 3);
    story.ack(2);
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

describe('a storage fault', () => {
  /** Both brokers had the record; broker 2, alone in the ISR, loses power with `flushed` records on disk. */
  function powerLoss(flushed: number, cutTo: number, cut = 'power-loss'): Story {
    const story = new Story({ brokers: 2, minInsyncReplicas: 1, build: 'epoch' });
    story.begin(1, [1, 2]);
    story.commit(1);
    story.commit(2);
    story.isr([2]);
    story.elect(null, [2]);
    story.restart(2, 2, { flushed: cutTo });
    const line = JSON.parse(story.trace.at(-1) as string);
    story.trace[story.trace.length - 1] = JSON.stringify({ ...line, flushed, cut });
    story.begin(2, [2]);
    story.restart(1, 2);
    story.follow(1);
    story.truncateByEpoch(1, 1, 2, 0, 0);
    story.settle();
    return story;
  }

  it('excuses what had not been flushed', () => {
    expect(losses(powerLoss(1, 1).check())).toEqual(['expected']);
  });

  it('does not excuse what had been flushed', () => {
    expect(losses(powerLoss(2, 1).check())).toEqual(['violation']);
  });

  it('is no excuse when nobody injected one: a torn tail without power loss', () => {
    expect(losses(powerLoss(1, 1, 'torn-tail').check())).toEqual(['violation']);
  });
});

describe('the last replica standing', () => {
  it('is labelled where the ISR had shrunk below min.insync.replicas and good copies existed', () => {
    expect(s10(2).check().anomalies[0]?.labels).toContain('last-replica-standing');
  });

  it('is not labelled where one replica was enough by configuration', () => {
    expect(s10(1).check().anomalies[0]?.labels).not.toContain('last-replica-standing');
    expect(s2('epoch').check().anomalies[0]?.labels).not.toContain('last-replica-standing');
  });
});

describe('the label of the last replica standing', () => {
  /** Broker 1 lost the record with its disk; `elections` say who is elected after that, from which ISR. */
  function elected(
    elections: readonly (readonly [leader: number | null, isr: readonly number[]])[],
  ): readonly string[] {
    const story = new Story({ build: 'epoch' });
    story.begin(1, [1, 2, 3]);
    story.commit(1);
    story.commit(2);
    story.restart(1, 1, { flushed: 1 });
    let final = 1;
    for (const [leader, isr] of elections) {
      story.elect(leader, isr);
      if (leader === null) continue;
      story.lead();
      final = leader;
    }
    story.settle((node) => {
      story.follow(node);
      if (story.end(node) > story.end(final)) story.truncateByEpoch(node, 1, final, 0, 1);
    });
    const [loss] = story.check().anomalies.filter(({ kind }) => kind === 'lost-acked-write');
    return loss?.labels ?? ['not lost'];
  }

  it('is given where the ISR was the leader alone when it was elected', () => {
    expect(
      elected([
        [null, [1]],
        [1, [1]],
      ]),
    ).toContain('last-replica-standing');
  });

  it('is given where the leader was first elected from more, and then from itself', () => {
    expect(
      elected([
        [1, [1]],
        [1, [1]],
      ]),
    ).toContain('last-replica-standing');
    expect(
      elected([
        [1, [1]],
        [null, [1]],
        [1, [1]],
      ]),
    ).toContain('last-replica-standing');
  });

  it('is not given where the ISR had others, or another led in between', () => {
    expect(elected([[1, [1, 2]]])).not.toContain('last-replica-standing');
    expect(
      elected([
        [1, [1, 2]],
        [1, [1, 2]],
      ]),
    ).not.toContain('last-replica-standing');
    expect(
      elected([
        [1, [2]],
        [1, [2]],
      ]),
    ).not.toContain('last-replica-standing');
    expect(
      elected([
        [1, [1]],
        [3, [1]],
        [1, [1]],
      ]),
    ).not.toContain('last-replica-standing');
  });
});

describe('the label of the last replica standing, where no good copy existed', () => {
  /** Both brokers hold the record, or broker 2 alone; of each that has it the disk loses it. */
  it.each([true, false])('is not given: copied %s', (copied) => {
    const story = new Story({ brokers: 2, build: 'epoch' });
    story.begin(2, [1, 2]);
    story.commit(1);
    story.isr([2]);
    story.send(2);
    if (copied) story.copy(2, 1);
    story.ack(2);
    for (const node of [1, 2]) story.restart(node, 1, { flushed: 1 });
    story.begin(2, [2]);
    // What stands at its offset on broker 1 is another record.
    story.send(3);
    story.ack(3);
    story.settle((node) => story.follow(node));
    const [loss] = story.check().anomalies.filter(({ kind }) => kind === 'lost-acked-write');
    expect(loss?.class).toBe('expected');
    expect(loss?.labels).not.toContain('last-replica-standing');
  });
});

/**
 * The high watermark passed the second record over the ISR of brokers 1 and 3, though broker 1 never had it; the
 * acknowledgement came when the ISR was broker 3 alone; then broker 1 was elected uncleanly. By the high watermark that is
 * a violation, by the acknowledgement it is allowed.
 */
function promisedTwice(complete: (story: Story) => void, options: StoryOptions = {}): Story {
  const story = new Story({ minInsyncReplicas: 1, uncleanElection: true, ...options });
  story.begin(3, [1, 2, 3]);
  story.commit(1);
  story.isr([1, 3]);
  story.send(2);
  story.hw(2, 3);
  story.isr([3]);
  complete(story);
  story.poll(100, [
    [0, 1],
    [1, 2],
  ]);
  story.send(4);
  story.ack(4);
  story.begin(1, [1], { clean: false });
  story.restart(3, 2);
  story.settle((node) => {
    story.follow(node);
    if (story.end(node) > 1) story.truncateByEpoch(node, 1, 1, 0, 0);
  });
  return story;
}

const classOf = (results: RunResults, value: number): string | undefined =>
  results.anomalies.find(({ values }) => values.includes(value))?.class;

describe('a promise', () => {
  it('is the acknowledgement, where the client saw one', () => {
    expect(classOf(promisedTwice((story) => story.ack(2)).check(), 2)).toBe('expected');
  });

  it('is the acknowledgement also where nobody knows the names of messages, and others were acknowledged', () => {
    const story = promisedTwice((told) => told.ack(2));
    const trace = story.trace.map((line) => line.replace(/"msg":"client-(\d+)#7"/, '"msg":"app-$1/7"'));
    expect(classOf(story.check({ trace }), 2)).toBe('expected');
  });

  it('is the high watermark, where the answer never reached the client', () => {
    const story = promisedTwice((told) => {
      told.ack(2);
      const last = JSON.parse(told.history.pop() as string) as Record<string, unknown>;
      const { index: _, ...fields } = last;
      told.history.push(JSON.stringify({ ...fields, index: 3, type: 'info', value: [['send', 'tide-0', 2]] }));
    });
    expect(classOf(story.check(), 2)).toBe('violation');
  });

  it('is the high watermark, where the client was told another offset than the record was read at', () => {
    const story = promisedTwice((told) => told.ack(2));
    const history = story.history.map((line) =>
      line.replace('"value":[["send","tide-0",[1,2]]]', '"value":[["send","tide-0",[7,2]]]'),
    );
    const trace = story.trace.map((line) => line.replace(/"msg":"client-(\d+)#7"/, '"msg":"app-$1/7"'));
    const results = story.check({ history, trace });
    const read = results.anomalies.find(({ kind }) => kind === 'consumer-saw-uncommitted');
    expect(read?.class).toBe('violation');
  });

  it('is the high watermark, where only the leader was asked to acknowledge', () => {
    expect(classOf(promisedTwice((story) => story.ack(2), { acks: 1 }).check(), 2)).toBe('violation');
  });

  it('is the high watermark, where the leader acknowledged what it no longer had', () => {
    const story = new Story({ minInsyncReplicas: 1, uncleanElection: true });
    story.begin(3, [1, 2, 3]);
    story.commit(1);
    story.send(2);
    story.copy(3, 1);
    story.hw(2, 3);
    story.truncate(3, 1, 'high-watermark', { highWatermark: 1 });
    story.ack(2);
    story.begin(2, [2], { clean: false });
    story.settle((node) => {
      story.follow(node);
      if (story.end(node) > 1) story.truncateByEpoch(node, 1, 2, 0, 1);
    });
    const [loss] = story.check().anomalies;
    expect(loss?.summary).toContain('broker 3 truncated its log without need');
  });

  it('is of the message itself, not of another by the same client that stood at its place', () => {
    const story = s2('epoch');
    // Its client sends 3 as well, in its next message; and the lines of broker 2, who acknowledged 3, come first.
    const nodeOf = (line: string): number => Number((JSON.parse(line) as { node: unknown }).node);
    const same = (line: string): string =>
      line.replace('client-3#7', 'client-2#8').replace('"process":3', '"process":2');
    const trace = story.trace.map(same).toSorted((x, y) => nodeOf(y) - nodeOf(x));
    const results = story.check({ trace, history: story.history.map(same) });
    expect(losses(results)).toEqual(['expected']);
    expect(results.anomalies[0]?.values).toEqual([2]);
  });

  it('is of the record of a message whose client never told its name, if only one ever stood there', () => {
    const story = new Story({ minInsyncReplicas: 1, uncleanElection: true, build: 'epoch' });
    story.begin(3, [1, 2, 3]);
    story.commit(1);
    story.isr([3]);
    story.send(2);
    story.hw(2, 3);
    story.operation({ process: 2, type: 'info', f: 'send', value: [['send', 'tide-0', 2]], error: 'timeout' });
    story.poll(100, [
      [0, 1],
      [1, 2],
    ]);
    story.begin(1, [1], { clean: false });
    expect(kinds(settleUnder1(story).check(), 'expected')).toEqual(['consumer-saw-uncommitted']);
  });
});

describe('what ties a value to its record', () => {
  /** The trace with other names of messages, as clients of others give them. */
  const renamed = (trace: readonly string[]): string[] =>
    trace.map((line) => line.replace(/"msg":"client-(\d+)#7"/, '"msg":"app-$1/7"'));

  it.each([
    ['s1a', () => s1a('hw')],
    ['s10', s10],
  ] as const)('is the place alone where nobody knows the names of messages: %s', (_, tell) => {
    const story = tell();
    expect(findingsText(story.check({ trace: renamed(story.trace) }))).toBe(findingsText(story.check()));
  });

  it.each([
    ['s11', s11],
    ['s2', () => s2('epoch')],
  ] as const)('is missing where two records stood at one place and nobody knows whose they were: %s', (_, tell) => {
    const story = tell();
    const results = story.check({ trace: renamed(story.trace) });
    expect(losses(results)).toEqual([]);
    expect(results.notes.join()).toContain('the trace does not show the record');
  });

  it('is never the message of another, though it is all that ever stood at that place', () => {
    const story = new Story({ uncleanElection: true });
    story.begin(3, [1, 2, 3]);
    story.commit(1);
    story.commit(2);
    // The client was told offset 1 as well, by an answer that no broker gave.
    story.invoke(3);
    story.acked(3, 1);
    story.begin(1, [1], { clean: false });
    for (const node of [1, 2, 3]) story.truncate(node, 1, 'high-watermark', { highWatermark: 1 });
    const results = story.check();
    expect(losses(results)).toEqual(['violation']);
    expect(results.anomalies[0]?.values).toEqual([2]);
    expect(results.notes.join()).toContain('the trace does not show the record');
  });

  it('is the other record where one of two at a place is known to be the message of another', () => {
    const story = new Story({ minInsyncReplicas: 1, uncleanElection: true });
    story.begin(3, [1, 2, 3]);
    story.commit(1);
    story.isr([3]);
    story.send(2);
    story.hw(2, 3);
    story.ack(2);
    story.begin(1, [1], { clean: false });
    story.send(3);
    story.hw(2, 1);
    story.ack(3);
    story.restart(3, 2);
    story.follow(3);
    story.truncateByEpoch(3, 1, 1, 0, 0);
    story.settle();
    const trace = story.trace.map((line) => line.replace('"msg":"client-2#7"', '"msg":"app-2/7"'));
    const results = story.check({ trace });
    expect(losses(results)).toEqual(['expected']);
    expect(results.anomalies[0]?.values).toEqual([2]);
  });
});

describe('without a whole trace', () => {
  const without: Partial<CheckInput> = { trace: null };

  it('a loss is a violation where neither unclean elections nor storage faults were possible', () => {
    const story = s1a('hw');
    const results = story.check({ ...without, run: { ...story.input().run, finalLeaders: { 'tide-0': 1 } } });
    expect(losses(results)).toEqual(['violation']);
    expect(results.exposures).toBeNull();
  });

  it('a loss is unknown where unclean elections were allowed', () => {
    const story = s11();
    const results = story.check({ ...without, run: { ...story.input().run, finalLeaders: { 'tide-0': 1 } } });
    expect(losses(results)).toEqual([]);
    expect(results.guarantees.durability).toBe('unknown');
    expect(results.valid).toBe('unknown');
  });

  it('a loss is unknown where a storage fault was injected', () => {
    const story = s2('epoch');
    const results = story.check({ ...without, run: { ...story.input().run, finalLeaders: { 'tide-0': 2 } } });
    expect(results.guarantees.durability).toBe('unknown');
  });

  it.each([
    [true, []],
    [false, ['violation']],
  ])('a storage fault whose evidence is %s excuses accordingly', (effective, expected) => {
    const story = s1a('hw');
    for (const phase of ['start', 'end'] as const) {
      const value = { fault: 'f1', phase, roles: {}, nodes: {}, ...(phase === 'end' ? { effective } : {}) };
      story.operation({ process: 'nemesis', type: 'info', f: 'power-loss', value });
    }
    const results = story.check({ ...without, run: { ...story.input().run, finalLeaders: { 'tide-0': 1 } } });
    expect(losses(results)).toEqual(expected);
  });

  it.each([
    ['cut no power', ['pause', 'call', 'resume'], ['start', 'end'], ['violation']],
    ['cut the power of somebody', ['kill', 'power-loss', 'start'], ['start', 'end'], []],
    ['never told what it did', [], ['start'], []],
  ] as const)(
    'a script that %s excuses accordingly, whether or not it came to its end',
    (_, actions, phases, expected) => {
      const story = s1a('hw');
      for (const phase of phases) {
        const told = { effective: false, evidence: actions.map((action) => ({ action, effective: true })) };
        const value = { fault: 'the script', phase, roles: {}, nodes: {}, ...(phase === 'end' ? told : {}) };
        story.operation({ process: 'nemesis', type: 'info', f: 'script', value });
      }
      const results = story.check({ ...without, run: { ...story.input().run, finalLeaders: { 'tide-0': 1 } } });
      expect(losses(results)).toEqual(expected);
    },
  );

  it('a trace with a hole counts as none: nothing is excused by what it does not show', () => {
    const story = s11();
    const trace = story.trace.filter((line) => !line.includes('"truncation"'));
    const results = story.check({ trace });
    expect(losses(results)).toEqual([]);
    expect(results.guarantees).toMatchObject({ durability: 'unknown', agreement: 'unknown' });
    expect(results.notes.join('\n')).toContain('goes from seq');
  });
});

describe('what the trace does not reach', () => {
  it('is a loss that no line explains: of a run that came to rest it is a violation, whatever was allowed', () => {
    const story = new Story({ uncleanElection: true });
    story.begin(3, [1, 2, 3]);
    story.commit(1);
    story.commit(2);
    const files = story.files().map((file) => ({ ...file, segments: [] }));
    const results = story.check({ logs: { nodes: [1, 2, 3], files } });
    expect(losses(results)).toEqual(['violation']);
    expect(results.anomalies[0]?.summary).toContain('no elected leader lacked it when it was elected');
  });

  it('is a partition of which it has no line: it excuses and proves nothing', () => {
    const story = new Story({ uncleanElection: true });
    story.begin(3, [1, 2, 3]);
    story.commit(1);
    const send = { process: 70, f: 'send' };
    story.operation({ ...send, type: 'invoke', value: [['send', 'other-0', 9]], acks: 'all' });
    story.operation({ ...send, type: 'ok', value: [['send', 'other-0', [1, 9]]] });
    story.operation({ process: 71, type: 'invoke', f: 'poll', value: [['poll']] });
    const records = [
      [0, 7],
      [2, 8],
    ];
    story.operation({ process: 71, type: 'ok', f: 'poll', value: [['poll', { 'other-0': records }]] });
    const results = story.check({ logs: null });
    expect(losses(results)).toEqual([]);
    expect(results.notes.join('\n')).toContain(
      'other-0: acknowledged records are lost, and there is no whole trace, and an unclean election or a storage fault may excuse it',
    );
  });
});

describe('of a run that was killed', () => {
  /** The record is passed over by a reader, after what `tell` says has happened to it. */
  function killed(tell: (story: Story) => void): RunResults {
    const story = new Story({ minInsyncReplicas: 1, uncleanElection: true });
    story.begin(3, [1, 2, 3]);
    story.commit(1);
    story.isr([3]);
    story.send(2);
    story.hw(2, 3);
    story.ack(2);
    tell(story);
    story.poll(100, [
      [0, 1],
      [2, 3],
    ]);
    return story.check({ run: { ...story.input().run, settled: null, completed: false }, logs: null });
  }

  it('a loss is still a violation by a truncation without need, though no election is there to explain it', () => {
    const results = killed((story) => story.truncate(3, 1, 'high-watermark', { highWatermark: 1 }));
    expect(kinds(results)).toContain('lost-write');
  });

  it('a loss is still a violation where a copy outside the ISR was thrown away without need', () => {
    const results = killed((story) => {
      story.copy(3, 2);
      story.follow(2);
      story.truncate(2, 1, 'high-watermark', { highWatermark: 1 });
    });
    expect(kinds(results)).toContain('lost-write');
  });

  it('a loss may be explained later where power went before the record was flushed', () => {
    const results = killed((story) => story.restart(3, 1, { flushed: 1 }));
    expect(kinds(results)).not.toContain('lost-write');
  });

  it('a loss by a clean election of who lacked it is a violation, though nothing was thrown away without need', () => {
    const results = killed((story) => story.begin(1, [1], { clean: true }));
    expect(kinds(results)).toContain('lost-write');
  });

  it('a loss that nothing explains may be explained by what the trace does not reach', () => {
    const results = killed(() => {});
    expect(kinds(results)).not.toContain('lost-write');
    expect(results.notes.join('\n')).toContain('the trace ends before the loss');
  });

  it.each([
    [true, [], 'unknown'],
    [false, ['lost-write'], false],
  ])(
    'with unclean elections %s, a loss that its trace does not reach is judged as without a trace',
    (unclean, found, verdict) => {
      const story = new Story({ uncleanElection: unclean });
      story.begin(3, [1, 2, 3]);
      for (const value of [1, 2, 3]) story.commit(value);
      story.poll(100, [
        [0, 1],
        [2, 3],
      ]);
      const results = story.check({ run: { ...story.input().run, settled: null, completed: false }, logs: null });
      expect(kinds(results)).toEqual(found);
      expect(results.guarantees.durability).toBe(verdict);
    },
  );
});

describe('what readers saw', () => {
  it('of a record that was never acknowledged is judged by when its high watermark passed it', () => {
    const story = new Story({ minInsyncReplicas: 1, uncleanElection: true, build: 'epoch' });
    story.begin(3, [1, 2, 3]);
    story.commit(1);
    story.isr([3]);
    story.send(2);
    story.hw(2, 3);
    story.unanswered(2);
    story.poll(100, [
      [0, 1],
      [1, 2],
    ]);
    story.begin(1, [1], { clean: false });
    const results = settleUnder1(story).check();
    expect(kinds(results, 'expected')).toEqual(['consumer-saw-uncommitted']);
    expect(results.valid).toBe(true);
  });

  it('is judged by its own record, not by an acknowledged one that took its offset', () => {
    const story = new Story({ brokers: 2, minInsyncReplicas: 1, build: 'epoch' });
    story.begin(1, [1, 2]);
    story.commit(1);
    story.send(2);
    story.copy(1, 2);
    story.hw(2, 1);
    story.unanswered(2);
    story.poll(100, [
      [0, 1],
      [1, 2],
    ]);
    story.isr([2]);
    story.elect(null, [2]);
    story.restart(2, 1, { flushed: 1 });
    story.begin(2, [2]);
    story.send(3);
    story.hw(2, 2);
    story.ack(3);
    story.restart(1, 2);
    story.follow(1);
    story.truncateByEpoch(1, 1, 2, 0, 0);
    story.settle();
    const results = story.check();
    expect(results.anomalies.map(({ kind, class: className }) => [kind, className])).toEqual([
      ['inconsistent-offsets', 'expected'],
    ]);
    expect(results.valid).toBe(true);
  });

  it('was never committed, though another record was, later, at the same place', () => {
    const story = new Story({ minInsyncReplicas: 1, build: 'epoch' });
    story.begin(3, [1, 2, 3]);
    story.commit(1);
    story.send(2);
    story.unanswered(2);
    story.poll(100, [
      [0, 1],
      [1, 2],
    ]);
    story.begin(1, [1, 2], { clean: true });
    story.restart(3, 1);
    story.follow(3);
    story.truncateByEpoch(3, 1, 1, 0, 0);
    story.commit(3);
    story.settle();
    const results = story.check();
    const summaries = results.anomalies.flatMap(({ consequences }) => consequences.map(({ summary }) => summary));
    expect(summaries).toContain('2 was read at offset 1 of tide-0, but no high watermark had ever passed it');
  });

  it('at a place that no log ever reached has vanished; nobody can say that it was never committed', () => {
    const story = new Story();
    story.begin(3, [1, 2, 3]);
    story.commit(1);
    story.poll(100, [
      [0, 1],
      [9, 77],
    ]);
    const vanished = story.check().anomalies.filter(({ kind }) => kind === 'consumer-saw-uncommitted');
    expect(vanished.map(({ labels }) => labels)).toEqual([['vanished']]);
  });

  it('of a partition without a line in the trace has vanished; nobody can say that it was never committed', () => {
    const story = new Story();
    story.begin(3, [1, 2, 3]);
    story.commit(1);
    const seen = [
      [
        [0, 7],
        [1, 8],
        [2, 9],
      ],
      [
        [0, 7],
        [2, 9],
      ],
    ];
    for (const [at, records] of seen.entries()) {
      story.operation({ process: 70 + at, type: 'invoke', f: 'poll', value: [['poll']] });
      story.operation({ process: 70 + at, type: 'ok', f: 'poll', value: [['poll', { 'other-0': records }]] });
    }
    const vanished = story.check({ logs: null }).anomalies.filter(({ kind }) => kind === 'consumer-saw-uncommitted');
    expect(vanished.map(({ labels }) => labels)).toEqual([['vanished']]);
  });

  it('above every high watermark is a violation, however it was lost', () => {
    const story = new Story({ minInsyncReplicas: 1, build: 'epoch' });
    story.begin(3, [1, 2, 3]);
    story.commit(1);
    story.send(2);
    story.unanswered(2);
    story.poll(100, [
      [0, 1],
      [1, 2],
    ]);
    story.begin(1, [1, 2], { clean: true });
    const results = settleUnder1(story).check();
    expect(kinds(results)).toEqual(['consumer-saw-uncommitted']);
    expect(results.anomalies[0]?.labels).toEqual(['never-committed']);
  });
});
