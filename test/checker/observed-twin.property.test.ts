/**
 * Exposures by what was seen, against exposures by the trace of the same runs: none may be invented, and one that is missed
 * must be doubted.
 */
import { describe, expect, it } from 'vitest';
import { findExposures } from '../../checker/exposures.ts';
import { readObservations } from '../../checker/observations.ts';
import { findObservedExposures } from '../../checker/observed-exposures.ts';
import { readTrace } from '../../checker/parse-trace.ts';
import { rebuildReplicas } from '../../checker/replicas.ts';
import type { Exposure } from '../../checker/results.ts';
import { defaultRunConfig, foreignFaultKinds, type RunConfig } from '../../harness/plan/config.ts';
import { planOf } from '../../harness/run/plan.ts';
import { simulate } from '../../harness/sim/simulate.ts';
import type { TraceLine } from '../../nemesis/ports.ts';
import { seenFromOutside } from './seen-from-outside.ts';

const seeds = Array.from({ length: 6 }, (_, at) => at + 1);

const traces = new Map<string, readonly TraceLine[]>();

/** The trace of one run; played once. */
function traceOf(build: string, seed: number): readonly TraceLine[] {
  const name = `${build} ${seed}`;
  let trace = traces.get(name);
  if (trace === undefined) {
    const config: RunConfig = { ...defaultRunConfig, build, runtime: 'sim', seed, nemesis: foreignFaultKinds };
    trace = [...simulate({ config, schedule: planOf(config) }).trace];
    traces.set(name, trace);
  }
  return trace;
}

function nameOf({ key, node, leaderEpoch, highWatermark, endOffset, acknowledged }: Exposure): string {
  return `${key} ${node} ${leaderEpoch} ${highWatermark} ${endOffset} ${acknowledged.join('-')}`;
}

describe.each(['hw', 'epoch'])('exposures of %s, seen from outside', (build) => {
  it.each(seeds)('are those of its trace, or doubted: seed %i', (seed) => {
    const trace = traceOf(build, seed);
    const told = new Set(findExposures(rebuildReplicas(readTrace(trace))).map(nameOf));
    const { exposures, doubt } = findObservedExposures(readObservations(seenFromOutside(trace, 'log')));
    const seen = (exposures ?? []).map(nameOf);
    expect(seen.filter((name) => !told.has(name))).toEqual([]);
    expect(seen.length === told.size || doubt !== null).toBe(true);
  });

  it('are found at all', () => {
    const found = seeds.map((seed) => {
      const seen = seenFromOutside(traceOf(build, seed), 'metadata', 40e6);
      return findObservedExposures(readObservations(seen)).exposures?.length ?? 0;
    });
    expect(found.filter((count) => count > 0).length).toBeGreaterThan(seeds.length / 2);
  });
});
