/**
 * Reads what a run was made from: the folder of a run in any runtime, of a run inside of a comparison, of a find of a
 * search; or one file that holds a `configuration`, a `schedule` and perhaps a `load`.
 *
 * Invariant: what is handed on has been checked field by field. Whatever is missing or damaged is one clear line.
 */
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { buildNames } from '../../broker/core/builds.ts';
import type { Operation } from '../../checker/history.ts';
import type { Schedule } from '../../nemesis/schedule.ts';
import { readLines } from '../check/read-lines.ts';
import { UsageError, environmentErrorFrom } from '../errors.ts';
import { runOfNight } from '../nightly/is-night.ts';
import { isForeignBuild } from '../foreign-build.ts';
import { buildsByNode, foreignBuildsByNode } from '../plan/builds-by-node.ts';
import type { RunConfig } from '../plan/config.ts';
import { demandFile, mostTextBytes } from '../regular-file.ts';
import type { LoadPlan } from '../sim/simulation.ts';
import { resolveSchedule } from './resolve.ts';
import { excessOfPlan, flawOfConfig, flawOfLoad, flawOfSchedule } from './plan-flaws.ts';
import { parseConfig, parseLoad, parseSchedule } from './plan-schema.ts';

export interface StoredPlan {
  readonly config: RunConfig;
  readonly schedule: Schedule;
  /** Only where the load was written out; else the seed draws it. */
  readonly load?: LoadPlan;
}

/** Reads the plan at `path`. Throws a {@link UsageError} that says what is missing or wrong. */
export function readStoredPlan(path: string): StoredPlan {
  if (!existsSync(path)) throw new UsageError(`${path}: there is no such folder or file`);
  if (!statSync(path).isDirectory()) return readPlanFile(path);
  if (!existsSync(join(path, 'run.json'))) throw new UsageError(`${path}: ${whatInstead(path)}`);
  const run = readJson(join(path, 'run.json'));
  const schedule = join(path, 'schedule.json');
  if (!existsSync(schedule))
    throw new UsageError(`${path}: it holds no schedule.json: this run never got to its faults`);
  const load = join(path, 'load.json');
  return planFrom(join(path, 'run.json'), run['configuration'], schedule, readJson(schedule), {
    where: load,
    value: existsSync(load) ? readJson(load) : undefined,
  });
}

/** The same plan, with the nodes that each role was in the stored run in `directory`. */
export function resolvedPlan(plan: StoredPlan, directory: string): StoredPlan {
  const path = join(directory, 'history.jsonl');
  if (!existsSync(path))
    throw new UsageError(`${directory}: it holds no history.jsonl, so nobody knows who the roles were`);
  const resolved = resolveSchedule(plan.schedule, objectsIn(path));
  const schedule = checked(`${path}, as nodes of the faults`, parseSchedule(resolved), (read) =>
    flawOfSchedule(read, plan.config),
  );
  return { ...plan, schedule };
}

/** The lines that can be understood, one after the other. */
function* objectsIn(path: string): Generator<Pick<Operation, 'process' | 'value'>, void, undefined> {
  try {
    for (const line of readLines(path)) {
      const value = parsedOrNull(line);
      if (isObject(value)) yield value as unknown as Operation;
    }
  } catch (error) {
    throw environmentErrorFrom(error, `cannot read ${path}`);
  }
}

/** The last line of a run that was killed may be half of one. */
function parsedOrNull(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** The same plan on another build, or on another runtime. */
export function planOn(plan: StoredPlan, build: string | undefined, runtime: RunConfig['runtime']): StoredPlan {
  const config = { ...plan.config, runtime, build: build ?? plan.config.build };
  const foreign = isForeignBuild(config.build);
  const builds = foreign
    ? foreignBuildsByNode(config.build, config.brokers)
    : buildsByNode(config.build, config.brokers, buildNames);
  if (typeof builds === 'string') throw new UsageError(builds);
  if (foreign && runtime !== 'docker') {
    throw new UsageError(`${config.build} runs in containers only, not in runtime ${runtime}: name another --build`);
  }
  const excess = excessOfPlan(config, plan.load);
  if (excess !== null) throw new UsageError(excess);
  return { ...plan, config };
}

const partsOfPlan: readonly string[] = ['configuration', 'schedule', 'load'];

function readPlanFile(path: string): StoredPlan {
  const file = readJson(path);
  const strange = Object.keys(file).find((name) => !partsOfPlan.includes(name));
  if (strange !== undefined) {
    throw new UsageError(`${path}: "${strange}" is no part of a plan; they are ${partsOfPlan.join(', ')}`);
  }
  return planFrom(path, file['configuration'], path, file['schedule'], { where: path, value: file['load'] });
}

function planFrom(
  configPath: string,
  configuration: unknown,
  schedulePath: string,
  scheduleValue: unknown,
  loadFile: { readonly where: string; readonly value: unknown },
): StoredPlan {
  if (!isObject(configuration)) throw new UsageError(`${configPath}: it holds no configuration`);
  const config = checked(`${configPath}: configuration`, parseConfig(configuration), flawOfConfig);
  const schedule = checked(schedulePath, parseSchedule(scheduleValue), (read) => flawOfSchedule(read, config));
  if (loadFile.value === undefined) return { config, schedule };
  const load = checked(loadFile.where, parseLoad(loadFile.value), (read) => flawOfLoad(read, config));
  return { config, schedule, load };
}

function checked<T extends object>(where: string, parsed: T | string, flawOf: (read: T) => string | null): T {
  const flaw = typeof parsed === 'string' ? parsed : flawOf(parsed);
  if (flaw !== null) throw new UsageError(`${where}: ${flaw}`);
  return parsed as T;
}

function readJson(path: string): Readonly<Record<string, unknown>> {
  let text: string;
  try {
    demandFile(path, mostTextBytes);
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw environmentErrorFrom(error, `cannot read ${path}`);
  }
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    /* Said below. */
  }
  throw new UsageError(`${path}: it is not a JSON object`);
}

/** What a folder that holds no run may be instead. */
function whatInstead(path: string): string {
  const runs = existsSync(join(path, 'runs')) ? readdirSync(join(path, 'runs')) : [];
  if (runs.length > 0)
    return `this is a comparison; name one of its runs, such as ${join(path, 'runs', runs[0] ?? '')}`;
  const finds = readdirSync(path).filter((name) => existsSync(join(path, name, 'run.json')));
  if (finds.length > 0) return `no run, but it holds some; name one, such as ${join(path, finds[0] ?? '')}`;
  const ofNight = runOfNight(path);
  if (ofNight !== null) return `this is a night; name a run of one of its cells, such as ${ofNight}`;
  return 'it holds no run.json; name the folder of a run, such as store/latest';
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
