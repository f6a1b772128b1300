/** The simulator as a user meets it: the same files as anywhere else, the same bytes each time, and what is said if not. */
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { start, tidemark } from './tidemark.ts';

let temporary = '';

beforeAll(() => {
  temporary = mkdtempSync(join(tmpdir(), 'tidemark-simulator-'));
});

afterAll(() => rmSync(temporary, { recursive: true, force: true }));

const read = (directory: string, file: string): string => readFileSync(join(directory, file), 'utf8');

describe('tidemark run --runtime sim', () => {
  it('leaves a folder that check and report take as any other, and says the same each time', async () => {
    const directories: string[] = [];
    for (const store of ['one', 'two']) {
      const argv = [
        'run',
        '--runtime',
        'sim',
        '--build',
        'hw',
        '--seed',
        '5',
        '--json',
        '--store',
        join(temporary, store),
      ];
      const ended = await tidemark(argv);
      expect(ended.code).toBe(1);
      expect([ended.lines[0], ended.lines.at(-1)]).toEqual(['seed 5 · hw', 'seed 5']);
      expect(ended.lines).toContain('again   npm run tidemark -- run --build hw --seed 5 --runtime sim');
      const directory = realpathSync(join(temporary, store, 'latest'));
      expect(ended.out).toBe(read(directory, 'results.json'));
      directories.push(directory);
    }
    const [one, two] = directories as [string, string];
    expect(readdirSync(one).toSorted()).toEqual([
      'data',
      'history.jsonl',
      'junit.xml',
      'report.html',
      'results.json',
      'run.json',
      'schedule.json',
      'summary.md',
      'trace.jsonl',
    ]);
    for (const file of ['history.jsonl', 'trace.jsonl', 'schedule.json', 'results.json']) {
      expect(read(one, file) === read(two, file), `${file} differs`).toBe(true);
    }
    const checked = await tidemark(['check', '--json', one]);
    expect(checked.code).toBe(1);
    expect(checked.out).toBe(read(one, 'results.json'));
    rmSync(join(one, 'report.html'));
    expect((await tidemark(['report', one])).code).toBe(0);
    expect(existsSync(join(one, 'report.html'))).toBe(true);
  });

  it('says that two runs were the same, also with the codec', async () => {
    const argv = ['run', '--runtime', 'sim', '--seed', '8', '--time-limit', '4s', '--codec', '--check-determinism'];
    const ended = await tidemark([...argv, '--store', join(temporary, 'same')]);
    expect(ended.code).toBe(0);
    expect(ended.lines).toContain('two runs gave the same events, history, trace, replicas and results');
  });

  it.each([
    [['--codec'], '--codec is for the simulator: add --runtime sim'],
    [['--check-determinism', '--runtime', 'local'], '--check-determinism is for the simulator: add --runtime sim'],
    [
      ['--leave-db-running', '--runtime', 'sim'],
      '--leave-db-running: nothing runs after a simulation; leave it out, or use --runtime local',
    ],
  ])('refuses %j with one line', async (flags, line) => {
    const ended = await tidemark(['run', ...flags, '--store', join(temporary, 'refused')]);
    expect(ended.code).toBe(254);
    expect(ended.err).toContain(line);
    expect(existsSync(join(temporary, 'refused'))).toBe(false);
  });
});

