/** `tidemark run` on local processes, as a user meets it: what it leaves, what it says, how it ends. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRandom } from '../../../harness/plan/random.ts';
import type { RunFile } from '../../../harness/run/run-file.ts';
import { generateSchedule } from '../../../nemesis/plan.ts';
import { jsonLines, localLeftovers, start, tidemark, until, type Ended } from './tidemark.ts';

let temporary = '';
let store = '';
const env = (): Record<string, string> => ({ TMPDIR: temporary });

beforeAll(() => {
  temporary = mkdtempSync(join(tmpdir(), 'tidemark-cli-'));
  store = join(temporary, 'store');
});

afterAll(() => {
  if (process.env['TIDEMARK_KEEP'] !== '1') rmSync(temporary, { recursive: true, force: true });
});

const quiet = ['--runtime', 'local', '--nemesis', 'none', '--settle-timeout', '15s'];
const json = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));
/** Where the newest run in a store lies. */
const latest = (where: string): string => realpathSync(join(where, 'latest'));

describe('a run without faults, on brokers of two builds', () => {
  let ended: Ended;
  let directory: string;

  beforeAll(async () => {
    const argv = [
      'run',
      '--build',
      '1=hw,2-3=epoch',
      '--seed',
      '4711',
      '--time-limit',
      '2s',
      '--json',
      '--store',
      store,
    ];
    ended = await tidemark([...argv, ...quiet], { env: env() });
    directory = latest(store);
  });

  it('is valid and exits with 0', () => {
    expect(ended).toMatchObject({ code: 0, signal: null });
    expect(json(join(directory, 'results.json'))).toMatchObject({ valid: true, anomalies: [] });
  });

  it('prints its seed in its first line and its last, and the command that repeats it', () => {
    expect(ended.lines[0]).toBe('seed 4711 · 1=hw,2-3=epoch');
    expect(ended.lines.at(-1)).toBe('seed 4711');
    expect(ended.lines).toContain(
      'again   npm run tidemark -- run --build 1=hw,2-3=epoch --seed 4711 --runtime local --time-limit 2s --nemesis none --settle-timeout 15s',
    );
    expect(ended.lines[1]).toBe('brokers run as local processes (asked for)');
  });

  it('prints with --json exactly one document on standard output: its results', () => {
    expect(JSON.parse(ended.out)).toEqual(json(join(directory, 'results.json')));
  });

  it('leaves every file that docs/running.md promises, and no other', () => {
    const table = readFileSync('docs/running.md', 'utf8').split('## What it leaves')[1]?.split('\n## ')[0] ?? '';
    const promised = [...table.matchAll(/^\| `([a-z]+(?:\.[a-z]+)?)/gm)].map((match) => match[1] ?? '');
    expect(promised).toHaveLength(10);
    expect(readdirSync(directory).sort()).toEqual([...new Set(promised)].sort());
    for (const node of ['1', '2', '3', 'controller']) {
      expect(existsSync(join(directory, 'logs', `${node}.log`))).toBe(true);
      expect(existsSync(join(directory, 'data', node))).toBe(true);
    }
  });

  it('starts each broker with the build that was asked for', () => {
    const starts = jsonLines(join(directory, 'trace.jsonl')).filter((line) => line['event'] === 'start');
    const builds = Object.fromEntries(starts.map((line) => [String(line['node']), line['build']]));
    expect(builds).toEqual({ '1': 'hw', '2': 'epoch', '3': 'epoch', controller: 'controller' });
  });

  it('says in run.json that it completed and settled, and how long each phase took', () => {
    const file = json(join(directory, 'run.json')) as RunFile;
    expect(file).toMatchObject({ completed: true, healed: true, settled: true, residual: [] });
    expect(file).toMatchObject({ finalReadComplete: true, logsCollected: true });
    expect(Object.keys(file.phases)).toContain('settling');
    expect(file.phases['load and faults']).toBeGreaterThanOrEqual(2_000);
    expect(Object.keys(file.finalLeaders)).toHaveLength(8);
  });

  it('leaves nothing else on the machine', () => {
    expect(localLeftovers(temporary)).toEqual([]);
  });
});

/** The first seed whose plan cuts a leader off from brokers and controller, but not from clients, for two seconds. */
function seedOfAnIsolatedLeader(): number {
  const partitions = Array.from({ length: 8 }, (_, partition) => `tide-${partition}`);
  const plan = { durationMs: 4_000, kinds: ['partition'] as const, partitions, brokers: [1, 2, 3], intervalMs: 3_000 };
  for (let seed = 1; ; seed += 1) {
    const [fault] = generateSchedule({ ...plan, seed }, createRandom(seed).stream('faults')).faults;
    if (fault?.kind !== 'partition' || fault.topology.shape !== 'leader-with-minority') continue;
    const { controller, clients } = fault.topology;
    if (controller && !clients && 'ms' in fault.at && 'ms' in fault.until && fault.until.ms >= 2_000) return seed;
  }
}

describe('a broker with a defect', () => {
  it('is found, and exits with 1', async () => {
    const where = join(temporary, 'defect');
    const argv = ['run', '--runtime', 'local', '--nemesis', 'partition', '--time-limit', '4s', '--store', where];
    const seed = String(seedOfAnIsolatedLeader());
    const ended = await tidemark([...argv, '--defect', 'ack-at-leo', '--seed', seed], { env: env() });
    expect(ended.code).toBe(1);
    expect(ended.err).toMatch(/^lost-acked-write \(violation\) /m);
    expect(ended.err).toMatch(/^not valid: \d+ violations? /m);
    expect(json(join(latest(where), 'results.json'))).toMatchObject({ valid: false });
    expect(jsonLines(join(latest(where), 'history.jsonl')).map((line) => line['f'])).toContain('partition');
  });
});

describe('Ctrl-C', () => {
  it.each([
    ['while the cluster is deployed', /^deploying$/],
    ['in the middle of the load', /^load and faults$/],
  ])('%s removes everything within a bound and exits with 130', async (when, line) => {
    const where = join(temporary, `interrupted-${when.replaceAll(' ', '-')}`);
    const running = start(['run', '--runtime', 'local', '--seed', '7', '--time-limit', '60s', '--store', where], {
      env: env(),
    });
    await running.said(line);
    await until(() => localLeftovers(temporary).length > 0);
    const before = performance.now();
    running.child.kill('SIGINT');
    // A terminal, npm and the launcher may each pass it on.
    running.child.kill('SIGINT');
    const ended = await running.ended;
    expect(ended.code).toBe(130);
    expect(performance.now() - before).toBeLessThan(10_000);
    expect(ended.err).toContain('interrupted: healing and removing');
    expect(ended.err).not.toMatch(/^\s+at /m);
    expect(ended.lines.at(-1)).toBe('seed 7');
    expect(localLeftovers(temporary)).toEqual([]);
  });
});

describe('a harness that is killed in the middle of the load', () => {
  it('leaves a history that check accepts and no process, and disturbs no run beside it; nor does gc', async () => {
    const [killedStore, besideStore] = [join(temporary, 'killed'), join(temporary, 'beside')];
    const killed = start(
      ['run', '--build', 'hw', '--runtime', 'local', '--time-limit', '60s', '--store', killedStore],
      {
        env: env(),
      },
    );
    const beside = start(['run', '--build', 'epoch', ...quiet, '--time-limit', '4s', '--store', besideStore], {
      env: env(),
    });
    await Promise.all([killed.said(/^load and faults$/), beside.said(/^load and faults$/)]);
    const history = join(killedStore, 'latest/history.jsonl');
    await until(() => readFileSync(history, 'utf8').split('\n').length > 100);
    killed.child.kill('SIGKILL');
    expect((await killed.ended).signal).toBe('SIGKILL');
    const gc = await tidemark(['gc'], { env: { ...env(), DOCKER_HOST: `unix://${temporary}/none.sock` } });
    expect(gc.code).toBe(0);
    expect(gc.err).not.toContain('epoch-');
    await until(() => localLeftovers(temporary).every((name) => name.startsWith('epoch-')));
    expect(localLeftovers(temporary)).not.toEqual([]);
    const checked = await tidemark(['check', join(killedStore, 'latest'), '--json']);
    expect([1, 2]).toContain(checked.code);
    expect(JSON.parse(checked.out)).toMatchObject({ type: 'run', run: { build: 'hw' } });
    expect(await beside.ended).toMatchObject({ code: 0 });
    expect(localLeftovers(temporary)).toEqual([]);
  });
});

describe('--leave-db-running', () => {
  it('keeps the cluster until Ctrl-C, and then gives the verdict of the test', async () => {
    const where = join(temporary, 'left');
    mkdirSync(where);
    const running = start(['run', ...quiet, '--time-limit', '1s', '--leave-db-running', '--store', where], {
      env: env(),
    });
    const line = await running.said(/^the cluster stays up at /);
    expect(line).toMatch(/127\.0\.0\.1:\d+,127\.0\.0\.1:\d+,127\.0\.0\.1:\d+/);
    expect(localLeftovers(temporary)).not.toEqual([]);
    running.child.kill('SIGINT');
    expect((await running.ended).err).toMatch(/^valid: no promise was broken/m);
    expect((await running.ended).code).toBe(0);
    expect(localLeftovers(temporary)).toEqual([]);
  });
});

const older = olderNode();

describe('the launcher under an older Node', () => {
  it.skipIf(older === null)('passes the exit code and signals on, and is not outlived when it is killed', async () => {
    const surroundings = { env: env(), node: older ?? '' };
    expect((await tidemark(['run', '--rate', '0'], surroundings)).code).toBe(254);
    const argv = ['run', '--runtime', 'local', '--time-limit', '60s', '--store', join(temporary, 'older')];
    const launcher = start(argv, surroundings);
    await launcher.said(/^load and faults$/);
    launcher.child.kill('SIGKILL');
    expect((await launcher.ended).err).toContain('interrupted: healing and removing');
    expect(localLeftovers(temporary)).toEqual([]);
  });
});

/** A Node before 24 on this machine, if there is one. */
function olderNode(): string | null {
  for (const folder of (process.env['PATH'] ?? '').split(':')) {
    const path = join(folder, 'node');
    if (!existsSync(path)) continue;
    const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' });
    const major = Number(/^v(\d+)/.exec(stdout)?.[1]);
    if (major >= 20 && major < 24) return path;
  }
  return null;
}
