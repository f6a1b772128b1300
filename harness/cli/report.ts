/**
 * `tidemark report DIR`: renders a stored run or comparison again, from its files alone.
 */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { UsageError } from '../errors.ts';
import { shownPath } from '../shown-path.ts';

export function registerReport(program: Command): void {
  program
    .command('report')
    .description('render the report of a stored run or comparison again')
    .argument('<dir>', 'the folder of a run or comparison, such as store/latest')
    .action(async (named: string) => {
      const type = typeOf(named);
      const directory = lasting(named);
      const path =
        type === 'comparison'
          ? (await import('../report/comparison.ts')).writeComparisonReport(directory)
          : (await import('../report/run.ts')).writeRunReport(directory);
      console.error(`report  ${shownPath(path)}`);
    });
}

/** The folder itself: a report names it in its commands, and `store/latest` will soon be another. */
function lasting(directory: string): string {
  return realpathSync(directory);
}

/** What the folder's `results.json` is about. */
function typeOf(directory: string): 'run' | 'comparison' {
  const path = join(directory, 'results.json');
  // A run that was killed has none yet, and `check` writes no file by itself.
  const remedy = existsSync(join(directory, 'history.jsonl'))
    ? `write it with: npm run --silent tidemark -- check --json ${directory} > ${path}`
    : 'name the folder of a run or comparison, such as store/latest';
  if (!existsSync(path)) throw new UsageError(`${directory} holds no results.json: ${remedy}`);
  let type: unknown;
  try {
    type = JSON.parse(readFileSync(path, 'utf8')).type;
  } catch {
    throw new UsageError(`${path} is not JSON: ${remedy}`);
  }
  if (type !== 'run' && type !== 'comparison')
    throw new UsageError(`${path} is not the results of a run or comparison`);
  return type;
}
