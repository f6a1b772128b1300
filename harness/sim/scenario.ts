/**
 * Scenarios: scripted schedules in a small language of lines, one step or expectation each.
 *
 * A file is read whole before anything is played, so that a slip of the pen is named at once, as is a line that could
 * never be done, such as one about a partition that no line before it has made. It is then played once on
 * each build that it names, and tells its story as it goes. What it expects may differ from build to build. The first
 * expectation that does not hold ends the play.
 *
 * `docs/scenarios.md` is the reference of the language. Its words stand in `scenario-steps.ts` and
 * `scenario-conditions.ts`; here is only what a line is.
 */
import { buildNames } from '../../broker/core/builds.ts';
import { defects, isDefect } from '../../broker/core/defects.ts';
import type { TraceLine } from '../../broker/core/trace.ts';
import { buildsByNode } from '../plan/builds-by-node.ts';
import type { Judgement, PlayJudge } from './judgement.ts';
import { evidenceOf } from './play-end.ts';
import { Play, PlayError } from './play.ts';
import { ScenarioError, namesOf, unreadable } from './scenario-lines.ts';
import { conditionUsages, parseCondition } from './scenario-conditions.ts';
import type { Condition } from './scenario-conditions.ts';
import { Script } from './scenario-script.ts';
import { parseSetting, scenarioDefaults, settingUsages } from './scenario-settings.ts';
import type { ScenarioSettings } from './scenario-settings.ts';
import { parseStep, stepUsages } from './scenario-steps.ts';
import type { Step } from './scenario-steps.ts';
import { parseVerdict, verdictUsages } from './scenario-verdicts.ts';
import type { VerdictExpectation } from './scenario-verdicts.ts';

export interface Scenario {
  readonly kind: 'steps';
  readonly file: string;
  /** The comment at the head of the file. */
  readonly story: readonly string[];
  /** What it is played on: names of builds, or specifications such as `1=hw,2-3=epoch`. */
  readonly builds: readonly string[];
  readonly brokers: number;
  readonly defects: readonly string[];
  readonly settings: ScenarioSettings;
  readonly statements: readonly Statement[];
}

interface Statement {
  readonly line: number;
  readonly text: string;
  /** Comment lines directly above. */
  readonly comment: readonly string[];
  /** Only on these builds, if any are named. */
  readonly on: readonly string[] | null;
  readonly action:
    | { readonly kind: 'step'; readonly step: Step }
    | { readonly kind: 'expect'; readonly condition: Condition }
    | { readonly kind: 'verdict'; readonly expectation: VerdictExpectation }
    | { readonly kind: 'run-until'; readonly condition: Condition; readonly withinMs: number };
}

/** What came of playing a scenario on one build. */
export interface Performance {
  readonly build: string;
  /** The story as it was told, line by line. */
  readonly lines: readonly string[];
  readonly trace: readonly TraceLine[];
  /** What the checker says of it all; null when the play broke off. */
  readonly judgement: Judgement | null;
  readonly failure: ScenarioError | null;
}

const DEFAULT_PATIENCE_MS = 30_000;
const MOST_PATIENCE_MS = 3_600_000;
const noCluster = 'no line says "cluster of <n> brokers"';

/** The lines before the first step. */
const headUsages: readonly string[] = [
  'play on <build>, <build>',
  'cluster of <n> brokers',
  'with defects <defect>, <defect>',
  `set <name> to <value>, with ${settingUsages.join('|')}`,
];

/** Every statement of a scenario of steps, by sort. */
export const statementUsages: Readonly<Record<'head' | 'steps' | 'conditions' | 'verdicts', readonly string[]>> = {
  head: headUsages,
  steps: [
    ...stepUsages,
    'run until <condition> [within <n> ms|s]',
    'expect [on <build>, <build>:] <condition>|<verdict>',
  ],
  conditions: conditionUsages,
  verdicts: verdictUsages,
};

/** Reads a scenario. Throws a {@link ScenarioError} for the first line that cannot be read, or could never be done. */
export function parseScenario(file: string, text: string): Scenario {
  const reader = new ScenarioReader(file);
  for (const [index, line] of text.split('\n').entries()) reader.read(index + 1, line.trim());
  return reader.finish();
}

