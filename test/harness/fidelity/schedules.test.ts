/** The four known schedules: plans like any other, the same for every build, and answered in the simulator as the rules say. */
import { describe, expect, test } from 'vitest';
import { columns, knownAnswer } from '../../../harness/fidelity/columns.ts';
import { fidelityPlan, scheduleNames } from '../../../harness/fidelity/schedules.ts';
import { checkSimulation } from '../../../harness/run/simulated-run.ts';
import { flawOfConfig, flawOfLoad, flawOfSchedule } from '../../../harness/shrink/plan-flaws.ts';
import { parseConfig, parseLoad, parseSchedule } from '../../../harness/shrink/plan-schema.ts';
import { simulate } from '../../../harness/sim/simulate.ts';
import { describeSchedule } from '../../../nemesis/describe.ts';
import { expectGolden } from '../../golden.ts';

const occasion = { build: 'epoch', runtime: 'sim', seed: 7, topic: 'tide' } as const;
const own = columns.filter(({ build }) => !build.includes(':'));

describe.each(scheduleNames)('%s', (name) => {
  const plan = fidelityPlan(name, occasion);

  test('reads as a person would tell it', () => {
    expectGolden(`test/golden/fidelity/${name}.txt`, describeSchedule(plan.schedule));
  });

  test('is a plan as it is stored, without a flaw', () => {
    const { config, schedule, load } = structuredClone(plan);
    expect(parseConfig({ ...config })).toEqual(config);
    expect(parseSchedule(schedule)).toEqual(schedule);
    expect(parseLoad(load)).toEqual(load);
    expect([flawOfConfig(config), flawOfSchedule(schedule, config), flawOfLoad(load, config)]).toEqual([
      null,
      null,
      null,
    ]);
  });

  test('is the same for every build but for its name', () => {
    const other = fidelityPlan(name, { ...occasion, build: 'kafka:0.10.2.2' });
    expect({ ...other, config: { ...other.config, build: 'epoch' } }).toEqual(plan);
  });

  test('calls every operation of its load, each once', () => {
    const [script] = plan.schedule.faults;
    const steps = script?.kind === 'script' ? script.steps : [];
    const called = steps.flatMap((step) => (step.step === 'call' ? [step.operation] : []));
    expect(called).toEqual(plan.load.operations.map((operation) => operation.called));
  });

  test.each(own)('is answered by $build as its rule says, and every step is proven', ({ build, generation }) => {
    const request = fidelityPlan(name, { ...occasion, build });
    const simulation = simulate(request);
    const results = checkSimulation(simulation, request, { name, command: '' });
    const kinds = results.anomalies.map(({ kind }) => kind);
    const known = knownAnswer(name, generation);
    expect(results.faults.map(({ effective }) => effective)).toEqual([true]);
    expect(kinds.includes('replica-divergence')).toBe(known.diverged);
    if (known.lost !== null) expect(kinds.includes('lost-acked-write')).toBe(known.lost);
    expect(results.valid).toBe(!(known.diverged || known.lost === true));
  });
});
