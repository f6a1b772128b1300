/** A stored plan may name only what its own run has: nothing that stands in it is left out in silence. */
import { describe, expect, it } from 'vitest';
import type { RunConfig } from '../../../harness/plan/config.ts';
import { faultKindsOf } from '../../../harness/plan/config.ts';
import { excessOfPlan, flawOfConfig, flawOfLoad, flawOfSchedule } from '../../../harness/shrink/plan-flaws.ts';
import { resolveSchedule } from '../../../harness/shrink/resolve.ts';
import { simulate } from '../../../harness/sim/simulate.ts';
import type { PlannedOperation } from '../../../harness/sim/simulation.ts';
import type { Fault, Step } from '../../../nemesis/schedule.ts';
import { caseOf, requestOf } from './failing.ts';

const { config, schedule } = requestOf();
const crash: Fault = { id: 'f1', kind: 'crash', at: { ms: 1 }, until: { ms: 2 }, targets: { role: 'all' } };

function flawOfFaults(...faults: readonly Fault[]): string | null {
  return flawOfSchedule({ ...schedule, faults }, config);
}

function flawOfOperations(...operations: readonly PlannedOperation[]): string | null {
  return flawOfLoad({ schemaVersion: 1, operations }, config);
}

function send(value: number | string, key = 'tide-0', thread = 0): PlannedOperation {
  return { atMs: 0, thread, operation: { f: 'send', key, value } };
}

describe('a plan of our own', () => {
  it.each([1, 2, 3])(
    'has no flaw, by roles or as it was resolved, with its load drawn or written (seed %i)',
    (seed) => {
      const request = requestOf({ seed, nemesis: faultKindsOf.sim, nemesisIntervalMs: 1_000 });
      const { history } = simulate(request);
      expect(flawOfConfig(request.config)).toBeNull();
      expect(flawOfSchedule(request.schedule, request.config)).toBeNull();
      expect(flawOfSchedule(resolveSchedule(request.schedule, history), request.config)).toBeNull();
      const { load } = caseOf({ seed, timeLimitMs: 2_000 });
      expect(flawOfLoad(load, request.config)).toBeNull();
      expect(excessOfPlan(request.config, load)).toBeNull();
    },
  );
});

describe('a configuration', () => {
  it.each<[Partial<RunConfig>, RegExp]>([
    [{ defects: ['laziness'] }, /^defects: there is no "laziness"; known are truncate-none/],
    [{ replicationFactor: 4 }, /^replicationFactor 4 needs as many brokers: lower it, or raise brokers \(now 3\)$/],
    [{ replicationFactor: 1 }, /^minInsyncReplicas 2 exceeds replicationFactor 1: no write could ever/],
    [
      { brokerSessionTimeoutMs: 300 },
      /^brokerSessionTimeoutMs 300ms must be at least twice heartbeatIntervalMs 300ms$/,
    ],
    [
      { replicaLagTimeMaxMs: 100 },
      /^replicaLagTimeMaxMs 100ms must be at least twice fetchMaxWaitMs 500ms, or healthy/,
    ],
    [{ settleTimeoutMs: 500 }, /^settleTimeoutMs 500ms is less than a healthy cluster may need after a fault: give it/],
  ])('with %j contradicts itself', (overrides, flaw) => {
    expect(flawOfConfig({ ...config, ...overrides })).toMatch(flaw);
  });
});

