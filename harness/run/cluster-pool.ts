/**
 * Clusters of foreign brokers, kept from run to run: one takes seconds to come up, and serves many runs with a topic each.
 *
 * A run takes a cluster that is like what it needs, or has one deployed, and gives it back when it left it clean. What
 * a run left unclean is removed at once, as is one that broke while nobody used it. Two are kept at most, so that control
 * and candidate of a comparison stand side by side.
 *
 * Invariant: a cluster serves one run at a time, and no topic twice (a comparison of equal builds meets each seed twice);
 * after `release` none is left.
 */
import type { ForeignCluster, ForeignSpec } from '../../docker/foreign.ts';

export interface PooledCluster {
  readonly cluster: ForeignCluster;
  /** The run is over. `clean`: the next one may have the cluster as it is. */
  end(clean: boolean): Promise<Removal>;
}

interface Removal {
  /** What could not be removed. */
  readonly residue: readonly string[];
}

export interface ClusterPool {
  /** A cluster that has never had this topic. */
  take(spec: ForeignSpec, topic: string): Promise<PooledCluster>;
  /** Removes all that is kept. Never rejects. */
  release(): Promise<Removal>;
}

interface Kept {
  readonly key: string;
  readonly cluster: ForeignCluster;
  /** Of the runs that it served. */
  readonly topics: Set<string>;
  broken: boolean;
}

const keptMax = 2;
/** Brokers go on replicating the topics of earlier runs, and say so in their logs. */
const runsMax = 8;

export function poolClusters(deploy: (spec: ForeignSpec) => Promise<ForeignCluster>): ClusterPool {
  const kept: Kept[] = [];
  let released = false;

  const fresh = async (key: string, spec: ForeignSpec): Promise<Kept> => {
    const entry: Kept = { key, cluster: await deploy(spec), topics: new Set(), broken: false };
    entry.cluster.onUnexpectedExit(() => (entry.broken = true));
    return entry;
  };

  return {
    async take(spec, topic) {
      const key = JSON.stringify([spec.target.name, spec.brokers, spec.settings]);
      const index = kept.findIndex((entry) => entry.key === key && !entry.topics.has(topic));
      let entry = index < 0 ? undefined : kept.splice(index, 1)[0];
      if (entry?.broken === true) {
        await entry.cluster.close();
        entry = undefined;
      }
      const used = entry ?? (await fresh(key, spec));
      used.topics.add(topic);
      return {
        cluster: used.cluster,
        async end(clean) {
          if (!clean || used.broken || released || used.topics.size >= runsMax) return used.cluster.close();
          kept.push(used);
          const surplus = kept.length > keptMax ? kept.shift() : undefined;
          return surplus === undefined ? { residue: [] } : surplus.cluster.close();
        },
      };
    },
    async release() {
      released = true;
      const removals = await Promise.all(kept.splice(0).map(({ cluster }) => cluster.close()));
      return { residue: removals.flatMap(({ residue }) => residue) };
    },
  };
}
