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

test('a scenario is told on standard output as its golden trace, and then what the checker says of it', () => {
  const { status, stdout, stderr } = tidemark('test/scenarios/s1a.scenario', '--build', 'hw');
  const golden = readFileSync('test/golden/s1a.hw.txt', 'utf8');
  expect(stdout.startsWith(golden)).toBe(true);
  expect(stdout.slice(golden.length).trim().split('\n')).toEqual([
    'The checker says: not valid.',
    expect.stringContaining('lost-acked-write of m2 at 1: a violation'),
  ]);
  expect([status, stderr]).toEqual([0, 'all expectations hold on hw']);
});

test('a stored run is played as well, and --build repeats it on other builds', () => {
  const argv = ['test/scenarios/handover-crash.scenario', '--build', 'hw', '--build', 'epoch'];
  const { status, stdout, stderr } = tidemark(...argv);
  expect(stdout).toContain('handover-crash.scenario on hw: seed 1, 3 brokers, 1 fault, 7 operations');
  expect(stdout).toContain('handover-crash.scenario on epoch: seed 1, 3 brokers, 1 fault, 7 operations');
  expect([status, stderr]).toEqual([0, 'all expectations hold on hw, epoch']);
});

test('without --build it is played on every build that it names', () => {
  const { status, stderr } = tidemark('test/scenarios/single-crash.scenario');
  expect([status, stderr]).toEqual([0, 'all expectations hold on hw, hw-elect, kip101, kip279, epoch']);
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
    stderr: `tidemark: ${path}:6: "burn everything" is no step; closest: heal everything and settle [within <n> ms|s]`,
  });
  expect(tidemark(join(folder, 'nothing'))).toMatchObject({
    status: 254,
    stdout: '',
    stderr: `tidemark: ${join(folder, 'nothing')}: there is no such file; give a .scenario file`,
  });
  expect(tidemark('test/scenarios/s1a.scenario', '--build', 'kip999')).toMatchObject({ status: 254 });
});

test('a line that could never be done is an error of the file, and nothing is played', () => {
  const path = scenario('impossible.scenario', 'topic tide with replicas 1', 'run for 1000000 s');
  expect(tidemark(path)).toEqual({
    status: 254,
    stdout: '',
    stderr: `tidemark: ${path}:6: "run for 1000000 s" cannot be done: a step lasts an hour at the most`,
  });
});

test('the folder of a run is sent on to replay', () => {
  expect(tidemark(folder)).toEqual({
    status: 254,
    stdout: '',
    stderr: `tidemark: ${folder}: it is a folder; give a .scenario file. The folder of a run is played again by: npm run tidemark -- replay ${folder}`,
  });
});

test('what a play is called when its expectations hold is not what a verdict is called', () => {
  const path = scenario('unexpected.scenario', 'topic tide with replicas 1', 'expect verdict is not valid');
  const { status, stdout } = tidemark(path, '--json');
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ plays: [{ asExpected: false, verdict: null }] });
});

test('an object in a run that has another shape is named, not played', () => {
  const path = join(folder, 'shape.scenario');
  const fault = '{"id":"f1","kind":"pause","at":{"ms":1},"until":{"ms":2}}';
  writeFileSync(path, ['# A story.', '', 'run on hw', 'seed 1', `fault ${fault}`].join('\n'));
  const { status, stderr } = tidemark(path);
  expect(status).toBe(254);
  expect(stderr).toMatch(
    /^tidemark: .*shape\.scenario: faults\.0\.targets: .+; docs\/scenarios\.md says how a run is written$/,
  );
});

test('--json prints one document with the trace of every play', () => {
  const argv = ['harness/main.mjs', 'scenario', 'test/scenarios/s12.scenario', '--build', 'hw', '--json'];
  const document = JSON.parse(execFileSync(process.execPath, argv, { encoding: 'utf8', stdio: 'pipe' })) as {
    readonly schemaVersion: number;
    readonly plays: readonly {
      readonly build: string;
      readonly asExpected: boolean;
      readonly trace: readonly unknown[];
    }[];
  };
  const verdict = { valid: true, anomalies: [] };
  expect(document).toMatchObject({
    schemaVersion: 1,
    plays: [{ build: 'hw', asExpected: true, failure: null, verdict }],
  });
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
