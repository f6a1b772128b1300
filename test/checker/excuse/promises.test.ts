/** From which moment a record is promised, and what ties a value to its record. */
import { describe, expect, it } from 'vitest';
import type { RunResults } from '../../../checker/results.ts';
import { findingsText } from '../findings-text.ts';
import { s10, s11, s1a, s2 } from '../schedules.ts';
import { kinds, Story, type StoryOptions } from '../story.ts';
import { losses, settleUnder1 } from './alone.ts';

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

  it.each([
    ['the answer never reached the client', 2],
    ['an indefinite answer names the offset all the same', [1, 2]],
  ])('is the high watermark, where %s', (_, sent) => {
    const story = promisedTwice((told) => {
      told.ack(2);
      const last = JSON.parse(told.history.pop() as string) as Record<string, unknown>;
      const { index: _index, ...fields } = last;
      told.history.push(JSON.stringify({ ...fields, index: 3, type: 'info', value: [['send', 'tide-0', sent]] }));
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
