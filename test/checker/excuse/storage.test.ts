/** Storage faults, and the label of the last replica standing. */
import { describe, expect, it } from 'vitest';
import { s10, s2 } from '../schedules.ts';
import { Story } from '../story.ts';
import { losses } from './alone.ts';

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