describe('a schedule', () => {
  it('gives each fault an id of its own', () => {
    expect(flawOfFaults(crash, { ...crash })).toBe('faults.1.id: f1 is the id of another fault too');
  });

  it('names partitions of the run, wherever in a fault', () => {
    const strange = 'faults.0.partition: tide-2 is none of this run; they are tide-0 to tide-1';
    expect(flawOfFaults({ ...crash, targets: { role: 'leader', partition: 'tide-2' } })).toBe(strange);
    const until = { await: { seen: 'truncation', partition: 'tide-2' }, deadlineMs: 5 } as const;
    expect(flawOfFaults({ ...crash, until })).toBe(strange);
  });

  it('names nodes of the run: of a set one at least, of a composite all', () => {
    expect(flawOfFaults({ ...crash, targets: { role: 'nodes', nodes: [3, 9, 'controller'] } })).toBeNull();
    expect(flawOfFaults({ ...crash, targets: { role: 'nodes', nodes: [8, 9] } })).toMatch(
      /^faults\.0\.nodes: 8 is none/,
    );
    const { at, until } = crash;
    const burst = { id: 'f1', kind: 'leader-burst', at, until, partition: 'tide-0', steps: [] } as const;
    expect(flawOfFaults({ ...burst, nodes: { leader: 1, other: 4 } })).toMatch(/^faults\.0\.nodes: 4 is none/);
    expect(flawOfFaults({ ...burst, nodes: { leader: 1, other: 3 } })).toBeNull();
  });

  it('names in its steps only roles that there are', () => {
    const { at, until } = crash;
    const rejoin = { id: 'f1', kind: 'rejoin-crash', at, until, partition: 'tide-0' } as const;
    const flawOf = (step: Step, nodes?: Record<string, number>) =>
      flawOfFaults({ ...rejoin, steps: [{ step: 'mend' }, step], ...(nodes === undefined ? {} : { nodes }) });
    const known = 'is no role of a rejoin-crash; they are leader, next-leader, follower';
    const isr = { seen: 'out-of-sync', partition: 'tide-0', node: '__proto__' } as const;
    expect(flawOf({ step: 'await', what: isr, deadlineMs: 5, otherwise: 'go-on' })).toBe(
      `faults.0.steps.1: __proto__ ${known}`,
    );
    expect(flawOf({ step: 'kill', node: 'x' })).toBe(`faults.0.steps.1: x ${known}`);
    expect(flawOf({ step: 'move', partition: 'tide-0', to: 'controller' })).toBe(
      `faults.0.steps.1: controller ${known}`,
    );
    expect(flawOf({ step: 'cut', links: [{ from: 'leader', to: 'clients' }] })).toBe(
      `faults.0.steps.1: clients ${known}`,
    );
    const follows = { seen: 'follows', partition: 'tide-0', node: 'follower', leader: 'deaf' } as const;
    expect(flawOf({ step: 'await', what: follows, deadlineMs: 5, otherwise: 'go-on' })).toMatch(/deaf is no role/);
    const ack = { seen: 'ack', partition: 'tide-0', by: 'y' } as const;
    expect(flawOf({ step: 'await', what: ack, deadlineMs: 5, otherwise: 'go-on' })).toMatch(/: y is no role/);
    expect(flawOf({ step: 'restore', node: 'next-leader' })).toBeNull();
    expect(flawOf({ step: 'kill', node: 'other' }, { other: 2 })).toBeNull();
    expect(flawOf({ step: 'kill', node: 'leader' }, { other: 2 })).toMatch(/they are other$/);
    const hw = { seen: 'hw', partition: 'tide-0', by: 2 } as const;
    expect(flawOf({ step: 'await', what: hw, deadlineMs: 5, otherwise: 'go-on' })).toBeNull();
  });
});

describe('a load', () => {
  it('has no operation on a thread or a key that is not there', () => {
    expect(flawOfOperations(send(1, 'tide-0', 4))).toBe('operations.0.thread: 4 is none of the 4, which count from 0');
    expect(flawOfOperations(send(1), send(2, 'nowhere'))).toMatch(/^operations\.1\.operation: nowhere is no key/);
    const assign = { f: 'assign', keys: ['tide-0'], seek: { 'tide-5': 0 } } as const;
    expect(flawOfOperations({ atMs: 0, thread: 0, operation: assign })).toMatch(/tide-5 is no key of this run/);
    expect(flawOfOperations({ atMs: 0, thread: 0, operation: { f: 'assign', keys: [] } })).toMatch(/name one at least/);
  });

  it('sends no value to a key twice, since a broker would be blamed for that', () => {
    expect(flawOfOperations(send(7), send(7, 'tide-1'), send(8))).toBeNull();
    expect(flawOfOperations(send(7), send('7'))).toBe('operations.1.operation.value: 7 is sent to tide-0 before');
  });

  it('tells a name of any length in one line', () => {
    expect(flawOfOperations(send(1, 'k'.repeat(100_000)))?.length).toBeLessThan(200);
  });
});
