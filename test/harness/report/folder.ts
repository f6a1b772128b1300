/** Run folders for tests of reports: what a run leaves, from a story told by hand. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunResults } from '../../../checker/results.ts';
import { compareOutcomes, type PairOutcome } from '../../../harness/compare/verdict.ts';
import { s1aPrime } from '../../checker/schedules.ts';
import type { Story } from '../../checker/story.ts';

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'tidemark-report-'));
}

/** Writes what a run of this story would have left, and returns the results. */
export function writeRunFolder(directory: string, story: Story, seed = 1): RunResults {
  mkdirSync(directory, { recursive: true });
  const checked = story.check();
  const command = `npm run tidemark -- run --build ${checked.run.build} --seed ${seed}`;
  const results: RunResults = { ...checked, run: { ...checked.run, seed, command } };
  writeFileSync(join(directory, 'history.jsonl'), `${story.history.join('\n')}\n`);
  writeFileSync(join(directory, 'trace.jsonl'), `${story.trace.join('\n')}\n`);
  writeFileSync(join(directory, 'results.json'), JSON.stringify(results));
  return results;
}

/** A comparison of `pairs` pairs, all of which are S1a′ on both builds. */
export function writeComparisonFolder(directory: string, pairs = 2): void {
  const outcomes = Array.from({ length: pairs }, (_, index): PairOutcome => {
    const seed = index + 1;
    const [control, candidate] = (['control', 'candidate'] as const).map((side) => {
      const folder = `runs/${side}-${seed}`;
      const story = s1aPrime(side === 'control' ? 'hw' : 'epoch');
      return { directory: folder, results: writeRunFolder(join(directory, folder), story, seed) };
    });
    if (control === undefined || candidate === undefined) throw new Error('a pair has two sides');
    return { seed, order: ['control', 'candidate'], control, candidate };
  });
  const results = compareOutcomes({
    control: 'hw',
    candidate: 'epoch',
    runtime: 'test',
    seeds: outcomes.map(({ seed }) => seed),
    configuration: { brokers: 3, nemesis: ['crash', 'pause'] },
    command: 'npm start -- --seed 1',
    pairs: outcomes,
  });
  writeFileSync(join(directory, 'results.json'), JSON.stringify(results));
}
