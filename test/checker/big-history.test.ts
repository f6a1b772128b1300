import { expect, it } from 'vitest';
import { checkRun } from '../../checker/check.ts';
import type { Operation } from '../../checker/history.ts';
import { bigHistory } from './big-history.ts';
import { historyInput } from './story.ts';

it('a long healthy history is valid, and everything in it is counted', () => {
  const lines = bigHistory({ operations: 20_000, partitions: 8, processes: 8 });
  const { valid, anomalies, measures } = checkRun(historyInput(lines));
  expect({ valid, anomalies }).toEqual({ valid: true, anomalies: [] });
  expect(measures).toMatchObject({ sends: 10_000, acknowledged: 10_000, recordsRead: 10_000, unseen: 0 });
});

it('one loss and one duplicate among very many records are found, and nothing else', () => {
  const planted = { lostAt: 500, doubledAt: 700 };
  const lines = bigHistory({ operations: 20_000, partitions: 8, processes: 8, planted });
  const { anomalies } = checkRun(historyInput(lines));
  expect(anomalies.map(({ kind, key, values }) => [kind, key, values])).toEqual([
    ['lost-write', 'tide-0', [501]],
    ['duplicate', 'tide-1', [701]],
  ]);
});

/** Quadratic time would take many minutes. */
const PATIENCE_MS = 60_000;

it(
  'what is wrong in tens of thousands of ways is judged in linear time',
  () => {
    const count = 40_000;
    const history: Operation[] = [];
    const add = (process: number, f: string, invoked: unknown, completed: unknown): void => {
      for (const [type, value] of [
        ['invoke', invoked],
        ['ok', completed],
      ])
        history.push({ index: history.length, time: history.length, process, type, f, value } as unknown as Operation);
    };
    for (let value = 0; value < count; value += 1) {
      add(value % 8, 'send', [['send', 'a-0', value]], [['send', 'a-0', [count - value, value]]]);
      if (value % 3 === 0)
        add(
          100 + value,
          'poll',
          [['poll']],
          [
            [
              'poll',
              {
                'a-0': [
                  [0, -1],
                  [count - value, value],
                ],
              },
            ],
          ],
        );
    }
    const { valid, anomalies } = checkRun(historyInput([], { history }));
    expect(valid).toBe(false);
    const kinds = anomalies.flatMap(({ kind, consequences }) => [kind, ...consequences.map((each) => each.kind)]);
    expect(kinds).toEqual(expect.arrayContaining(['realtime-order', 'lost-write', 'int-poll-skip']));
  },
  PATIENCE_MS,
);
