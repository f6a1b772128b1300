/** `tidemark bundle` and `tidemark serve`, and what a CI job finds beside a report, as a user meets them. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { all, parseXml } from '../report/well-formed.ts';
import { start, tidemark } from './tidemark.ts';

const temporary = realpathSync(mkdtempSync(join(tmpdir(), 'tidemark-cli-')));
const store = join(temporary, 'store');
const latest = join(store, 'latest');
const few = ['--runtime', 'sim', '--seed', '1', '--partitions', '2', '--time-limit', '6s', '--store', store];
let run = '';

const read = (folder: string, name: string): string => readFileSync(join(folder, name), 'utf8');

beforeAll(async () => {
  const { code, err } = await tidemark(['run', '--build', 'hw', ...few]);
  if (code !== 1) throw new Error(`the run that these tests stand on found nothing: ${err}`);
  run = realpathSync(latest);
});

afterAll(() => rmSync(temporary, { recursive: true, force: true }));

describe('a CI job', () => {
  it('finds the results of a run beside its report, and of a report that is drawn again', async () => {
    const written = ['summary.md', 'junit.xml'].map((name) => read(run, name));
    expect(written[0]).toMatch(/^## hw broke its word: /);
    expect(all(parseXml(written[1]!), 'failure').length).toBeGreaterThan(0);
    for (const name of ['summary.md', 'junit.xml']) rmSync(join(run, name));
    expect(await tidemark(['report', run])).toMatchObject({ code: 0 });
    expect(['summary.md', 'junit.xml'].map((name) => read(run, name))).toEqual(written);
  });

  it('finds those of a comparison, and of its runs that were kept', async () => {
    expect(await tidemark(['compare', ...few, '--test-count', '3'])).toMatchObject({ code: 0 });
    const root = parseXml(read(latest, 'junit.xml'));
    expect(all(root, 'testcase').map(({ attributes }) => attributes['name'])).toEqual(
      expect.arrayContaining(['the control shows the flaw', 'seed 1', 'seed 2', 'seed 3']),
    );
    expect([...all(root, 'failure'), ...all(root, 'error')]).toEqual([]);
    for (const kept of readdirSync(join(latest, 'runs')))
      expect(readdirSync(join(latest, 'runs', kept))).toEqual(expect.arrayContaining(['junit.xml', 'summary.md']));
  });
});

describe('bundle', () => {
  it('packs a run that is as good elsewhere', async () => {
    const out = join(temporary, 'run.tar.gz');
    const { code, lines } = await tidemark(['bundle', run, '--out', out]);
    expect(code).toBe(0);
    expect(lines).toEqual([
      expect.stringMatching(/^packing /),
      expect.stringMatching(/^packed {2}\d+ files, .*: data\/ \(\d+\), history\.jsonl, junit\.xml, /),
      expect.stringMatching(`^bundle {2}${out} \\(.* kB\\)$`),
      `unpack  tar -xzf ${out} && npm run tidemark -- check run-${basename(run)}`,
    ]);
    const elsewhere = join(temporary, 'elsewhere');
    mkdirSync(elsewhere);
    expect(spawnSync('tar', ['-xzf', out, '-C', elsewhere]).status).toBe(0);
    const unpacked = join(elsewhere, `run-${basename(run)}`);
    const [here, there] = [await tidemark(['check', run, '--json']), await tidemark(['check', unpacked, '--json'])];
    expect(there).toMatchObject({ code: 1, out: here.out });
    expect(await tidemark(['report', unpacked])).toMatchObject({ code: 0 });
    expect(await tidemark(['replay', unpacked, '--store', store])).toMatchObject({ code: 1 });
    expect(read(latest, 'trace.jsonl')).toBe(read(run, 'trace.jsonl'));
  });

  it('refuses what is no run, and what is there already, in one line', async () => {
    const out = join(temporary, 'none.tar.gz');
    const strange = await tidemark(['bundle', temporary, '--out', out]);
    expect(strange).toMatchObject({ code: 254, out: '' });
    expect(strange.err.match(/^tidemark: /gm)).toHaveLength(1);
    expect(existsSync(out)).toBe(false);
    const there = await tidemark(['bundle', run, '--out', join(run, 'run.json')]);
    expect(there.code).toBe(254);
    expect(there.lines.at(-1)).toBe(
      `tidemark: ${run}/run.json is there already: remove it, or choose another with --out`,
    );
  });
});

describe('serve', () => {
  it('shows the store until Ctrl-C', async () => {
    const running = start(['serve', '--store', store, '--port', '0']);
    const said = await running.said(/http:/);
    const address = /http:\/\/127\.0\.0\.1:\d+\//.exec(said)?.[0] ?? '';
    const index = await (await fetch(address)).text();
    expect(index).toContain('hw broke its word');
    const [link = ''] = /\/files\/run\/[^"]*report\.html/.exec(index) ?? [];
    expect(await (await fetch(new URL(link, address))).text()).toBe(read(run, 'report.html'));
    running.child.kill('SIGINT');
    expect(await running.ended).toMatchObject({ code: 130, out: '' });
  });

  it('says in one line that its port is taken, or its store not there', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const address = other.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    const taken = await tidemark(['serve', '--store', store, '--port', port]);
    other.close();
    expect(taken).toMatchObject({ code: 255, out: '' });
    expect(taken.lines).toEqual([
      `tidemark: cannot listen on 127.0.0.1:${port}: EADDRINUSE, the port is in use: choose another with --port, or a free one with --port 0`,
    ]);
    const nowhere = await tidemark(['serve', '--store', join(temporary, 'nowhere')]);
    expect(nowhere.code).toBe(254);
    expect(nowhere.lines).toHaveLength(1);
  });
});
