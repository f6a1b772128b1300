/**
 * What stands in a store, newest first: which folders there are, and what became of each.
 *
 * Names are listed at once, which takes milliseconds for thousands; only the folders of the page that is asked for are
 * looked into, and what was read is remembered as long as the file stays the same. Runs in progress, damaged results and
 * folders of anything else are said to be that.
 */
import { readFileSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Verdict } from '../../checker/results.ts';
import { partsOf } from '../compare/two-parts.ts';
import { controlShowed } from '../compare/verdict.ts';
import { errorCode } from '../errors.ts';
import { isSilent } from '../nightly/conclude.ts';
import { whyUnreadable } from '../regular-file.ts';
import { headline } from '../report/headline.ts';
import { counted } from '../report/words.ts';
import { parseResults, type AnyResults } from '../schemas.ts';
import { isWithin } from '../within.ts';

export interface StoreEntry {
  /** Below the store, with slashes: `run/2026-11-30T101019227Z`. */
  readonly name: string;
  /** When it was begun, by its name, or last changed. */
  readonly timeMs: number;
}

export interface EntryState {
  /** `folder`: nothing of it is the trace of a run. */
  readonly state: 'done' | 'in-progress' | 'no-verdict' | 'damaged' | 'folder';
  readonly verdict: Verdict | null;
  readonly sentence: string;
  /** Those that are there, of what people open first. */
  readonly files: readonly string[];
}

/** Larger results are left to programs. */
const RESULTS_BYTES_MAX = 64_000_000;
/** What has changed so lately is still being written. */
const FRESH_MS = 120_000;
const REMEMBERED_MAX = 5_000;
const LOOKED_INTO_MAX = 100;
const openedFirst = ['report.html', 'results.json', 'summary.md'] as const;
const marksOfRun = ['results.json', 'run.json', 'history.jsonl', 'history.jsonl.zst', 'history.edn'] as const;
const marksOfWork = [...marksOfRun, 'trace.jsonl', 'observations.jsonl', 'schedule.json', 'runs', 'realism'] as const;

/** All folders of runs and comparisons, and whatever else has a folder: `<name>/<time>`, or a run that stands at the top. */
export function listStore(root: string): StoreEntry[] {
  const entries = foldersIn(root).flatMap((top) =>
    isRun(join(root, top)) ? [top] : foldersIn(join(root, top)).map((name) => `${top}/${name}`),
  );
  return entries
    .map((name) => ({ name, timeMs: timeInName(basename(name)) ?? timeOf(join(root, name)) ?? 0 }))
    .sort((a, b) => b.timeMs - a.timeMs || (a.name < b.name ? -1 : 1));
}

/** What the results of a folder say, in short; or what is wrong with them. */
type Digest =
  | { readonly verdict: Verdict; readonly sentence: string; readonly isWhole: boolean }
  | { readonly flaw: string };

/** Tells what became of entries, remembering what it has read. */
export class Catalogue {
  readonly #root: string;
  readonly #read = new Map<string, { readonly stamp: string; readonly digest: Digest }>();

  /** `root` is free of links. */
  constructor(root: string) {
    this.#root = root;
  }

