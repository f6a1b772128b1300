/** What readers saw of records that are gone. */
import { describe, expect, it } from 'vitest';
import { kinds, Story } from '../story.ts';
import { settleUnder1 } from './alone.ts';

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
    // It is why the place has two values.
    expect(results.anomalies).toMatchObject([
      {
        kind: 'consumer-saw-uncommitted',
        summary: '2 was read at offset 1 of tide-0, but no high watermark had ever passed it',
        consequences: [{ kind: 'inconsistent-offsets' }],
      },
    ]);
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
