/**
 * A run's folder, or a history alone, as the input of the checker.
 *
 * Only `history.jsonl` must be there: a run that was killed leaves what it had, and the checker says what that proves.
 * A `run.json` that cannot be understood is an error, since nobody knows then what had been promised.
 *
 * Bounds: segment files are read whole, one replica after another.
 */
import { existsSync, readFileSync, readdirSync, statSync, type Dirent } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { checkRun, type CheckInput } from '../../checker/check.ts';
import type { Promises, RunDescription } from '../../checker/evidence.ts';
import type { ReplicaFiles } from '../../checker/final-logs.ts';
import type { HistorySource } from '../../checker/parse-history.ts';
import type { RunResults } from '../../checker/results.ts';
import { EnvironmentError, UsageError, errorCode } from '../errors.ts';
import { runOfNight } from '../nightly/is-night.ts';
import { demandFile, mostTextBytes } from '../regular-file.ts';
import { shellWord } from '../report/words.ts';
import { parsePromises, parseRunFile, type RunFile } from '../run-file-schema.ts';
import { isForeignBuild } from '../foreign-build.ts';
import { shownPath } from '../shown-path.ts';
import { collectedBytes } from './collected-bytes.ts';
import { decompressors } from './decompressors.ts';
import { cannotRead, openHistory, openPackable } from './history-file.ts';

/** What the command line says about the promises; it wins over `run.json`. */
export type PromiseFlags = { readonly [P in keyof Promises]?: Promises[P] | undefined };

/** Checks what stands at `path`: a run's folder or a history file. */
export function checkPath(path: string, flags: PromiseFlags = {}): RunResults {
  return checkRun(loadPath(path, flags));
}

/** The history at `path`, a run's folder or a file, and nothing else. */
export function historyAt(path: string): HistorySource {
  return loadPath(path, {}).history;
}

/** Checks a run's folder: the step of a run between reading back and reporting. */
export function checkRunDirectory(directory: string): RunResults {
  return checkRun(loadDirectory(resolve(directory), {}));
}

function loadPath(path: string, flags: PromiseFlags): CheckInput {
  const absolute = resolve(path);
  let directory: boolean;
  try {
    directory = statSync(absolute).isDirectory();
  } catch (error) {
    const why =
      errorCode(error) === 'ENOENT'
        ? 'there is no such file or folder'
        : `it cannot be looked at (${errorCode(error)})`;
    throw new UsageError(`${path}: ${why}; give the folder of a run, or a history.jsonl`);
  }
  return directory ? loadDirectory(absolute, flags) : loadHistory(absolute, flags);
}

/** What else lies in the folder of a run. */
const noHistories: ReadonlySet<string> = new Set([
  'run.json',
  'results.json',
  'report.html',
  'summary.md',
  'junit.xml',
  'schedule.json',
  'load.json',
  'trace.jsonl',
  'observations.jsonl',
]);

function loadHistory(path: string, flags: PromiseFlags): CheckInput {
  const notes: string[] = [];
  if (existsSync(join(dirname(path), 'run.json'))) {
    const command = `npm run tidemark -- check ${shellWord(shownPath(dirname(path)))}`;
    if (noHistories.has(basename(path).replace(/\.zst$/, '')))
      throw new UsageError(`${shownPath(path)} is no history; ${command} checks the run that it belongs to`);
    notes.push(`only the history was looked at; ${command} takes its trace and logs in as well`);
  }
  const run: RunDescription = { ...emptyRun, name: basename(path) };
  return {
    source: 'history',
    run,
    promises: promisesOf(run.configuration, flags, notes),
    history: openHistory(path, notes),
    trace: null,
    logs: null,
    decompressors,
    notes,
  };
}

