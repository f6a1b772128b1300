/** `docs/scenarios.md` against the code: no statement is missing there, and every example in its tables can be read. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readFault, readOperation } from '../../../harness/sim/run-scenario-lines.ts';
import { parseRunScenario, runUsages } from '../../../harness/sim/run-scenario.ts';
import { parseCondition } from '../../../harness/sim/scenario-conditions.ts';
import { parseStep } from '../../../harness/sim/scenario-steps.ts';
import { parseVerdict } from '../../../harness/sim/scenario-verdicts.ts';
import { statementUsages } from '../../../harness/sim/scenario.ts';

const docs = readFileSync('docs/scenarios.md', 'utf8');
const { head, steps, conditions, verdicts } = statementUsages;

/** The first cells of all tables in the section of that title, and every example in the other cells. */
const examplesIn = (title: string): string[] => {
  const section = docs.split(/^##+ /m).find((part) => part.startsWith(`${title}\n`)) ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  return rows.flatMap((row) => {
    const [first = ''] = row.slice(1).split(' | ');
    return [...first.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');
  });
};

test('every statement of the language is listed', () => {
  const sorts = { 'before anything happens': head, steps, conditions, verdicts, 'lines of a run': runUsages };
  const list = Object.entries(sorts).flatMap(([title, usages]) => [`# ${title}`, ...usages, '']);
  expect(docs.split('## Every statement\n')[1]).toBe(`\n\`\`\`\n${list.join('\n').trimEnd()}\n\`\`\`\n`);
});

/** An example stands alone: what it is about is made by other lines of its file. */
const isReadable = (example: string): boolean => {
  const condition = /^run until (.+?)(?: within .+)?$/.exec(example)?.[1] ?? example;
  return (parseStep(example) ?? parseCondition(condition) ?? parseVerdict(condition, () => {})) !== null;
};

test.each(['Clients, processes, disks', 'Messages one by one'])('the examples under "%s" can be read', (title) => {
  const examples = examplesIn(title);
  expect(examples.length).toBeGreaterThan(10);
  expect(examples.filter((example) => !isReadable(example))).toEqual([]);
});

test('so can the conditions and the verdicts', () => {
  const examples = examplesIn('What is expected');
  expect(examples.length).toBeGreaterThan(30);
  expect(examples.filter((example) => !isReadable(example))).toEqual([]);
});

test('and the lines of a run', () => {
  const examples = examplesIn('A run');
  expect(examples.length).toBeGreaterThan(10);
  for (const example of examples) {
    const asLine = readFault(example, 1) ?? readOperation(example);
    expect(asLine).not.toBeTypeOf('string');
    const lines = ['# Story', '', 'run on hw', 'seed 1', 'load as written', example];
    expect(() => parseRunScenario('docs', lines.join('\n'))).not.toThrow();
  }
});
