/**
 * Which build loses what under which schedule: the table of the failure schedules of KIP-101, KIP-279 and KIP-966, cell by
 * cell, as the checker finds it in the play of each. The scenarios' own expectations have no part in this.
 *
 * L  an acknowledged record is lost (`lost-acked-write`)
 * D  two replicas differ for good (`replica-divergence`)
 * I  two values were read at one offset (`inconsistent-offsets`; two acknowledgements of one offset alone are no I)
 * G  a value was read and is gone (`consumer-saw-uncommitted`)
 *
 * A letter alone is a violation, one with a star is expected: the configuration allows it. In brackets: nothing had been
 * promised (acks 0 or 1), which is a figure and no anomaly. I and G that follow from an expected loss share its star.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { RunResults } from '../../../checker/results.ts';
import { judgePlay } from '../../../harness/check/judge.ts';
import type { PlayEvidence } from '../../../harness/sim/judgement.ts';
import { parseScenario, playScenario } from '../../../harness/sim/scenario.ts';

const table = `
| schedule  | hw          | hw-elect    | kip101   | kip279   | epoch    |
| s1a       | L           | L           | ok       | ok       | ok       |
| s1a-prime | L D I G     | L D I G     | ok       | ok       | ok       |
| s1b       | L           | L           | ok       | ok       | ok       |
| s1c       | L           | L           | ok       | ok       | ok       |
| s2        | L* D I* G*  | L* D I* G*  | L*       | L*       | L*       |
| s3a       | (L) D       | (L) D       | (L) D    | (L)      | (L)      |
| s3b       | ok          | L           | L D I G  | ok       | ok       |
| s10       | L*          | L*          | L*       | L*       | L*       |
| s11       | L* I* G*    | L* I* G*    | L* I* G* | L* I* G* | L* I* G* |
| s12       | (L)         | (L)         | (L)      | (L)      | (L)      |
`;

const [head, ...rows] = table
  .trim()
  .split('\n')
  .map((line) => line.split('|').flatMap((cell) => (cell.trim() === '' ? [] : [cell.trim()])));
const cells = rows.flatMap(([schedule = '', ...found]) =>
  found.map((cell, column) => ({ schedule, build: head?.[column + 1] ?? '', cell })),
);

test.each(cells)('$schedule on $build: $cell', ({ schedule, build, cell }) => {
  const { results, evidence } = played(schedule, build);
  expect(letters(results, evidence)).toBe(cell);
  const violated = /(?:^| )[LDIG](?: |$)/.test(cell);
  expect(results.valid).toBe(!violated);
});

test('what KIP-966 is about is called by its name', () => {
  const { anomalies } = played('s10', 'epoch').results;
  expect(anomalies.map(({ labels }) => labels)).toEqual([expect.arrayContaining(['last-replica-standing'])]);
});

function played(schedule: string, build: string): { results: RunResults; evidence: PlayEvidence } {
  const file = `test/scenarios/${schedule}.scenario`;
  const judged: { results: RunResults; evidence: PlayEvidence }[] = [];
  playScenario(parseScenario(file, readFileSync(file, 'utf8')), build, (evidence) => {
    const results = judgePlay(evidence);
    judged.push({ results, evidence });
    return results;
  });
  const [last] = judged;
  if (last === undefined) throw new Error(`${file} was not judged on ${build}`);
  return last;
}

function letters(results: RunResults, evidence: PlayEvidence): string {
  const found: string[] = [];
  const add = (letter: string, kind: string, counts = true): void => {
    const classes = results.anomalies.flatMap((anomaly) =>
      anomaly.kind === kind || anomaly.consequences.some((each) => each.kind === kind) ? [anomaly.class] : [],
    );
    if (classes.length > 0 && counts) found.push(classes.includes('violation') ? letter : `${letter}*`);
  };
  add('L', 'lost-acked-write');
  if (found.length === 0 && (results.measures['lostUnpromised'] ?? 0) > 0) found.push('(L)');
  add('D', 'replica-divergence');
  add('I', 'inconsistent-offsets', hasOffsetReadTwice(evidence));
  add('G', 'consumer-saw-uncommitted');
  const others = results.anomalies.filter(
    ({ kind, class: judged }) => judged === 'violation' && !['lost-acked-write', 'replica-divergence'].includes(kind),
  );
  return [...found, ...others.map(({ kind }) => kind)].join(' ') || 'ok';
}

/** Whether consumers read two values at one offset. */
function hasOffsetReadTwice({ history }: PlayEvidence): boolean {
  const values = new Map<number, unknown>();
  for (const { f, type, value } of history) {
    if (f !== 'poll' || type !== 'ok' || !Array.isArray(value)) continue;
    for (const [, polled] of value as [string, Record<string, [number, unknown][]>][]) {
      for (const [offset, read] of Object.values(polled ?? {}).flat()) {
        if (values.has(offset) && values.get(offset) !== read) return true;
        values.set(offset, read);
      }
    }
  }
  return false;
}