function loadDirectory(directory: string, flags: PromiseFlags): CheckInput {
  const history = packable(directory, 'history.jsonl');
  if (history === null) {
    // A folder of Jepsen's holds a history and nothing else that is understood.
    const edn = join(directory, 'history.edn');
    if (existsSync(edn)) return loadHistory(edn, flags);
    const comparison = existsSync(join(directory, 'runs'));
    const ofNight = runOfNight(directory);
    const hint = comparison
      ? 'it looks like a comparison: check one of the folders in its runs/'
      : ofNight === null
        ? 'is it the folder of a run?'
        : `it looks like a night: check a run of one of its cells, such as ${shownPath(ofNight)}`;
    throw new UsageError(`${shownPath(directory)} holds no history.jsonl; ${hint}`);
  }
  const notes: string[] = [];
  const data = join(directory, 'data');
  const run = readRunDescription(directory, data, notes);
  const trace = run.traced === false ? null : packable(directory, 'trace.jsonl');
  const observations = run.traced === false ? packable(directory, 'observations.jsonl') : null;
  return {
    source: 'run',
    run,
    promises: promisesOf(run.configuration, flags, notes),
    history: openHistory(history, notes),
    trace: trace === null ? null : openPackable(trace, notes),
    observations: observations === null ? null : openPackable(observations, notes),
    logs: existsSync(data) ? readData(data) : null,
    decompressors,
    notes,
  };
}

/** Node reads no more at once. */
const mostSegmentBytes = 2 ** 31 - 1;

/** The copied replicas of one partition; empty where there are none. */
export function replicasOf(directory: string, key: string): Iterable<ReplicaFiles> {
  const data = join(directory, 'data');
  return existsSync(data) ? replicasIn(foldersIn(data), key) : [];
}

/** A file of the run as it is, or packed. */
export function packable(directory: string, name: string): string | null {
  const plain = join(directory, name);
  if (existsSync(plain)) return plain;
  return existsSync(`${plain}.zst`) ? `${plain}.zst` : null;
}

/** The files of a data directory are read one by one: which one refuses is what a reader wants to know. */
function reading<T>(path: string, read: (path: string) => T): T {
  try {
    return read(path);
  } catch (error) {
    throw cannotRead(path, error);
  }
}

const emptyRun: RunDescription = {
  name: 'unknown',
  command: null,
  configuration: {},
  settled: null,
  healed: null,
  settleMs: null,
  residual: [],
  finalLeaders: {},
  finalReadComplete: null,
  logsCollected: null,
  completed: null,
  error: null,
  recordedLines: null,
};

function readRunDescription(directory: string, data: string, notes: string[]): RunDescription {
  const path = join(directory, 'run.json');
  if (!existsSync(path)) {
    notes.push('there is no run.json: the defaults are taken for what was promised');
    return { ...emptyRun, name: basename(directory) };
  }
  let parsed: unknown;
  try {
    demandFile(path, mostTextBytes);
    parsed = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof EnvironmentError) throw error;
    const why = error instanceof SyntaxError ? 'it is not JSON' : String(errorCode(error));
    throw new EnvironmentError(
      `${path} cannot be read: ${why}; restore it, or check the history.jsonl beside it alone`,
    );
  }
  const checked = parseRunFile(parsed);
  if ('flaw' in checked) throw new EnvironmentError(`${path} is not a run's description: ${checked.flaw}`);
  const { file } = checked;
  return {
    name: file.name ?? basename(directory),
    command: file.command ?? null,
    configuration: file.configuration,
    settled: file.settled ?? null,
    healed: file.healed ?? null,
    settleMs: file.settleMs ?? null,
    residual: file.residual ?? [],
    finalLeaders: file.finalLeaders ?? {},
    finalReadComplete: file.finalReadComplete ?? null,
    logsCollected: isAsCollected(data, file.collectedBytes ?? null, notes) ? (file.logsCollected ?? null) : false,
    completed: file.completed ?? null,
    error: file.error ?? null,
    recordedLines: file.recordedLines ?? null,
    ...foreign(file),
    ends: file.ends ?? [],
  };
}

/** What is said of brokers that others wrote; they tell no trace. */
function foreign(file: RunFile): Pick<RunDescription, 'traced' | 'target'> {
  const { observed, configuration, target, capabilities = null } = file;
  const { build } = configuration;
  const name = target?.name ?? (typeof build === 'string' ? build : 'unknown');
  if (observed !== true && !isForeignBuild(name)) return {};
  const versions = target?.versions;
  return { traced: false, target: { name, ...(versions === undefined ? {} : { versions }), capabilities } };
}

