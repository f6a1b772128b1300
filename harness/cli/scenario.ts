/**
 * `tidemark scenario FILE`: plays a scripted schedule step by step and prints what happens, line by line.
 *
 * The same cores run here as in a real cluster, in virtual time, so the trace is the same on every machine. The language
 * is described in `docs/scenarios.md`; `test/scenarios` is full of examples.
 */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { buildNames } from '../../broker/core/builds.ts';
import { UsageError, environmentErrorFrom, errorCode, exitCodes } from '../errors.ts';
import { buildsByNode } from '../plan/builds-by-node.ts';
import type { Performance, Scenario } from '../sim/scenario.ts';

interface ScenarioFlags {
  readonly build?: string;
  readonly json: boolean;
}

export function registerScenario(program: Command): void {
  program
    .command('scenario')
    .description('play a scripted schedule step by step and print the trace')
    .argument('<file>', 'a .scenario file')
    .option('--build <build>', 'play it on this build only (default: on every build that it names)')
    .option('--json', 'print one JSON document', false)
    .action(async (file: string, flags: ScenarioFlags) => {
      process.exitCode = await play(file, flags);
    });
}

async function play(file: string, flags: ScenarioFlags): Promise<number> {
  const { parseScenario, playScenario } = await import('../sim/scenario.ts');
  const { ScenarioError } = await import('../sim/scenario-lines.ts');
  const { tellJudgement } = await import('../sim/scenario-verdicts.ts');
  const { judgePlay } = await import('../check/judge.ts');
  let scenario: Scenario;
  try {
    scenario = parseScenario(file, read(file));
  } catch (error) {
    if (error instanceof ScenarioError) throw new UsageError(error.message);
    throw error;
  }
  const performances: Performance[] = [];
  for (const build of buildsToPlay(scenario, flags.build)) {
    const performance = playScenario(scenario, build, judgePlay);
    performances.push(performance);
    const verdict = performance.judgement === null ? [] : ['', ...tellJudgement(performance.judgement)];
    if (!flags.json) process.stdout.write(`${[...performance.lines, ...verdict].join('\n')}\n\n`);
    if (performance.failure !== null) console.error(`tidemark: ${performance.failure.message}`);
  }
  if (flags.json) process.stdout.write(`${JSON.stringify(documentOf(scenario, performances))}\n`);
  const failed = performances.filter(({ failure }) => failure !== null).length;
  const on = performances.map(({ build }) => build).join(', ');
  if (failed === 0) console.error(`all expectations hold on ${on}`);
  return failed === 0 ? exitCodes.valid : exitCodes.anomaly;
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') throw new UsageError(`${file}: there is no such file; give a .scenario file`);
    throw environmentErrorFrom(error, `cannot read ${file}`);
  }
}

/** A build that the file does not name may be tried as well; then only what is expected everywhere is. */
function buildsToPlay(scenario: Scenario, build: string | undefined): readonly string[] {
  if (build === undefined) return scenario.builds;
  const known = buildsByNode(build, scenario.brokers, buildNames);
  if (typeof known === 'string') throw new UsageError(`--build ${build}: ${known}`);
  return [build];
}

function documentOf(scenario: Scenario, performances: readonly Performance[]): unknown {
  return {
    schemaVersion: 1,
    type: 'scenario',
    file: scenario.file,
    story: scenario.story,
    plays: performances.map(({ build, lines, trace, failure }) => {
      return { build, valid: failure === null, failure: failure?.message ?? null, lines, trace };
    }),
  };
}
