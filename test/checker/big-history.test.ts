import { expect, it } from 'vitest';
import { checkRun } from '../../checker/check.ts';
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
