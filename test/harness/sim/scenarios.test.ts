/**
 * Every scenario in `test/scenarios`, on every build that it names: it must hold; one of steps must also tell the same
 * story to the letter. In `found` are failures that a search found and a shrinker reduced.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { judgePlay } from '../../../harness/check/judge.ts';
import { checkSimulation } from '../../../harness/run/simulated-run.ts';
import { playRunScenario } from '../../../harness/sim/play-run.ts';
import type { RunScenario } from '../../../harness/sim/run-scenario.ts';
import { isRunScenario, parseRunScenario } from '../../../harness/sim/run-scenario.ts';
import type { Scenario } from '../../../harness/sim/scenario.ts';
import { parseScenario, playScenario } from '../../../harness/sim/scenario.ts';
import { expectGolden } from '../../golden.ts';

const folder = 'test/scenarios';
const scenarios: readonly (Scenario | RunScenario)[] = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.scenario'))
  .toSorted()
  .map((name) => {
    const file = `${folder}/${name}`;
    const text = readFileSync(file, 'utf8');
    return isRunScenario(text) ? parseRunScenario(file, text) : parseScenario(file, text);
  });
const plays = scenarios
  .filter((scenario) => scenario.kind === 'steps')
  .flatMap((scenario) =>
    scenario.builds.map((build) => ({ name: basename(scenario.file, '.scenario'), build, scenario })),
  );
const runs = scenarios.filter((scenario) => scenario.kind === 'run');

test.each(plays)('$name on $build goes as its golden trace tells', ({ name, build, scenario }) => {
  const { lines, failure } = playScenario(scenario, build, judgePlay);
  expect(failure?.message ?? null).toBe(null);
  expectGolden(`test/golden/${name}.${build}.txt`, `${lines.join('\n')}\n`);
});

test.each(runs)('$file ends as it expects on each of its builds', (scenario) => {
  const performances = [...playRunScenario(scenario, scenario.builds, (...run) => checkSimulation(...run))];
  expect(performances.map(({ build }) => build)).toEqual(scenario.builds);
  expect(performances.flatMap(({ failure }) => failure?.message ?? [])).toEqual([]);
  for (const { lines } of performances) expect(lines.length).toBeLessThan(300);
});

test('every scenario begins with its story', () => {
  expect(scenarios.filter(({ story }) => story.length < 3).map(({ file }) => file)).toEqual([]);
});
