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

it('one lost record among very many is found', () => {
  const lines = [...bigHistory({ operations: 20_000, partitions: 8, processes: 8 })];
  const damaged = lines.map((line) => line.replace('[500,501],', ''));
  const { anomalies } = checkRun(historyInput(damaged));
  expect(anomalies.map(({ kind }) => kind)).toContain('lost-write');
  expect(anomalies.flatMap(({ values }) => values)).toContain(501);
});
