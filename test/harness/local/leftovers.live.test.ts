/** Nothing outlives the harness, however it dies. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { collectLocalGarbage } from '../../../harness/local/leftovers.ts';
import { thisProcess } from '../../../docker/labels.ts';
import type { Owner } from '../../../docker/labels.ts';
import { RUN_VARIABLE, processesOfRun, statusOf } from '../../../harness/local/proc.ts';

const root = join(tmpdir(), `tidemark-local-${process.getuid?.()}`);
let directory: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tidemark-test-'));
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

/** A harness of its own, with two brokers (one of them paused) and a controller. */
async function abandoned(runId: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['test/harness/local/abandoned.ts', runId, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  await once(child.stdout, 'data');
  return child;
}

/** The watchdog's deed cannot be subscribed to, only seen. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}

function leaseTo(runId: string, owner: Owner): void {
  writeFileSync(join(root, runId, 'lease.json'), JSON.stringify({ schemaVersion: 1, runId, owner }));
}

describe('leftovers of a run', () => {
  it('are removed when the harness is killed, paused processes too', async () => {
    const runId = `dies-${process.pid}`;
    const harness = await abandoned(runId);
    expect(processesOfRun(runId)).toHaveLength(3);
    harness.kill('SIGKILL');
    await until(() => processesOfRun(runId).length === 0 && !existsSync(join(root, runId)));
  });

  it('are not touched while the harness lives, even if it is stopped', async () => {
    const runId = `lives-${process.pid}`;
    const harness = await abandoned(runId);
    harness.kill('SIGSTOP');
    const { removed } = await collectLocalGarbage();
    expect(removed.filter((name) => name.includes(runId))).toEqual([]);
    expect(processesOfRun(runId)).toHaveLength(3);
    harness.kill('SIGKILL');
    await until(() => !existsSync(join(root, runId)));
  });

  it('are found by the garbage collection when nobody else removed them', async () => {
    const runId = `left-${process.pid}`;
    mkdirSync(join(root, runId, 'data/1'), { recursive: true });
    /* A pid that was used again: it lives, but it is not the process that the lease names. */
    leaseTo(runId, { ...thisProcess(), startTicks: '1' });
    const stray = spawn('sleep', ['600'], { env: { ...process.env, [RUN_VARIABLE]: runId } });
    const stranger = spawn('sleep', ['600']);
    children.push(stray, stranger);
    await Promise.all([once(stray, 'spawn'), once(stranger, 'spawn')]);
    const { removed } = await collectLocalGarbage();
    expect(removed).toEqual(expect.arrayContaining([`process ${stray.pid} of the run ${runId}`, join(root, runId)]));
    expect(existsSync(join(root, runId))).toBe(false);
    expect(statusOf(stranger.pid ?? 0)?.state).toMatch(/^[RS]$/);
    expect((await collectLocalGarbage()).removed).toEqual([]);
  });

  it('of a harness in another pid namespace are left alone, for nobody here can tell whether it lives', async () => {
    const runId = `elsewhere-${process.pid}`;
    mkdirSync(join(root, runId), { recursive: true });
    leaseTo(runId, { ...thisProcess(), pidNamespace: 'pid:[1]', pid: 2 ** 22 - 1 });
    await collectLocalGarbage();
    expect(existsSync(join(root, runId))).toBe(true);
    rmSync(join(root, runId), { recursive: true });
  });

  it('of a lease that cannot be read are left alone while they are fresh', async () => {
    const runId = `fresh-${process.pid}`;
    mkdirSync(join(root, runId), { recursive: true });
    await collectLocalGarbage();
    expect(existsSync(join(root, runId))).toBe(true);
    rmSync(join(root, runId), { recursive: true });
  });

  it('show nothing of other users or of the system', () => {
    expect(statusOf(process.pid)?.state).toMatch(/^[RS]$/);
    expect(statusOf(2 ** 22 + 1)).toBeNull();
    expect(readFileSync('/proc/self/stat', 'utf8')).toContain('(');
  });
});
