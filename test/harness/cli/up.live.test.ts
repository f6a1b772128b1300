/** `tidemark up`: a cluster that any client can use, until Ctrl-C. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAdmin } from '../../../harness/run/admin.ts';
import type { Address } from '../../../nemesis/ports.ts';
import { have } from '../../require.ts';
import { localLeftovers, start, type Running } from './tidemark.ts';

let temporary = '';
let running: Running;
let bootstrap = '';

beforeAll(async () => {
  temporary = mkdtempSync(join(tmpdir(), 'tidemark-cli-'));
  const argv = ['up', '--build', '1=hw,2-3=epoch', '--runtime', 'local', '--topic', 'sea', '--partitions', '2'];
  running = start([...argv, '--store', join(temporary, 'store')], { env: { TMPDIR: temporary } });
  bootstrap = (await running.said(/^bootstrap /)).slice('bootstrap '.length);
});

afterAll(async () => {
  running.child.kill('SIGINT');
  await running.ended;
  rmSync(temporary, { recursive: true, force: true });
});

it('prints an address at which our client finds the topic, led and in sync', async () => {
  const addresses = new Map<number, Address>(
    bootstrap.split(',').map((text, index) => {
      const [host = '', port = ''] = text.split(':');
      return [index + 1, { host, port: Number(port) }];
    }),
  );
  const { brokers, partitions } = await createAdmin(addresses).describe(['sea']);
  expect(brokers).toEqual([1, 2, 3]);
  expect([...partitions.keys()].sort()).toEqual(['sea-0', 'sea-1']);
  for (const partition of partitions.values()) expect(partition.leader).not.toBeNull();
});

it.skipIf(!have.kcat)('can be used with kcat as the printed line says', async () => {
  const command = (await running.said(/^try: kcat /)).slice('try: kcat '.length).split(' ');
  const listed = spawnSync('kcat', command, { encoding: 'utf8', timeout: 20_000 });
  expect(listed.status).toBe(0);
  expect(listed.stdout).toContain('topic "sea" with 2 partitions');
  const kcat = (input: string, ...argv: readonly string[]) =>
    spawnSync('kcat', ['-b', bootstrap, '-t', 'sea', '-p', '1', ...argv], { input, encoding: 'utf8', timeout: 20_000 });
  expect(kcat('ebb\nflow\n', '-P', '-X', 'acks=all')).toMatchObject({ status: 0 });
  expect(kcat('', '-C', '-e', '-q', '-f', '%o %s\n')).toMatchObject({ status: 0, stdout: '0 ebb\n1 flow\n' });
});

it('is removed with Ctrl-C, and leaves logs and trace in the store', async () => {
  await running.said(/^Ctrl-C removes the cluster$/);
  running.child.kill('SIGINT');
  const ended = await running.ended;
  expect(ended).toMatchObject({ code: 130, out: '' });
  expect(localLeftovers(temporary)).toEqual([]);
  const [run = ''] = readdirSync(join(temporary, 'store/up'));
  expect(readdirSync(join(temporary, 'store/up', run)).sort()).toEqual(['logs', 'trace.jsonl']);
  expect(existsSync(join(temporary, 'store/latest'))).toBe(false);
});