/** Plays a scenario on one build from beginning to end, or to the first expectation that fails. */
export function playScenario(scenario: Scenario, build: string, judge: PlayJudge): Performance {
  const play = new Play(build, scenario.brokers, scenario.settings, scenario.defects);
  const title = scenario.file.slice(scenario.file.lastIndexOf('/') + 1);
  const broken = scenario.defects.length === 0 ? '' : ` with ${scenario.defects.join(', ')}`;
  play.tell(`${title} on ${build}${broken}`);
  play.tell('');
  for (const line of scenario.story) play.tell(line === '' ? '' : `  ${line}`);
  play.tell('');
  play.start();
  const trial = new Trial(play, () => judge(evidenceOf(play, scenario.file)));
  for (const statement of scenario.statements) {
    if (statement.on !== null && !statement.on.includes(build)) continue;
    const failure = perform(scenario.file, trial, statement);
    if (failure !== null) return { build, lines: play.lines, trace: play.trace, judgement: null, failure };
  }
  return { build, lines: play.lines, trace: play.trace, judgement: trial.judgement, failure: null };
}

/** A play and the judgement over it, which is asked for once, when everything was played. */
class Trial {
  readonly play: Play;
  /** Anomalies and consequences that expectations have named. */
  readonly named = new Set<object>();
  readonly #judge: () => Judgement;
  #judgement: Judgement | null = null;

  constructor(play: Play, judge: () => Judgement) {
    this.play = play;
    this.#judge = judge;
  }

  get judgement(): Judgement {
    this.#judgement ??= this.#judge();
    return this.#judgement;
  }
}

function perform(file: string, trial: Trial, statement: Statement): ScenarioError | null {
  const { play } = trial;
  const { line, text, comment, action } = statement;
  if (action.kind === 'step' || action.kind === 'run-until' || comment.length > 0) play.tell('');
  for (const each of comment) play.tell(`# ${each}`);
  const fail = (message: string) => new ScenarioError('failed', file, line, message);
  const expected = ({ holds, actual }: { readonly holds: boolean; readonly actual: string }) => {
    play.tell(`${holds ? '=' : '!'} ${text}`);
    return holds ? null : fail(`"${text}" does not hold on ${play.build}: ${actual}`);
  };
  try {
    if (action.kind === 'verdict') return expected(action.expectation(trial.judgement, trial.named));
    if (action.kind === 'expect') return expected(action.condition(play));
    play.tell(`> ${text}`);
    if (action.kind === 'step') {
      action.step(play);
      return null;
    }
    const reached = play.runUntil(() => action.condition(play).holds, action.withinMs);
    return reached
      ? null
      : fail(`"${text}" did not come within ${action.withinMs} ms: ${action.condition(play).actual}`);
  } catch (error) {
    if (error instanceof PlayError) return fail(`"${text}" cannot be done: ${error.message}`);
    throw error;
  }
}

/** Takes the lines of a file one by one. */
class ScenarioReader {
  readonly #file: string;
  readonly #story: string[] = [];
  #builds: readonly string[] = [];
  #brokers = 0;
  #defects: readonly string[] = [];
  #settings = scenarioDefaults;
  readonly #statements: Statement[] = [];
  #comment: string[] = [];
  #inStory = true;
  #line = 0;
  #script = new Script(0);

  constructor(file: string) {
    this.#file = file;
  }

