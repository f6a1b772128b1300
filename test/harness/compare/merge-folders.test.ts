/** Folders of shards: what is read of them, what is copied, and what is refused. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ComparisonResults } from '../../../checker/results.ts';
import { EnvironmentError, UsageError } from '../../../harness/errors.ts';
import { mergeComparisons } from '../../../harness/compare/merge.ts';
import {
  copiesOf,
  copyRuns,
  readShard,
  writeMergedResults,
  type ShardFolder,
} from '../../../harness/compare/merge-folders.ts';
import { orderOf, runFolder, type Side } from '../../../harness/compare/pairs.ts';
import { joinComparisons } from '../../../harness/compare/two-parts.ts';
import { compareOutcomes, type RunOutcome } from '../../../harness/compare/verdict.ts';
import { seedsOfShard, type Shard } from '../../../harness/plan/shard.ts';
import { writeComparisonReport } from '../../../harness/report/comparison.ts';
import { readComparisonResults } from '../../../harness/report/read-results.ts';
import { s1aPrime } from '../../checker/schedules.ts';
import { writeRunFolder } from '../report/folder.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tidemark-merge-'));
});

afterEach(() => rmSync(root, { recursive: true }));

const first = { index: 1, count: 2 };
const second = { index: 2, count: 2 };

/** A comparison of four seeds, or one shard of it, each of whose runs has left its files. */
function leaveComparison(directory: string, runtime: string, shard?: Shard): ComparisonResults {
  const run = (side: Side, seed: number): RunOutcome => {
    const folder = runFolder(side, seed);
    const story = s1aPrime(side === 'control' ? 'hw' : 'epoch');
    return { directory: folder, results: writeRunFolder(join(directory, folder), story, seed) };
  };
  const seeds = [1, 2, 3, 4];
  const results = compareOutcomes({
    control: 'hw',
    candidate: 'epoch',
    runtime,
    seeds,
    shard,
    configuration: { brokers: 3, nemesis: ['crash', 'pause'] },
    command: `npm start -- --seed 1${shard === undefined ? '' : ` --shard ${shard.index}/${shard.count}`}`,
    pairs: seedsOfShard(seeds, shard).map((seed) => ({
      seed,
      order: orderOf(seed),
      control: run('control', seed),
      candidate: run('candidate', seed),
    })),
  });
  writeFileSync(join(directory, 'results.json'), JSON.stringify(results));
  return results;
}

function leaveTwoParts(name: string, shard?: Shard): string {
  const directory = join(root, name);
  const primary = leaveComparison(directory, 'sim', shard);
  const joined = joinComparisons(primary, leaveComparison(join(directory, 'realism'), 'local', shard), primary.command);
  writeFileSync(join(directory, 'results.json'), JSON.stringify(joined));
  return directory;
}

function shardIn(name: string): ShardFolder {
  const { results, ...folder } = readShard(name);
  if (results.type !== 'comparison') throw new Error(`${name} is not of a comparison`);
  return { ...folder, results };
}

function merge(names: readonly string[]): { readonly directory: string; readonly results: ComparisonResults } {
  const shards = names.map(shardIn);
  const parts = shards.map(({ results }) => results);
  const results = mergeComparisons(parts, 'npm start -- --seed 1', names);
  const directory = join(root, 'merged');
  mkdirSync(directory);
  writeMergedResults(directory, results);
  expect(copyRuns(copiesOf(shards), directory)).toBeNull();
  return { directory, results };
}

/** Every file below, with what it holds. */
function filesIn(directory: string): Record<string, string> {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    entries
      .map(({ parentPath, name }) => join(parentPath, name))
      .toSorted()
      .map((path) => [path.slice(directory.length), readFileSync(path, 'utf8')]),
  );
}