describe('a core that draws for itself', () => {
  it('is found by --check-determinism: exit code 4, and one line that names the first event', async () => {
    const copy = join(temporary, 'copy');
    for (const folder of ['broker', 'checker', 'docker', 'harness', 'nemesis', 'package.json']) {
      cpSync(resolve(folder), join(copy, folder), { recursive: true });
    }
    symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));
    const core = join(copy, 'broker/core/controller-link.ts');
    const sound = readFileSync(core, 'utf8');
    const planted = sound.replace(
      'state.config.heartbeatIntervalMs *',
      '(1 + Math.random() / 100) * state.config.heartbeatIntervalMs *',
    );
    expect(planted).not.toBe(sound);
    writeFileSync(core, planted);
    const argv = [
      'harness/main.mjs',
      'run',
      '--runtime',
      'sim',
      '--seed',
      '1',
      '--time-limit',
      '2s',
      '--nemesis',
      'none',
    ];
    const ended = await new Promise<{ code: unknown; err: string }>((done) => {
      execFile(process.execPath, [...argv, '--check-determinism'], { cwd: copy }, (error, _out, err) =>
        done({ code: error === null ? 0 : error.code, err }),
      );
    });
    expect(ended.code).toBe(4);
    const lines = ended.err.split('\n').filter((line) => line.includes('not deterministic'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(
      /the first event that differs: once event \d+ at [\d.]+ ms: .+; then event \d+ at [\d.]+ ms: .+/,
    );
  });
});

describe('tidemark compare --runtime sim', () => {
  it('keeps the runs that broke a promise and the pair that it tells, and names commands for the others', async () => {
    const store = join(temporary, 'compare');
    const argv = ['compare', '--runtime', 'sim', '--test-count', '6', '--seed', '1', '--json', '--store', store];
    const ended = await tidemark(argv);
    expect(ended.code).toBe(0);
    const directory = realpathSync(join(store, 'latest'));
    const results = JSON.parse(ended.out) as {
      readonly verdict: string;
      readonly pairs: Record<
        'control' | 'candidate',
        { directory: string; valid: unknown; kept?: false; command?: string }
      >[];
    };
    expect(results.verdict).toMatch(/^epoch kept every acknowledged write that hw puts at risk: /);
    expect(results.pairs).toHaveLength(6);
    let whole = 0;
    for (const { control, candidate } of results.pairs) {
      for (const side of [control, candidate]) {
        expect(existsSync(join(directory, side.directory, 'report.html'))).toBe(side.kept !== false);
        if (side.kept === false)
          expect(side.command).toMatch(/^npm run tidemark -- run --build (hw|epoch) --seed \d+ --runtime sim$/);
      }
      if (control.valid === false) expect(control.kept).toBeUndefined();
      if (candidate.kept !== false) whole += 1;
    }
    expect(whole).toBe(1);
    expect(read(directory, 'report.html')).toContain('The same danger arose');
    expect(ended.lines).toContain('again   npm start -- --seed 1 --test-count 6 --runtime sim');
  });

  it('refuses the pairs of a part that it does not have', async () => {
    const ended = await tidemark(['compare', '--runtime', 'sim', '--sim-test-count', '5', '--test-count', '1']);
    expect(ended.code).toBe(254);
    expect(ended.lines).toEqual([
      'tidemark: --sim-test-count 5: with --runtime sim there is one part only, whose pairs are --test-count; leave it out',
    ]);
  });

  it('exits with 3 where the control shows nothing', async () => {
    const argv = ['compare', '--runtime', 'sim', '--control', 'epoch', '--test-count', '3', '--seed', '1'];
    const ended = await tidemark([...argv, '--time-limit', '3s', '--store', join(temporary, 'silent')]);
    expect(ended.code).toBe(3);
    expect(ended.err).toContain('The control showed nothing, so this comparison proves nothing');
  });
});

