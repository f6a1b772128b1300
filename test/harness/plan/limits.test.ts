/** How large a run may be: the product counts in the simulator, the number of faults everywhere. */
import { describe, expect, it } from 'vitest';
import { defaultRunConfig, type RunConfig } from '../../../harness/plan/config.ts';
import { excessInSimulator, excessOf } from '../../../harness/plan/limits.ts';

function excess(runtime: RunConfig['runtime'], overrides: Partial<RunConfig> = {}): string | null {
  return excessOf({ ...defaultRunConfig, runtime, ...overrides });
}

describe('a run', () => {
  it('of the defaults is none too large', () => {
    expect(excess('sim')).toBeNull();
    expect(excess('local')).toBeNull();
  });

  it('that the simulator cannot hold may still run on machines', () => {
    const long = { timeLimitMs: 3_000_000 };
    expect(excess('sim', long)).toMatch(/^the simulator holds a whole run in memory: 200000 operations .* are 300000;/);
    expect(excess('local', long)).toBeNull();
  });

  it('may be the longer, the fewer replicas each record has', () => {
    expect(excessInSimulator(600_000, { replicationFactor: 1 })).toBeNull();
    expect(excessInSimulator(600_000, { replicationFactor: 2 })).not.toBeNull();
  });

  it('may not draw faults without end, but for none at all', () => {
    const dense = { nemesisIntervalMs: 1 };
    expect(excess('docker', dense)).toMatch(/^a fault every 1 ms for 12 s makes 12000, and 10000 are the most/);
    expect(excess('docker', { ...dense, nemesis: [] })).toBeNull();
  });
});
