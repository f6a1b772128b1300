/** Requests for simulated runs, as the tests need them. */
import { planOf } from '../../../harness/run/simulated-run.ts';
import { defaultRunConfig, type RunConfig } from '../../../harness/plan/config.ts';
import type { SimulationRequest } from '../../../harness/sim/simulation.ts';
import type { Fault } from '../../../nemesis/schedule.ts';

function configFor(build: string, seed: number, changes: Partial<RunConfig> = {}): RunConfig {
  return { ...defaultRunConfig, build, runtime: 'sim', seed, ...changes };
}

/** A run as its seed draws it. */
export function requestFor(build: string, seed: number, changes: Partial<RunConfig> = {}): SimulationRequest {
  const config = configFor(build, seed, changes);
  return { config, schedule: planOf(config) };
}

/** A run with exactly these faults. */
export function requestWith(faults: readonly Fault[], changes: Partial<RunConfig> = {}): SimulationRequest {
  const config = configFor('epoch', 1, { timeLimitMs: 4_000, ...changes });
  return { config, schedule: { schemaVersion: 1, seed: 1, durationMs: config.timeLimitMs, faults } };
}
