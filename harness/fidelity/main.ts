/**
 * `npm run fidelity`: plays known schedules on our builds and on Apache Kafka, and writes what each answered into
 * `docs/fidelity.md`.
 *
 * Every try is a normal run in the store. Tries are noted one by one, so that a night that was interrupted goes on where
 * it ended: only what is missing is played. Exit code 0: every cell that was asked for has its tries and answers as its
 * rule does; 1: one answers otherwise; 2: one lacks tries.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { EnvironmentError, InterruptedError, UsageError, exitCodes } from '../errors.ts';
import { createProgress } from '../progress.ts';
import { columns } from './columns.ts';
import type { Wishes } from './night.ts';
import { scheduleNames } from './schedules.ts';
import { cellOf, tableOf, withTable } from './table.ts';
import { readTries } from './tries.ts';
import type { Try } from './tries.ts';

const usage = `usage: npm run fidelity -- [options]
  --versions LIST    columns, comma-separated: ours and kafka:<version> (default: all of ${columns.map(({ build }) => build).join(', ')})
  --schedules LIST   of ${scheduleNames.join(', ')} (default: all)
  --tries N          tries that count, for each schedule on each column (default: 4)
  --runtime NAME     docker or local, for our builds (default: docker where there is an engine)
  --store DIR        where runs and tries.jsonl are kept (default: store/fidelity)
  --page FILE        whose table is written (default: docs/fidelity.md); none: only print it
  --again            forget the tries that are there
  --only-table       play nothing, write the table of the tries that are there`;

interface CommandLine extends Wishes {
  /** Null: the table is only printed. */
  readonly page: string | null;
  readonly again: boolean;
  readonly onlyTable: boolean;
}

async function main(argv: readonly string[]): Promise<number> {
  const wishes = wishesFrom(argv);
  if (wishes === null) {
    process.stdout.write(`${usage}\n`);
    return exitCodes.valid;
  }
  // Before a night is spent on it.
  const page = wishes.page === null ? null : pageAt(wishes.page);
  const progress = createProgress();
  mkdirSync(wishes.store, { recursive: true });
  const path = join(wishes.store, 'tries.jsonl');
  if (wishes.again) rmSync(path, { force: true });
  const tries = readTries(path);
  try {
    if (!wishes.onlyTable) {
      // Whoever only asks for help, or mistypes, need not wait for all of the harness.
      const { playAll } = await import('./night.ts');
      await playAll(wishes, path, tries, progress);
    }
  } finally {
    const table = tableOf(tries);
    progress.line(table);
    if (page !== null && tries.length > 0) page.write(table);
  }
  return codeOf(wishes, tries);
}

interface Page {
  write(table: string): void;
}

function pageAt(path: string): Page {
  const pageWith = (table: string): string | null => withTable(readFileSync(path, 'utf8'), table);
  if (!existsSync(path) || pageWith('') === null)
    throw new UsageError(`--page ${path}: there is no such page with a place for the table`);
  return {
    write(table) {
      const written = pageWith(table);
      if (written !== null) writeFileSync(path, written);
    },
  };
}

function codeOf({ columns: wanted, schedules, tries: most }: Wishes, tries: readonly Try[]): number {
  const cells = wanted.flatMap((column) => schedules.map((schedule) => cellOf(schedule, column, tries)));
  if (cells.some(({ agrees }) => agrees === false)) return exitCodes.anomaly;
  return cells.every((cell) => cell.tries >= most) ? exitCodes.valid : exitCodes.unknown;
}

/** Null for `--help`. */
function wishesFrom(argv: readonly string[]): CommandLine | null {
  const flags = flagsFrom(argv);
  if (flags.help) return null;
  const tries = Number(flags.tries);
  if (!Number.isInteger(tries) || tries < 1 || tries > 1_000) throw new UsageError('--tries: a number from 1 to 1000');
  const { runtime } = flags;
  if (runtime !== undefined && runtime !== 'docker' && runtime !== 'local') {
    throw new UsageError('--runtime: docker or local');
  }
  return {
    columns: chosen('--versions', flags.versions, columns, ({ build }) => build),
    schedules: chosen('--schedules', flags.schedules, scheduleNames, (name) => name),
    tries,
    runtime,
    store: resolve(flags.store),
    page: flags.page === 'none' ? null : flags.page,
    again: flags.again,
    onlyTable: flags['only-table'],
  };
}

function flagsFrom(argv: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        versions: { type: 'string' },
        schedules: { type: 'string' },
        tries: { type: 'string', default: '4' },
        runtime: { type: 'string' },
        store: { type: 'string', default: 'store/fidelity' },
        page: { type: 'string', default: 'docs/fidelity.md' },
        again: { type: 'boolean', default: false },
        'only-table': { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    return values;
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)} (--help shows the flags)`);
  }
}

/** Those that the list names, in our own order; all without a list. */
function chosen<T>(flag: string, list: string | undefined, all: readonly T[], nameOf: (item: T) => string): T[] {
  if (list === undefined) return [...all];
  const names = list.split(',').map((name) => name.trim());
  const strange = names.find((name) => !all.some((item) => nameOf(item) === name));
  if (strange !== undefined) {
    throw new UsageError(`${flag}: there is no "${strange}"; known are ${all.map(nameOf).join(', ')}`);
  }
  return all.filter((item) => names.includes(nameOf(item)));
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (error instanceof InterruptedError) process.exitCode = exitCodes.interrupted;
  else if (error instanceof UsageError || error instanceof EnvironmentError) {
    process.stderr.write(`fidelity: ${error.message}\n`);
    process.exitCode = error instanceof UsageError ? exitCodes.badArguments : exitCodes.environment;
  } else throw error;
}
// An idle keep-alive socket of the engine may not keep a finished command from ending.
process.exit();
