/** Every scenario in `test/scenarios`, on every build that it names: it must hold, and tell the same story to the letter. */
import { readFileSync, readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { judgePlay } from '../../../harness/check/judge.ts';
import { parseScenario, playScenario } from '../../../harness/sim/scenario.ts';
import { expectGolden } from '../../golden.ts';

const folder = 'test/scenarios';
const scenarios = readdirSync(folder)
  .filter((name) => name.endsWith('.scenario'))
  .map((name) => parseScenario(`${folder}/${name}`, readFileSync(`${folder}/${name}`, 'utf8')));
const plays = scenarios.flatMap((scenario) =>
  scenario.builds.map((build) => ({ name: basename(scenario.file, '.scenario'), build, scenario })),
);

test.each(plays)('$name on $build goes as its golden trace tells', ({ name, build, scenario }) => {
  const { lines, failure } = playScenario(scenario, build, judgePlay);
  expect(failure?.message ?? null).toBe(null);
  expectGolden(`test/golden/${name}.${build}.txt`, `${lines.join('\n')}\n`);
});

test('every scenario begins with its story', () => {
  expect(scenarios.filter(({ story }) => story.length < 3).map(({ file }) => file)).toEqual([]);
});
