/**
 * Keeps a shrunk failure, and tells of it: a run's folder with its report, `shrink.json` with what was done to get
 * there, and `failure.scenario`, which plays it again on any build.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildNames } from '../../broker/core/builds.ts';
import type { RunResults } from '../../checker/results.ts';
import { EnvironmentError, environmentErrorFrom, isSystemError } from '../errors.ts';
import { writeRunReport } from '../report/run.ts';
import { executeSimulatedRun } from '../run/simulated-run.ts';
import { writeRunScenario } from '../sim/run-scenario.ts';
import type { RunExpectation } from '../sim/run-scenario.ts';
import { shownPath } from '../shown-path.ts';
import { createStoreDirectory, pointLatest, writeJson } from '../store.ts';
import type { Case } from './case.ts';
import { nearestPassing } from './neighbour.ts';
import type { Neighbour } from './neighbour.ts';
import { nearestOrder } from './order.ts';
import type { Shrunk } from './shrink.ts';
import { headline, planLines, sideBySide, storyLines } from './tell.ts';
import { judge } from './trial.ts';

/** `shrink.json`, and what `--json` prints. */
export interface ShrinkSummary {
  readonly schemaVersion: 1;
  readonly type: 'shrink';
  readonly signature: string;
  readonly build: string;
  /** Null where it could not be written. */
  readonly directory: string | null;
  readonly before: Shrunk['original'];
  readonly after: Shrunk['original'];
  readonly runs: number;
  readonly seconds: number;
  readonly complete: boolean;
  readonly nearestPassing: { readonly change: string } | null;
  /** Two events the other way round. */
  readonly nearestOrder: { readonly change: string } | null;
  /** Whether there was time to look for both, as far as each looks. If not, what is null may be near. */
  readonly nearestComplete: boolean;
  /** The same plan on every build: the verdict, and the kinds of its violations. */
  readonly builds: Readonly<
    Record<string, { readonly valid: RunResults['valid']; readonly violations: readonly string[] }>
  >;
}

export interface Kept {
  readonly summary: ShrinkSummary;
  readonly lines: readonly string[];
  /** Why its files are not all there. What was found is told all the same: it took its time. */
  readonly failure: EnvironmentError | null;
}

/** So long the nearest plan and order that pass are searched for. */
const NEIGHBOUR_BUDGET_MS = 10_000;

/**
 * Writes the folder, and says all that there is to say. Whoever has pressed Ctrl-C does not want to wait until the
 * nearest plan that passes is found.
 */
export function keepShrunk(shrunk: Shrunk, store: string, signal: AbortSignal): Kept {
  const { smallest, signature, anomaly } = shrunk;
  const startedMs = performance.now();
  let nearestComplete = true;
  const mayGoOn = (): boolean => {
    nearestComplete &&= !signal.aborted && performance.now() - startedMs < NEIGHBOUR_BUDGET_MS;
    return nearestComplete;
  };
  const neighbours = {
    inTime: nearestPassing(smallest, mayGoOn),
    inOrder: nearestOrder(smallest, anomaly, mayGoOn),
  };
  const results = onAllBuilds(smallest);
  const { directory, failure: homeless } = placeIn(store);
  const folder = directory === null ? null : shownPath(directory);
  const summary: ShrinkSummary = {
    schemaVersion: 1,
    type: 'shrink',
    signature,
    build: smallest.config.build,
    directory: folder,
    before: shrunk.original,
    after: sizeOf(smallest),
    runs: shrunk.runs,
    seconds: Math.round(shrunk.ms / 100) / 10,
    complete: shrunk.complete,
    nearestPassing: changeOf(neighbours.inTime),
    nearestOrder: changeOf(neighbours.inOrder),
    nearestComplete,
    builds: Object.fromEntries(
      [...results].map(([build, { valid, anomalies }]) => [build, { valid, violations: violationsOf(anomalies) }]),
    ),
  };
  const failure = directory === null ? homeless : writeFiles(directory, shrunk, summary, results);
  const places = folder === null || failure !== null ? [] : placesOf(folder);
  const lines = linesOf(shrunk, neighbours, results, signal.aborted);
  return { summary, lines: [...lines, ...places], failure };
}

function placeIn(store: string): { readonly directory: string | null; readonly failure: EnvironmentError | null } {
  try {
    const directory = createStoreDirectory(store, 'shrink', new Date());
    pointLatest(store, directory);
    return { directory, failure: null };
  } catch (cause) {
    return { directory: null, failure: environmentErrorFrom(cause, `cannot keep it in ${store}`) };
  }
}

