/** What the generator promises, over many seeds, and one plan in full. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../harness/plan/random.ts';
import { conduct, isFinished } from '../../nemesis/conductor.ts';
import { describeSchedule } from '../../nemesis/describe.ts';
import { defaultRunConfig, foreignFaultKinds } from '../../harness/plan/config.ts';
import { faultKinds } from '../../nemesis/faults/index.ts';
import { generateSchedule } from '../../nemesis/plan.ts';
import type { PlanOptions } from '../../nemesis/plan.ts';
import type { Fault, FaultKind, Schedule } from '../../nemesis/schedule.ts';
import { expectGolden } from '../golden.ts';
import { createStage, elect, finish, healthy } from './stage.ts';
import type { Stage } from './stage.ts';

const partitions = Array.from({ length: 8 }, (_, index) => `tide-${index}`);

function plan(seed: number, overrides: Partial<PlanOptions> = {}): Schedule {
  const options = { seed, durationMs: 12_000, kinds: faultKinds, partitions, brokers: [1, 2, 3], intervalMs: 3_000 };
  return generateSchedule({ ...options, ...overrides }, createRandom(seed).stream('faults'));
}

const seeds = fc.integer({ min: 0, max: 1_000_000 });
const lengths = fc.integer({ min: 2_000, max: 120_000 });

describe('a plan', () => {
  it('is the same, byte for byte, for the same seed', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        expect(JSON.stringify(plan(seed))).toBe(JSON.stringify(plan(seed)));
      }),
    );
  });

  it('reads as this text', () => {
    expectGolden('test/golden/schedule.txt', [3, 8, 11].map((seed) => describeSchedule(plan(seed))).join('\n'));
  });

  it('of slow brokers gives elections and recoveries their time, and begins no handover with a move', () => {
    const patience = { recoveryMs: 8_000, electionMs: 3_000, slowMoves: true };
    fc.assert(
      fc.property(seeds, (seed) => {
        const slow = { durationMs: 24_000, intervalMs: 6_000, patience, sessionTimeoutMs: 2_000 };
        const { faults } = plan(seed, { ...slow, kinds: foreignFaultKinds });
        const handovers = faults.filter((fault) => fault.kind === 'handover-crash');
        expect(handovers).toHaveLength(1);
        for (const { steps, at } of handovers) {
          expect(steps.some(({ step }) => step === 'move')).toBe(false);
          const leads = steps.filter((step) => step.step === 'await' && step.what.seen === 'leads');
          expect(leads.map((step) => 'deadlineMs' in step && step.deadlineMs)).toEqual([5_000, 5_000]);
          const patienceMs = 'await' in at ? at.deadlineMs - at.fromMs : 0;
          expect([600, 8_000]).toContain(patienceMs);
        }
      }),
    );
  });

  it('of the default mix holds one handover-crash among one to three others, and every kind is drawn', () => {
    const drawn = new Set<FaultKind>();
    for (let seed = 0; seed < 200; seed += 1) {
      const { faults } = plan(seed, { kinds: defaultRunConfig.nemesis });
      expect(faults.filter(({ kind }) => kind === 'handover-crash')).toHaveLength(1);
      expect(faults.length).toBeGreaterThanOrEqual(2);
      expect(faults.length).toBeLessThanOrEqual(4);
      for (const { kind } of faults) drawn.add(kind);
    }
    expect([...drawn].sort()).toEqual([...defaultRunConfig.nemesis].sort());
  });

  it('of all kinds draws every one of them', () => {
    const drawn = new Set(Array.from({ length: 200 }, (_, seed) => plan(seed).faults.map(({ kind }) => kind)).flat());
    expect([...drawn].sort()).toEqual([...faultKinds].sort());
  });

  it('of all kinds holds one that is aimed: a handover-crash, or a rejoin-crash', () => {
    for (let seed = 0; seed < 100; seed += 1) {
      const aimed = plan(seed).faults.filter(({ kind }) => kind === 'handover-crash' || kind === 'rejoin-crash');
      expect(aimed).toHaveLength(1);
      expect(aimed[0]?.exclusive).toBe(true);
    }
  });

  it('holds only the kinds that were asked for', () => {
    const subsets = fc.subarray([...faultKinds]);
    fc.assert(
      fc.property(seeds, lengths, subsets, (seed, durationMs, kinds) => {
        const { faults } = plan(seed, { durationMs, kinds });
        expect(faults.every(({ kind }) => kinds.includes(kind))).toBe(true);
        expect(faults.length > 0).toBe(kinds.length > 0);
      }),
    );
  });

  it('bounds every wait, and lets nothing that comes before a handover last into it', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const { faults } = plan(seed);
        const handover = faults.findIndex(({ kind }) => kind === 'handover-crash');
        for (const [index, fault] of faults.entries()) {
          expect(longestMs(fault)).toBeLessThanOrEqual(12_000);
          if (index < handover) {
            expect(latestStartMs(fault) + longestMs(fault)).toBeLessThanOrEqual(
              latestStartMs(faults[handover] as Fault),
            );
          }
        }
      }),
    );
  });

  it('leaves a handover the time to finish', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const kinds = faultKinds.filter((kind) => kind !== 'rejoin-crash');
        const handover = plan(seed, { kinds }).faults.find(({ kind }) => kind === 'handover-crash') as Fault;
        expect(latestStartMs(handover)).toBeLessThanOrEqual(12_000 - 5_500);
      }),
    );
  });
});

describe('a plan that is played', () => {
  it('always ends healed, with one start and one end on record for each fault', () => {
    fc.assert(
      fc.property(seeds, lengths, fc.boolean(), (seed, durationMs, answers) => {
        const schedule = plan(seed, { durationMs, partitions: ['tide-0', 'tide-1'] });
        const stage = createStage(schedule, { answers });
        act(stage, seed, durationMs);
        expect([...stage.cuts, ...stage.slow, ...stage.stopped.keys()]).toEqual([]);
        const on = stage.records.map(({ fault, phase }) => `${fault} ${phase}`).sort();
        expect(on).toEqual(schedule.faults.flatMap(({ id }) => [`${id} end`, `${id} start`]).sort());
      }),
      { numRuns: 60 },
    );
  });

  it('gives the same effects for the same events', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const logs = [0, 1].map(() => {
          const stage = createStage(plan(seed, { partitions: ['tide-0', 'tide-1'] }));
          act(stage, seed, 12_000);
          return stage.log;
        });
        expect(logs[0]).toEqual(logs[1]);
      }),
      { numRuns: 20 },
    );
  });

  it('takes events after its end without a word', () => {
    const stage = createStage(plan(1, { durationMs: 2_000 }));
    stage.give({ type: 'start' });
    finish(stage, 10_000);
    expect(conduct(stage.state, { type: 'stop' }, 1e12)).toEqual([]);
    expect(isFinished(stage.state)).toBe(true);
  });
});

/** A cluster that does as it likes: elections, roles and acknowledgements at random, answers now or later. */
function act(stage: Stage, seed: number, durationMs: number): void {
  const random = createRandom(seed).stream('cluster');
  stage.give({ type: 'start' });
  healthy(stage);
  for (let epoch = 1; stage.nowMs() < durationMs; epoch += 1) {
    stage.pass(random.int(1, 400));
    while (stage.open.length > 0 && random.chance(0.8)) stage.answer();
    const leader = random.int(1, 3);
    if (random.chance(0.3)) elect(stage, 'tide-0', leader, epoch, random.shuffle([1, 2, 3]), random.shuffle([1, 2, 3]));
    stage.trace(leader, 'ack', { partition: 'tide-0', leaderEpoch: epoch, base: 1, last: 1, acks: -1 });
  }
  for (let round = 0; round < 100 && !isFinished(stage.state); round += 1) {
    while (stage.open.length > 0) stage.answer();
    stage.pass(100);
  }
  expect(isFinished(stage.state)).toBe(true);
}

function latestStartMs({ at }: Fault): number {
  return 'ms' in at ? at.ms : at.deadlineMs;
}

function longestMs({ until }: Fault): number {
  return 'ms' in until ? until.ms : until.deadlineMs;
}
