import { describe, expect, it } from 'vitest';
import { SelfEnds } from '../../../harness/run/self-ends.ts';

/** What became of brokers that ended, one after the other, having said these lines last. */
function after(...ends: readonly (readonly [node: number, lastLines: readonly string[]])[]) {
  return told(true, ends);
}

function told(begun: boolean, ends: readonly (readonly [node: number, lastLines: readonly string[]])[]) {
  const failures: string[] = [];
  const remaining: string[] = [];
  const selfEnds = new SelfEnds({
    now: () => 7,
    onFailure: ({ message }) => failures.push(message),
    onRemain: (sentence) => remaining.push(sentence),
  });
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
});
