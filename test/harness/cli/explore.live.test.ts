/** `tidemark explore` as it is typed: what it finds, prints, keeps and exits with. */
import { existsSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ExploreReport } from '../../../harness/explore/report.ts';
import { start, tidemark } from './tidemark.ts';

let temporary = '';

beforeAll(() => {
  temporary = mkdtempSync(join(tmpdir(), 'tidemark-explore-'));
});

afterAll(() => rmSync(temporary, { recursive: true, force: true }));

const small = ['--nodes', '3', '--time-limit', '5s', '--rate', '50', '--nemesis', 'handover-crash,crash'];

/** What does not depend on the machine. */
function lasting(report: ExploreReport): unknown {
  const timeless = ({ run, seed, violations, command }: ExploreReport['finds'][number]): unknown => ({
    run,
    seed,
    violations,
    command,
  });
  const { seconds, runsPerSecond, command, first, finds, unknownRuns, ...rest } = report;
  expect([typeof seconds, typeof runsPerSecond, typeof command, unknownRuns]).toEqual([
    'number',
    'number',
    'string',
    [],
  ]);
  return { ...rest, first: first && timeless(first), finds: finds.map(timeless) };
}

async function explored(
  ...argv: string[]
): Promise<{ code: number | null; report: ExploreReport; lines: readonly string[] }> {
  const { code, out, lines } = await tidemark(['explore', ...argv, '--json']);
  return { code, report: JSON.parse(out) as ExploreReport, lines };
}

