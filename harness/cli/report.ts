/**
 * `tidemark report DIR`: renders a stored run or comparison again, from its files alone.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { UsageError } from '../errors.ts';

export function registerReport(program: Command): void {
  program
    .command('report <dir>')
    .description('render the report of a stored run or comparison again')
    .action(async (directory: string) => {
      const type = typeOf(directory);
      const path =
        type === 'comparison'
          ? (await import('../report/comparison.ts')).writeComparisonReport(directory)
          : (await import('../report/run.ts')).writeRunReport(directory);
      console.error(`report  ${path}`);
    });
}

/** What the folder's `results.json` is about. */
function typeOf(directory: string): 'run' | 'comparison' {
  const path = join(directory, 'results.json');
  if (!existsSync(path))
    throw new UsageError(
      `${directory} holds no results.json: name the folder of a run or comparison, such as store/latest`,
    );
  let type: unknown;
  try {
    type = JSON.parse(readFileSync(path, 'utf8')).type;
  } catch {
    throw new UsageError(`${path} is not JSON: run tidemark check on the run to write it again`);
  }
  if (type !== 'run' && type !== 'comparison')
    throw new UsageError(`${path} is not the results of a run or comparison`);
  return type;
}