  read(line: number, text: string): void {
    this.#line = line;
    if (text.startsWith('#')) {
      const words = text.replace(/^#+ ?/, '');
      if (this.#inStory) this.#story.push(words);
      else this.#comment.push(words);
      return;
    }
    if (text === '') {
      if (this.#story.length > 0) this.#inStory = false;
      this.#comment = [];
      return;
    }
    this.#inStory = false;
    if (!this.#readHead(text)) this.#readPossible(text);
    this.#comment = [];
  }

  finish(): Scenario {
    if (this.#builds.length === 0) this.#fail('no line says "play on <builds>", such as "play on hw, epoch"');
    if (this.#brokers === 0) this.#fail(noCluster);
    for (const build of this.#builds) {
      const known = buildsByNode(build, this.#brokers, buildNames);
      if (typeof known === 'string') this.#fail(known);
    }
    return {
      kind: 'steps',
      file: this.#file,
      story: this.#story,
      builds: this.#builds,
      brokers: this.#brokers,
      defects: this.#defects,
      settings: this.#settings,
      statements: this.#statements,
    };
  }

  /** What is said before anything happens: builds, size, settings. */
  #readHead(text: string): boolean {
    const builds = /^play on (.+)$/.exec(text)?.[1];
    const brokers = /^cluster of (\d+) brokers?$/.exec(text)?.[1];
    const defects = /^with defects? (.+)$/.exec(text)?.[1];
    const setting = /^set (\S+) to (\S+)$/.exec(text);
    if (builds === undefined && brokers === undefined && defects === undefined && setting === null) return false;
    if (this.#statements.length > 0) this.#fail(`"${text}" has to stand before the first step`);
    if (builds !== undefined) this.#builds = namesOf(builds);
    if (brokers !== undefined) this.#brokers = Number(brokers);
    if (brokers !== undefined && (this.#brokers < 1 || this.#brokers > 9)) this.#fail('a cluster has 1 to 9 brokers');
    if (defects !== undefined) this.#readDefects(namesOf(defects));
    if (setting !== null) this.#readSetting(setting[1] ?? '', setting[2] ?? '');
    return true;
  }

  #readDefects(names: readonly string[]): void {
    const unknown = names.find((name) => !isDefect(name));
    if (unknown !== undefined) {
      this.#fail(`there is no defect "${unknown}"; there are ${Object.keys(defects).join(', ')}`);
    }
    this.#defects = names;
  }

  #readSetting(name: string, value: string): void {
    const changed = parseSetting(this.#settings, name, value);
    if (changed === null) this.#fail(`cannot set ${name} to ${value}; what can be set: ${settingUsages.join(', ')}`);
    else this.#settings = changed;
  }

  /** Whatever the cluster does, a line that could never be done is a flaw of the file. */
  #readPossible(text: string): void {
    if (this.#brokers === 0) this.#fail(noCluster);
    if (this.#statements.length === 0) this.#script = new Script(this.#brokers);
    try {
      this.#readStatement(text);
    } catch (error) {
      if (error instanceof PlayError) this.#fail(`"${text}" cannot be done: ${error.message}`);
      throw error;
    }
  }

  #readStatement(text: string): void {
    const expectation = /^expect(?: on ([^:]+))?:? (.+)$/.exec(text);
    const until = /^run until (.+?)(?: within (\d+(?:\.\d+)?) (ms|s))?$/.exec(text);
    const common = { line: this.#line, text, comment: this.#comment };
    if (expectation !== null) {
      const on = expectation[1] === undefined ? null : namesOf(expectation[1]);
      const unknown = on?.find((build) => !this.#builds.includes(build));
      if (unknown !== undefined) this.#fail(`the scenario is not played on "${unknown}"`);
      const expected = parseVerdict(expectation[2] ?? '', (key) => this.#script.demandPartition(key));
      if (expected !== null) {
        this.#statements.push({ ...common, on, action: { kind: 'verdict', expectation: expected } });
      } else {
        const condition = this.#condition(expectation[2] ?? '', [...conditionUsages, ...verdictUsages]);
        this.#statements.push({ ...common, on, action: { kind: 'expect', condition } });
      }
    } else if (until !== null) {
      this.#mustComeBeforeVerdicts(text);
      const withinMs = until[2] === undefined ? DEFAULT_PATIENCE_MS : Number(until[2]) * (until[3] === 's' ? 1000 : 1);
      if (withinMs > MOST_PATIENCE_MS) this.#fail('an hour is the most that can be waited');
      const condition = this.#condition(until[1] ?? '');
      this.#statements.push({ ...common, on: null, action: { kind: 'run-until', condition, withinMs } });
    } else {
      const step = parseStep(text, this.#script);
      if (step === null)
        this.#fail(unreadable('step', text, [...stepUsages, 'run until <condition>', 'expect <condition>']));
      this.#mustComeBeforeVerdicts(text);
      this.#statements.push({ ...common, on: null, action: { kind: 'step', step } });
    }
  }

  #mustComeBeforeVerdicts(text: string): void {
    const verdict = this.#statements.find(({ action }) => action.kind === 'verdict');
    if (verdict === undefined) return;
    this.#fail(`"${text}" comes after line ${verdict.line}, which is about the whole play; move that one to the end`);
  }

  #condition(text: string, usages = conditionUsages): Condition {
    return parseCondition(text, this.#script) ?? this.#fail(unreadable('condition', text, usages));
  }

  #fail(message: string): never {
    throw new ScenarioError('malformed', this.#file, this.#line, message);
  }
}
