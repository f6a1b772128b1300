/** Shards as a user meets them: several commands that each run a part, and one that gives the verdict. */
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ComparisonResults } from '../../../checker/results.ts';
import { tidemark, type Ended } from './tidemark.ts';

let temporary = '';
let shards: readonly string[] = [];
let ends: readonly Ended[] = [];
let whole: Ended;

const compare = [
  'compare',
  '--runtime',
  'sim',
  '--seed',
  '7',
  '--test-count',
  '2',
  '--time-limit',
  '3s',
  '--rate',
  '60',
];

beforeAll(async () => {
  temporary = mkdtempSync(join(tmpdir(), 'tidemark-shards-'));
  const stores = [1, 2].map((index) => join(temporary, `shard-${index}`));
  [whole, ...ends] = await Promise.all([
    tidemark([...compare, '--json', '--store', join(temporary, 'whole')]),
    ...stores.map((store, at) => tidemark([...compare, '--shard', `${at + 1}/2`, '--store', store])),
  ]);
  shards = stores.map((store) => realpathSync(join(store, 'latest')));
});

afterAll(() => rmSync(temporary, { recursive: true, force: true }));

const readIn = (directory: string): ComparisonResults =>
  JSON.parse(readFileSync(join(directory, 'results.json'), 'utf8')) as ComparisonResults;

/** What does not depend on which runs kept their files. */
function figures(results: ComparisonResults): unknown {
  const left = new Set(['kept', 'directory', 'command']);
  return JSON.parse(JSON.stringify(results, (key, value: unknown) => (left.has(key) ? undefined : value)));
}

describe('tidemark merge-reports', () => {
  it('gives the verdict, the figures and the exit code of the comparison that was never divided', async () => {
    const store = join(temporary, 'merged');
    const merged = await tidemark(['merge-reports', ...shards, '--store', store, '--json']);
    expect(merged.code).toBe(whole.code);
    const [one, other] = [merged, whole].map(({ out }) => JSON.parse(out) as ComparisonResults);
    expect(figures(one!)).toEqual(figures(other!));
    expect(one?.command).toBe(other?.command);
    expect(merged.lines).toContain(other?.verdict);
    expect([merged.lines[0], merged.lines.at(-1)]).toEqual(['seed 7 · hw against epoch, 2 of 2 shards', 'seed 7']);
    const directory = realpathSync(join(store, 'latest'));
    expect(readIn(directory)).toEqual(one);
    expect(readdirSync(directory).toSorted()).toEqual([
      'junit.xml',
      'report.html',
      'results.json',
      'runs',
      'summary.md',
    ]);
    expect((await tidemark(['report', directory])).code).toBe(0);
  });

  it('exits with 255 where a shard is missing, after the verdict on what is there', async () => {
    const store = join(temporary, 'missing');
    const ended = await tidemark(['merge-reports', shards[0]!, '--store', store]);
    expect(ended.code).toBe(255);
    expect(ended.lines).toContain('shard 2 is missing');
    expect(ended.err).toMatch(/^Void: .*; nobody ran 1 of 2 pairs; 2 of 4 runs are unknown, /m);
    expect(ended.lines.at(-1)).toBe('tidemark: 2 of 4 runs failed: shard 2/2 is missing');
    expect(existsSync(join(store, 'latest', 'report.html'))).toBe(true);
  });

  it('counts a shard once that it gets twice, and says so', async () => {
    const copy = join(temporary, 'copy');
    cpSync(shards[0]!, copy, { recursive: true });
    const ended = await tidemark(['merge-reports', ...shards, copy, '--store', join(temporary, 'twice')]);
    expect(ended.lines).toContain(`shard 1 · 1 of 1 pair · ${copy}, the same shard again: each seed counts once`);
    expect(ended.err).toContain(' of 2 runs ');
  });

  it('does not take the first part for the whole where no shard came to its second', async () => {
    const early = shards.map((shard, at) => {
      const copy = join(temporary, `early-${at}`);
      cpSync(shard, copy, { recursive: true });
      const results = readIn(copy);
      const command = results.command.replace(' --runtime sim', '');
      writeFileSync(join(copy, 'results.json'), JSON.stringify({ ...results, command }));
      return copy;
    });
    const ended = await tidemark(['merge-reports', ...early, '--store', join(temporary, 'early')]);
    expect(ended.code).toBe(255);
    expect(ended.lines.at(-1)).toBe('tidemark: no shard came to its second part, on real processes');
  });

  it('tells the verdict although the store cannot be written', async () => {
    const ended = await tidemark(['merge-reports', ...shards, '--store', '/proc/store']);
    expect(ended.code).toBe(255);
    expect(ended.err).toContain('hw broke a promise in ');
    expect(ended.lines.at(-1)).toMatch(/^tidemark: cannot make a folder in the store \/proc\/store: /);
  });

  it.each([
    ['a folder without results', [tmpdir()], 'holds no results.json'],
    ['no folder at all', [], "missing required argument 'dirs'"],
  ])('refuses %s in one line', async (_, named, line) => {
    const store = join(temporary, 'refused');
    const ended = await tidemark(['merge-reports', ...named, '--store', store]);
    expect(ended.code).toBe(254);
    expect(ended.lines.filter((each) => each.startsWith('tidemark: '))).toHaveLength(1);
    expect(ended.err).toContain(line);
    expect(existsSync(store)).toBe(false);
  });
});

