/** The failure schedules of KIP-101, KIP-279 and KIP-966 as stories, as each build would play them. */
import { Story } from './story.ts';

/** One leader, three replicas, one record committed everywhere. */
function threeBrokers(options: ConstructorParameters<typeof Story>[0] = {}): Story {
  const story = new Story(options);
  story.begin(3, [1, 2, 3]);
  story.commit(1);
  return story;
}

/** S1a up to its step 8: the leader changes, and the new one dies before the follower has fetched again. */
export function leaderChangeThenDeath(build: 'hw' | 'epoch'): Story {
  const story = threeBrokers({ build });
  story.send(2);
  story.copy(3, 1, 2);
  story.hw(2, 3);
  story.ack(2);
  story.fault('f1', 'handover-crash', { leader: 3, next: 2 });
  story.elect(2, [1, 2, 3], { reason: 'move' });
  story.follow(1);
  if (build === 'hw') story.truncateToHw(1);
  else story.truncateByEpoch(1, 2, 2, 0, 0);
  story.elect(1, [1, 3], { reason: 'fenced' });
  story.lead();
  story.follow(3);
  return story;
}

/** S1a: nothing else is written; everybody follows broker 1 in the end. */
export function s1a(build: 'hw' | 'epoch'): Story {
  const story = leaderChangeThenDeath(build);
  story.fault('f1', 'handover-crash', { leader: 3, next: 2 }, 'end');
  if (build === 'hw') {
    story.truncate(3, 1, 'offset-out-of-range', { leader: 1, leaderStart: 0, leaderEnd: 1 });
  } else story.truncateByEpoch(3, 2, 1, 0, 0);
  story.restart(2, 1);
  story.follow(2);
  if (build === 'hw') story.truncateToHw(2);
  else story.truncateByEpoch(2, 2, 1, 0, 0);
  story.settle();
  return story;
}

/** S1a′: a new record takes the freed offset; a reader has seen the old one, another sees the new one. */
export function s1aPrime(build: 'hw' | 'epoch'): Story {
  const story = leaderChangeThenDeath(build);
  story.poll(100, [
    [0, 1],
    [1, 2],
  ]);
  story.fault('f1', 'handover-crash', { leader: 3, next: 2 }, 'end');
  if (build === 'hw') story.truncateToHw(3);
  else story.truncateByEpoch(3, 2, 1, 0, 0);
  story.send(3);
  story.copy(1, 3);
  story.hw(story.end(1), 1);
  story.ack(3);
  story.restart(2, 1);
  story.follow(2);
  if (build === 'hw') story.truncateToHw(2);
  else story.truncateByEpoch(2, 2, 1, 0, 0);
  story.settle();
  const tail: [number, number][] =
    build === 'hw'
      ? [[1, 3]]
      : [
          [1, 2],
          [2, 3],
        ];
  story.poll(101, [[0, 1], ...tail], { final: true });
  return story;
}

/** S1b: two brokers, unclean election allowed; a restarted follower truncates first, and is elected then. */
export function s1b(): Story {
  const story = new Story({ brokers: 2, minInsyncReplicas: 1, uncleanElection: true });
  story.begin(2, [1, 2]);
  story.commit(1);
  story.send(2);
  story.copy(2, 1);
  story.hw(2, 2);
  story.ack(2);
  story.isr([2]);
  story.restart(1, 1);
  story.follow(1);
  story.truncateToHw(1);
  story.begin(1, [1], { clean: false, reason: 'fenced' });
  story.restart(2, 1);
  story.follow(2);
  story.truncateToHw(2);
  story.settle();
  return story;
}

/** S2: both brokers lose power; the one that comes first had not flushed the second record. */
export function s2(build: 'hw' | 'epoch'): Story {
  const story = new Story({ brokers: 2, minInsyncReplicas: 1, build });
  story.begin(1, [1, 2]);
  story.commit(1);
  story.commit(2);
  story.fault('f1', 'power-loss', { leader: 1, follower: 2 });
  story.isr([2]);
  story.elect(null, [2], { reason: 'fenced' });
  story.restart(2, 2, { flushed: 1 });
  story.begin(2, [2], { reason: 'unfenced' });
  story.send(3);
  story.hw(2, 2);
  story.ack(3);
  story.restart(1, 2);
  story.follow(1);
  if (build === 'hw') story.truncateToHw(1);
  else story.truncateByEpoch(1, 1, 2, 0, 0);
  story.settle();
  return story;
}

/** S10: the last replica in the ISR loses the record, though two good copies exist outside of it. */
export function s10(minInsyncReplicas = 2): Story {
  const story = threeBrokers({ minInsyncReplicas, build: 'epoch' });
  story.commit(2);
  story.elect(2, [2, 3], { reason: 'fenced' });
  story.follow(3);
  story.elect(3, [3], { reason: 'fenced' });
  story.lead();
  story.elect(null, [3], { reason: 'fenced' });
  story.restart(3, 1, { flushed: 1 });
  story.begin(3, [3], { reason: 'unfenced' });
  for (const node of [1, 2]) {
    story.restart(node, 1);
    story.follow(node);
    story.truncateByEpoch(node, 1, 3, 0, 0);
  }
  story.settle();
  return story;
}

/** S11: acknowledged by a leader alone, who dies; a broker from outside the ISR is elected. */
export function s11(): Story {
  const story = new Story({ brokers: 3, minInsyncReplicas: 1, uncleanElection: true, build: 'epoch' });
  story.begin(3, [1, 2, 3]);
  story.commit(1);
  story.isr([3]);
  story.send(2);
  story.hw(2, 3);
  story.ack(2);
  story.poll(100, [
    [0, 1],
    [1, 2],
  ]);
  story.begin(1, [1], { clean: false, reason: 'fenced' });
  story.follow(2);
  story.send(3);
  story.copy(1, 2);
  story.hw(2, 1);
  story.ack(3);
  story.restart(3, 2);
  story.follow(3);
  story.truncateByEpoch(3, 1, 1, 0, 0);
  story.settle();
  story.poll(
    101,
    [
      [0, 1],
      [1, 3],
    ],
    { final: true },
  );
  return story;
}

/** S3b on KIP-101's rule: two fast clean elections; the follower keeps its own conflicting record. */
export function s3b(): Story {
  const story = new Story({ brokers: 2, minInsyncReplicas: 1, build: 'kip101' });
  story.begin(1, [1, 2]);
  story.commit(1);
  story.send(10);
  const sendAtOld = (): void => story.elect(2, [1, 2], { reason: 'move' });
  sendAtOld();
  story.lead();
  story.send(20, 2);
  story.elect(1, [1, 2], { reason: 'move' });
  story.lead();
  story.send(11, 1);
  story.follow(2);
  story.truncateByEpoch(2, 2, 1, 1, 2);
  story.copy(1, 2);
  story.hw(3, 1);
  story.ack(10);
  story.ack(11);
  story.elect(2, [2], { reason: 'fenced' });
  story.lead();
  story.restart(1, 3);
  story.follow(1);
  story.truncateByEpoch(1, 3, 2, 2, 2);
  story.settle();
  return story;
}
