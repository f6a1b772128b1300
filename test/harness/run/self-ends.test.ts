import { describe, expect, it, vi } from 'vitest';
import { SelfEnds } from '../../../harness/run/self-ends.ts';
import { paperCluster } from './paper-cluster.ts';

/** What became of brokers that ended, one after the other, having said these lines last. */
function after(...ends: readonly (readonly [node: number, lastLines: readonly string[]])[]) {
  return told(true, ends);
}

function stage() {
  const failures: string[] = [];
  const remaining: string[] = [];
  const selfEnds = new SelfEnds({
    now: () => 7,
    onFailure: ({ message }) => failures.push(message),
    onRemain: (sentence) => remaining.push(sentence),
  });
  return { selfEnds, failures, remaining };
}

function told(begun: boolean, ends: readonly (readonly [node: number, lastLines: readonly string[]])[]) {
  const { selfEnds, failures, remaining } = stage();
  if (begun) selfEnds.begin();
  for (const [node, lastLines] of ends) {
    selfEnds.ended({ end: () => ({ lastLines, phase: 'running' }) }, node, 'Halting', 'node');
  }
  return { failures, remaining, ends: selfEnds.ends, gone: [...selfEnds.gone()] };
}

describe('a foreign broker that ends itself', () => {
  it('is gone, and is to blame', () => {
    const { ends, failures, gone } = after([2, ['log truncation is not allowed']]);
    expect(ends).toEqual([
      {
        node: 2,
        detail: 'Halting',
        blame: 'node',
        time: 7,
        phase: 'running',
        lastLines: ['log truncation is not allowed'],
      },
    ]);
    expect([failures, gone]).toEqual([[], [2]]);
  });

  it('is told once, though it says so and then exits', () => {
    expect(after([2, ['no']], [2, ['no']]).ends).toHaveLength(1);
  });

  it('before the load begins ends the run at once, and stays a finding', () => {
    const { ends, failures } = told(false, [[2, ['I give up']]]);
    expect(failures).toEqual(['broker 2 ended by itself: Halting']);
    expect(ends).toMatchObject([{ node: 2, blame: 'node' }]);
  });

  it('for want of space on the disk was ended by its environment, which fails the run', () => {
    const { ends, failures, gone } = after([3, ['java.io.IOException: No space left on device', 'Halting']]);
    expect(ends).toMatchObject([{ node: 3, blame: 'environment' }]);
    expect([failures, gone]).toEqual([['broker 3 ended by itself: Halting'], []]);
  });

  it('that had lost its session, as its log proves, accuses nobody, and fails no run', () => {
    const { selfEnds, failures } = stage();
    selfEnds.begin();
    const end = { end: () => ({ lastLines: ['Fatal error'], phase: 'start' as const }) };
    selfEnds.ended(end, 1, 'Fatal error', 'node');
    selfEnds.ended(end, 2, 'Fatal error', 'node');
    selfEnds.excused(2, 'Timed out waiting for connection');
    selfEnds.excused(3, 'nothing ended there');
    expect(selfEnds.ends).toMatchObject([
      { node: 1, blame: 'node', detail: 'Fatal error' },
      { node: 2, blame: 'environment', detail: 'it had lost its session: Timed out waiting for connection' },
    ]);
    expect([failures, [...selfEnds.gone()]]).toEqual([[], [1, 2]]);
  });

  it('is started again once; an end by a lost session does not count, but for a few', () => {
    const { selfEnds } = stage();
    const end = { end: () => ({ lastLines: [], phase: 'start' as const }) };
    const again = (excuse: boolean): boolean => {
      selfEnds.started(2);
      selfEnds.ended(end, 2, 'Fatal error', 'node');
      if (excuse) selfEnds.excused(2, 'Session expired');
      return selfEnds.isMending();
    };
    selfEnds.begin();
    selfEnds.mend(paperCluster());
    expect([again(true), again(true), again(true), again(false)]).toEqual([true, true, true, false]);
    selfEnds.close();
  });

  it('is excused for the end that it was told of, and for none that came before', () => {
    const { selfEnds } = stage();
    const end = { end: () => ({ lastLines: [], phase: 'running' as const }) };
    selfEnds.begin();
    selfEnds.ended(end, 2, 'log truncation is not allowed', 'node');
    selfEnds.started(2);
    selfEnds.excused(2, 'of an end that was not told');
    selfEnds.ended(end, 3, 'log truncation is not allowed', 'node');
    selfEnds.close();
    selfEnds.ended(end, 2, 'what stood beside it is being removed', 'node');
    selfEnds.excused(3, 'ZooKeeper is being removed');
    expect(selfEnds.ends.map(({ node, blame }) => [node, blame])).toEqual([
      [2, 'node'],
      [3, 'node'],
    ]);
  });

  it('and cannot be started again since the run is over fails nothing', async () => {
    vi.useFakeTimers();
    try {
      const { selfEnds, failures } = stage();
      const cluster = paperCluster();
      selfEnds.begin();
      selfEnds.mend(cluster);
      const end = { end: () => ({ lastLines: [], phase: 'running' as const }) };
      selfEnds.ended(end, 2, 'Halting', 'node');
      selfEnds.ended(end, 3, 'Halting', 'node');
      await vi.advanceTimersByTimeAsync(1_500);
      const [two, three] = [await cluster.next(), await cluster.next()];
      two.answer({ effective: true, facts: {} });
      const start = await cluster.next();
      expect(start.action).toEqual({ port: 'process', verb: 'start', node: 2 });
      selfEnds.close();
      start.answer(new Error('no such container'));
      three.answer({ effective: true, facts: {} });
      let asked = false;
      void cluster.next().then(() => (asked = true));
      await vi.advanceTimersByTimeAsync(0);
      expect([failures, asked]).toEqual([[], false]);
    } finally {
      vi.useRealTimers();
    }
  });
});
