/** The command itself: what it prints where, and its exit codes. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { s1aPrime } from '../../checker/schedules.ts';

let directory = '';

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'tidemark-check-'));
  writeFileSync(join(directory, 'lossy.jsonl'), s1aPrime('hw').history.join('\n'));
  writeFileSync(join(directory, 'sound.jsonl'), s1aPrime('epoch').history.join('\n'));
  writeFileSync(join(directory, 'empty.jsonl'), '');
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

function check(...args: string[]): { code: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['harness/main.mjs', 'check', ...args], {
    encoding: 'utf8',
  });
  return { code: status, out: stdout, err: stderr };
}

describe('tidemark check', () => {
  it('exits 0 for a valid history, 1 for a violation, 2 for unknown', () => {
    expect(check(join(directory, 'sound.jsonl'))).toMatchObject({ code: 0, err: '' });
    expect(check(join(directory, 'lossy.jsonl'))).toMatchObject({ code: 1, err: '' });
    expect(check(join(directory, 'empty.jsonl'))).toMatchObject({ code: 2, err: '' });
  });

  it('prints one JSON document with --json, and nothing else', () => {
    const { out, err } = check(join(directory, 'lossy.jsonl'), '--json');
    expect(JSON.parse(out)).toMatchObject({ schemaVersion: 1, type: 'run', valid: false });
    expect(err).toBe('');
  });

  it.each([[['nowhere']], [['.']], [[]], [['x', '--acks', '2']], [['x', '--min-insync', 'two']]])(
    'refuses %j with 254 and one clear line',
    (args) => {
      const { code, out, err } = check(...args);
      expect(code).toBe(254);
      expect(out).toBe('');
      expect(err).toMatch(/^tidemark: [^\n]+\n(\(--help[^\n]*\n)?$/);
    },
  );
});
