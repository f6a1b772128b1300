/**
 * The nemesis's driver in the kernel beside the plain one: conduct every event, wake at every deadline, as on real
 * machines. Told the same trace, and answered as fast, both have to do everything at the same time.
 */
import { expect, test } from 'vitest';
import type { FaultRecord } from '../../../checker/history.ts';
import { createRandom } from '../../../harness/plan/random.ts';
import { simulate } from '../../../harness/sim/simulate.ts';
import type { Simulation, SimulationRequest } from '../../../harness/sim/simulation.ts';
import { movesLeaders } from '../../../nemesis/awaited.ts';
import { conduct, createConductor, nextDeadlineNs } from '../../../nemesis/conductor.ts';
import type { ConductorEvent } from '../../../nemesis/conductor.ts';
import type { Action, TraceLine } from '../../../nemesis/ports.ts';
import type { Fault, FaultKind } from '../../../nemesis/schedule.ts';
import { requestFor } from './requests.ts';

const nsPerMs = 1e6;

/** When, which fault, and how its steps went. */
type Told = readonly [timeNs: number, fault: string, phase: string, steps: FaultRecord['steps']];

function toldInSimulator({ history }: Simulation): Told[] {
  const ofNemesis = history.filter(({ process }) => process === 'nemesis');
  return ofNemesis.map(({ time, value }) => {
    const { fault, phase, steps } = value as FaultRecord;
    return [time, fault, phase, steps];
  });
}

/** From the call of an action to its answer, as the simulator has it. */
function answering(seed: number): (action: Action) => number {
  const random = createRandom(seed);
  const starts = new Map(
    ['controller', 1, 2, 3].map((node) => {
      const stream = random.stream(`start:${node}`);
      const next = () => stream.int(100 * nsPerMs, 300 * nsPerMs);
      next(); // It was started once, when the cluster was made.
      return [node, next] as const;
    }),
  );
  return (action) => {
    if (action.port === 'process' && action.verb === 'start') return starts.get(action.node)!();
    const isDeadly = action.port === 'process' && (action.verb === 'kill' || action.verb === 'power-loss');
    return (isDeadly ? 2 : 1) * nsPerMs;
  };
}

function toldByConductor({ config, schedule }: SimulationRequest, { trace, loadStartNs }: Simulation): Told[] {
  const partitions = Array.from({ length: config.partitions }, (_, index) => `${config.topic}-${index}`);
  const state = createConductor(schedule, { brokers: [1, 2, 3], partitions });
  const answerNs = answering(config.seed);
  const stopNs = loadStartNs! + config.timeLimitMs * nsPerMs;
  const told: Told[] = [];
  let pending: { readonly atNs: number; readonly event: ConductorEvent }[] = [
    { atNs: loadStartNs!, event: { type: 'start' } },
  ];
  const feed = (event: ConductorEvent, nowNs: number): void => {
    for (const effect of conduct(state, event, nowNs)) {
      if (effect.type === 'record') {
        told.push([nowNs, effect.value.fault, effect.value.phase, effect.value.steps]);
      } else {
        const evidence = { effective: true, facts: {} };
        pending.push({ atNs: nowNs + answerNs(effect.action), event: { type: 'acted', id: effect.id, evidence } });
      }
    }
  };
  /** Everything that is due before, or at, a time. */
  const passUntil = (untilNs: number, includes: boolean): void => {
    for (;;) {
      const first = pending.toSorted((one, other) => one.atNs - other.atNs)[0];
      const deadlineNs = nextDeadlineNs(state);
      const nextNs = Math.min(first?.atNs ?? Infinity, deadlineNs);
      if (nextNs > untilNs || (nextNs === untilNs && !includes)) return;
      if (first !== undefined && first.atNs <= deadlineNs) {
        pending = pending.filter((each) => each !== first);
        feed(first.event, nextNs);
      } else feed({ type: 'deadline' }, nextNs);
    }
  };
  let stopped = false;
  const stopBefore = (timeNs: number): void => {
    if (stopped || timeNs <= stopNs) return;
    passUntil(stopNs, true);
    feed({ type: 'stop' }, stopNs);
    stopped = true;
  };
  for (const each of trace) {
    const line = each as unknown as TraceLine;
    stopBefore(line.time);
    passUntil(line.time, false);
    feed({ type: 'trace', line }, line.time);
  }
  stopBefore(Infinity);
  passUntil(Infinity, false);
  return told;
}

/** Its waits alone, of both sorts: nothing that it does wakes the nemesis in between. */
function waitsOf(fault: Fault): Fault {
  if (!('steps' in fault)) return fault;
  return { ...fault, steps: fault.steps.filter(({ step }) => step === 'await' || step === 'wait') };
}

/** How long a leader move takes the brokers alone decide, and a fault that moved one ends only when it was answered. */
function withoutEndsOfMoves(told: readonly Told[], moving: ReadonlySet<string>): unknown[] {
  return told.map(([timeNs, fault, phase, steps]) =>
    phase === 'end' && moving.has(fault) ? [fault, phase, steps] : [timeNs, fault, phase, steps],
  );
}

const mixed: readonly FaultKind[] = ['partition', 'pause', 'crash', 'power-loss', 'slow-links'];

test.each([
  ['handover-crash', 'as it is drawn', (fault: Fault) => fault],
  ['handover-crash', 'its waits alone', waitsOf],
  ['rejoin-crash', 'as it is drawn', (fault: Fault) => fault],
  ['rejoin-crash', 'its waits alone', waitsOf],
  ['leader-burst', 'as it is drawn', (fault: Fault) => fault],
  ['leader-burst', 'its waits alone', waitsOf],
] as const)('%s, %s, takes every step when the plain driver takes it', (kind, _, change) => {
  const kinds = new Set<FaultKind>();
  for (const seed of [1, 2, 3, 4]) {
    const drawn = requestFor('epoch', seed, { nemesis: [kind, ...mixed], nemesisIntervalMs: 1_500 });
    const request = { ...drawn, schedule: { ...drawn.schedule, faults: drawn.schedule.faults.map(change) } };
    const run = simulate(request);
    for (const fault of request.schedule.faults) kinds.add(fault.kind);
    const moving = new Set(request.schedule.faults.filter(movesLeaders).map(({ id }) => id));
    expect(withoutEndsOfMoves(toldInSimulator(run), moving)).toEqual(
      withoutEndsOfMoves(toldByConductor(request, run), moving),
    );
  }
  expect([...kinds]).toContain(kind);
});
