/** A committed record that gave way to another, and what was never committed or is excused. */
import { describe, expect, it } from 'vitest';
import { kinds, quiet, type Story } from '../story.ts';

/** A record that no client was told of: read below the high watermark, or not yet; then a leader without it writes. */
function overwritten({ committed, clean }: { committed: boolean; clean: boolean }): Story {
  const story = quiet(1, { minInsyncReplicas: 1, uncleanElection: !clean });
  story.isr([2, 3]);
  story.send(2);
  story.copy(3, 2);
  if (committed) story.hw(2, 3);
  story.unanswered(2);
  story.elect(1, clean ? [1, 2, 3] : [1], { clean });
  story.lead();
  story.commit(3);
  story.follow(2, 3);
  for (const node of [2, 3]) story.truncateByEpoch(node, 1, 1, 0, 0);
  story.settle();
  return story;
}

describe('committed-overwritten', () => {
  it('is another record where a high watermark had passed, though nobody was told', () => {
    const results = overwritten({ committed: true, clean: true }).check();
    expect(kinds(results)).toEqual(['committed-overwritten']);
    expect(results.anomalies[0]).toMatchObject({ offset: 1, nodes: [1, 3], guarantee: 'offsets' });
    expect(results.anomalies[0]?.why.length).toBeGreaterThan(3);
  });

  it('is not one of which no high watermark knew', () => {
    expect(overwritten({ committed: false, clean: true }).check().anomalies).toEqual([]);
  });

  it('is not one that an unclean election excuses', () => {
    expect(overwritten({ committed: true, clean: false }).check()).toMatchObject({ valid: true, anomalies: [] });
  });

  it('is not one of a topic that was deleted', () => {
    const story = overwritten({ committed: true, clean: true });
    story.line('controller', { event: 'delete', partition: 'tide-0' });
    expect(kinds(story.check({ logs: null }))).toEqual([]);
  });

  it('begins where both batches reach, though one of them began before', () => {
    const story = quiet(1, { minInsyncReplicas: 1 });
    story.isr([2, 3]);
    const append = (leaderEpoch: number, batches: readonly object[]): Readonly<Record<string, unknown>> => ({
      event: 'append',
      partition: 'tide-0',
      leaderEpoch,
      batches,
    });
    const wide = [{ base: 1, last: 3, epoch: 0, hash: '0000000a' }];
    for (const node of [3, 2]) story.line(node, append(0, wide));
    story.hw(4, 3);
    story.elect(1, [1, 2, 3]);
    story.lead();
    story.line(
      1,
      append(1, [
        { base: 1, last: 1, epoch: 1, hash: '0000000b' },
        { base: 2, last: 2, epoch: 1, hash: '0000000c' },
      ]),
    );
    const found = story.check({ logs: null }).anomalies.filter(({ kind }) => kind === 'committed-overwritten');
    expect(found).toHaveLength(1);
    expect(found[0]?.summary).toMatch(/^2 committed records at offsets 1 to 2 of tide-0 gave way to others/);
  });
});
