/** A cluster of foreign brokers on its stage: deployed, spoken to, closed. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deployForeign } from '../../../docker/foreign-cluster.ts';
import type { ForeignCluster } from '../../../docker/foreign.ts';
import type { Target } from '../../../docker/targets/target.ts';
import { spreadReplicas } from '../../../harness/client/admin-requests.ts';
import { createAdmin, type Admin } from '../../../harness/run/admin.ts';
import { reachOf } from '../../../harness/run/reach.ts';
import { negotiateVersions } from '../../../harness/run/negotiate.ts';
import { newRunId } from '../cluster.ts';
import { layout } from './layout.ts';

export interface Stage {
  readonly cluster: ForeignCluster;
  readonly admin: Admin;
  readonly bootstrap: string;
  readonly directory: string;
  /** What a broker printed so far. */
  readonly lines: (node: number | 'controller') => readonly string[];
  readonly close: () => Promise<readonly string[]>;
}

export async function deploy(target: Target): Promise<Stage> {
  const directory = mkdtempSync(join(tmpdir(), 'kafka-test-'));
  const { signal } = new AbortController();
  const { brokers, settings } = layout;
  const cluster = await deployForeign({
    runId: newRunId(),
    brokers,
    directory,
    progress: () => {},
    signal,
    target,
    settings,
  });
  const printed = new Map<number | 'controller', string[]>();
  cluster.onOutput((node, line, companion) => {
    if (companion !== undefined) return;
    const lines = printed.get(node) ?? [];
    lines.push(line);
    printed.set(node, lines);
  });
  const close = async (): Promise<readonly string[]> => {
    const { residue } = await cluster.close();
    rmSync(directory, { recursive: true, force: true });
    return residue;
  };
  try {
    const versions = await negotiateVersions(cluster.addresses, { timeoutMs: 90_000, signal });
    const reach = reachOf(cluster.kafkaAddresses.values());
    const admin = createAdmin(cluster.addresses, 2_000, { versions: versions.admin, reach });
    await admin.createTopic({
      name: 'tide',
      partitions: 1,
      replicationFactor: 3,
      assignment: spreadReplicas(brokers, 1, 3),
      timeoutMs: 60_000,
      signal,
    });
    const bootstrap = [...cluster.addresses.values()].map(({ host, port }) => `${host}:${port}`).join(',');
    return { cluster, admin, bootstrap, directory, lines: (node) => printed.get(node) ?? [], close };
  } catch (error) {
    await close();
    throw error;
  }
}
