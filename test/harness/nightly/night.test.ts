/** A night on a runtime that fails as told: when it gives up, and what it leaves to be run again. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EnvironmentError, InterruptedError } from '../../../harness/errors.ts';
import { cellsOf } from '../../../harness/nightly/cells.ts';
import { parseNightConfig } from '../../../harness/nightly/config.ts';
import { runNight, type NightOutcome } from '../../../harness/nightly/night.ts';
import type { ComparisonResults, RunResults } from '../../../checker/results.ts';
import { runOf } from '../report/reported.ts';

let directory: string;
let abort: AbortController;
let lines: string[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tidemark-night-'));
  abort = new AbortController();
  lines = [];
});

afterEach(() => rmSync(directory, { recursive: true }));

/** Runs a night in which every deployment ends as `deployed` says. */
async function night(budget: string, deployed: (count: number) => void): Promise<NightOutcome> {
  const parsed = parseNightConfig({
    schemaVersion: 1,
    budget,
    seeds: { from: 1, count: 3 },
    builds: { 'hw-epoch': { control: 'hw', candidate: 'epoch' } },
  });
  if ('flaw' in parsed) throw new Error(parsed.flaw);
  const { config } = parsed;
  const seeds = { from: 1, count: 3 };
  const cells = await cellsOf(config, { file: 'n.json', runtime: 'local', seeds });
  let count = 0;
  return runNight({
    directory,
    declared: { schemaVersion: 1, file: 'n.json', config, seeds, runtime: 'local' },
    cells,
    command: 'tidemark nightly n.json',
    runtime: {
      name: 'local',
      reason: '',
      deploy: () => {
        deployed((count += 1));
        return Promise.reject(new EnvironmentError(`failure ${count}`));
      },
    },
    progress: { step: (line) => lines.push(line), detail: () => {}, line: (line) => lines.push(line) },
    signal: abort.signal,
  });
}

const ledger = (): string => readFileSync(join(directory, 'ledger.jsonl'), 'utf8');

describe('a night whose runs fail', () => {
  it('ends after two failures in a row; the pair stands in the results without a verdict, and is not over', async () => {
    const { results, failure } = await night('1h', () => {});
    expect(failure).toBeInstanceOf(EnvironmentError);
    expect(failure?.message).toBe('failure 2');
    expect(results).toMatchObject({ valid: 'unknown', ended: 'unfinished', cells: [{ declared: 3, done: 1 }] });
    expect(ledger()).toBe('');
    expect(lines).toEqual([expect.stringMatching(/hw: no verdict: failure \d; epoch: no verdict: failure \d/)]);
    expect(JSON.parse(readFileSync(join(directory, 'results.json'), 'utf8'))).toEqual(results);
  });

  it('ends at once where it is interrupted', async () => {
    const { results, failure } = await night('1h', () => abort.abort());
    expect(failure).toBeInstanceOf(InterruptedError);
    expect(results.ended).toBe('unfinished');
    expect(ledger()).toBe('');
  });
});

describe('a resumed night', () => {
  /** What a run of the first pair left before the night was ended. */
  function leave(folder: string, results: RunResults, run: object): void {
    const path = join(directory, 'hw-epoch.default.default', 'runs', folder);
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, 'results.json'), JSON.stringify(results));
    writeFileSync(join(path, 'run.json'), JSON.stringify({ configuration: {}, ...run }));
  }

  async function firstPair(): Promise<ComparisonResults['pairs'][number] | undefined> {
    const { failure } = await night('1h', () => {});
    expect(failure).toBeInstanceOf(EnvironmentError);
    const path = join(directory, 'hw-epoch.default.default', 'results.json');
    return (JSON.parse(readFileSync(path, 'utf8')) as ComparisonResults).pairs[0];
  }

  it('takes the run that came to its end as it stands, and makes the other', async () => {
    leave('candidate-1', runOf('epoch'), { completed: true });
    expect(await firstPair()).toMatchObject({
      control: { directory: 'runs/control-1', completed: false },
      candidate: { directory: 'runs/candidate-1', valid: true, completed: true },
    });
  });

  it('keeps the promise that an interrupted run broke, and makes one again that had nothing to say', async () => {
    leave('control-1', runOf('epoch'), { completed: false, error: 'interrupted' });
    leave('candidate-1', runOf('epoch'), { completed: false });
    leave('candidate-1-2', runOf('hw'), { completed: false, error: 'interrupted' });
    expect(await firstPair()).toMatchObject({
      control: { directory: 'runs/control-1-2', valid: 'unknown' },
      candidate: { directory: 'runs/candidate-1-2', valid: false, completed: false, error: 'interrupted' },
    });
  });
});

describe('a budget in which not even one pair can be run', () => {
  it('leaves a night without a run, and says so', async () => {
    // The load of a run takes 12 s.
    const { results, failure } = await night('20s', () => {});
    expect(failure).toBeNull();
    expect(results).toMatchObject({ valid: 'unknown', ended: 'budget', cells: [{ declared: 3, done: 0 }] });
    expect(results.verdict).toBe(
      'No pair was run, so nothing was compared; only 0 of 3 pairs were run, since the budget of 20 s ended.',
    );
    expect(lines).toEqual([]);
  });
});
