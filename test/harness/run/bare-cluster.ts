/** A cluster of local processes without any fault proxy, for tests that need nothing but brokers. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defaultRunConfig } from '../../../harness/plan/config.ts';
import { nodeCommand } from '../../../harness/run/node-command.ts';
import type { Address, NodeName } from '../../../nemesis/ports.ts';
import { closedPort } from './little-broker.ts';

export interface BareCluster {
  readonly addresses: ReadonlyMap<number, Address>;
  readonly clockOriginNs: bigint;
  kill(node: NodeName, signal?: NodeJS.Signals): Promise<void>;
  start(node: NodeName): Promise<void>;
  /** What the node has traced so far, as text. */
  trace(node: NodeName): string;
  close(): Promise<void>;
}

const root = fileURLToPath(new URL('../../..', import.meta.url));

export async function startBareCluster(build: string): Promise<BareCluster> {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-cluster-'));
  const clockOriginNs = process.hrtime.bigint();
  const brokers = [1, 2, 3];
  const command = nodeCommand({ ...defaultRunConfig, build }, clockOriginNs);
  const address = async (): Promise<Address> => ({ host: '127.0.0.1', port: await closedPort() });
  const controller = await address();
  const addresses = new Map<number, Address>();
  for (const node of brokers) addresses.set(node, await address());
  const children = new Map<NodeName, ChildProcess>();

  const start = async (node: NodeName): Promise<void> => {
    const listen = node === 'controller' ? controller : addresses.get(node)!;
    const dataDirectory = join(directory, `data-${node}`);
    mkdirSync(dataDirectory, { recursive: true });
    const [program, argument] = command({ node, dataDirectory, listen, advertised: listen, controller });
    const out = openSync(join(directory, `${node}.trace`), 'a');
    const log = openSync(join(directory, `${node}.log`), 'a');
    const child = spawn(process.execPath, [program!, argument!], { cwd: root, stdio: ['ignore', out, log] });
    children.set(node, child);
    await once(child, 'spawn');
  };

  const kill = async (node: NodeName, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> => {
    const child = children.get(node)!;
    const ended = once(child, 'exit');
    if (child.kill(signal)) await ended;
    children.delete(node);
  };

  for (const node of ['controller', ...brokers] as const) await start(node);
  return {
    addresses,
    clockOriginNs,
    kill,
    start,
    trace: (node) => readFileSync(join(directory, `${node}.trace`), 'utf8'),
    async close() {
      for (const node of children.keys()) await kill(node);
      if (process.env['TIDEMARK_KEEP'] !== '1') rmSync(directory, { recursive: true });
    },
  };
}
