/** Shrinking as a whole, on a failure of `hw`. */
import { beforeAll, describe, expect, it } from 'vitest';
import { judge } from '../../../harness/shrink/trial.ts';
import { withFaults } from '../../../harness/shrink/case.ts';
import type { Case } from '../../../harness/shrink/case.ts';
import { nearestPassing } from '../../../harness/shrink/neighbour.ts';
import { shrink } from '../../../harness/shrink/shrink.ts';
import type { Shrunk } from '../../../harness/shrink/shrink.ts';
import { headline, planLines, sideBySide } from '../../../harness/shrink/tell.ts';
import type { RunConfig } from '../../../harness/plan/config.ts';
import type { SimulationRequest } from '../../../harness/sim/simulation.ts';
import { requestOf } from './failing.ts';

/** On a busy machine. */
const PATIENCE_MS = 60_000;
const options = { budget: { runs: 5_000, ms: 120_000 }, signal: new AbortController().signal, progress: () => {} };

function failing(overrides: Partial<RunConfig> = {}): SimulationRequest {
  return requestOf({ timeLimitMs: 8_000, nemesis: ['handover-crash', 'crash'], ...overrides });
}

/** Faults without which it fails as before. */
function needlessIn({ smallest, signature }: Shrunk): string[] {
  const { faults } = smallest.schedule;
  const without = (index: number): Case => withFaults(smallest, faults.toSpliced(index, 1));
  return faults.filter((_, index) => judge(without(index)).violations.has(signature)).map(({ id }) => id);
}

describe('a shrunk failure', () => {
  let shrunk: Shrunk;
  beforeAll(async () => {
    const outcome = await shrink(failing(), options);
    if (outcome.type !== 'shrunk') throw new Error(`it ${outcome.type}`);
    ({ shrunk } = outcome);
  }, PATIENCE_MS);

  it('fails in the same way, with few faults and operations', () => {
    const { smallest, signature, original, complete } = shrunk;
    expect(signature).toMatch(/^lost-acked-write: /);
    expect(judge(smallest).violations.has(signature)).toBe(true);
    expect(smallest.schedule.faults.length).toBeLessThanOrEqual(Math.min(2, original.faults));
    expect(smallest.load.operations.length).toBeLessThanOrEqual(3);
    expect(smallest.config.partitions).toBe(1);
    expect(complete).toBe(true);
  });

  it('no longer fails without any one of its faults', () => {
    expect(needlessIn(shrunk)).toEqual([]);
  });

  it('is the same again: nothing depends on time', { timeout: PATIENCE_MS }, async () => {
    const again = await shrink(failing(), options);
    expect(again.type === 'shrunk' ? again.shrunk.smallest : null).toEqual(shrunk.smallest);
  });

  it('has a neighbour that passes and differs in one thing', () => {
    const { smallest } = shrunk;
    const neighbour = nearestPassing(smallest, () => true);
    if (neighbour === null) throw new Error('no neighbour passes');
    expect(judge(neighbour.passing).results.valid).toBe(true);
    const [mine, its] = [planLines(smallest), planLines(neighbour.passing)];
    expect(its.filter((line) => !mine.includes(line))).toHaveLength(1);
    expect(sideBySide(smallest, neighbour.passing).filter((line) => line.startsWith('passes'))).toHaveLength(1);
  });

  it('is told in one line', () => {
    expect(headline(shrunk)).toMatch(/^\d+ faults → \d, \d+ operations → \d, 2 partitions → 1, .*\d+ runs, [\d.]+ s$/);
  });

  it('loses nothing on epoch', () => {
    const { smallest } = shrunk;
    const onEpoch = judge({ ...smallest, config: { ...smallest.config, build: 'epoch' } });
    expect(onEpoch.results.valid).toBe(true);
  });
});

it('of many single faults several may be left, and each is needed', { timeout: PATIENCE_MS }, async () => {
  const many = failing({
    seed: 6,
    timeLimitMs: 20_000,
    nemesis: ['power-loss', 'pause', 'leader-move'],
    nemesisIntervalMs: 500,
    replicaLagTimeMaxMs: 1_000,
  });
  const outcome = await shrink(many, options);
  if (outcome.type !== 'shrunk') throw new Error(`it ${outcome.type}`);
  const { smallest, original, complete } = outcome.shrunk;
  expect(original.faults).toBeGreaterThan(20);
  expect(smallest.schedule.faults.length).toBeGreaterThan(1);
  expect(smallest.schedule.faults.length).toBeLessThan(6);
  expect(needlessIn(outcome.shrunk)).toEqual([]);
  expect(complete).toBe(true);
});

describe('shrinking', () => {
  it('says that a run breaks nothing', async () => {
    const outcome = await shrink(failing({ build: 'epoch' }), options);
    expect(outcome.type).toBe('passes');
  });

  it('does not begin where two runs of one request differ, whether they fail alike or not', async () => {
    const { config, schedule } = failing();
    let reads = 0;
    /* Stands in for a core that draws for itself. */
    const restless = {
      ...config,
      get clientTimeoutMs(): number {
        reads += 1;
        return config.clientTimeoutMs + reads;
      },
    };
    const outcome = await shrink({ config: restless, schedule }, options);
    if (outcome.type !== 'not-deterministic') throw new Error(`it ${outcome.type}`);
    expect(new Set(outcome.hashes).size).toBe(2);
  });

  it('gives the best that it has when its budget is used up, and says so', async () => {
    const outcome = await shrink(failing(), { ...options, budget: { runs: 3, ms: 120_000 } });
    if (outcome.type !== 'shrunk') throw new Error(`it ${outcome.type}`);
    const { smallest, signature, complete, runs } = outcome.shrunk;
    expect([complete, runs]).toEqual([false, 3]);
    expect(judge(smallest).violations.has(signature)).toBe(true);
  });

  it('gives the best that it has when it is interrupted, and says so', { timeout: PATIENCE_MS }, async () => {
    const interrupt = new AbortController();
    const outcome = await shrink(failing(), {
      ...options,
      signal: interrupt.signal,
      progress: ({ runs }) => {
        if (runs > 3) interrupt.abort();
      },
    });
    expect(interrupt.signal.aborted).toBe(true);
    if (outcome.type !== 'shrunk') throw new Error(`it ${outcome.type}`);
    const { smallest, signature, complete } = outcome.shrunk;
    expect(complete).toBe(false);
    expect(judge(smallest).violations.has(signature)).toBe(true);
  });

  it('does not begin when it was interrupted before', async () => {
    const interrupted = AbortSignal.abort();
    await expect(shrink(failing(), { ...options, signal: interrupted })).rejects.toThrow('interrupted');
  });
});