  describe(name: string, nowMs: number): EntryState {
    const folder = join(this.#root, name);
    const times = new Map(marksOfWork.map((mark) => [mark, timeOf(join(folder, mark))] as const));
    const known = [...times.values()].filter((time) => time !== null);
    const isFresh = nowMs - Math.max(timeOf(folder) ?? 0, ...known) < FRESH_MS;
    const files = openedFirst.filter((file) => timeOf(join(folder, file)) !== null);
    if (times.get('results.json') !== null) return { ...stateOf(this.#digest(name), isFresh), files };
    const none = { verdict: null, files };
    if (isFresh) return { ...none, state: 'in-progress', sentence: 'No results yet: it is in progress.' };
    if (known.length > 0)
      return { ...none, state: 'no-verdict', sentence: 'No results: it ended early, or is still computing.' };
    return { ...none, state: 'folder', sentence: whatElse(folder) };
  }

  #digest(name: string): Digest {
    const path = join(this.#root, name, 'results.json');
    try {
      if (!isWithin(this.#root, realpathSync(path))) return { flaw: 'it is a link out of the store' };
      const { mtimeMs, size, ino } = statSync(path);
      const stamp = `${mtimeMs} ${size} ${ino}`;
      const remembered = this.#read.get(name);
      if (remembered?.stamp === stamp) return remembered.digest;
      const digest = readDigest(path);
      this.#read.set(name, { stamp, digest });
      const [oldest] = this.#read.keys();
      if (this.#read.size > REMEMBERED_MAX && oldest !== undefined) this.#read.delete(oldest);
      return digest;
    } catch (error) {
      return { flaw: errorCode(error) ?? 'it cannot be read' };
    }
  }
}

/** A search keeps the runs that it found in a folder of its own. */
function whatElse(folder: string): string {
  const folders = foldersIn(folder).slice(0, LOOKED_INTO_MAX);
  const runs = folders.filter((name) => isRun(join(folder, name))).length;
  if (runs > 0) return `${counted(runs, 'run')} within.`;
  return `No run: ${counted(namesIn(folder).length, 'file or folder', 'files and folders')}.`;
}

function stateOf(digest: Digest, isFresh: boolean): Omit<EntryState, 'files'> {
  if ('flaw' in digest)
    return { state: 'damaged', verdict: null, sentence: `Its results.json cannot be used: ${digest.flaw}.` };
  const { verdict, sentence, isWhole } = digest;
  // A comparison writes down what it has after every pair.
  return { state: isWhole || !isFresh ? 'done' : 'in-progress', verdict, sentence };
}

function readDigest(path: string): Digest {
  const why = whyUnreadable(path, RESULTS_BYTES_MAX);
  if (why !== null) return { flaw: why };
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    return { flaw: error instanceof SyntaxError ? 'it is not JSON' : (errorCode(error) ?? 'it cannot be read') };
  }
  const parsed = parseResults(value);
  return 'flaw' in parsed ? parsed : digestOf(parsed.results);
}

function digestOf(results: AnyResults): Digest {
  switch (results.type) {
    case 'run':
      return { verdict: results.valid, sentence: headline(results), isWhole: true };
    case 'comparison': {
      // Where the control showed nothing a candidate is not proved to keep its word; of a shard that says nothing.
      const isProved = results.shard !== undefined || (controlShowed(results) && !results.void);
      const isWhole = partsOf(results).every(({ pairs, seeds }) => pairs.length >= seeds.length);
      const verdict = results.valid === true && !isProved ? 'unknown' : results.valid;
      return { verdict, sentence: results.verdict, isWhole };
    }
    case 'night': {
      const isProved = results.shard !== undefined || !results.cells.some(isSilent);
      const verdict = results.valid === true && !isProved ? 'unknown' : results.valid;
      return { verdict, sentence: results.verdict, isWhole: results.ended !== 'unfinished' };
    }
  }
}

function isRun(folder: string): boolean {
  return marksOfRun.some((mark) => timeOf(join(folder, mark)) !== null);
}

/** Folders use the time in UTC as their name. */
function timeInName(name: string): number | null {
  const [, day, hours, minutes, seconds, ms] = /^(\d{4}-\d\d-\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z/.exec(name) ?? [];
  const time = Date.parse(`${day}T${hours}:${minutes}:${seconds}.${ms}Z`);
  return Number.isNaN(time) ? null : time;
}

/** When it was last changed; null where there is nothing, or nothing that may be looked at. */
function timeOf(path: string): number | null {
  try {
    return statSync(path).mtimeMs;
  } catch {
    return null;
  }
}

/** Links are no folders here: `latest` is one of those that are listed anyway. */
function foldersIn(directory: string): string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map(({ name }) => name);
  } catch {
    return [];
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
