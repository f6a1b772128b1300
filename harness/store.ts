/**
 * The store: `store/<name>/<time>/`, one folder for each run or comparison, and `store/latest` at the newest.
 *
 * Files are the only interface between the steps of the harness: a run writes them, check, report and compare read
 * them. A file that others read whole is written beside its place and renamed, so that nobody ever sees half of it.
 *
 * Invariant: the store is never cleaned by us, and a folder is never used twice.
 */
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { environmentErrorFrom, errorCode } from './errors.ts';

/** Makes a new folder `<store>/<name>/<time>`, where the time is UTC and sorts by name. */
export function createStoreDirectory(store: string, name: string, now: Date): string {
  const root = resolve(store);
  try {
    makeFolders(join(root, name));
    accessSync(root, constants.W_OK);
    const time = now.toISOString().replaceAll(':', '').replace('.', '');
    for (let attempt = 0; attempt < 100; attempt += 1) {
      const directory = join(root, name, attempt === 0 ? time : `${time}-${attempt}`);
      try {
        mkdirSync(directory);
        return directory;
      } catch (error) {
        if (errorCode(error) !== 'EEXIST') throw error;
      }
    }
    throw new Error(`a hundred folders named ${time} exist already`);
  } catch (error) {
    throw environmentErrorFrom(error, `cannot make a folder in the store ${root}`);
  }
}

/** Not by Node's own recursion: where a folder cannot be made although its parent is there, as in /proc, it never ends. */
function makeFolders(path: string): void {
  if (existsSync(path)) return;
  makeFolders(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    // Another run may have made it in the meantime.
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

/** Points `<store>/latest` at a folder, by a relative link, so that the store can be moved. */
export function pointLatest(store: string, directory: string): void {
  const root = resolve(store);
  const link = join(root, 'latest');
  const temporary = join(root, `.latest-${process.pid}`);
  try {
    rmSync(temporary, { force: true });
    symlinkSync(relative(root, directory), temporary);
    renameSync(temporary, link);
  } catch (error) {
    throw environmentErrorFrom(error, `cannot point ${link} at the new run`);
  }
}

/** Where `<store>/latest` points, if it does. */
export function latestDirectory(store: string): string | null {
  try {
    return resolve(store, readlinkSync(join(store, 'latest')));
  } catch {
    return null;
  }
}

/** Writes a whole file beside its place, then renames it. */
export function writeWhole(path: string, content: string): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, content);
    renameSync(temporary, path);
  } catch (error) {
    try {
      rmSync(temporary, { force: true });
    } catch {
      // The first error is the one to tell.
    }
    throw environmentErrorFrom(error, `cannot write ${path}`);
  }
}

/** A JSON file, indented for people. */
export function writeJson(path: string, value: unknown): void {
  writeWhole(path, `${JSON.stringify(value, null, 2)}\n`);
}
