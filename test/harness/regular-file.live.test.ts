/** What has the name of a file and is none: a pipe is not waited for, a device not read, whoever meets it. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tidemark } from './cli/tidemark.ts';

let root = '';

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'tidemark-no-file-'));
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

function pipeAt(...path: readonly string[]): string {
  const at = join(root, ...path);
  mkdirSync(join(at, '..'), { recursive: true });
  rmSync(at, { force: true });
  execFileSync('mkfifo', [at]);
  return at;
}

describe('a pipe', () => {
  it.each([
    ['check', 'a', 'history.jsonl'],
    ['replay', 'b', 'run.json'],
    ['shrink', 'c', 'run.json'],
  ])('in the place of a file of a run is refused by %s', async (command, run, name) => {
    pipeAt(run, name);
    const { code, err } = await tidemark([command, join(root, run)]);
    expect(code).toBe(255);
    expect(err).toMatch(new RegExp(`^tidemark: .*${name} cannot be read: it is no regular file\\n$`));
  });

  it('or a device in the place of a scenario is refused', async () => {
    for (const path of [pipeAt('s.scenario'), '/dev/zero']) {
      const { code, err } = await tidemark(['scenario', path]);
      expect(code).toBe(255);
      expect(err).toBe(`tidemark: ${path} cannot be read: it is no regular file\n`);
    }
  });

  it.each(['headers-0/leader-epoch-checkpoint', 'replication-offset-checkpoint', 'headers-0/00000000000000000000.log'])(
    'in the place of %s is a finding of verify-logs',
    async (name) => {
      const logs = join(root, 'logs');
      rmSync(logs, { recursive: true, force: true });
      cpSync('test/fixtures/kafka-logs/4.4.0-headers', logs, { recursive: true });
      pipeAt('logs', 'broker-1', name);
      const { code, out } = await tidemark(['verify-logs', logs]);
      expect(code).toBe(2);
      expect(out).toContain('it is no regular file');
    },
  );
});

describe('a link that leads nowhere', () => {
  it('in the place of a broker is refused by verify-logs, since a broker would be missing; others are none of ours', async () => {
    const logs = join(root, 'linked');
    cpSync('test/fixtures/kafka-logs/4.4.0-headers', logs, { recursive: true });
    symlinkSync('nowhere', join(logs, 'notes'));
    symlinkSync('circle', join(logs, 'circle'));
    writeFileSync(join(logs, 'README'), '');
    expect((await tidemark(['verify-logs', logs])).code).toBe(0);
    symlinkSync('/nowhere/mounted', join(logs, 'broker-7'));
    const { code, err } = await tidemark(['verify-logs', logs]);
    expect(code).toBe(255);
    expect(err).toBe(
      `tidemark: ${join(logs, 'broker-7')} is a link that cannot be followed (ENOENT): mend or remove it\n`,
    );
  });
});
