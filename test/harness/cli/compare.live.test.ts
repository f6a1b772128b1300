/** `tidemark compare` on local processes: a control that shows nothing proves nothing, and Ctrl-C ends it cleanly. */
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localLeftovers, start, tidemark } from './tidemark.ts';

let temporary = '';

beforeAll(() => {
  temporary = mkdtempSync(join(tmpdir(), 'tidemark-cli-'));
});

afterAll(() => rmSync(temporary, { recursive: true, force: true }));

describe('a comparison of a build with itself', () => {
  it('exits with 3 and says that the control showed nothing', async () => {
    const store = join(temporary, 'store');
    const argv = ['compare', '--control', 'epoch', '--candidate', 'epoch', '--test-count', '1', '--seed', '99'];
    const quiet = ['--runtime', 'local', '--nemesis', 'none', '--time-limit', '1s'];
    const ended = await tidemark([...argv, ...quiet, '--json', '--store', store], { env: { TMPDIR: temporary } });
    expect(ended.code).toBe(3);
    const directory = realpathSync(join(store, 'latest'));
    const results: unknown = JSON.parse(readFileSync(join(directory, 'results.json'), 'utf8'));
    expect(JSON.parse(ended.out)).toEqual(results);
    expect(results).toMatchObject({
      type: 'comparison',
      valid: true,
      control: { build: 'epoch', runs: 1, anomalous: 0, unknown: 0 },
      candidate: { build: 'epoch', runs: 1, anomalous: 0, unknown: 0 },
      verdict: expect.stringMatching(/^The control showed nothing, so this comparison proves nothing: /) as string,
    });
    expect(ended.err).toContain('The control showed nothing, so this comparison proves nothing');
    expect([ended.lines[0], ended.lines.at(-1)]).toEqual(['seed 99 · epoch against epoch, 1 pair', 'seed 99']);
    expect(ended.lines).toContain(
      'again   npm start -- --seed 99 --control epoch --test-count 1 --runtime local --time-limit 1s --nemesis none',
    );
    for (const side of ['control', 'candidate']) {
      expect(existsSync(join(directory, `runs/${side}-99/results.json`))).toBe(true);
    }
    expect(existsSync(join(directory, 'report.html'))).toBe(true);
    expect(localLeftovers(temporary)).toEqual([]);
  });
});

describe('Ctrl-C in the very last run of a comparison', () => {
  it('exits with 130, and what was recorded stays readable', async () => {
    const store = join(temporary, 'interrupted');
    const argv = ['compare', '--test-count', '1', '--seed', '5', '--nemesis', 'none', '--runtime', 'local'];
    const running = start([...argv, '--time-limit', '1s', '--json', '--store', store], { env: { TMPDIR: temporary } });
    const first = await running.said(/ seed 5: /);
    const last = first.includes('epoch') ? 'hw' : 'epoch';
    await running.said(new RegExp(`${last} seed 5 · load and faults$`));
    running.child.kill('SIGINT');
    const ended = await running.ended;
    expect(ended.code).toBe(130);
    expect(ended.lines.at(-1)).toBe('seed 5');
    expect(JSON.parse(ended.out)).toMatchObject({ valid: 'unknown', control: { runs: 1 }, candidate: { runs: 1 } });
    expect(localLeftovers(temporary)).toEqual([]);
  });
});