describe('an interrupt of a simulated run', () => {
  const long = ['--seed', '9', '--time-limit', '150s', '--rate', '1000'];

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'by %s gives it up: no empty folder, the seed in the last line, exit code 130',
    async (name) => {
      const store = join(temporary, name);
      const running = start(['run', '--runtime', 'sim', ...long, '--store', store]);
      await running.said(/^simulating$/);
      const before = performance.now();
      running.child.kill(name);
      const ended = await running.ended;
      expect(performance.now() - before).toBeLessThan(5_000);
      expect([ended.code, ended.signal]).toEqual([130, null]);
      expect(ended.lines).toContain('interrupted: what is not done is given up; the seed makes the same run again…');
      expect(ended.lines.at(-1)).toBe('seed 9');
      expect(readdirSync(store)).toEqual(['run']);
      expect(readdirSync(join(store, 'run'))).toEqual([]);
    },
  );

  it('ends a replay likewise', async () => {
    const file = join(temporary, 'long.json');
    const configuration = { build: 'epoch', runtime: 'sim', seed: 9, timeLimitMs: 150_000, rate: 1_000 };
    const schedule = { schemaVersion: 1, seed: 9, durationMs: 150_000, faults: [] };
    writeFileSync(file, JSON.stringify({ configuration, schedule }));
    const store = join(temporary, 'replay');
    const running = start(['replay', file, '--store', store]);
    await running.said(/^simulating$/);
    running.child.kill('SIGTERM');
    const ended = await running.ended;
    expect([ended.code, ended.lines.at(-1)]).toEqual([130, 'seed 9']);
    expect(readdirSync(join(store, 'replay'))).toEqual([]);
  });

  it('keeps and tells what was found before, and checks nothing more', async () => {
    const store = join(temporary, 'checked');
    const argv = ['run', '--runtime', 'sim', '--build', 'hw', '--seed', '5', '--check-determinism', '--json'];
    const running = start([...argv, '--rate', '400', '--store', store]);
    await running.said(/^checking that two runs are the same$/);
    running.child.kill('SIGINT');
    const ended = await running.ended;
    expect([ended.code, ended.lines.at(-1)]).toEqual([130, 'seed 5']);
    expect(ended.err).not.toContain('two runs gave the same');
    expect(ended.out).toBe(read(realpathSync(join(store, 'latest')), 'results.json'));
  });
});

describe('Ctrl-C in a comparison in the simulator', () => {
  it('exits with 130, and tells how far it came', async () => {
    const store = join(temporary, 'interrupted');
    const argv = ['compare', '--runtime', 'sim', '--test-count', '5000', '--seed', '1', '--json', '--store', store];
    const running = start(argv);
    await running.said(/^simulator · 5000 pairs/);
    running.child.kill('SIGINT');
    const ended = await running.ended;
    expect(ended.code).toBe(130);
    expect(ended.lines.at(-1)).toBe('seed 1');
    const results = JSON.parse(ended.out) as { readonly pairs: readonly object[]; readonly verdict: string };
    expect(results.pairs.length).toBeLessThan(5000);
    expect(results.verdict).toMatch(/of 5000 pairs were begun|No run was made/);
  });
});

describe('a comparison of two parts', () => {
  it('compares in the simulator first, then on processes, and tells both', async () => {
    const store = join(temporary, 'parts');
    const argv = [
      'compare',
      '--sim-test-count',
      '12',
      '--test-count',
      '1',
      '--seed',
      '1',
      '--time-limit',
      '4s',
      '--json',
    ];
    const ended = await tidemark([...argv, '--store', store]);
    const directory = realpathSync(join(store, 'latest'));
    const results = JSON.parse(ended.out) as {
      readonly valid: unknown;
      readonly runtime: string;
      readonly realism: object;
    };
    expect(ended.out).toBe(read(directory, 'results.json'));
    expect(results).toMatchObject({ valid: true, runtime: 'sim', control: { runs: 12 } });
    expect(results.realism).toMatchObject({ type: 'comparison', control: { runs: 1 }, candidate: { runs: 1 } });
    expect(ended.code).toBe(0);
    const realism = join(directory, 'realism');
    expect(existsSync(join(realism, 'runs/control-1/report.html'))).toBe(true);
    const page = read(directory, 'report.html');
    expect(page).toContain('In the simulator: the primary comparison');
    expect(page).toContain('for realism, never pooled with the other');
    expect(page).toContain('href="./realism/runs/control-1/report.html"');
    expect(ended.lines[0]).toBe('seed 1 · hw against epoch, 12 pairs in the simulator, then 1 pair');
    expect(ended.lines).toContain('again   npm start -- --seed 1 --test-count 1 --sim-test-count 12 --time-limit 4s');
    const again = await tidemark(['report', directory]);
    expect(again.code).toBe(0);
  });
});
