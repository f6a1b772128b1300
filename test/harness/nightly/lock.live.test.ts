/** Several processes that want one night at the same moment. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

const directory = mkdtempSync(join(tmpdir(), 'tidemark-lock-'));
const lockers = Array.from({ length: 3 }, () => fork(new URL('locker.ts', import.meta.url), [directory]));

beforeAll(async () => {
  await Promise.all(lockers.map((locker) => once(locker, 'message')));
});

afterAll(() => {
  for (const locker of lockers) locker.kill();
  rmSync(directory, { recursive: true });
});

it('gives the night of a dead process to one of those that resume it at once', async () => {
  for (let round = 1; round <= 200; round += 1) {
    const at = performance.timeOrigin + performance.now() + 5;
    const answers = lockers.map(async (locker) => {
      const answered = once(locker, 'message');
      locker.send(at);
      const [isMine] = await answered;
      return isMine === true ? locker.pid : null;
    });
    const owners = (await Promise.all(answers)).filter((pid) => pid !== null);
    expect(owners).toHaveLength(1);
    expect(readdirSync(directory)).toEqual([`lock-${round}.json`]);
    const path = join(directory, `lock-${round}.json`);
    const owner = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
    expect(owner).toHaveProperty('pid', owners[0]);
    /* As if it had died. */
    writeFileSync(path, JSON.stringify({ ...owner, startTicks: '1' }));
  }
}, 20_000);