/** Most wanted first: a scenario is small, and holds everything. */
function writeFiles(
  directory: string,
  shrunk: Shrunk,
  summary: ShrinkSummary,
  results: ReadonlyMap<string, RunResults>,
): EnvironmentError | null {
  const { smallest } = shrunk;
  try {
    writeFileSync(join(directory, 'failure.scenario'), scenarioOf(shrunk, results));
    writeJson(join(directory, 'shrink.json'), summary);
    const { error } = executeSimulatedRun({
      request: smallest,
      directory,
      keep: () => true,
      name: `${smallest.config.build}-${smallest.config.seed}`,
      command: `npm run tidemark -- replay ${shownPath(directory)}`,
      report: writeRunReport,
    });
    return error === null ? null : environmentErrorFrom(error, `cannot write ${directory}`);
  } catch (cause) {
    if (!(cause instanceof EnvironmentError || isSystemError(cause))) throw cause;
    return environmentErrorFrom(cause, `cannot write ${directory}`);
  }
}

/** The failure as a scenario file: the plan, and what the checker finds on each build. */
function scenarioOf({ smallest, signature, anomaly }: Shrunk, results: ReadonlyMap<string, RunResults>): string {
  const { build: own, defects } = smallest.config;
  /* The defects of a scenario hold for all of its builds. */
  const played =
    defects.length === 0 ? [...results] : [...results.values()].slice(0, 1).map((found) => [own, found] as const);
  const expectations = played.flatMap(([build, { valid, anomalies }]): RunExpectation[] => {
    if (valid === true) return [{ build, expects: 'nothing is broken' }];
    const violations = anomalies.filter((found) => found.class === 'violation');
    return violations.map(({ kind, values }) => {
      const named = values.length === 0 || values.length > MOST_VALUES ? '' : ` of ${values.join(', ')}`;
      return { build, expects: `${kind}${named} is a violation` };
    });
  });
  const story = [`${signature}.`, '', ...storyLines(anomaly.why)];
  return writeRunScenario(smallest, expectations, story.flatMap(wrapped).join('\n'));
}

/**
 * What each build does under the plan of a case; the case's own comes first. A case with defects is about those: then
 * the other one is its own build without them.
 */
function onAllBuilds(smallest: Case): Map<string, RunResults> {
  const { build, defects } = smallest.config;
  if (defects.length > 0) {
    return new Map([
      [`${build} with ${defects.join(', ')}`, resultsOn(smallest, { defects })],
      [`${build} without`, resultsOn(smallest, { defects: [] })],
    ]);
  }
  const builds = new Set([build, ...buildNames]);
  return new Map([...builds].map((other) => [other, resultsOn(smallest, { build: other })]));
}

const MOST_VALUES = 10;
const WIDTH = 110;

function resultsOn(smallest: Case, other: Partial<Case['config']>): RunResults {
  return judge({ ...smallest, config: { ...smallest.config, ...other } }).results;
}

interface Neighbours {
  readonly inTime: Neighbour | null;
  readonly inOrder: Neighbour | null;
}

function changeOf(neighbour: Neighbour | null): { readonly change: string } | null {
  return neighbour === null ? null : { change: neighbour.change };
}

function linesOf(
  shrunk: Shrunk,
  { inTime, inOrder }: Neighbours,
  results: ReadonlyMap<string, RunResults>,
  interrupted: boolean,
): string[] {
  const { smallest, signature, anomaly } = shrunk;
  const neighbour = inTime ?? inOrder;
  const plan = neighbour === null ? planLines(smallest) : sideBySide(smallest, neighbour.passing);
  return [
    headline(shrunk),
    signature,
    '',
    ...plan.map((line) => `  ${line}`),
    '',
    inTime === null ? unfound(interrupted) : `nearest plan that passes: ${inTime.change}`,
    ...(inOrder === null ? [] : [`nearest order that passes: ${inOrder.change}`]),
    ...storyLines(anomaly.why).map((text) => `  ${text}`),
    '',
    `the same plan on ${[...results].map(([build, found]) => `${build}: ${verdictOf(found)}`).join(' · ')}`,
  ];
}

function unfound(interrupted: boolean): string {
  return interrupted
    ? 'what makes it pass was not looked for: you pressed Ctrl-C'
    : 'no single change that was tried makes it pass';
}

function verdictOf({ valid, anomalies }: RunResults): string {
  if (valid === true) return 'valid';
  return valid === 'unknown' ? 'unknown' : violationsOf(anomalies).join(', ');
}

function violationsOf(anomalies: RunResults['anomalies']): string[] {
  return [...new Set(anomalies.filter((found) => found.class === 'violation').map(({ kind }) => kind))];
}

function placesOf(folder: string): string[] {
  return [
    `report    ${join(folder, 'report.html')}`,
    `scenario  ${join(folder, 'failure.scenario')}`,
    `again     npm run tidemark -- replay ${folder}`,
  ];
}

function sizeOf({ config, schedule, load }: Case): Shrunk['original'] {
  return {
    faults: schedule.faults.length,
    operations: load.operations.length,
    brokers: config.brokers,
    partitions: config.partitions,
    threads: config.concurrency,
  };
}

/** A line broken at words. */
function wrapped(text: string): string[] {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && last.length + word.length + 1 > WIDTH) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines;
}
