/** A small run that loses an acknowledged record on `hw`: the ground of these tests. */
import { defaultRunConfig } from '../../../harness/plan/config.ts';
import type { RunConfig } from '../../../harness/plan/config.ts';
import { planOf } from '../../../harness/run/plan.ts';
import { loadOf } from '../../../harness/shrink/case.ts';
import type { Case } from '../../../harness/shrink/case.ts';
import { simulate } from '../../../harness/sim/simulate.ts';
import type { SimulationRequest } from '../../../harness/sim/simulation.ts';

export function requestOf(overrides: Partial<RunConfig> = {}): SimulationRequest {
  const config: RunConfig = {
    ...defaultRunConfig,
    build: 'hw',
    runtime: 'sim',
    seed: 5,
    partitions: 2,
    rate: 40,
    concurrency: 4,
    ...overrides,
  };
  return { config, schedule: planOf(config) };
}

/** The same, with its load written out. */
export function caseOf(overrides: Partial<RunConfig> = {}): Case {
  const request = requestOf(overrides);
  return { ...request, load: loadOf(simulate(request), request.config.concurrency) };
}
