/**
 * Reads `results.json`, which a report cannot do without: one clear line where it is missing, damaged or something else.
 */
import { readFileSync } from 'node:fs';
import type { ComparisonResults, NightResults, RunResults } from '../../checker/results.ts';
import { EnvironmentError, UsageError, errorCode } from '../errors.ts';
import { parseResults, type AnyResults } from '../schemas.ts';

/** Of whatever they are. */
export function readResults(path: string): AnyResults {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR')
      throw new UsageError(`there is no ${path}: name the folder of a run or comparison, such as store/latest`);
    throw new EnvironmentError(`${path} cannot be read: ${errorCode(error) ?? String(error)}`, { cause: error });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UsageError(`${path} is not JSON: tidemark check on a run’s folder tells what its files say`);
  }
  const parsed = parseResults(value);
  if ('flaw' in parsed) throw new UsageError(`${path} does not fit docs/results.schema.json: ${parsed.flaw}`);
  return parsed.results;
}

export function readRunResults(path: string): RunResults {
  const results = readResults(path);
  if (results.type === 'run') return results;
  const runs = results.type === 'night' ? 'the runs/ of its cells' : 'its runs/';
  throw new UsageError(`${path} is of a ${results.type}, not of a run: name one of the folders in ${runs}`);
}

export function readComparisonResults(path: string): ComparisonResults {
  const results = readResults(path);
  if (results.type === 'comparison') return results;
  throw new UsageError(`${path} is of a ${results.type}, not of a comparison`);
}

export function readNightResults(path: string): NightResults {
  const results = readResults(path);
  if (results.type === 'night') return results;
  throw new UsageError(`${path} is of a ${results.type}, not of a night`);
}