function isAsCollected(data: string, bytes: number | null, notes: string[]): boolean {
  if (bytes === null || !existsSync(data)) return true;
  const found = reading(data, collectedBytes);
  if (found === bytes) return true;
  notes.push(`the logs in ${data} hold ${found} bytes, and ${bytes} were collected: something has changed them since`);
  return false;
}

function promisesOf(configuration: RunDescription['configuration'], flags: PromiseFlags, notes: string[]): Promises {
  const recorded = parsePromises(configuration);
  const promises = { ...recorded };
  for (const name of ['acks', 'minInsyncReplicas', 'uncleanElection'] as const) {
    const flag = flags[name];
    if (flag === undefined || flag === recorded[name]) continue;
    Object.assign(promises, { [name]: flag });
    if (configuration[name] !== undefined) {
      notes.push(`judged as if ${name} had been ${String(flag)}; the run had ${String(recorded[name])}`);
    }
  }
  return promises;
}

/** Every replica in `data/<node>/<topic>-<partition>/`. */
function readData(data: string): CheckInput['logs'] {
  const folders = foldersIn(data);
  if (folders.length === 0) return null;
  return { nodes: folders.map(({ node }) => node), files: replicasIn(folders) };
}

function foldersIn(data: string): { node: number; directory: string }[] {
  const folders: { node: number; directory: string }[] = [];
  for (const entry of reading(data, entriesOf)) {
    const node = Number(entry.name.replace(/^broker-/, ''));
    if (entry.isDirectory() && Number.isSafeInteger(node)) folders.push({ node, directory: join(data, entry.name) });
  }
  return folders;
}

/** Of all partitions, or of one alone. */
function* replicasIn(
  folders: readonly { node: number; directory: string }[],
  only?: string,
): Generator<ReplicaFiles, void, undefined> {
  for (const { node, directory } of folders) {
    const starts = readOffsetCheckpoint(join(directory, 'log-start-offset-checkpoint'));
    for (const entry of reading(directory, entriesOf)) {
      if (!entry.isDirectory() || !/-\d+$/.test(entry.name)) continue;
      const key = entry.name;
      if (only !== undefined && key !== only) continue;
      yield {
        node,
        key,
        segments: readSegments(join(directory, key)),
        logStart: starts.get(key) ?? null,
        epochs: readEpochCheckpoint(join(directory, key, 'leader-epoch-checkpoint')),
      };
    }
  }
}

function readSegments(directory: string): ReplicaFiles['segments'] {
  return reading(directory, entriesOf)
    .map(({ name }) => name)
    .filter((name) => /^\d{20}\.log$/.test(name))
    .map((name) => ({
      baseOffset: Number(name.slice(0, 20)),
      bytes: reading(join(directory, name), bytesOf),
    }));
}

function bytesOf(path: string): Uint8Array {
  demandFile(path, mostSegmentBytes);
  return readFileSync(path);
}

function textOf(path: string): string {
  demandFile(path, mostTextBytes);
  return readFileSync(path, 'utf8');
}

function entriesOf(directory: string): Dirent[] {
  return readdirSync(directory, { withFileTypes: true });
}

/** `epoch offset` a line, after a version and a count (Kafka's LeaderEpochCheckpointFile). Null: there is none. */
function readEpochCheckpoint(path: string): ReplicaFiles['epochs'] {
  if (!existsSync(path)) return null;
  const entries: [number, number][] = [];
  for (const line of reading(path, textOf).split('\n').slice(2)) {
    const match = /^(\d+) (\d+)$/.exec(line);
    if (match !== null) entries.push([Number(match[1]), Number(match[2])]);
  }
  return entries;
}

/** `topic partition offset` a line, after a version and a count (Kafka's OffsetCheckpointFile). */
function readOffsetCheckpoint(path: string): Map<string, number> {
  const offsets = new Map<string, number>();
  if (!existsSync(path)) return offsets;
  for (const line of reading(path, textOf).split('\n').slice(2)) {
    const match = /^(\S+) (\d+) (\d+)$/.exec(line);
    if (match !== null) offsets.set(`${match[1]}-${match[2]}`, Number(match[3]));
  }
  return offsets;
}
