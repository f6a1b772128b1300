/**
 * `tidemark report DIR`: renders a stored run, comparison or night again, from its files alone.
 */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { UsageError } from '../errors.ts';
import { shownPath } from '../shown-path.ts';

export function registerReport(program: Command): void {
  program
    .command('report')
    .description('render the report of a stored run, comparison or night again')
    .argument('<dir>', 'the folder of a run, comparison or night, such as store/latest')
    .action(async (named: string) => {
      const write = await writers[typeOf(named)]();
      console.error(`report  ${shownPath(write(lasting(named)))}`);
    });
}

/** By what the results are of: how its report is written, to a path that is returned. */
const writers = {
  run: async () => (await import('../report/run.ts')).writeRunReport,
  comparison: async () => (await import('../report/comparison.ts')).writeComparisonReport,
  night: async () => (await import('../report/night.ts')).writeNightReport,
} as const;

/** The folder itself: a report names it in its commands, and `store/latest` will soon be another. */
function lasting(directory: string): string {
  return realpathSync(directory);
}

/** What the folder's `results.json` is about. */
function typeOf(directory: string): keyof typeof writers {
  const path = join(directory, 'results.json');
  // A run that was killed has none yet, and `check` writes no file by itself.
  const remedy = existsSync(join(directory, 'history.jsonl'))
    ? `write it with: npm run --silent tidemark -- check --json ${directory} > ${path}`
    : 'name the folder of a run, comparison or night, such as store/latest';
  if (!existsSync(path)) throw new UsageError(`${directory} holds no results.json: ${remedy}`);
  let type: unknown;
  try {
    type = JSON.parse(readFileSync(path, 'utf8')).type;
  } catch {
    throw new UsageError(`${path} is not JSON: ${remedy}`);
  }
  if (type !== 'run' && type !== 'comparison' && type !== 'night')
    throw new UsageError(`${path} is not the results of a run, comparison or night`);
  return type;
}
