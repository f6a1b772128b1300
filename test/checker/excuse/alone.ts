/** One record that its leader acknowledged alone, or with one other: what comes then decides whether its loss is excused. */
import type { RunResults } from '../../../checker/results.ts';
import { Story, type StoryOptions } from '../story.ts';

/** The classes of the lost acknowledged records. */
export const losses = (results: RunResults): string[] =>
  results.anomalies.filter(({ kind }) => kind === 'lost-acked-write').map((anomaly) => anomaly.class);

/** Broker 3 leads, and alone acknowledges the second record; what comes then decides. */
export function acknowledgedAlone(options: StoryOptions = {}): Story {
  const story = new Story({ minInsyncReplicas: 1, uncleanElection: true, build: 'epoch', ...options });
  story.begin(3, [1, 2, 3]);
  story.commit(1);
  story.isr([3]);
  story.send(2);
  story.hw(2, 3);
  story.ack(2);
  return story;
}

/** Broker 3 leads, and acknowledges the second record with broker 1, which has a copy; broker 2 has none. */
export function acknowledgedWithOne(): Story {
  const story = new Story({ minInsyncReplicas: 1, uncleanElection: true });
  story.begin(3, [1, 2, 3]);
  story.commit(1);
  story.isr([1, 3]);
  story.send(2);
  story.copy(3, 1);
  story.hw(2, 3);
  story.ack(2);
  return story;
}

/** Broker 3 comes back and follows broker 1, which lacks the second record. */
export function settleUnder1(story: Story): Story {
  story.restart(3, 2);
  story.follow(3);
  story.truncateByEpoch(3, 1, 1, 0, 0);
  story.settle();
  return story;
}
