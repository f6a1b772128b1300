/** Operations of several micro-operations: what belongs together, and what a Kafka always allows. */
import { describe, expect, it } from 'vitest';
import { checkRun } from '../../../checker/check.ts';
import type { Operation } from '../../../checker/history.ts';
import type { RunResults } from '../../../checker/results.ts';
import { historyInput, kinds } from '../story.ts';
import { Plot } from '../twins/plant.ts';

function check(tell: (plot: Plot) => void): RunResults {
  const history: Operation[] = [];
  tell(new Plot(history, 0));
  return checkRun(historyInput([], { history }));
}

describe('an indefinite transaction', () => {
  const indefinite = (readsOne: boolean): RunResults =>
    check((plot) => {
      plot.sends(2, [
        [8, 2],
        [9, 4],
      ]);
      plot.invokeTransaction(0, [1, 2], 0);
      plot.completeTransaction(
        0,
        [
          [3, 1],
          [5, 2],
        ],
        [],
        'info',
      );
      plot.poll(1, [[2, 8]]);
      plot.poll(1, [[4, 9]]);
      if (readsOne) plot.poll(1, [[5, 2]]);
    });

  it('happened as a whole once one of its records was read: another that was passed over is lost', () => {
    const results = indefinite(true);
    expect(kinds(results)).toEqual(['lost-write']);
    expect(results.anomalies[0]?.values).toEqual([41]);
  });

  it('of which nothing was read may not have happened at all', () => {
    expect(indefinite(false).anomalies).toEqual([]);
  });
});

describe('transactions that interleave', () => {
  const interleaved = (): RunResults =>
    check((plot) => {
      plot.invokeTransaction(0, [1, 2], 0);
      plot.invokeTransaction(1, [3, 4], 0);
      plot.completeTransaction(
        0,
        [
          [0, 1],
          [2, 2],
        ],
        [],
      );
      plot.completeTransaction(
        1,
        [
          [1, 3],
          [3, 4],
        ],
        [],
      );
    });

  it('are counted, and break nothing', () => {
    const { valid, anomalies, measures } = interleaved();
    expect(valid).toBe('unknown');
    expect(anomalies).toEqual([]);
    expect(measures).toMatchObject({ G0: 1, 'G0-process': 1, 'G0-realtime': 1, 'G1c-offsets': 1, sendSkips: 2 });
  });

  it('are checked as transactions, and sends and polls alone are not', () => {
    expect(interleaved().guarantees.transactions).toBe(true);
    expect(check((plot) => plot.send(0, 1, 0)).guarantees.transactions).toBe('not-checked');
  });

  it('read from each other in a circle even of many', () => {
    const count = 50;
    const results = check((plot) => {
      for (let at = 0; at < count; at += 1) plot.invokeTransaction(at, [at], 1);
      for (let at = 0; at < count; at += 1) {
        const next = (at + 1) % count;
        plot.completeTransaction(at, [[at, at]], [[[next, next]]]);
      }
    });
    expect(kinds(results)).toEqual(['G1c']);
    expect(results.anomalies[0]?.why).toHaveLength(count);
  });
});
