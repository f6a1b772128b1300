/**
 * Plays a run scenario: the simulated run that it writes down, on one build, judged and told.
 */
import type { Judgement } from './judgement.ts';
import type { RunScenario } from './run-scenario.ts';
import { ScenarioError } from './scenario-lines.ts';
import type { Performance } from './scenario.ts';
import { simulate } from './simulate.ts';
import type { Simulation, SimulationRequest } from './simulation.ts';
import { inQuestion, tellRun } from './tell-run.ts';
import type { InQuestion } from './tell-run.ts';

export type RunJudge = (simulation: Simulation, request: SimulationRequest) => Judgement;

/** Plays it on each of the builds; what was in question on one is told of the next. */
export function* playRunScenario(
  scenario: RunScenario,
  builds: readonly string[],
  judge: RunJudge,
): Generator<Performance, void, undefined> {
  let questions: readonly InQuestion[] = [];
  for (const build of builds) {
    const { request } = scenario;
    const asked: SimulationRequest = { ...request, config: { ...request.config, build } };
    const simulation = simulate(asked);
    const judgement = judge(simulation, asked);
    const own = inQuestion(judgement);
    if (own.length > 0) questions = own;
    const outcome = expectAll(scenario, build, judgement);
    const story = [...tellRun(simulation, questions), ...unsentIn(simulation, build)];
    const lines = [...heading(scenario, build), ...story, '', ...outcome.lines];
    const trace = [...simulation.trace] as unknown as Performance['trace'];
    yield { build, lines, trace, judgement, failure: outcome.failure };
  }
}

function heading({ file, story, request }: RunScenario, build: string): string[] {
  const { defects, seed, brokers } = request.config;
  const broken = defects.length === 0 ? '' : ` with ${defects.join(', ')}`;
  const title = file.slice(file.lastIndexOf('/') + 1);
  const faults = counted(request.schedule.faults.length, 'fault');
  const load =
    request.load === undefined ? 'the load of its seed' : counted(request.load.operations.length, 'operation');
  return [
    `${title} on ${build}${broken}: seed ${seed}, ${counted(brokers, 'broker')}, ${faults}, ${load}`,
    '',
    ...story.map((line) => (line === '' ? '' : `  ${line}`)),
    '',
  ];
}

/** On another build a run may go another way, so a message that is not there is no failure; but it changed nothing. */
function unsentIn({ unsent }: Simulation, build: string): string[] {
  return unsent.map((message) => `  ${message} is not late: nobody sent it on ${build}`);
}

/** Holds every expectation for this build against the judgement; the first that does not hold is the failure. */
function expectAll(
  { file, expectations }: RunScenario,
  build: string,
  judgement: Judgement,
): { readonly lines: readonly string[]; readonly failure: ScenarioError | null } {
  const named = new Set<object>();
  const lines: string[] = [];
  for (const { line, text, on, expectation } of expectations) {
    if (on !== null && !on.includes(build)) continue;
    const { holds, actual } = expectation(judgement, named);
    lines.push(`${holds ? '=' : '!'} ${text}`);
    if (holds) continue;
    const message = `"${text}" does not hold on ${build}: ${actual}`;
    return { lines, failure: new ScenarioError('failed', file, line, message) };
  }
  return { lines, failure: null };
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
