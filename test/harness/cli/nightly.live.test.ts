/** `tidemark nightly` as a user meets it: what it leaves, what ends it early, and that nothing is lost or counted twice. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ComparisonResults, NightResults, PairedRun } from '../../../checker/results.ts';
import { jsonLines, localLeftovers, start, tidemark, type Ended } from './tidemark.ts';

let temporary = '';
/** A night that nothing ended early, and its folder. */
let whole: Ended;
let wholeDirectory = '';

beforeAll(async () => {
  temporary = mkdtempSync(join(tmpdir(), 'tidemark-nightly-'));
  const { file, store } = config('whole');
  whole = await tidemark(['nightly', file, '--store', store, '--json']);
  wholeDirectory = realpathSync(join(store, 'latest'));
});

afterAll(() => rmSync(temporary, { recursive: true, force: true }));

const flags = ['--time-limit', '3s', '--rate', '60', '--nemesis-interval', '1s'];
const night = {
  schemaVersion: 1,
  budget: '10m',
  runtime: 'sim',
  seeds: { from: 5, count: 6 },
  builds: {
    'hw-epoch': { control: 'hw', candidate: 'epoch' },
    same: { control: 'epoch', candidate: 'epoch' },
  },
  workloads: { short: { 'time-limit': '3s', rate: 60 } },
  faults: { mixed: { 'nemesis-interval': '1s' } },
};

/** The path of a config file, and of a store of its own. */
function config(name: string, changes: object = {}): { readonly file: string; readonly store: string } {
  const folder = join(temporary, name);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'night.json');
  writeFileSync(file, JSON.stringify({ ...night, ...changes }));
  return { file, store: join(folder, 'store') };
}

const read = (directory: string): NightResults =>
  JSON.parse(readFileSync(join(directory, 'results.json'), 'utf8')) as NightResults;
const readCell = (directory: string, cell: string): ComparisonResults =>
  JSON.parse(readFileSync(join(directory, cell, 'results.json'), 'utf8')) as ComparisonResults;

describe('a night in the simulator', () => {
  it('leaves a comparison for each cell, as compare would have made it, and tells one verdict', async () => {
    const [ended, directory] = [whole, wholeDirectory];
    expect(ended.code).toBe(0);
    const results = read(directory);
    expect(JSON.parse(ended.out)).toEqual(results);
    expect(results).toMatchObject({ type: 'night', valid: true, ended: 'all-run', seeds: { from: 5, count: 6 } });
    expect([ended.lines[0], ended.lines.at(-1)]).toEqual([
      'seed 5 · a night of 2 cells with 6 pairs each, budget 10m',
      'seed 5',
    ]);
    expect(ended.lines.filter((line) => line.startsWith('pair '))).toHaveLength(12);
    expect(ended.lines[2]).toMatch(
      /^pair 1 of 12 · hw-epoch\.short\.mixed seed 5 · hw: .*; epoch: nothing broken \(.* s\)$/,
    );
    expect(ended.lines).toContain(`again   npm run tidemark -- nightly ${join(temporary, 'whole', 'night.json')}`);

    const cell = 'hw-epoch.short.mixed';
    const alone = ['compare', '--runtime', 'sim', '--seed', '5', '--test-count', '6', ...flags];
    const compared = await tidemark([...alone, '--json', '--store', join(temporary, 'compared')]);
    const { command: _command, ...comparison } = JSON.parse(compared.out) as ComparisonResults;
    expect(readCell(directory, cell)).toMatchObject({ ...comparison });
    for (const part of ['', cell, 'same.short.mixed']) {
      for (const page of ['report.html', 'summary.md', 'junit.xml'])
        expect(existsSync(join(directory, part, page)), `${part}/${page}`).toBe(true);
    }
    rmSync(join(directory, 'report.html'));
    expect((await tidemark(['report', directory])).code).toBe(0);
    expect(readFileSync(join(directory, 'report.html'), 'utf8')).toContain(`./${cell}/report.html`);
  });

  it('exits with 1 when a candidate breaks a promise, and says where', async () => {
    const { file, store } = config('broken', {
      seeds: { from: 5, count: 1 },
      builds: { bad: { control: 'hw-elect', candidate: 'hw' } },
    });
    const ended = await tidemark(['nightly', file, '--store', store]);
    expect(ended).toMatchObject({ code: 1, out: '' });
    expect(ended.err).toMatch(/^A promise was broken in 1 of 1 cell: hw in 1 of 1 run \(bad\.short\.mixed\)\.$/m);
    const checked = await tidemark(['check', join(store, 'latest')]);
    expect(checked.code).toBe(254);
    expect(checked.err).toMatch(
      /it looks like a night: check a run of one of its cells, such as .*\/bad\.short\.mixed\/runs\//,
    );
  });

  it('stops where its budget ends: no cell is ahead, what was not run is no run, and nothing is left to resume', async () => {
    const { file, store } = config('budget', { budget: '1s', seeds: { from: 1, count: 10_000 } });
    const ended = await tidemark(['nightly', file, '--store', store]);
    expect([0, 3]).toContain(ended.code);
    const directory = realpathSync(join(store, 'latest'));
    const { cells, ended: why } = read(directory);
    expect(why).toBe('budget');
    const [one, other] = cells.map(({ done }) => done) as [number, number];
    expect(one).toBeGreaterThan(0);
    expect(Math.abs(one - other)).toBeLessThanOrEqual(1);
    expect(cells.map(({ candidate, declared }) => [candidate.runs, declared])).toEqual([
      [one, 10_000],
      [other, 10_000],
    ]);
    expect(ended.err).toMatch(/only \d+ of 20000 pairs were run, since the budget of 1 s ended/);
    const again = await tidemark(['nightly', file, '--store', store, '--resume', directory]);
    expect(again).toMatchObject({
      code: 254,
      lines: [
        expect.stringMatching(
          /is over, there is nothing to resume: leave --resume out \(report writes the pages of a night, and of a cell, anew\)$/,
        ),
      ],
    });
  });
});