describe('explore', () => {
  it('finds the flaw of hw, exits with 1, and keeps a run that check judges alike', async () => {
    const store = join(temporary, 'found');
    const { code, report, lines } = await explored(
      '--build',
      'hw',
      '--until-fail',
      '--seed',
      '1',
      '--store',
      store,
      ...small,
    );
    expect(code).toBe(1);
    expect([lines[0], lines.at(-1)]).toEqual(['seed 1 · hw, 60 s at most', 'seed 1']);
    const { first } = report;
    expect(report).toMatchObject({ type: 'exploration', anomalous: 1, runs: first?.run });
    const directory = realpathSync(join(store, 'latest'));
    expect(basename(directory)).toBe(`run-${first?.run}-seed-${first?.seed}`);
    expect(readdirSync(directory)).toEqual(
      expect.arrayContaining(['history.jsonl', 'results.json', 'run.json', 'schedule.json', 'trace.jsonl']),
    );
    const checked = await tidemark(['check', directory, '--json']);
    expect(checked.code).toBe(1);
    expect(JSON.parse(checked.out)).toMatchObject({ valid: false, anomalies: [{ kind: first?.violations[0]?.kind }] });
    expect(JSON.parse(readFileSync(join(directory, '..', 'explore.json'), 'utf8'))).toEqual(report);
  });

  it('shows a find again by the command that it prints', async () => {
    const { report } = await explored('--build', 'hw', '--until-fail', '--seed', '1', '--store', temporary, ...small);
    const [, argv = ''] = (report.first?.command ?? '').split('npm run tidemark -- ');
    const again = await tidemark([...argv.split(' '), '--store', temporary, '--json']);
    expect(again.code).toBe(1);
    const anomalies = (JSON.parse(again.out) as { anomalies: { summary: string }[] }).anomalies;
    expect(anomalies.map(({ summary }) => summary)).toContain(report.first?.violations[0]?.summary);
  });

  it('gives the same result on one thread and on two', async () => {
    const argv = ['--build', 'hw', '--runs', '12', '--seed', '3', '--store', temporary, ...small];
    const one = await explored(...argv, '--jobs', '1');
    const two = await explored(...argv, '--jobs', '2');
    expect(lasting(two.report)).toEqual(lasting(one.report));
    const first = ['--build', 'hw', '--until-fail', '--seed', '23', '--store', temporary, ...small];
    const [soon, late] = [await explored(...first, '--jobs', '1'), await explored(...first, '--jobs', '2')];
    expect(soon.report.anomalous).toBe(1);
    expect(lasting(late.report)).toEqual(lasting(soon.report));
    const [guided, guidedAgain] = [
      await explored(...argv, '--guided', '--jobs', '1'),
      await explored(...argv, '--guided', '--jobs', '2'),
    ];
    const plain = (report: ExploreReport): unknown => ({
      signatures: report.signatures,
      guided: report.guided,
      marks: report.marks,
    });
    expect(plain(guidedAgain.report)).toEqual(plain(guided.report));
  });

  it('takes a build for each node, and as many brokers as it names', async () => {
    const argv = ['--build', '1=hw,2-4=epoch', '--runs', '2', '--seed', '1', '--time-limit', '3s'];
    const { report } = await explored(...argv, '--store', join(temporary, 'mixed'));
    expect(report).toMatchObject({ runs: 2, build: '1=hw,2-4=epoch' });
  });

  it('exits with 0 where no promise was broken, and keeps where it has been', async () => {
    const store = join(temporary, 'clean');
    const { code, report, lines } = await explored(
      '--build',
      'epoch',
      '--runs',
      '6',
      '--seed',
      '1',
      '--store',
      store,
      ...small,
    );
    expect(code).toBe(0);
    expect(report).toMatchObject({ runs: 6, anomalous: 0, unknown: 0, first: null, finds: [] });
    const file = lines.find((line) => line.startsWith('search  '))?.slice('search  '.length) ?? '';
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(report);
    expect(report.missedMarks.length).toBeGreaterThan(0);
    /* There is no run that check, report, replay and shrink could take. */
    expect(existsSync(join(store, 'latest'))).toBe(false);
  });

  it('tells what it found when it is interrupted, and exits with 130', async () => {
    const store = join(temporary, 'interrupted');
    const running = start([
      'explore',
      '--build',
      'hw',
      '--budget',
      '10m',
      '--seed',
      '1',
      '--json',
      '--store',
      store,
      ...small,
    ]);
    await running.said(/^run \d+, seed \d+: lost-acked-write/);
    running.child.kill('SIGINT');
    const ended = await running.ended;
    expect(ended.code).toBe(130);
    expect(ended.lines.at(-1)).toBe('seed 1');
    expect((JSON.parse(ended.out) as ExploreReport).anomalous).toBeGreaterThan(0);
    const report = readFileSync(join(realpathSync(join(store, 'latest')), '..', 'explore.json'), 'utf8');
    expect(JSON.parse(report)).toEqual(JSON.parse(ended.out));
  });

  it.each([
    [['--runs', '0'], '--runs 0: write a whole number from 1 to 1000000000'],
    [['--build', 'kip966'], 'there is no build "kip966"'],
    [['--nodes', '2', '--replication-factor', '3'], '--replication-factor 3 needs as many brokers'],
    [['--runtime', 'local'], '--runtime local: explore searches in the simulator only; leave it out'],
    [['--budget', 'long'], '--budget long: write seconds'],
    [['--build', '1=hw,3=epoch'], '"1=hw,3=epoch" gives node 2 no build'],
    [['--nemesis', 'partition', '--nemesis-weights', 'crash=5'], '--nemesis-weights crash=5: crash is none of'],
  ])('refuses %j in one line', async (argv, line) => {
    const ended = await tidemark(['explore', ...argv]);
    expect(ended.code).toBe(254);
    expect(ended.lines.filter((text) => text.startsWith('tidemark: '))).toEqual([expect.stringContaining(line)]);
  });

  it('says that a store cannot be written, after what it found', async () => {
    const ended = await tidemark([
      'explore',
      '--build',
      'hw',
      '--until-fail',
      '--seed',
      '1',
      '--store',
      '/proc/none',
      ...small,
    ]);
    expect(ended.code).toBe(255);
    expect(ended.err).toMatch(/^first {3}run \d+ after /m);
    expect(ended.lines.at(-1)).toMatch(/^tidemark: cannot make a folder in the store \/proc\/none/);
  });
});
