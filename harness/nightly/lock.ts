/**
 * The lock of a night: of several processes that want it at once, one has it, and it is free again when that one is gone.
 *
 * A file alone cannot be both: whoever takes away the lock of a dead process may take away that of the one who was
 * quicker. So locks are numbered, `lock-<n>.json`, and the highest number counts. The next one can be made by one process
 * only, and whoever made it looks whether it still is the highest: somebody may have been overtaken between looking and
 * making. A lock that is given back stays as a mark, so that numbers never begin anew.
 *
 * Invariant: the highest number never falls, and only the process that made it, alive, has the night.
 */
import { linkSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ownerState, thisProcess } from '../../docker/labels.ts';
import { EnvironmentError, environmentErrorFrom, errorCode } from '../errors.ts';
import { shownPath } from '../shown-path.ts';

const ownerSchema = z.object({
  machine: z.string(),
  bootId: z.string(),
  pidNamespace: z.string(),
  pid: z.number(),
  startTicks: z.string(),
});

const namePattern = /^lock-(\d{1,9})\.json$/;

/** Whether a file of a night's folder is one of its locks. */
export function isLock(name: string): boolean {
  return namePattern.test(name);
}

/** Takes the night for this process. Returns what gives it back; throws where somebody else has it. */
export function lockNight(directory: string): () => void {
  try {
    const before = highestIn(directory);
    if (isTaken(pathOf(directory, before))) throw goesOn(directory, before);
    const own = before + 1;
    const path = pathOf(directory, own);
    if (!place(path)) throw goesOn(directory, own);
    const highest = highestIn(directory);
    if (highest > own) {
      rmSync(path, { force: true });
      throw goesOn(directory, highest);
    }
    for (const number of numbersIn(directory)) if (number < own) rmSync(pathOf(directory, number), { force: true });
    return () => replace(path, { given: 'back' });
  } catch (error) {
    throw environmentErrorFrom(error, `cannot lock ${directory}`);
  }
}

function goesOn(directory: string, number: number): EnvironmentError {
  const remedy = `wait for it; if it surely is not, remove ${shownPath(pathOf(directory, number))}`;
  return new EnvironmentError(`${shownPath(directory)} is still going on: ${remedy}`);
}

function pathOf(directory: string, number: number): string {
  return join(directory, `lock-${number}.json`);
}

function numbersIn(directory: string): number[] {
  return readdirSync(directory).flatMap((name) => Number(namePattern.exec(name)?.[1] ?? []));
}

/** 0 where there is none. */
function highestIn(directory: string): number {
  return Math.max(0, ...numbersIn(directory));
}

/** Puts this process's lock there whole, so that nobody takes half of one for that of the dead; false where there is one. */
function place(path: string): boolean {
  const temporary = `${path}.${process.pid}.tmp`;
  const text = `${JSON.stringify(thisProcess())}\n`;
  try {
    writeFileSync(temporary, text);
    try {
      linkSync(temporary, path);
    } catch (error) {
      if (errorCode(error) === 'EEXIST') throw error;
      // Not every file system has links.
      writeFileSync(path, text, { flag: 'wx' });
    }
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** A lock that cannot be given back, on a full disk say, is free all the same when its process has ended. */
function replace(path: string, value: unknown): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, `${JSON.stringify(value)}\n`);
    renameSync(temporary, path);
  } catch {
    rmSync(temporary, { force: true });
  }
}

/** Whether a process that lives, or may live, has the lock. */
function isTaken(path: string): boolean {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return false;
  }
  try {
    return ownerState(ownerSchema.parse(JSON.parse(text))) !== 'dead';
  } catch {
    // Given back, or half written by a process that was killed.
    return false;
  }
}
