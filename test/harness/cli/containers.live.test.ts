/** The tool on containers, as a user meets it: nothing outlives a run, however it ends, and runs do not disturb each other. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { have } from '../../require.ts';
import { jsonLines, start, tidemark, until } from './tidemark.ts';

let temporary = '';

beforeAll(() => {
  temporary = mkdtempSync(join(tmpdir(), 'tidemark-cli-'));
});

afterAll(() => rmSync(temporary, { recursive: true, force: true }));

/** The names of everything of ours that the engine holds: containers, networks, volumes. */
function leftovers(): string[] {
  const list = (...argv: readonly string[]): string[] =>
    execFileSync('docker', [...argv, '--filter', 'label=tidemark.run'], { encoding: 'utf8' })
      .split('\n')
      // The images carry the label too, without a run.
      .filter((line) => line !== '');
  return [
    ...list('ps', '--all', '--format', '{{.Names}}'),
    ...list('network', 'ls', '--format', '{{.Name}}'),
    ...list('volume', 'ls', '--format', '{{.Name}}'),
  ];
}

describe.skipIf(!have.docker)('in containers', () => {
  it('are used without being asked for, and leave the same files', async () => {
    const store = join(temporary, 'run');
    const ended = await tidemark(['run', '--nemesis', 'none', '--time-limit', '2s', '--seed', '3', '--store', store]);
    expect(ended.code).toBe(0);
    expect(ended.lines[1]).toMatch(/^brokers run in containers \(Docker engine [\w.+~-]+\)$/);
    expect(ended.err).toContain('--seed 3 --runtime docker --time-limit 2s --nemesis none');
    const directory = realpathSync(join(store, 'latest'));
    const files = ['data', 'history.jsonl', 'logs', 'report.html', 'results.json', 'run.json', 'schedule.json'];
    expect(readdirSync(directory).sort()).toEqual([...files, 'junit.xml', 'summary.md', 'trace.jsonl'].sort());
    expect(readdirSync(join(directory, 'data')).sort()).toEqual(['1', '2', '3', 'controller']);
    expect(leftovers()).toEqual([]);
  });

  it('are removed with Ctrl-C, in the middle of faults, within a bound', async () => {
    const argv = ['run', '--runtime', 'docker', '--nemesis-interval', '500ms', '--time-limit', '60s', '--seed', '8'];
    const running = start([...argv, '--store', join(temporary, 'interrupted')]);
    await running.said(/^load and faults$/);
    const history = join(temporary, 'interrupted/latest/history.jsonl');
    await until(() => readFileSync(history, 'utf8').includes('"process":"nemesis"'));
    expect(leftovers()).not.toEqual([]);
    const before = performance.now();
    running.child.kill('SIGINT');
    const ended = await running.ended;
    expect(ended.code).toBe(130);
    expect(performance.now() - before).toBeLessThan(15_000);
    expect(leftovers()).toEqual([]);
  });

  it('go by themselves when the harness is killed, and neither that nor gc touches a run beside it', async () => {
    const [killedStore, besideStore] = [join(temporary, 'killed'), join(temporary, 'beside')];
    const killed = start(['run', '--build', 'hw', '--time-limit', '60s', '--store', killedStore]);
    const beside = start(['run', '--nemesis', 'none', '--time-limit', '5s', '--store', besideStore]);
    await Promise.all([killed.said(/^load and faults$/), beside.said(/^load and faults$/)]);
    await until(() => jsonLines(join(killedStore, 'latest/history.jsonl')).length > 50);
    killed.child.kill('SIGKILL');
    await killed.ended;
    const gc = await tidemark(['gc']);
    expect(gc.code).toBe(0);
    expect(gc.err).not.toContain('epoch-');
    const checked = await tidemark(['check', join(killedStore, 'latest')]);
    expect([1, 2]).toContain(checked.code);
    expect(await beside.ended).toMatchObject({ code: 0 });
    await until(() => leftovers().length === 0);
    expect((await tidemark(['gc'])).err).toContain('nothing was left over');
  });

  it('can be played with by kcat, and are removed with Ctrl-C', async () => {
    const running = start(['up', '--runtime', 'docker', '--store', join(temporary, 'up')]);
    const bootstrap = (await running.said(/^bootstrap /)).slice('bootstrap '.length);
    if (have.kcat) {
      const { stdout } = spawnSync('kcat', ['-b', bootstrap, '-L'], { encoding: 'utf8', timeout: 20_000 });
      expect(stdout).toContain('topic "tide" with 8 partitions');
    }
    running.child.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
    expect(leftovers()).toEqual([]);
  });
});
