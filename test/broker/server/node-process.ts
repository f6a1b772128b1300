/**
 * A real process of a broker or a controller, for live tests: started with a whole configuration on a free port,
 * its trace parsed line by line, killed when the test that started it ends.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { ProcessConfig } from '../../../broker/core/settings.ts';

export interface TraceLine {
  readonly seq: number;
  readonly boot: number;
  readonly event: string;
  readonly partition?: string;
  readonly [field: string]: unknown;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const root = fileURLToPath(new URL('../../..', import.meta.url));
const clockOriginNs = String(process.hrtime.bigint());

export class NodeProcess {
  readonly config: ProcessConfig;
  readonly trace: TraceLine[] = [];
  readonly exited: Promise<Exit>;
  errors = '';
  readonly #child: ChildProcess;
  #woken: (() => void)[] = [];

  constructor(config: ProcessConfig) {
    this.config = config;
    const main = config.node === 'controller' ? 'controller-main.ts' : 'main.ts';
    const argv = [`broker/server/${main}`, JSON.stringify(config)];
    this.#child = spawn(process.execPath, argv, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    onTestFinished(() => void this.#child.kill('SIGKILL'));
    createInterface({ input: this.#child.stdout! }).on('line', (line) => {
      this.trace.push(JSON.parse(line) as TraceLine);
      this.#wake();
    });
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.errors += text;
      this.#wake();
    });
    this.exited = once(this.#child, 'close').then(([code, signal]) => {
      this.#wake();
      return { code, signal } as Exit;
    });
  }

  /** Resolves with the first trace line, from line `from` on, that `wanted` accepts. */
  async traced(wanted: (line: TraceLine) => boolean, from = 0): Promise<TraceLine> {
    return this.#when(() => this.trace.slice(from).find(wanted));
  }

  /** Resolves when the process has said that it listens. */
  async listening(): Promise<this> {
    await this.#when(() => this.errors.includes('"msg":"listening"') || undefined);
    return this;
  }

  kill(signal: NodeJS.Signals): Promise<Exit> {
    this.#child.kill(signal);
    return this.exited;
  }

  /** Stops reading what it writes to standard output, as a harness that died. */
  closeTrace(): void {
    this.#child.stdout!.destroy();
  }

  async #when<T>(look: () => T | undefined): Promise<T> {
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) {
        throw new Error(`node ${this.config.node} has ended: ${this.errors}`);
      }
      await new Promise<void>((resolve) => this.#woken.push(resolve));
    }
  }

  #wake(): void {
    const woken = this.#woken;
    this.#woken = [];
    for (const resolve of woken) resolve();
  }
}

/** A port of loopback that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('a server on a port has an address');
  return address.port;
}

export function processConfig(
  node: ProcessConfig['node'],
  build: string,
  dataDirectory: string,
  port: number,
  controllerPort: number,
): ProcessConfig {
  const place = { host: '127.0.0.1', port };
  return {
    node,
    build,
    defects: [],
    clusterId: 'test',
    dataDirectory,
    listen: place,
    advertised: place,
    controller: { host: '127.0.0.1', port: controllerPort },
    clockOriginNs,
    settings: {
      replicaLagTimeMaxMs: 2_000,
      brokerSessionTimeoutMs: 1_500,
      heartbeatIntervalMs: 300,
      fetchMaxWaitMs: 500,
      highWatermarkCheckpointIntervalMs: 1_000,
      minInsyncReplicas: 1,
      uncleanElection: false,
    },
  };
}
