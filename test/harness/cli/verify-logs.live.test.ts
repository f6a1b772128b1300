/** `tidemark verify-logs` as a user meets it: exit codes, one document on standard output, and lines that help. */
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tidemark } from './tidemark.ts';

const root = 'test/fixtures/kafka-logs';
let temporary = '';

beforeAll(() => {
  temporary = mkdtempSync(join(tmpdir(), 'tidemark-verify-cli-'));
});

afterAll(() => rmSync(temporary, { recursive: true, force: true }));

describe('verify-logs', () => {
  it('exits with 0 where replicas agree', async () => {
    const ended = await tidemark(['verify-logs', join(root, '4.4.0-epochs')]);
    expect(ended).toMatchObject({ code: 0, err: '' });
    expect(ended.out).toMatch(/^Valid: 1 partition on 3 brokers; every log is sound, and replicas hold the same\.\n/);
  });

  it('exits with 1 where they differ, with one document under --json', async () => {
    const directory = join(root, '0.11.0.3-s3a-diverged');
    const expected = JSON.parse(readFileSync(join(directory, 'expected.json'), 'utf8')) as {
      readonly brokers: object;
      readonly comparison: object;
    };
    const ended = await tidemark(['verify-logs', directory, '--json']);
    expect(ended).toMatchObject({ code: 1, err: '' });
    expect(JSON.parse(ended.out)).toMatchObject({
      schemaVersion: 1,
      type: 'verify-logs',
      valid: false,
      exit: 1,
      brokers: expected.brokers,
      comparisons: { 's3an0-0': expected.comparison },
    });
  });

  it('exits with 2 for a torn tail', async () => {
    const directory = join(temporary, 'torn');
    cpSync(join(root, '4.4.0-headers'), directory, { recursive: true });
    truncateSync(join(directory, 'broker-1/headers-0/00000000000000000000.log'), 100);
    const ended = await tidemark(['verify-logs', directory]);
    expect(ended.code).toBe(2);
    expect(ended.out).toContain('torn-tail on broker-1: the log ends in 100 bytes that are no whole batch');
  });

  it('takes the word of --compacted for gaps', async () => {
    const directory = join(temporary, 'gaps');
    cpSync(join(root, '4.4.0-compacted'), directory, { recursive: true });
    for (const broker of readdirSync(directory).filter((name) => name.startsWith('broker'))) {
      rmSync(join(directory, broker, 'cleaner-offset-checkpoint'));
    }
    expect((await tidemark(['verify-logs', directory])).code).toBe(1);
    expect((await tidemark(['verify-logs', directory, '--compacted', 'compacted'])).code).toBe(0);
  });

  it.each([
    [[], "missing required argument 'dir'"],
    [['no-such-place'], 'no-such-place: there is no such directory'],
    [['docs'], 'docs holds no log directory of a broker'],
  ])('refuses %j with 254 and one clear line', async (argv, line) => {
    const ended = await tidemark(['verify-logs', ...argv]);
    expect(ended).toMatchObject({ code: 254, out: '' });
    expect(ended.err).toContain(`tidemark: ${line}`);
    expect(ended.err).not.toContain('    at ');
  });
});
