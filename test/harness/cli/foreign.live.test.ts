/** Brokers that others wrote, on the command line: fetched, kept up, and refused where they cannot be. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { have } from '../../require.ts';
import { start, tidemark } from './tidemark.ts';

let temporary = '';

beforeAll(() => {
  temporary = mkdtempSync(join(tmpdir(), 'tidemark-cli-'));
});

afterAll(() => rmSync(temporary, { recursive: true, force: true }));

describe('fetch', () => {
  it.each([
    [['fetch'], 'name a release, such as kafka:0.10.2.2'],
    [['fetch', 'kafka:2.8'], '"2.8" is no release of Kafka'],
    [['fetch', 'epoch'], 'only kafka:<version> can be fetched'],
    [['fetch', '--pulled', 'kafka:2.8.2'], 'there are images from kafka:3.7.0 on'],
  ])('%j is refused with one line', async (argv, line) => {
    const ended = await tidemark(argv);
    expect(ended).toMatchObject({ code: 254, out: '' });
    expect(ended.lines).toHaveLength(1);
    expect(ended.err).toContain(line);
  });

  it('lists what is there, and nothing where there is nothing', async () => {
    const ended = await tidemark(['fetch', '--list'], { env: { TIDEMARK_CACHE: temporary } });
    expect(ended).toMatchObject({ code: 0, out: '' });
    expect(ended.err).toContain('nothing was fetched yet');
  });
});

describe('a cache with releases', () => {
  it('is listed in columns: what is there, its size, what it is made of', async () => {
    const cache = join(temporary, 'full');
    const put = (version: string, entry: object, files: Readonly<Record<string, number>>): void => {
      const folder = join(cache, 'kafka', version);
      mkdirSync(join(folder, 'libs'), { recursive: true });
      writeFileSync(join(folder, 'entry.json'), JSON.stringify({ schemaVersion: 1, version, ...entry }));
      for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), Buffer.alloc(bytes));
    };
    put(
      '0.10.2.2',
      { source: 'maven', jars: 1, bytes: 3e6 },
      { 'libs/a.jar': 1, 'node-1.jsa': 2e6, 'other-1.jsa': 4e6 },
    );
    put('3.9.2', { source: 'image', image: 'apache/kafka:3.9.2', jars: 0, bytes: 400e6 }, {});
    const ended = await tidemark(['fetch', '--list'], { env: { TIDEMARK_CACHE: cache } });
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.out.trimEnd().split('\n')).toEqual([
      'kafka:0.10.2.2    9 MB  1 jar, 2 archives of classes (6 MB)',
      'kafka:3.9.2     400 MB  the image apache/kafka:3.9.2',
    ]);
  });
});

describe('a build that others wrote', () => {
  it.each([
    [['run', '--build', 'kafka:4.4.0', '--runtime', 'local'], '--runtime local: kafka:4.4.0 runs in containers only'],
    [['compare', '--control', 'kafka:0.10.2.2', '--runtime', 'sim'], 'kafka:0.10.2.2 runs in containers only'],
    [['up', '--build', 'kafka:4.4.0', '--runtime', 'local'], 'kafka:4.4.0 runs in containers only'],
    [['explore', '--build', 'kafka:4.4.0'], 'kafka:4.4.0 runs in containers only'],
    [['run', '--build', '1=kafka:2.8.2,2-3=kafka:4.4.0'], 'they cannot be in one cluster'],
    [['run', '--build', '1=hw,2-3=kafka:4.4.0'], 'ours do not replicate with them'],
    [['run', '--build', 'kafka:4.4.0', '--defect', 'late-fence'], '--defect'],
    [
      ['run', '--build', 'kafka:4.4.0', '--nemesis', 'power-loss'],
      'kafka:4.4.0 cannot be given that (what a disk would have kept',
    ],
    [['run', '--build', 'image:example/broker:1'], 'say with --description FILE'],
  ])('is refused where it makes no sense: %j', async (argv, line) => {
    const ended = await tidemark([...argv, ...(argv[0] === 'explore' ? [] : ['--store', temporary])]);
    expect(ended).toMatchObject({ code: 254, out: '' });
    expect(ended.err).toContain(line);
    expect(ended.err).not.toMatch(/^\s+at /m);
  });

  it('that was not fetched ends with the command to type, and makes no folder', async () => {
    const store = join(temporary, 'nothing');
    const ended = await tidemark(['run', '--build', 'kafka:1.0.2', '--store', store], {
      env: { TIDEMARK_CACHE: temporary },
    });
    expect(ended.code).toBe(255);
    expect(ended.lines.at(-1)).toContain(
      'kafka:1.0.2 was not fetched yet: type `npm run tidemark -- fetch kafka:1.0.2`',
    );
    expect(() => readdirSync(store)).toThrow('ENOENT');
  });
});

describe.skipIf(!have.kafka || !have.kcat)('up', () => {
  it('keeps a cluster of kafka:0.10.2.2 that kcat can use', async () => {
    const running = start(['up', '--build', 'kafka:0.10.2.2', '--topic', 'sea', '--store', temporary]);
    const bootstrap = (await running.said(/^bootstrap /)).slice('bootstrap '.length);
    const kcat = (input: string, ...argv: readonly string[]) =>
      spawnSync('kcat', ['-b', bootstrap, '-t', 'sea', '-p', '1', ...argv], {
        input,
        encoding: 'utf8',
        timeout: 30_000,
      });
    const { stdout } = spawnSync('kcat', ['-b', bootstrap, '-L', '-J'], { encoding: 'utf8', timeout: 30_000 });
    const { topics } = JSON.parse(stdout) as { topics: readonly { readonly topic: string }[] };
    expect(topics.map(({ topic }) => topic)).toEqual(['sea']);
    expect(kcat('ebb\nflow\n', '-P', '-X', 'acks=all')).toMatchObject({ status: 0 });
    expect(kcat('', '-C', '-e', '-q', '-f', '%o %s\n')).toMatchObject({ status: 0, stdout: '0 ebb\n1 flow\n' });
    running.child.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
  });
});
