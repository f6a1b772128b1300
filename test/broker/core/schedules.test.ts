/**
 * The schedules that part the builds, driven by hand: the first fetch rounds, one crash, S1a, and what a consumer sees.
 */
import { describe, expect, it } from 'vitest';
import { Cluster } from './cluster.ts';

describe('the first fetch rounds', () => {
  it.each(['hw', 'epoch'])('bring the records in the first and the high watermark in the second, on %s', (build) => {
    const cluster = new Cluster({ build, brokers: 2 });
    cluster.push({ leader: 1, epoch: 0, isr: [1, 2] });
    for (const value of [1, 2, 3]) cluster.produce(1, value);

    cluster.deliver(({ api }) => api !== 'Fetch');
    cluster.fetchRound(2, 1);
    expect(cluster.ends(1)).toEqual([3, 0]);
    expect(cluster.ends(2)).toEqual([3, 0]);
    expect(cluster.lines(1, 'fetch').map(({ offset, leo }) => [offset, leo])).toEqual([[0, 3]]);

    // The second fetch finds nothing to read and waits; it has told the leader where the follower stands.
    cluster.fetchRound(2, 1);
    expect(cluster.lines(1, 'fetch').map(({ offset, leo }) => [offset, leo])).toEqual([
      [0, 3],
      [3, 3],
    ]);
    expect(cluster.ends(1)).toEqual([3, 3]);
    expect(cluster.ends(2)).toEqual([3, 0]);

    // As its wait ends the high watermark is read again.
    cluster.advance(500);
    cluster.deliver(({ kind }) => kind === 'response');
    expect(cluster.ends(2)).toEqual([3, 3]);
  });
});