describe('a night that is ended early', () => {
  it('is resumed after kill -9, and comes out as if nothing had happened', async () => {
    const { file, store } = config('killed');
    const running = start(['nightly', file, '--store', store]);
    await running.said(/^pair 2 of 12/);
    running.child.kill('SIGKILL');
    await running.ended;
    const directory = realpathSync(join(store, 'latest'));
    const ledger = join(directory, 'ledger.jsonl');
    const before = jsonLines(ledger).length;
    expect(before).toBeGreaterThanOrEqual(2);
    expect(before).toBeLessThan(12);
    appendFileSync(ledger, '{"cell":"hw-epoch.short.mixed","pair":{"se');

    const resumed = await tidemark(['nightly', file, '--store', store, '--resume']);
    expect(resumed.code).toBe(0);
    expect(resumed.lines.filter((line) => line.startsWith('pair '))).toHaveLength(12 - before);
    const { usedMs: _used, command: _again, ...results } = read(directory);
    const { usedMs: _wholeUsed, command: _wholeAgain, ...wanted } = read(wholeDirectory);
    expect(results).toEqual(wanted);
    for (const { folder } of results.cells) {
      const [one, other] = [directory, wholeDirectory].map((each) => readCell(each, folder).pairs);
      expect(one?.map(outcome)).toEqual(other?.map(outcome));
    }
  });

  it('is ended cleanly by Ctrl-C, tells what was found and how to go on, and is not resumed with another config', async () => {
    const { file, store } = config('interrupted', { seeds: { from: 1, count: 2_000 } });
    const running = start(['nightly', file, '--store', store, '--json']);
    await running.said(/^pair 3 of 4000/);
    const during = await tidemark(['nightly', file, '--store', store, '--resume']);
    expect(during).toMatchObject({ code: 255, lines: [expect.stringMatching(/is still going on: wait for it/)] });
    running.child.kill('SIGINT');
    const ended = await running.ended;
    expect(ended.code).toBe(130);
    const results = JSON.parse(ended.out) as NightResults;
    expect(results.ended).toBe('unfinished');
    const directory = realpathSync(join(store, 'latest'));
    expect(ended.lines).toContain(`resume  npm run tidemark -- nightly ${file} --resume ${directory}`);
    expect(results.cells.reduce((sum, { done }) => sum + done, 0)).toBe(
      jsonLines(join(directory, 'ledger.jsonl')).length,
    );

    config('interrupted', { seeds: { from: 1, count: 2_000 }, workloads: { short: { 'time-limit': '3s', rate: 61 } } });
    const changed = await tidemark(['nightly', file, '--store', store, '--resume']);
    expect(changed).toMatchObject({
      code: 254,
      lines: [
        `tidemark: ${file} is not what ${directory} was begun with: workloads.short.rate is 61, and was 60; put it back, or start a new night`,
      ],
    });
  });

  it('is not resumed from a ledger that is damaged in the middle', async () => {
    const { file, store } = config('interrupted', { seeds: { from: 1, count: 2_000 } });
    const directory = realpathSync(join(store, 'latest'));
    const ledger = join(directory, 'ledger.jsonl');
    const [first, , ...others] = readFileSync(ledger, 'utf8').split('\n');
    writeFileSync(ledger, [first, '{"cell":', ...others].join('\n'));
    const resumed = await tidemark(['nightly', file, '--store', store, '--resume']);
    expect(resumed.code).toBe(255);
    expect(resumed.lines.at(-1)).toBe(
      `tidemark: ${ledger} is damaged in line 2: remove that line, and its pair is run again`,
    );
  });
});

describe('a night of real processes', () => {
  it('runs a pair again that was killed half-way, in folders of its own', async () => {
    const { file, store } = config('local', {
      runtime: 'local',
      seeds: { from: 5, count: 1 },
      builds: { same: { control: 'epoch', candidate: 'epoch' } },
      workloads: { quiet: { 'time-limit': '1s', nodes: 1, 'replication-factor': 1, 'min-insync': 1, partitions: 1 } },
      faults: { none: { nemesis: 'none' } },
    });
    const env = { TMPDIR: temporary };
    const running = start(['nightly', file, '--store', store], { env });
    await running.said(/^folder /);
    const directory = realpathSync(join(store, 'latest'));
    running.child.kill('SIGKILL');
    await running.ended;
    const runs = join(directory, 'same.quiet.none', 'runs');
    for (const side of ['control', 'candidate']) mkdirSync(join(runs, `${side}-5`), { recursive: true });
    const resumed = await tidemark(['nightly', file, '--store', store, '--resume', directory], { env });
    expect(resumed.code).toBe(0);
    const [pair] = readCell(directory, 'same.quiet.none').pairs;
    expect([pair?.control.directory, pair?.candidate.directory]).toEqual(['runs/control-5-2', 'runs/candidate-5-2']);
    expect(existsSync(join(runs, 'control-5-2', 'report.html'))).toBe(true);
    expect(resumed.lines.filter((line) => line.startsWith('pair '))).toHaveLength(1);
    expect(localLeftovers(temporary)).toEqual([]);
  });
});

/** What came out of a pair, wherever its files are. */
function outcome({ seed, control, candidate }: ComparisonResults['pairs'][number]): unknown {
  const side = ({ directory: _directory, ...run }: PairedRun): unknown => run;
  return { seed, control: side(control), candidate: side(candidate) };
}