describe('a merged folder', () => {
  it('holds the same files as that of a comparison that was never divided, in both parts', () => {
    const whole = leaveTwoParts('whole');
    const shards = [leaveTwoParts('one', first), leaveTwoParts('two', second)];
    const before = shards.map(filesIn);
    const { directory } = merge(shards);
    const plain = (files: Record<string, string>): Record<string, unknown> =>
      Object.fromEntries(
        Object.entries(files).map(([path, text]) => [path, path.endsWith('.json') ? JSON.parse(text) : text]),
      );
    expect(plain(filesIn(directory))).toEqual(plain(filesIn(whole)));
    expect(shards.map(filesIn)).toEqual(before);
  });

  it('renders by itself, with every link into it, after the shards are gone', () => {
    const shards = [leaveTwoParts('one', first), leaveTwoParts('two', second)];
    const { directory } = merge(shards);
    for (const shard of shards) rmSync(shard, { recursive: true });
    const page = readFileSync(writeComparisonReport(directory), 'utf8');
    const links = [...page.matchAll(/href="\.\/([^"]+)\/report\.html"/g)].map(([, folder]) => folder ?? '');
    expect(new Set(links).size).toBe(16);
    for (const folder of links) expect(existsSync(join(directory, folder, 'history.jsonl'))).toBe(true);
    expect(page).toContain('The same danger arose');
    expect(page).toContain('seeds 1 to 4');
  });

  it('copies nothing but files and folders that a run has left', () => {
    const shard = leaveTwoParts('one', first);
    const [seed = 0] = seedsOfShard([1, 2, 3, 4], first);
    const run = join(shard, runFolder('control', seed));
    symlinkSync('/etc', join(run, 'elsewhere'));
    execFileSync('mkfifo', [join(run, 'pipe')]);
    const { directory } = merge([shard]);
    expect(readdirSync(join(directory, runFolder('control', seed))).toSorted()).toEqual([
      'history.jsonl',
      'results.json',
      'trace.jsonl',
    ]);
  });

  it('says in one line why files could not be copied', () => {
    const shard = shardIn(leaveTwoParts('one', first));
    const full = join(root, 'a file');
    writeFileSync(full, '');
    const failure = copyRuns(copiesOf([shard]), full);
    expect(failure).toBeInstanceOf(EnvironmentError);
    expect(failure?.message).toMatch(/^cannot copy .*runs\/control-\d: [^\n]+$/);
  });
});

describe('the folder of a shard', () => {
  it('is read with its second part, also where the shard was killed in the midst of it', () => {
    const shard = leaveTwoParts('one', first);
    const whole = shardIn(shard).results;
    const { realism: _joinedLast, ...primary } = whole;
    writeFileSync(join(shard, 'results.json'), JSON.stringify({ ...primary, verdict: 'of the first part' }));
    expect(shardIn(shard).results).toEqual(whole);
  });

  const damage: readonly (readonly [what: string, change: (shard: string) => void, line: RegExp])[] = [
    ['is not there', (shard) => rmSync(shard, { recursive: true }), /holds no results\.json: .*leave it out/],
    ['has no results', (shard) => rmSync(join(shard, 'results.json')), /holds no results\.json: .*leave it out/],
    ['has half of its results', (shard) => writeFileSync(join(shard, 'results.json'), '{"type":'), /is not JSON/],
    ['has other results', (shard) => writeFileSync(join(shard, 'results.json'), '{}'), /does not fit docs\/results/],
    [
      'is of a run',
      (shard) => writeFileSync(join(shard, 'results.json'), JSON.stringify(s1aPrime('hw').check())),
      /is the folder of one run: name the folder that compare --shard i\/n has left/,
    ],
  ];

  it.each(damage)('is refused in one line where it %s', (_, change, line) => {
    const shard = leaveTwoParts('one', first);
    change(shard);
    expect(() => shardIn(shard)).toThrow(UsageError);
    expect(() => shardIn(shard)).toThrow(line);
  });

  it('is refused where its results lead out of it', () => {
    const shard = leaveTwoParts('one', first);
    const results = readComparisonResults(join(shard, 'results.json'));
    for (const directory of [
      '../runs/control-1',
      '/etc',
      'runs/..',
      'runs/../../x',
      'realism/../../x',
      'results.json',
    ]) {
      const pairs = results.pairs.map((pair) => ({ ...pair, candidate: { ...pair.candidate, directory } }));
      writeFileSync(join(shard, 'results.json'), JSON.stringify({ ...results, pairs }));
      expect(() => copiesOf([shardIn(shard)])).toThrow(/does not hold together: seed \d has no folder of its own/);
    }
  });

  it('gives nothing away that lies behind a link out of it', () => {
    const shard = leaveTwoParts('one', first);
    const elsewhere = leaveTwoParts('elsewhere', first);
    rmSync(join(shard, 'runs'), { recursive: true });
    symlinkSync(join(elsewhere, 'runs'), join(shard, 'runs'));
    expect(copiesOf([shardIn(shard)]).every(({ folder }) => folder.startsWith('realism/'))).toBe(true);
  });
});
