/**
 * Run scenarios: a whole simulated run as a file of lines, as a shrunk failure is stored.
 *
 * Where a scenario of steps says what happens in which order, a run scenario says what a simulated run is made from:
 * settings, seed, faults and operations with their times. It is played by the simulator itself, on each build that it
 * names, and what is expected of it is what the checker is to find.
 *
 * Invariant: writing a request and reading it back gives the same request, so a shrunk failure loses nothing by
 * becoming a file. `docs/scenarios.md` is the reference of the language.
 */
import { buildNames } from '../../broker/core/builds.ts';
import { defects as knownDefects, isDefect } from '../../broker/core/defects.ts';
import { describeFault } from '../../nemesis/describe.ts';
import type { Fault } from '../../nemesis/schedule.ts';
import { buildsByNode } from '../plan/builds-by-node.ts';
import { defaultRunConfig } from '../plan/config.ts';
import type { RunConfig } from '../plan/config.ts';
import { flawOfLate } from './late.ts';
import { faultUsages, operationUsages, readFault, readOperation, writeFault } from './run-scenario-lines.ts';
import { writeOperation } from './run-scenario-lines.ts';
import { readSetting, writeSettings } from './run-scenario-settings.ts';
import { ScenarioError, namesOf, unreadable } from './scenario-lines.ts';
import { parseVerdict, verdictUsages } from './scenario-verdicts.ts';
import type { VerdictExpectation } from './scenario-verdicts.ts';
import type { LateMessage, PlannedOperation, SimulationRequest } from './simulation.ts';

export interface RunScenario {
  readonly kind: 'run';
  readonly file: string;
  readonly story: readonly string[];
  /** What it is played on; the first is the build of the request. */
  readonly builds: readonly string[];
  readonly request: SimulationRequest;
  readonly expectations: readonly RunStatement[];
}

interface RunStatement {
  readonly line: number;
  readonly text: string;
  readonly on: readonly string[] | null;
  readonly expectation: VerdictExpectation;
}

/** What is to be found on one build, in the words of a verdict: `lost-acked-write of 7 is a violation`. */
export interface RunExpectation {
  readonly build: string;
  readonly expects: string;
}

/** A simulated run as a file. The story is told first; its lines are wrapped by whoever tells it. */
export function writeRunScenario(
  request: SimulationRequest,
  expectations: readonly RunExpectation[],
  story: string,
): string {
  const { config, schedule, load, codec, late = [] } = request;
  const builds = [...new Set([config.build, ...expectations.map(({ build }) => build)])];
  const lines = [
    ...story.split('\n').map((line) => `# ${line}`.trimEnd()),
    '',
    `run on ${builds.join(', ')}`,
    `cluster of ${config.brokers} broker${config.brokers === 1 ? '' : 's'}`,
    ...(config.defects.length === 0 ? [] : [`with defects ${config.defects.join(', ')}`]),
    `seed ${config.seed}`,
    ...(schedule.seed === config.seed ? [] : [`seed of the plan ${schedule.seed}`]),
    ...writeSettings(config),
    ...(codec === undefined ? [] : [`every message ${codec ? 'is encoded and decoded' : 'passes as it is'}`]),
    load === undefined ? 'load drawn from the seed' : 'load as written',
    ...late.map(({ message, byMs }) => `${message} is late by ${byMs} ms`),
    '',
    ...schedule.faults.flatMap(faultLines),
    `heal everything at ${schedule.durationMs} ms`,
    '',
    ...(load?.operations ?? []).map(writeOperation),
    ...(load === undefined || load.operations.length === 0 ? [] : ['']),
    ...expectationLines(expectations),
  ];
  return `${lines.join('\n')}\n`;
}

/** What is expected on several builds stands once. */
function expectationLines(expectations: readonly RunExpectation[]): string[] {
  const builds = new Map<string, string[]>();
  for (const { build, expects } of expectations) builds.set(expects, [...(builds.get(expects) ?? []), build]);
  return [...builds].map(([expects, on]) => `expect on ${on.join(', ')}: ${expects}`);
}

function faultLines(fault: Fault, index: number): string[] {
  const line = writeFault(fault, index + 1);
  /* An object is told in words above it. */
  return line.startsWith('fault ') ? [...describeFault(fault).map((words) => `# ${words}`), line] : [line];
}

/** Whether a file holds a run rather than steps. */
export function isRunScenario(text: string): boolean {
  return /^[ \t]*run on /m.test(text);
}

