/**
 * A local cluster of our own brokers that passes for one of foreign brokers: its trace is heard by whoever asks for it, and
 * by nobody else; its segments are watched in this very process.
 */
import { cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { watchSegments, type SegmentWatch } from '../../../docker/agent/watch.ts';
import type { ForeignCluster, ForeignSpec, OutputListener } from '../../../docker/foreign.ts';
import type { Target } from '../../../docker/targets/target.ts';
import { deployLocal } from '../../../harness/local/runtime.ts';
import { defaultRunConfig } from '../../../harness/plan/config.ts';
import { nodeCommand } from '../../../harness/run/node-command.ts';
import type { Cluster, ExitListener, NodeId, NodeName } from '../../../nemesis/ports.ts';

export interface Passing {
  /** What watches from outside knows. */
  readonly foreign: ForeignCluster;
  /** What tells its trace. */
  readonly own: Cluster;
  /** A node prints a line, or a companion beside it. */
  say: OutputListener;
}

export const passingTarget: Target = {
  name: 'kafka:ours',
  capabilities: { faults: {}, guarantees: {}, triggers: {}, exposures: true },
  leaderMove: 'none',
  lacks: () => null,
  logPatterns: () => [{ shows: 'ends-itself', pattern: /ends itself/ }],
  prepare: () => Promise.resolve(),
  nodes: () => [],
};

export async function deployPassing(
  spec: Omit<ForeignSpec, 'target' | 'settings'>,
  build = 'epoch',
  clockOriginNs = process.hrtime.bigint(),
): Promise<Passing> {
  const command = nodeCommand({ ...defaultRunConfig, build }, clockOriginNs);
  const folders = new Map<NodeName, string>();
  const own = await deployLocal({
    ...spec,
    command(place) {
      folders.set(place.node, place.dataDirectory);
      return command(place);
    },
  });
  const listeners = new Set<OutputListener>();
  let watches: readonly SegmentWatch[] = [];
  const endWatches = (): void => {
    for (const watch of watches) watch.close();
  };
  const foreign: ForeignCluster = {
    runtime: 'local',
    observed: true,
    brokers: own.brokers,
    addresses: own.addresses,
    kafkaAddresses: own.addresses,
    target: passingTarget,
    subscribe: () => {},
    onUnexpectedExit: (listener: ExitListener) => own.onUnexpectedExit(listener),
    onOutput(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    perform: (action) => own.perform(action),
    probeLinks: (timeoutMs) => own.probeLinks(timeoutMs),
    watchSegments(request, listener) {
      endWatches();
      watches = own.brokers.map((node) =>
        watchSegments({
          ...request,
          directory: folders.get(node)!,
          onSegments: (event) => listener(node, event),
          onBlind(reason) {
            throw new Error(reason);
          },
        }),
      );
      return Promise.resolve();
    },
    collect: () => Promise.reject(new Error('each run copies its own topic')),
    async collectTopic(directory, topic) {
      await Promise.all(own.brokers.map((node) => copy(node, folders, directory, topic)));
    },
    close() {
      endWatches();
      return own.close();
    },
  };
  return {
    foreign,
    own,
    say(...output) {
      for (const listener of listeners) listener(...output);
    },
  };
}

async function copy(
  node: NodeId,
  folders: ReadonlyMap<NodeName, string>,
  directory: string,
  topic: string,
): Promise<void> {
  const from = folders.get(node)!;
  const to = join(directory, 'data', `${node}`);
  await rm(to, { recursive: true, force: true });
  await mkdir(to, { recursive: true });
  await cp(from, to, {
    recursive: true,
    filter: (path) => path === from || !path.slice(from.length + 1).includes('-') || isWanted(path, from, topic),
  });
}

function isWanted(path: string, from: string, topic: string): boolean {
  const [first = ''] = path.slice(from.length + 1).split('/');
  return first.endsWith('-checkpoint') || first.startsWith(`${topic}-`);
}
