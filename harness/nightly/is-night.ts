/**
 * Tells the folder of a night from others, for commands that were given one and need a run: a night's own has none.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of some run of a night; null where this is no night, or one without the files of any run. */
export function runOfNight(directory: string): string | null {
  for (const cell of namesIn(directory)) {
    if (!existsSync(join(directory, cell, 'results.json'))) continue;
    const [run] = namesIn(join(directory, cell, 'runs'));
    if (run !== undefined) return join(directory, cell, 'runs', run);
  }
  return null;
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).toSorted();
  } catch {
    return [];
  }
}
