/** A log that starts above what was acknowledged, with and without a reason. */
import { describe, expect, it } from 'vitest';
import { key, kinds, quiet, Story } from '../story.ts';

function moved(to: number, reason: string | null): Story {
  const story = quiet(3);
  if (reason === null) return story;
  for (const node of [1, 2, 3]) {
    story.line(node, { event: 'log-start', partition: key, leaderEpoch: 0, from: 0, to, reason });
  }
  return story;
}

function startingAt(story: Story, logStart: number): ReturnType<Story['check']> {
  const files = story.files().map((file) => ({ ...file, logStart }));
  return story.check({ logs: { nodes: [1, 2, 3], files } });
}

describe('log-start-moved', () => {
  it('is a log that starts above an acknowledged record, and nothing says why', () => {
    const results = startingAt(moved(2, null), 2);
    expect(kinds(results)).toEqual(['log-start-moved']);
    expect(results.anomalies[0]).toMatchObject({ offset: 0, values: [1, 2], nodes: [3], guarantee: 'durability' });
  });

  it('is also one that a follower took over from nobody, or that moved further than was recorded', () => {
    expect(kinds(startingAt(moved(2, 'behind-leader-start'), 2))).toEqual(['log-start-moved']);
    expect(startingAt(moved(1, 'delete-records'), 2).anomalies[0]?.values).toEqual([2]);
  });

  it.each(['delete-records', 'retention-time'])('is not one that moved by %s', (reason) => {
    expect(startingAt(moved(2, reason), 2)).toMatchObject({ valid: true, anomalies: [] });
  });

  it('is unknown where no trace tells the reason', () => {
    const story = quiet(3);
    const files = story.files().map((file) => ({ ...file, logStart: 2 }));
    const run = { ...story.input().run, finalLeaders: { [key]: 3 } };
    const results = story.check({ run, trace: null, logs: { nodes: [1, 2, 3], files } });
    expect(results).toMatchObject({ anomalies: [], guarantees: { durability: 'unknown' } });
  });

  it('is not one above what nobody acknowledged, though its offset is known', () => {
    const story = new Story();
    story.begin(3, [1, 2, 3]);
    story.send(1);
    story.copy(3, 1, 2);
    story.operation({ process: 1, type: 'info', f: 'send', value: [['send', key, [0, 1]]], error: 'timeout' });
    for (const value of [2, 3]) story.commit(value);
    expect(startingAt(story, 1)).toMatchObject({ valid: true, anomalies: [] });
  });
});
