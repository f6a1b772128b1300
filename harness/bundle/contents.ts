/**
 * What a bundle of a folder holds: all of its files, but for what another program is just writing beside them, and the
 * lock of a night.
 *
 * A run's files are few and all of them are read by somebody (check, report, show, replay), so nothing is chosen. Links
 * are followed where they end at a file of the same folder, and nowhere else: a bundle is given away, and may hold
 * nothing that its sender does not see in the folder.
 */
import { lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { EnvironmentError, environmentErrorFrom } from '../errors.ts';
import { isLock } from '../nightly/lock.ts';
import { isWithin } from '../within.ts';

export interface BundleContents {
  /** Below the folder, with slashes, sorted; of empty ones, too: that a broker left nothing is evidence. */
  readonly directories: readonly string[];
  readonly files: readonly BundleFile[];
  /** What stands in the folder and is not packed, with the reason. */
  readonly left: readonly LeftOut[];
}

export interface LeftOut {
  readonly name: string;
  readonly why: string;
  /** Somebody reads it: without it a bundle would not be as good as its folder. */
  readonly needed: boolean;
}

export interface BundleFile {
  /** Below the folder, with slashes. */
  readonly name: string;
  /** The file itself, free of links. */
  readonly path: string;
  readonly size: number;
}

const read: ReadonlySet<string> = new Set([
  'history.jsonl',
  'history.edn',
  'trace.jsonl',
  'observations.jsonl',
  'run.json',
  'schedule.json',
  'load.json',
  'results.json',
  'data',
  'logs',
  'runs',
  'realism',
]);

/** More than any comparison leaves; a folder with more is something else. */
const ENTRIES_MAX = 2_000_000;

/** Looks through `root`, which must be free of links itself. */
export function contentsOf(root: string): BundleContents {
  const directories: string[] = [];
  const files: BundleFile[] = [];
  const left: LeftOut[] = [];
  const waiting = [''];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of entriesOf(join(root, folder))) {
      const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (files.length + directories.length >= ENTRIES_MAX)
        throw new EnvironmentError(`${root} holds more than ${ENTRIES_MAX} files: that is no run`);
      if (entry.isDirectory()) {
        directories.push(name);
        waiting.push(name);
      } else if (isLock(name))
        left.push({ name, why: 'it says which process of this machine has the night', needed: false });
      else if (isHalfWritten(entry.name)) left.push({ name, why: 'it is half written', needed: false });
      else {
        const found = fileAt(root, name);
        if (typeof found === 'string') left.push({ name, why: found, needed: isNeeded(name) });
        else files.push(found);
      }
    }
  }
  const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : 1);
  return { directories: directories.sort(), files: files.sort(byName), left: left.sort(byName) };
}

/** The file, or why it is not packed. */
function fileAt(root: string, name: string): BundleFile | string {
  const path = join(root, name);
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return 'it has gone, or its name is no text';
  if (stats.isFile()) return { name, path, size: stats.size };
  if (!stats.isSymbolicLink()) return 'it is no regular file';
  let target: string;
  try {
    target = realpathSync(path);
  } catch {
    return 'it is a link to nothing';
  }
  if (!isWithin(root, target)) return 'it is a link out of the folder';
  const behind = statSync(target);
  return behind.isFile() ? { name, path: target, size: behind.size } : 'it is a link to what is no file';
}

/** Whether it is, or lies in, what check, report, show or replay read. */
function isNeeded(name: string): boolean {
  return name.split('/').some((part) => read.has(part.replace(/\.zst$/, '')));
}

/** Files are written beside their place, and renamed. */
function isHalfWritten(name: string): boolean {
  return /\.\d+\.tmp$/.test(name);
}

function entriesOf(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    throw environmentErrorFrom(error, `cannot read ${directory}`);
  }
}
