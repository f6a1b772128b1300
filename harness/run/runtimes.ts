/**
 * Where the brokers run: containers if an engine answers and its containers can be reached, local processes otherwise.
 *
 * The choice is said in one line with its reason, and made once per command, so that all runs of a comparison share it.
 */
import type { ImageDescription } from '../../docker/targets/image.ts';
import type { Target } from '../../docker/targets/target.ts';
import type { Cluster, DeploySpec, NodeId } from '../../nemesis/ports.ts';
import { EnvironmentError } from '../errors.ts';
import { isForeignBuild } from '../foreign-build.ts';
import type { RunConfig } from '../plan/config.ts';
import type { ClusterPool } from './cluster-pool.ts';
import { readDescription, targetOf } from './targets.ts';

export interface ChosenRuntime {
  readonly name: RunConfig['runtime'];
  /** One line for the user: which, and why. */
  readonly reason: string;
  readonly deploy: (spec: DeploySpec) => Promise<Cluster>;
  /** Of brokers that others wrote; undefined where they cannot run. */
  readonly foreign?: ForeignRuntime;
}

/** Clusters of foreign brokers. Whoever chose the runtime releases them in the end. */
export interface ForeignRuntime extends ClusterPool {
  /** Throws a usage error for a build that names no target. */
  targetOf(build: string, brokers: readonly NodeId[]): Target;
}

export interface RuntimeOptions {
  /** All that are to run: those that others wrote are looked at before anything is started. */
  readonly builds?: readonly string[];
  /** How many there are in a cluster. */
  readonly brokers?: number;
  /** The file that describes the brokers of an `image:<ref>`. */
  readonly description?: string | undefined;
}

/** The runtime that was asked for, or the best one that works here. A runtime asked for by name is never replaced. */
export async function chooseRuntime(
  wanted: 'local' | 'docker' | undefined,
  { builds = [], brokers = 1, description }: RuntimeOptions = {},
): Promise<ChosenRuntime> {
  const foreign = builds.filter(isForeignBuild);
  const described = await readDescription(description);
  for (const build of foreign) refuseUnlessThere(build, brokers, described);
  if (wanted === 'local') return local('asked for');
  const { probeEngine } = await import('../../docker/engine.ts');
  const probe = await probeEngine();
  if (probe.ok) {
    const { deployDocker } = await import('../../docker/runtime.ts');
    return {
      name: 'docker',
      reason: `brokers run in containers (Docker engine ${probe.version})`,
      deploy: deployDocker,
      foreign: await foreignRuntime(described),
    };
  }
  if (foreign.length > 0) throw new EnvironmentError(`${foreign[0]} runs in containers only: ${probe.line}`);
  if (wanted === 'docker') throw new EnvironmentError(`--runtime docker: ${probe.line}`);
  return local(`no containers: ${probe.line}`);
}

/** Ends what a runtime kept for later runs. What could not be removed is an error to end with. */
export async function releaseRuntime({ foreign }: ChosenRuntime): Promise<EnvironmentError | null> {
  const { residue } = (await foreign?.release()) ?? { residue: [] };
  return residue.length === 0 ? null : new EnvironmentError(`could not remove ${residue.join(', ')}: try tidemark gc`);
}

/** Usage errors for names that mean nothing, and the command to type where something has to be fetched first. */
function refuseUnlessThere(build: string, brokers: number, description: ImageDescription | null): void {
  const nodes = Array.from({ length: brokers }, (_, index) => index + 1);
  const lacks = targetOf(build, nodes, description).lacks();
  if (lacks !== null) throw new EnvironmentError(lacks);
}

async function foreignRuntime(description: ImageDescription | null): Promise<ForeignRuntime> {
  const { poolClusters } = await import('./cluster-pool.ts');
  return {
    ...poolClusters(async (spec) => (await import('../../docker/foreign-cluster.ts')).deployForeign(spec)),
    targetOf: (build, brokers) => targetOf(build, brokers, description),
  };
}

async function local(why: string): Promise<ChosenRuntime> {
  const { deployLocal } = await import('../local/runtime.ts');
  return { name: 'local', reason: `brokers run as local processes (${why})`, deploy: deployLocal };
}
