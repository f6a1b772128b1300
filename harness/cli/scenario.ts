/**
 * `tidemark scenario FILE`: plays a scripted schedule, or a run that a file writes down, and prints what happens.
 *
 * The same cores run here as in a real cluster, in virtual time, so the trace is the same on every machine. The language
 * is described in `docs/scenarios.md`; `test/scenarios` is full of examples.
 */
import { readFileSync, statSync } from 'node:fs';
import type { Command } from 'commander';
import { buildNames } from '../../broker/core/builds.ts';
import { UsageError, environmentErrorFrom, errorCode, exitCodes } from '../errors.ts';
import { buildsByNode } from '../plan/builds-by-node.ts';
import { demandFile, mostTextBytes } from '../regular-file.ts';
import type { RunScenario } from '../sim/run-scenario.ts';
import type { Performance, Scenario } from '../sim/scenario.ts';

interface ScenarioFlags {
  readonly build?: readonly string[];
  readonly json: boolean;
}

export function registerScenario(program: Command): void {
  program
    .command('scenario')
    .description('play a scripted schedule, or a stored failure, and print the trace')
    .argument('<file>', 'a .scenario file')
    .option(
      '--build <build>',
      'play it on this build; may be repeated (default: on every build that the file names)',
      (build: string, builds: readonly string[] | undefined) => [...(builds ?? []), build],
    )
    .option('--json', 'print one JSON document', false)
    .action(async (file: string, flags: ScenarioFlags) => {
      process.exitCode = await play(file, flags);
    });
}

async function play(file: string, flags: ScenarioFlags): Promise<number> {
  const { tellJudgement } = await import('../sim/scenario-verdicts.ts');
  const scenario = await parse(file);
  const builds = buildsToPlay(scenario, flags.build ?? []);
  const performances: Performance[] = [];
  for (const performance of await performancesOf(scenario, builds)) {
    performances.push(performance);
    const verdict = performance.judgement === null ? [] : ['', ...tellJudgement(performance.judgement)];
    if (!flags.json) process.stdout.write(`${[...performance.lines, ...verdict].join('\n')}\n\n`);
    if (performance.failure !== null) console.error(`tidemark: ${performance.failure.message}`);
  }
  if (flags.json) process.stdout.write(`${JSON.stringify(documentOf(scenario, performances))}\n`);
  const failed = performances.filter(({ failure }) => failure !== null).length;
  if (failed === 0) console.error(`all expectations hold on ${builds.join(', ')}`);
  return failed === 0 ? exitCodes.valid : exitCodes.anomaly;
}

async function parse(file: string): Promise<Scenario | RunScenario> {
  const { parseScenario } = await import('../sim/scenario.ts');
  const { isRunScenario, parseRunScenario } = await import('../sim/run-scenario.ts');
  const { ScenarioError } = await import('../sim/scenario-lines.ts');
  const text = read(file);
  try {
    return isRunScenario(text) ? await checked(parseRunScenario(file, text)) : parseScenario(file, text);
  } catch (error) {
    if (error instanceof ScenarioError) throw new UsageError(error.message);
    throw error;
  }
}

/** Objects that a person has written into a file may have any shape. */
async function checked(scenario: RunScenario): Promise<RunScenario> {
  const { parseConfig, parseLoad, parseSchedule } = await import('../shrink/plan-schema.ts');
  const { excessOfPlan, flawOfConfig, flawOfLoad, flawOfSchedule } = await import('../shrink/plan-flaws.ts');
  const { config, schedule, load } = scenario.request;
  const shapes = [
    parseConfig({ ...config }),
    parseSchedule(schedule),
    ...(load === undefined ? [] : [parseLoad(load)]),
  ];
  const flaw =
    shapes.find((each) => typeof each === 'string') ??
    flawOfConfig(config) ??
    flawOfSchedule(schedule, config) ??
    (load === undefined ? null : flawOfLoad(load, config)) ??
    excessOfPlan(config, load) ??
    undefined;
  if (flaw !== undefined)
    throw new UsageError(`${scenario.file}: ${flaw}; docs/scenarios.md says how a run is written`);
  return scenario;
}

/** One after the other, as they are asked for. */
async function performancesOf(
  scenario: Scenario | RunScenario,
  builds: readonly string[],
): Promise<Iterable<Performance>> {
  if (scenario.kind === 'run') {
    const { playRunScenario } = await import('../sim/play-run.ts');
    const { checkSimulation } = await import('../run/simulated-run.ts');
    return playRunScenario(scenario, builds, (simulation, request) => checkSimulation(simulation, request));
  }
  const { playScenario } = await import('../sim/scenario.ts');
  const { judgePlay } = await import('../check/judge.ts');
  return builds.values().map((build) => playScenario(scenario, build, judgePlay));
}

function read(file: string): string {
  try {
    if (statSync(file).isDirectory()) {
      throw new UsageError(
        `${file}: it is a folder; give a .scenario file. The folder of a run is played again by: npm run tidemark -- replay ${file}`,
      );
    }
    demandFile(file, mostTextBytes);
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (errorCode(error) === 'ENOENT') throw new UsageError(`${file}: there is no such file; give a .scenario file`);
    throw environmentErrorFrom(error, `cannot read ${file}`);
  }
}

/** A build that the file does not name may be tried as well; then only what is expected everywhere is. */
function buildsToPlay(scenario: Scenario | RunScenario, builds: readonly string[]): readonly string[] {
  if (builds.length === 0) return scenario.builds;
  const brokers = scenario.kind === 'run' ? scenario.request.config.brokers : scenario.brokers;
  for (const build of builds) {
    const known = buildsByNode(build, brokers, buildNames);
    if (typeof known === 'string') throw new UsageError(`--build ${build}: ${known}`);
  }
  return builds;
}

function documentOf(scenario: Scenario | RunScenario, performances: readonly Performance[]): unknown {
  return {
    schemaVersion: 1,
    type: 'scenario',
    file: scenario.file,
    story: scenario.story,
    plays: performances.map(({ build, lines, trace, judgement, failure }) => {
      const verdict = judgement === null ? null : { valid: judgement.valid, anomalies: judgement.anomalies };
      return { build, asExpected: failure === null, failure: failure?.message ?? null, verdict, lines, trace };
    }),
  };
}