describe('tidemark merge-reports of a night', () => {
  it('gives one verdict on all cells, each of which is a comparison of all shards', async () => {
    const file = join(temporary, 'night.json');
    const config = {
      schemaVersion: 1,
      budget: '10m',
      runtime: 'sim',
      seeds: { from: 7, count: 2 },
      builds: { flaw: { control: 'hw', candidate: 'epoch' }, same: { control: 'epoch', candidate: 'epoch' } },
      workloads: { short: { 'time-limit': '2s', rate: 60 } },
      faults: { mixed: {} },
    };
    writeFileSync(file, JSON.stringify(config));
    const night = async (store: string, ...more: string[]): Promise<string> => {
      await tidemark(['nightly', file, ...more, '--store', join(temporary, store)]);
      return realpathSync(join(temporary, store, 'latest'));
    };
    const halves = await Promise.all([1, 2].map((index) => night(`night-${index}`, '--shard', `${index}/2`)));
    const store = join(temporary, 'merged-night');
    const ended = await tidemark(['merge-reports', ...halves, '--store', store]);
    const merged = realpathSync(join(store, 'latest'));
    for (const folder of ['flaw.short.mixed', 'same.short.mixed']) {
      const { pairs, seeds, shard } = readIn(join(merged, folder));
      expect([pairs.map(({ seed }) => seed), seeds, shard]).toEqual([[7, 8], [7, 8], undefined]);
      expect(existsSync(join(merged, folder, 'report.html'))).toBe(true);
    }
    expect(existsSync(join(merged, 'report.html'))).toBe(true);
    expect(ended.lines[0]).toBe('seed 7 · a night of 2 cells, 2 of 2 shards');

    const half = await tidemark(['merge-reports', halves[1]!, '--store', store]);
    expect(half.code).toBe(255);
    expect(half.lines.at(-1)).toBe('tidemark: shard 1/2 is missing');
    const mixed = await tidemark(['merge-reports', halves[0]!, shards[1]!, '--store', store]);
    expect(mixed.code).toBe(254);
    expect(mixed.lines).toEqual([
      `tidemark: ${shards[1]} is a comparison, and ${halves[0]} a night: merge each by themselves`,
    ]);
  });
});

describe('tidemark compare --shard', () => {
  it('runs the seeds of its shard, and says which that is, and how to do it again', () => {
    for (const [at, { code, lines }] of ends.entries()) {
      expect(code).toBe(0);
      expect(lines[0]).toBe(`seed 7 · hw against epoch, shard ${at + 1} of 2: 1 of 2 pairs`);
      expect(lines).toContain(
        `again   npm start -- --seed 7 --test-count 2 --shard ${at + 1}/2 --runtime sim --rate 60 --time-limit 3s`,
      );
    }
    expect(shards.flatMap((shard) => readIn(shard).seeds)).toEqual([7, 8]);
    expect(shards.map((shard) => readIn(shard).shard?.seeds)).toEqual([
      [7, 8],
      [7, 8],
    ]);
  });

  it('says that a shard is empty, and fails for nothing', async () => {
    const argv = ['compare', '--runtime', 'sim', '--seed', '7', '--test-count', '1', '--shard', '2/2'];
    const ended = await tidemark([...argv, '--store', join(temporary, 'empty')]);
    expect(ended.code).toBe(0);
    expect(ended.lines).toContain('Shard 2 of 2 holds none of the declared seeds, so there was nothing to run.');
  });

  it.each([
    [['--shard', '3/2', '--seed', '7'], 'tidemark: --shard 3/2: write which shard of how many, such as 2/3'],
    [['--shard', '1/2'], 'tidemark: --shard: name the seed too, with --seed'],
  ])('refuses %j in one line', async (flags, line) => {
    const ended = await tidemark(['compare', ...flags, '--store', join(temporary, 'never')]);
    expect(ended.code).toBe(254);
    expect(ended.err).toContain(line);
    expect(existsSync(join(temporary, 'never'))).toBe(false);
  });
});
