/**
 * The folder of a night, `store/nightly/<time>/`: what was declared, in `night.json`, before the first pair; the ledger;
 * its lock (`lock.ts`); and one folder for each cell, which is that of a comparison.
 *
 * Invariant: a night is resumed as it was declared or not at all. A config file that was changed since then is refused,
 * with the first field that differs.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { EnvironmentError, UsageError, errorCode } from '../errors.ts';
import type { RunConfig } from '../plan/config.ts';
import type { Shard } from '../plan/shard.ts';
import { demandFile, mostTextBytes } from '../regular-file.ts';
import { parseResults } from '../schemas.ts';
import { shownPath } from '../shown-path.ts';
import { writeJson } from '../store.ts';
import type { NightConfig } from './config.ts';

/** All that a night is made from. */
export interface Declared {
  readonly schemaVersion: 1;
  /** The config file: for people, and to find the night again. */
  readonly file: string;
  readonly config: NightConfig;
  readonly seeds: { readonly from: number; readonly count: number };
  readonly shard?: Shard | undefined;
  readonly runtime: RunConfig['runtime'];
}

const declaredSchema = z.looseObject({
  schemaVersion: z.literal(1),
  file: z.string(),
  config: z.looseObject({ budget: z.string() }),
  seeds: z.object({ from: z.number(), count: z.number() }),
  shard: z.object({ index: z.number(), count: z.number() }).optional(),
  runtime: z.enum(['sim', 'local', 'docker']),
});

export function writeDeclared(directory: string, declared: Declared): void {
  writeJson(join(directory, 'night.json'), declared);
}

/** What was declared in this folder. Throws a UsageError where there is no night. */
export function readDeclared(directory: string): Declared {
  const path = join(directory, 'night.json');
  const remedy = 'name the folder of a night, such as those in store/nightly';
  let value: unknown;
  try {
    demandFile(path, mostTextBytes);
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof EnvironmentError) throw error;
    throw new UsageError(
      errorCode(error) === undefined ? `${path} is not JSON: start a new night` : `there is no ${path}: ${remedy}`,
    );
  }
  const checked = declaredSchema.safeParse(value);
  if (checked.success) return checked.data as unknown as Declared;
  const [issue] = checked.error.issues;
  throw new UsageError(`${path} is damaged (${issue?.path.join('.')}: ${issue?.message}): start a new night`);
}

/** Whether there is nothing left to resume. */
export function isOver(directory: string): boolean {
  try {
    const parsed = parseResults(JSON.parse(readFileSync(join(directory, 'results.json'), 'utf8')));
    return 'results' in parsed && parsed.results.type === 'night' && parsed.results.ended !== 'unfinished';
  } catch {
    return false;
  }
}

/** The newest night of this config file that is not over. Throws a UsageError where there is none. */
export function newestUnfinished(store: string, file: string, shard: Shard | undefined): string {
  const root = resolve(store, 'nightly');
  const unfinished = foldersOf(root)
    .toSorted()
    .reverse()
    .map((name) => join(root, name))
    .find((directory) => {
      if (isOver(directory)) return false;
      try {
        const declared = readDeclared(directory);
        return declared.file === resolve(file) && isDeepStrictEqual(shard, declared.shard);
      } catch {
        return false;
      }
    });
  if (unfinished !== undefined) return unfinished;
  throw new UsageError(
    `no night of ${file} in ${shownPath(root)} is unfinished: leave --resume out, or name a night’s folder behind it`,
  );
}

function foldersOf(root: string): string[] {
  try {
    return readdirSync(root);
  } catch {
    return [];
  }
}

/** The first field in which two configs differ, and how; null where they are the same. */
export function differenceOf(then: unknown, now: unknown, path: readonly string[] = []): string | null {
  if (isDeepStrictEqual(then, now)) return null;
  if (isObject(then) && isObject(now)) {
    for (const key of new Set([...Object.keys(then), ...Object.keys(now)])) {
      const difference = differenceOf(then[key], now[key], [...path, key]);
      if (difference !== null) return difference;
    }
  }
  const said = (value: unknown): string => (value === undefined ? 'absent' : JSON.stringify(value));
  return `${path.join('.')} is ${said(now)}, and was ${said(then)}`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
