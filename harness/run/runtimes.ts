/**
 * Where the brokers run: containers if an engine answers and its containers can be reached, local processes otherwise.
 *
 * The choice is said in one line with its reason, and made once per command, so that all runs of a comparison share it.
 */
import type { Target } from '../../docker/targets/target.ts';
import type { Cluster, DeploySpec, NodeId } from '../../nemesis/ports.ts';
import { EnvironmentError } from '../errors.ts';
import type { RunConfig } from '../plan/config.ts';
import type { ClusterPool } from './cluster-pool.ts';

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

/** The runtime that was asked for, or the best one that works here. A runtime asked for by name is never replaced. */
export async function chooseRuntime(wanted: 'local' | 'docker' | undefined): Promise<ChosenRuntime> {
  if (wanted === 'local') return local('asked for');
  const { probeEngine } = await import('../../docker/engine.ts');
  const probe = await probeEngine();
  if (probe.ok) {
    const { deployDocker } = await import('../../docker/runtime.ts');
    return {
      name: 'docker',
      reason: `brokers run in containers (Docker engine ${probe.version})`,
      deploy: deployDocker,
    };
  }
  if (wanted === 'docker') throw new EnvironmentError(`--runtime docker: ${probe.line}`);
  return local(`no containers: ${probe.line}`);
}

/** Ends what a runtime kept for later runs. What could not be removed is an error to end with. */
export async function releaseRuntime({ foreign }: ChosenRuntime): Promise<EnvironmentError | null> {
  const { residue } = (await foreign?.release()) ?? { residue: [] };
  return residue.length === 0 ? null : new EnvironmentError(`could not remove ${residue.join(', ')}: try tidemark gc`);
}

async function local(why: string): Promise<ChosenRuntime> {
  const { deployLocal } = await import('../local/runtime.ts');
  return { name: 'local', reason: `brokers run as local processes (${why})`, deploy: deployLocal };
}
