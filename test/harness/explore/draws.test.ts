/** Swarm draws: the same seed gives the same run, what is pinned holds, and every rule of the flags is kept. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drawConfig, type Pins } from '../../../harness/explore/draws.ts';
import { faultKindsOf, type RunConfig } from '../../../harness/plan/config.ts';

const kinds = faultKindsOf.sim;

/** Any pins that do not contradict each other. */
const pins: fc.Arbitrary<Pins> = fc
  .record(
    {
      replicas: fc.integer({ min: 2, max: 5 }),
      insync: fc.integer({ min: 1, max: 2 }),
      brokers: fc.constantFrom(5, 7),
      lag: fc.integer({ min: 200, max: 5_000 }),
      session: fc.integer({ min: 200, max: 5_000 }),
      nemesis: fc.subarray([...kinds], { minLength: 1 }),
    },
    { requiredKeys: [] },
  )
  .map(({ replicas, insync, brokers, lag, session, nemesis }) => ({
    ...(replicas === undefined ? {} : { replicationFactor: replicas }),
    ...(insync === undefined ? {} : { minInsyncReplicas: insync }),
    ...(brokers === undefined ? {} : { brokers }),
    ...(lag === undefined ? {} : { replicaLagTimeMaxMs: lag }),
    ...(session === undefined ? {} : { brokerSessionTimeoutMs: session }),
    ...(nemesis === undefined ? {} : { nemesis }),
  }));

describe('drawing a configuration', () => {
  it('gives the same one for the same seed, and others for others', () => {
    const draw = (seed: number): string => JSON.stringify(drawConfig('hw', seed, {}, kinds));
    expect(draw(7)).toBe(draw(7));
    expect(new Set(Array.from({ length: 50 }, (_, seed) => draw(seed))).size).toBe(50);
  });

  it('obeys what is pinned and keeps every rule that binds the flags', () => {
    fc.assert(
      fc.property(fc.nat(), pins, (seed, pinned) => {
        const config = drawConfig('epoch', seed, pinned, kinds);
        expect(config).toMatchObject(pinned);
        expect(config.replicationFactor).toBeLessThanOrEqual(config.brokers);
        expect(config.minInsyncReplicas).toBeLessThanOrEqual(config.replicationFactor);
        expect(config.brokerSessionTimeoutMs).toBeGreaterThanOrEqual(2 * config.heartbeatIntervalMs);
        expect(config.replicaLagTimeMaxMs).toBeGreaterThanOrEqual(2 * config.fetchMaxWaitMs);
        expect(config.nemesis.length).toBeGreaterThan(0);
        expect(Object.keys(config.nemesisWeights ?? {})).toEqual(config.nemesis);
      }),
    );
  });

  /** Each pin, and what a rule binds to it. */
  it.each<[Pins, readonly (keyof RunConfig)[]]>([
    [{ brokers: 5 }, ['replicationFactor', 'minInsyncReplicas']],
    [{ replicationFactor: 3 }, ['brokers', 'minInsyncReplicas', 'nemesis', 'nemesisWeights']],
    [{ minInsyncReplicas: 1 }, []],
    [{ partitions: 7 }, []],
    [{ rate: 77 }, []],
    [{ concurrency: 5 }, []],
    [{ concurrencyPerBroker: 2 }, ['concurrency']],
    [{ timeLimitMs: 60_000 }, []],
    [{ nemesis: ['crash', 'pause'] }, ['nemesisWeights']],
    [{ nemesisWeights: { crash: 3 } }, ['nemesisWeights']],
    [{ nemesisIntervalMs: 900 }, []],
    [{ settleTimeoutMs: 20_000 }, []],
    [{ clientTimeoutMs: 700 }, []],
    [{ replicaLagTimeMaxMs: 1_200 }, ['fetchMaxWaitMs']],
    [{ brokerSessionTimeoutMs: 900 }, []],
    [{ heartbeatIntervalMs: 150 }, []],
    [{ fetchMaxWaitMs: 70 }, ['replicaLagTimeMaxMs']],
    [{ highWatermarkCheckpointIntervalMs: 333 }, []],
    [{ uncleanElection: true, acks: 1, defects: ['truncate-none'] }, []],
  ])('shifts no other draw by the pin %j', (pin, bound) => {
    const fields = Object.fromEntries(Object.entries(pin).filter(([field]) => field !== 'concurrencyPerBroker'));
    const others = (config: RunConfig): Partial<RunConfig> => {
      const kept = Object.entries(config).filter(([field]) => !(field in fields || bound.some((one) => one === field)));
      return Object.fromEntries(kept) as Partial<RunConfig>;
    };
    for (let seed = 0; seed < 60; seed += 1) {
      const pinned = drawConfig('hw', seed, pin, kinds);
      expect(others(pinned)).toEqual(others(drawConfig('hw', seed, {}, kinds)));
      if (pin.nemesisWeights === undefined) expect(pinned).toMatchObject(fields);
    }
  });

  it('never draws what changes the promise', () => {
    for (let seed = 0; seed < 200; seed += 1) {
      expect(drawConfig('hw', seed, {}, kinds)).toMatchObject({ acks: 'all', uncleanElection: false, defects: [] });
    }
  });

  it('reaches every kind of fault, alone and among all others', () => {
    const configs = Array.from({ length: 300 }, (_, seed) => drawConfig('hw', seed, {}, kinds));
    expect(new Set(configs.flatMap(({ nemesis }) => nemesis))).toEqual(new Set(kinds));
    const sizes = configs.map(({ nemesis }) => nemesis.length);
    expect(Math.min(...sizes)).toBe(1);
    expect(Math.max(...sizes)).toBe(kinds.length);
  });

  it('counts processes by brokers where that is asked for', () => {
    const configs = Array.from({ length: 30 }, (_, seed) => drawConfig('hw', seed, { concurrencyPerBroker: 2 }, kinds));
    for (const { concurrency, brokers } of configs) expect(concurrency).toBe(2 * brokers);
    expect(new Set(configs.map(({ brokers }) => brokers)).size).toBeGreaterThan(1);
  });
});