/** Reads a run scenario. Throws a {@link ScenarioError} for the first line that cannot be read. */
export function parseRunScenario(file: string, text: string): RunScenario {
  const reader = new RunScenarioReader(file);
  for (const [index, line] of text.split('\n').entries()) reader.read(index + 1, line.trim());
  return reader.finish();
}

const headUsages: readonly string[] = [
  'run on <build>, <build>',
  'cluster of <n> brokers',
  'with defects <defect>, <defect>',
  'seed <n>',
  'seed of the plan <n>',
  'set <name> to <value>',
  'every message is encoded and decoded|passes as it is',
  'load drawn from the seed|as written',
  'request|response <process>#<n> is late by <n> ms',
  'heal everything at <n> ms',
];

/** Every line that a run scenario may hold, but for its expectations. */
export const runUsages: readonly string[] = [...headUsages, ...faultUsages, ...operationUsages];

interface LateLine extends LateMessage {
  readonly line: number;
}

class RunScenarioReader {
  readonly #file: string;
  readonly #story: string[] = [];
  readonly #faults: Fault[] = [];
  readonly #operations: PlannedOperation[] = [];
  readonly #expectations: RunStatement[] = [];
  readonly #expectedIn: { readonly line: number; readonly key: string }[] = [];
  #builds: readonly string[] = [];
  #config: Partial<RunConfig> = {};
  #seed: number | null = null;
  #planSeed: number | null = null;
  #durationMs: number | null = null;
  #codec: boolean | null = null;
  readonly #late: LateLine[] = [];
  #written = false;
  #inStory = true;
  #line = 0;

  constructor(file: string) {
    this.#file = file;
  }

