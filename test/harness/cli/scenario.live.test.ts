/** `tidemark scenario`, as a user calls it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'tidemark-scenario-'));
afterAll(() => rmSync(folder, { recursive: true }));

const tidemark = (...argv: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['harness/main.mjs', 'scenario', ...argv], {
    encoding: 'utf8',
  });
  return { status, stdout, stderr: stderr.trim() };
};

const scenario = (name: string, ...lines: readonly string[]) => {
  const path = join(folder, name);
  writeFileSync(path, ['# A story.', '', 'play on hw', 'cluster of 1 broker', ...lines].join('\n'));
  return path;
};

test('a scenario is told on standard output as its golden trace', () => {
  const { status, stdout, stderr } = tidemark('test/scenarios/s1a.scenario', '--build', 'hw');
  expect(stdout.trimEnd()).toBe(readFileSync('test/golden/s1a.hw.txt', 'utf8').trimEnd());
  expect([status, stderr]).toEqual([0, 'all expectations hold on hw']);
});

test('without --build it is played on every build that it names', () => {
  const { status, stderr } = tidemark('test/scenarios/single-crash.scenario');
  expect([status, stderr]).toEqual([0, 'all expectations hold on hw, hw-elect, epoch']);
});

test('an expectation that fails exits with 1 and names file and line', () => {
  const path = scenario('failing.scenario', 'topic tide with replicas 1', 'expect LEO of broker 1 is 3');
  const { status, stderr } = tidemark(path);
  expect(status).toBe(1);
  expect(stderr).toBe(`tidemark: ${path}:6: "expect LEO of broker 1 is 3" does not hold on hw: it is 0`);
});

test('a line that cannot be read, and a file that is not there, are one clear line each', () => {
  const path = scenario('malformed.scenario', 'topic tide with replicas 1', 'burn everything');
  expect(tidemark(path)).toMatchObject({
    status: 254,
    stdout: '',
    stderr: `tidemark: ${path}:6: "burn everything" is no step; docs/scenarios.md lists them all`,
  });
  expect(tidemark(join(folder, 'nothing'))).toMatchObject({
    status: 254,
    stdout: '',
    stderr: `tidemark: ${join(folder, 'nothing')}: there is no such file; give a .scenario file`,
  });
  expect(tidemark('test/scenarios/s1a.scenario', '--build', 'kip999')).toMatchObject({ status: 254 });
});

test('--json prints one document with the trace of every play', () => {
  const argv = ['harness/main.mjs', 'scenario', 'test/scenarios/s12.scenario', '--build', 'hw', '--json'];
  const document = JSON.parse(execFileSync(process.execPath, argv, { encoding: 'utf8', stdio: 'pipe' })) as {
    readonly schemaVersion: number;
    readonly plays: readonly { readonly build: string; readonly valid: boolean; readonly trace: readonly unknown[] }[];
  };
  expect(document).toMatchObject({ schemaVersion: 1, plays: [{ build: 'hw', valid: true, failure: null }] });
  expect(document.plays[0]?.trace[0]).toEqual({
    seq: 0,
    time: 0,
    node: 'controller',
    boot: 1,
    event: 'start',
    port: 9092,
    build: 'controller',
    defects: [],
  });
});
