/**
 * What each try came to, one JSON line a try, in `tries.jsonl`: written when the try is over, and read when the table is
 * made or when an interrupted night goes on.
 *
 * A try in which the script did not go as it is written says nothing about the broker. It stands here with its reason,
 * and does not count.
 *
 * Invariant: a line is whole or is not there; half of one, from a process that was killed, is passed over.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { ScheduleName } from './schedules.ts';

export interface Try {
  readonly build: string;
  readonly schedule: ScheduleName;
  readonly seed: number;
  readonly startedAt: string;
  /** Of the run, relative to the file. */
  readonly directory: string;
  /** Null: it counts. Else why not. */
  readonly uncounted: string | null;
  readonly lost: boolean;
  readonly diverged: boolean;
  /** Other violations, by kind. */
  readonly others: readonly string[];
  readonly seconds: number;
}

export function readTries(path: string): Try[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as Try];
      } catch {
        return [];
      }
    });
}

export function addTry(path: string, made: Try): void {
  appendFileSync(path, `${JSON.stringify(made)}\n`);
}