  read(line: number, text: string): void {
    this.#line = line;
    if (text.startsWith('#')) {
      if (this.#inStory) this.#story.push(text.replace(/^#+ ?/, ''));
      return;
    }
    if (text === '') {
      if (this.#story.length > 0) this.#inStory = false;
      return;
    }
    this.#inStory = false;
    if (!this.#readHead(text) && !this.#readNumbers(text) && !this.#readPlan(text)) this.#readExpectation(text);
  }

  finish(): RunScenario {
    const [build] = this.#builds;
    if (build === undefined) return this.#fail('no line says "run on <builds>", such as "run on hw, epoch"');
    if (this.#seed === null) return this.#fail('no line says "seed <n>"');
    const config: RunConfig = { ...defaultRunConfig, ...this.#config, build, runtime: 'sim', seed: this.#seed };
    for (const each of this.#builds) {
      const known = buildsByNode(each, config.brokers, buildNames);
      if (typeof known === 'string') this.#fail(known);
    }
    if (config.replicationFactor > config.brokers) {
      this.#fail(`${config.brokers} brokers cannot hold ${config.replicationFactor} replicas of a partition`);
    }
    if (!this.#written && this.#operations.length > 0) {
      this.#fail('there are operations, and no line says "load as written"');
    }
    const { unknown } = this.#unplayed();
    if (unknown !== undefined) this.#fail(`line ${unknown.line}: it is not played on "${unknown.build}"`);
    this.#demandPartitions(config);
    const request: SimulationRequest = {
      config,
      schedule: {
        schemaVersion: 1,
        seed: this.#planSeed ?? this.#seed,
        durationMs: this.#durationMs ?? config.timeLimitMs,
        faults: this.#faults,
      },
      ...(this.#written ? { load: { schemaVersion: 1, operations: this.#operations } } : {}),
      ...(this.#codec === null ? {} : { codec: this.#codec }),
      ...(this.#late.length === 0 ? {} : { late: this.#lateIn(config) }),
    };
    const [file, story, builds, expectations] = [this.#file, this.#story, this.#builds, this.#expectations];
    return { kind: 'run', file, story, builds, request, expectations };
  }

  /** How many there are may be said anywhere in the file. */
  #demandPartitions({ topic, partitions }: RunConfig): void {
    const known = (key: string): boolean => {
      const [, index] = key.startsWith(`${topic}-`) ? key.split(`${topic}-`) : [];
      return index !== undefined && /^(?:0|[1-9]\d*)$/.test(index) && Number(index) < partitions;
    };
    const strange = this.#expectedIn.find(({ key }) => !known(key));
    if (strange === undefined) return;
    const last = partitions === 1 ? '' : ` to ${topic}-${partitions - 1}`;
    throw new ScenarioError(
      'malformed',
      this.#file,
      strange.line,
      `there is no ${strange.key}; there are ${topic}-0${last}`,
    );
  }

  #lateIn({ brokers }: RunConfig): LateMessage[] {
    return this.#late.map(({ line, message, byMs }, index) => {
      const flaw = flawOfLate({ message, byMs }, this.#late.slice(0, index), brokers);
      if (flaw !== null) throw new ScenarioError('malformed', this.#file, line, flaw);
      return { message, byMs };
    });
  }

  #unplayed(): { readonly unknown: { readonly line: number; readonly build: string } | undefined } {
    const named = this.#expectations.flatMap(({ line, on }) => (on ?? []).map((build) => ({ line, build })));
    return { unknown: named.find(({ build }) => !this.#builds.includes(build)) };
  }

  #readHead(text: string): boolean {
    const builds = /^run on (.+)$/.exec(text)?.[1];
    const brokers = /^cluster of (\d+) brokers?$/.exec(text)?.[1];
    const defects = /^with defects? (.+)$/.exec(text)?.[1];
    const setting = /^set (\S+) to (.+)$/.exec(text);
    const late = /^((?:request|response) \S+#\d+) is late by (\d[\d.e+-]*) ms$/.exec(text);
    if (builds !== undefined) this.#builds = namesOf(builds);
    else if (brokers !== undefined) this.#readBrokers(Number(brokers));
    else if (defects !== undefined) this.#readDefects(namesOf(defects));
    else if (setting !== null) this.#readSetting(setting[1] ?? '', setting[2] ?? '');
    else if (late !== null) this.#readLate(late[1] ?? '', Number(late[2]));
    else if (text === 'load as written') this.#written = true;
    else if (text === 'load drawn from the seed') this.#written = false;
    else if (text === 'every message is encoded and decoded') this.#codec = true;
    else if (text === 'every message passes as it is') this.#codec = false;
    else return false;
    return true;
  }

  #readNumbers(text: string): boolean {
    const match = /^(seed of the plan|seed|heal everything at) (\d[\d.e+-]*)( ms)?$/.exec(text);
    if (match === null || (match[1] === 'heal everything at') !== (match[3] !== undefined)) return false;
    const value = Number(match[2]);
    if (!Number.isFinite(value)) this.#fail(`"${match[2]}" is no number`);
    if (match[1] === 'seed') this.#seed = value;
    else if (match[1] === 'seed of the plan') this.#planSeed = value;
    else this.#durationMs = value;
    return true;
  }

  #readBrokers(brokers: number): void {
    if (brokers < 1 || brokers > 9) this.#fail('a cluster has 1 to 9 brokers');
    this.#config = { ...this.#config, brokers };
  }

  #readDefects(names: readonly string[]): void {
    const unknown = names.find((name) => !isDefect(name));
    if (unknown !== undefined) {
      this.#fail(`there is no defect "${unknown}"; there are ${Object.keys(knownDefects).join(', ')}`);
    }
    this.#config = { ...this.#config, defects: names };
  }

  #readSetting(name: string, value: string): void {
    const changed = readSetting(this.#config, name, value);
    if (typeof changed === 'string') this.#fail(`cannot set ${name} to ${value}: ${changed}`);
    else this.#config = changed;
  }

  #readLate(message: string, byMs: number): void {
    this.#late.push({ line: this.#line, message, byMs });
  }

  #readPlan(text: string): boolean {
    const fault = readFault(text, this.#faults.length + 1);
    if (typeof fault === 'string') this.#fail(`"${text}" cannot be read: ${fault}`);
    else if (fault !== null) this.#faults.push(fault);
    if (fault !== null) return true;
    const operation = readOperation(text);
    if (typeof operation === 'string') this.#fail(`"${text}" cannot be read: ${operation}`);
    else if (operation !== null) this.#operations.push(operation);
    return operation !== null;
  }

  #readExpectation(text: string): void {
    const match = /^expect(?: on ([^:]+))?:? (.+)$/.exec(text);
    if (match === null) return this.#fail(unreadable('line of a run', text, [...runUsages, 'expect <verdict>']));
    const expectation = parseVerdict(match[2] ?? '', (key) => this.#expectedIn.push({ line: this.#line, key }));
    if (expectation === null) return this.#fail(unreadable('verdict', match[2] ?? '', verdictUsages));
    const on = match[1] === undefined ? null : namesOf(match[1]);
    this.#expectations.push({ line: this.#line, text, on, expectation });
  }

  #fail(message: string): never {
    throw new ScenarioError('malformed', this.#file, this.#line, message);
  }
}
