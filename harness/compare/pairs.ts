/**
 * What is fixed about a pair before it is run: which side goes first, and where each run's files go.
 *
 * Both follow from the seed alone, so that a pair is the same on whichever machine it is run.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { PairResults } from '../../checker/results.ts';
import type { RunConfig } from '../plan/config.ts';
import { createRandom } from '../plan/random.ts';

export type Side = 'control' | 'candidate';

/** What all pairs of one comparison share, whatever they run on. */
export interface PairsRequest {
  readonly control: string;
  readonly candidate: string;
  /** The configuration of one run, but for its build, its seed, and what its side alone has. */
  readonly configure: (build: string, seed: number, side: Side) => RunConfig;
  readonly directory: string;
  /** The command of one of its runs. */
  readonly commandOfRun: (config: RunConfig) => string;
}

/** Which side of a pair runs first. */
export function orderOf(seed: number): PairResults['order'] {
  return createRandom(seed).stream('order').chance(0.5) ? ['control', 'candidate'] : ['candidate', 'control'];
}

/** Where a run's files go, in the folder of its comparison. */
export function runFolder(side: Side, seed: number): string {
  return `runs/${side}-${seed}`;
}

/** The folders of all attempts at a run, one after the other: a killed one leaves its own, and none is used twice. */
export function* runFolders(side: Side, seed: number): Generator<string, never, undefined> {
  const folder = runFolder(side, seed);
  yield folder;
  for (let attempt = 2; ; attempt += 1) yield `${folder}-${attempt}`;
}

/** The folder of the next attempt. */
export function freshRunFolder(directory: string, side: Side, seed: number): string {
  const folders = runFolders(side, seed);
  let { value } = folders.next();
  while (existsSync(join(directory, value))) ({ value } = folders.next());
  return value;
}
