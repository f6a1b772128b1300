/**
 * The program of each node: which file to run, and the one argument that tells it everything.
 *
 * This is the only place where the harness speaks to the broker other than by Kafka's protocol.
 */
import { buildNames } from '../../broker/core/builds.ts';
import type { ProcessConfig } from '../../broker/core/settings.ts';
import type { Cluster, ProcessPlace } from '../../nemesis/ports.ts';
import { buildsByNode } from '../plan/builds-by-node.ts';
import { clusterSettingsOf } from '../plan/cluster-settings.ts';
import type { RunConfig } from '../plan/config.ts';

/** What a cluster is told, out of a run's configuration. */
export type ClusterConfig = Pick<
  RunConfig,
  | 'build'
  | 'defects'
  | 'brokers'
  | 'minInsyncReplicas'
  | 'uncleanElection'
  | 'replicaLagTimeMaxMs'
  | 'brokerSessionTimeoutMs'
  | 'heartbeatIntervalMs'
  | 'fetchMaxWaitMs'
  | 'highWatermarkCheckpointIntervalMs'
>;

/**
 * How a node ended, for people: `exit code 255: {"level":60,…,"msg":"cannot write …"}` without the clothes of the log
 * line that were its last words.
 */
export function lastWords(detail: string): string {
  const start = detail.indexOf('{"');
  if (start < 0) return detail;
  try {
    const line = JSON.parse(detail.slice(start)) as { readonly msg?: unknown };
    return typeof line.msg === 'string' ? detail.slice(0, start) + line.msg : detail;
  } catch {
    return detail;
  }
}

/** Where clients begin, as Kafka's tools take it: `host:port,host:port`. */
export function bootstrapOf({ addresses }: Pick<Cluster, 'addresses'>): string {
  return [...addresses.values()].map(({ host, port }) => `${host}:${port}`).join(',');
}

/** For a runtime: the command of each node. `clockOriginNs` is the origin of the trace's clock. */
export function nodeCommand(config: ClusterConfig, clockOriginNs: bigint): (place: ProcessPlace) => readonly string[] {
  const builds = buildsByNode(config.build, config.brokers, buildNames);
  if (typeof builds === 'string') throw new Error(builds);
  const settings = clusterSettingsOf(config);
  return ({ node, ...place }) => {
    const processConfig: ProcessConfig = {
      node,
      build: node === 'controller' ? 'controller' : (builds.get(node) ?? ''),
      defects: config.defects,
      clusterId: 'tidemark',
      ...place,
      clockOriginNs: String(clockOriginNs),
      settings,
    };
    const program = node === 'controller' ? 'broker/server/controller-main.ts' : 'broker/server/main.ts';
    return [program, JSON.stringify(processConfig)];
  };
}
