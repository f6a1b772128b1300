import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

it('a recorder that is killed in the middle of its work leaves every line but perhaps the last whole', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-recorder-'));
  const path = join(directory, 'history.jsonl');
  const program = fileURLToPath(new URL('programs/record.ts', import.meta.url));
  const watcher = watch(directory);
  const child = spawn(process.execPath, [program, path], { stdio: 'inherit' });
  const ended = once(child, 'exit');
  while (!existsSync(path) || statSync(path).size < 100_000) await once(watcher, 'change');
  child.kill('SIGKILL');
  await ended;
  watcher.close();

  const lines = readFileSync(path, 'utf8').split('\n');
  lines.pop();
  expect(lines.length).toBeGreaterThan(500);
  lines.forEach((line, index) => expect(JSON.parse(line)).toMatchObject({ index, process: 0 }));
  rmSync(directory, { recursive: true });
});
