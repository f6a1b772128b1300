/** `tidemark replay` and `tidemark shrink`, as a user calls them. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fidelityPlan } from '../../../harness/fidelity/schedules.ts';

const store = mkdtempSync(join(tmpdir(), 'tidemark-replay-'));
const run = join(store, 'a-run');
afterAll(() => rmSync(store, { recursive: true }));

function tidemark(...argv: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['harness/main.mjs', ...argv, '--store', store], {
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

const file = (folder: string, name: string): string => readFileSync(join(folder, name), 'utf8');
const latest = join(store, 'latest');

beforeAll(() => {
  const flags = ['--build', 'hw', '--seed', '5', '--partitions', '2', '--rate', '40'];
  const { status, stderr } = tidemark('run', '--runtime', 'sim', ...flags);
  if (status !== 1) throw new Error(`the run that these tests stand on found nothing: ${stderr}`);
  cpSync(latest, run, { recursive: true, dereference: true });
});

describe('replay', () => {
  it('gives the same run again, in a folder of its own', () => {
    const { status, stderr } = tidemark('replay', run);
    expect(status).toBe(1);
    for (const name of ['history.jsonl', 'trace.jsonl', 'schedule.json'])
      expect(file(latest, name)).toBe(file(run, name));
    expect(existsSync(join(latest, 'report.html'))).toBe(true);
    expect(stderr).toMatch(/^seed 5 · hw · \d faults/);
    expect(stderr.trimEnd()).toMatch(/seed 5$/);
  });

  it('plays the schedule on another build', () => {
    const { status, stdout } = tidemark('replay', run, '--build', 'epoch', '--json');
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ valid: true, run: { build: 'epoch', seed: 5 } });
    expect(file(latest, 'schedule.json')).toBe(file(run, 'schedule.json'));
  });

  it('breaks the nodes of the stored run with --resolved', () => {
    expect(tidemark('replay', run, '--resolved').status).toBe(1);
    expect(file(latest, 'schedule.json')).not.toBe(file(run, 'schedule.json'));
    expect(file(latest, 'run.json')).toContain('--resolved');
  });

  it('plays a script with the operations that it calls, and brokers that others wrote in containers only', () => {
    const plan = join(store, 'script.json');
    const occasion = { build: 'hw', runtime: 'sim', seed: 3, topic: 'tide' } as const;
    const { config: configuration, schedule, load } = fidelityPlan('s1a-paused', occasion);
    writeFileSync(plan, JSON.stringify({ configuration, schedule, load }));
    const { status, stdout } = tidemark('replay', plan, '--json');
    expect(status).toBe(1);
    const { anomalies } = JSON.parse(stdout) as { anomalies: readonly { readonly kind: string }[] };
    expect(anomalies.map(({ kind }) => kind)).toEqual(['lost-acked-write', 'replica-divergence']);
    const refused = tidemark('replay', plan, '--build', 'kafka:4.4.0');
    expect(refused.status).toBe(254);
    expect(refused.stderr).toContain('kafka:4.4.0 runs in containers only, not in runtime sim: name another --build');
  });

  it('plays a file with a configuration and a schedule', () => {
    const plan = join(store, 'plan.json');
    const { configuration } = JSON.parse(file(run, 'run.json')) as { configuration: unknown };
    const schedule: unknown = JSON.parse(file(run, 'schedule.json'));
    writeFileSync(plan, JSON.stringify({ configuration, schedule }));
    expect(tidemark('replay', plan).status).toBe(1);
    expect(file(latest, 'history.jsonl')).toBe(file(run, 'history.jsonl'));
  });

  it('plays the schedule on real processes, with a load that is written out', { timeout: 60_000 }, () => {
    const small = join(store, 'small');
    cpSync(run, small, { recursive: true });
    const { configuration, ...rest } = JSON.parse(file(run, 'run.json')) as { configuration: object };
    const { faults, ...schedule } = JSON.parse(file(run, 'schedule.json')) as { faults: readonly unknown[] };
    writeFileSync(
      join(small, 'run.json'),
      JSON.stringify({ ...rest, configuration: { ...configuration, timeLimitMs: 1_500 } }),
    );
    writeFileSync(
      join(small, 'schedule.json'),
      JSON.stringify({ ...schedule, durationMs: 1_500, faults: faults.slice(0, 0) }),
    );
    const send = (value: number) => ({ atMs: 100 * value, thread: 1, operation: { f: 'send', key: 'tide-0', value } });
    writeFileSync(join(small, 'load.json'), JSON.stringify({ schemaVersion: 1, operations: [1, 2, 3].map(send) }));
    expect(tidemark('replay', small, '--runtime', 'local', '--build', 'epoch')).toMatchObject({ status: 0 });
    const sent = file(latest, 'history.jsonl')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { f: string; type: string; value: readonly unknown[] })
      .filter(({ f, type }) => f === 'send' && type === 'ok');
    expect(sent.map(({ value }) => value)).toEqual([1, 2, 3].map((value) => [['send', 'tide-0', [value - 1, value]]]));
  });

  it('says in one line what it cannot play', () => {
    const comparison = join(store, 'comparison');
    mkdirSync(join(comparison, 'runs', 'control-1'), { recursive: true });
    const damaged = join(store, 'damaged');
    cpSync(run, damaged, { recursive: true });
    writeFileSync(
      join(damaged, 'schedule.json'),
      '{"schemaVersion": 1, "seed": 1, "durationMs": "long", "faults": []}',
    );
    const lines = [
      ['nowhere'],
      [store],
      [comparison],
      [damaged],
      [run, '--build', 'folk'],
      [run, '--runtime', 'cloud'],
    ].map((argv) => {
      const { status, stderr } = tidemark('replay', ...argv);
      expect(status).toBe(254);
      return stderr.trim().replaceAll(store, 'STORE');
    });
    expect(lines).toEqual([
      'tidemark: nowhere: there is no such folder or file',
      expect.stringMatching(/^tidemark: STORE: no run, but it holds some; name one, such as STORE\//),
      'tidemark: STORE/comparison: this is a comparison; name one of its runs, such as STORE/comparison/runs/control-1',
      expect.stringMatching(/^tidemark: STORE\/damaged\/schedule.json: durationMs: /),
      expect.stringMatching(/^tidemark: .*folk/),
      expect.stringMatching(/^tidemark: .*cloud/),
    ]);
  });
});

describe('shrink', () => {
  it('leaves a run, its report, what was done, and a scenario that plays', { timeout: 60_000 }, () => {
    const { status, stdout, stderr } = tidemark('shrink', run, '--json');
    expect(status).toBe(1);
    const summary = JSON.parse(stdout) as Record<string, unknown>;
    expect(summary).toMatchObject({
      type: 'shrink',
      build: 'hw',
      complete: true,
      after: { brokers: 3, partitions: 1 },
      builds: { hw: { valid: false }, epoch: { valid: true, violations: [] } },
    });
    expect(stderr).toContain(String(summary['signature']));
    expect(stderr).toMatch(/\d faults? → \d, \d+ operations? → \d/);
    expect(readdirSync(latest)).toEqual(expect.arrayContaining(['load.json', 'report.html', 'shrink.json']));
    expect(JSON.parse(file(latest, 'shrink.json'))).toEqual(summary);

    const shrunk = join(store, 'shrunk');
    cpSync(latest, shrunk, { recursive: true, dereference: true });
    const scenario = spawnSync(process.execPath, ['harness/main.mjs', 'scenario', join(shrunk, 'failure.scenario')]);
    expect(scenario.status).toBe(0);
    expect(tidemark('replay', shrunk).status).toBe(1);
    expect(file(latest, 'history.jsonl')).toBe(file(shrunk, 'history.jsonl'));
  });

  it('says that there is nothing to shrink, with the exit code of unknown', () => {
    const { status, stdout, stderr } = tidemark('shrink', run, '--build', 'epoch', '--json');
    expect(status).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({
      type: 'shrink',
      signature: null,
      build: 'epoch',
      valid: true,
      others: [],
    });
    expect(stderr).toContain('epoch breaks no promise under this plan in the simulator: nothing to shrink');
  });

  it('tells what it found even where it cannot be kept', { timeout: 60_000 }, () => {
    const place = join(store, 'no-folder');
    writeFileSync(place, '');
    const argv = ['harness/main.mjs', 'shrink', run, '--runs', '50', '--json', '--store', place];
    const { status, stdout, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8' });
    expect(status).toBe(255);
    expect(JSON.parse(stdout)).toMatchObject({ type: 'shrink', directory: null, builds: { hw: { valid: false } } });
    expect(stderr).toMatch(/faults? → \d/);
    expect(stderr).toMatch(
      /\ntidemark: cannot make a folder in the store .*no-folder: .*: choose another place with --store\n$/,
    );
  });

  it('refuses a kind that nobody knows', () => {
    const { status, stderr } = tidemark('shrink', run, '--kind', 'nosuch');
    expect(status).toBe(254);
    expect(stderr).toMatch(/^tidemark: --kind nosuch: there is no such anomaly; known are lost-acked-write, .*\n$/);
  });

  it('names what there is when there is nothing of the kind', () => {
    const { status, stderr } = tidemark('shrink', run, '--kind', 'duplicate');
    expect(status).toBe(2);
    expect(stderr).toMatch(/hw shows no violation of that kind under this plan, but:\n {2}[a-z-]+: /);
  });
});
