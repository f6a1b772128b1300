/**
 * Clusters of stand-ins for the tests of the Docker runtime, and what they await of them.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cluster, DeploySpec, NodeName, TraceLine } from '../../nemesis/ports.ts';
import type { Engine } from '../../docker/client.ts';
import { label } from '../../docker/labels.ts';
import { deployDocker } from '../../docker/runtime.ts';
import type { StandIn } from './stand-in.ts';

export interface Stage {
  readonly cluster: Cluster;
  readonly directory: string;
  readonly lines: readonly TraceLine[];
  readonly exits: readonly (readonly [NodeName, string])[];
  /** The first line that is like this, once there is one. */
  readonly heard: (like: (line: TraceLine) => boolean) => Promise<TraceLine>;
  readonly exited: (node: NodeName) => Promise<string>;
  readonly read: (path: string) => string;
  readonly close: () => Promise<readonly string[]>;
}

type Role = Omit<StandIn, 'node' | 'dataDirectory' | 'port'>;

let runs = 0;

export function newRunId(): string {
  return `test-${process.pid}-${++runs}`;
}

/** What the stand-ins of a cluster need, with the roles that some of them play. */
export function specOf(
  roles: Partial<Record<NodeName, Role>> = {},
  brokers = [1, 2],
): DeploySpec & { directory: string } {
  return {
    runId: newRunId(),
    brokers,
    directory: mkdtempSync(join(tmpdir(), 'docker-test-')),
    progress: () => {},
    signal: new AbortController().signal,
    command: ({ node, dataDirectory, listen }) => [
      'test/docker/stand-in.ts',
      JSON.stringify({ node, dataDirectory, port: listen.port, ...roles[node] } satisfies StandIn),
    ],
  };
}

/** Deploys stand-ins and waits until all that live are listening. */
export async function deploy(
  spec: DeploySpec = specOf(),
  listening: readonly NodeName[] = ['controller', ...spec.brokers],
): Promise<Stage> {
  const cluster = await deployDocker(spec);
  const lines = new Heard<TraceLine>();
  const exits = new Heard<readonly [NodeName, string]>();
  cluster.subscribe((line) => lines.add(line));
  cluster.onUnexpectedExit((node, detail) => exits.add([node, detail]));
  const stage: Stage = {
    cluster,
    directory: spec.directory,
    lines: lines.all,
    exits: exits.all,
    heard: (like) => lines.first(like),
    exited: async (node) => (await exits.first(([name]) => name === node))[1],
    read: (path) => readFileSync(join(spec.directory, path), 'utf8'),
    close: async () => {
      const { residue } = await cluster.close();
      rmSync(spec.directory, { recursive: true, force: true });
      return residue;
    },
  };
  await Promise.all(listening.map((node) => stage.heard((line) => line.node === node && line.event === 'listening')));
  return stage;
}

/** What was told so far, and who waits for more. */
class Heard<T> {
  readonly all: T[] = [];
  readonly #waiting = new Set<(one: T) => void>();

  add(one: T): void {
    this.all.push(one);
    for (const take of this.#waiting) take(one);
  }

  first(like: (one: T) => boolean): Promise<T> {
    const found = this.all.find(like);
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve) => {
      const take = (one: T): void => {
        if (!like(one)) return;
        this.#waiting.delete(take);
        resolve(one);
      };
      this.#waiting.add(take);
    });
  }
}

/** Everything that the engine holds of a run. */
export async function objectsOf(engine: Engine, runId: string): Promise<string[]> {
  const filters = { label: [`${label.run}=${runId}`] };
  const [containers, networks, volumes] = await Promise.all([
    engine.docker.listContainers({ all: true, filters }),
    engine.docker.listNetworks({ filters }),
    engine.docker.listVolumes({ filters }),
  ]);
  return [
    ...containers.map((one) => one.Names[0] ?? one.Id),
    ...networks.map((one) => one.Name),
    ...(volumes.Volumes ?? []).map((one) => one.Name),
  ].toSorted();
}
