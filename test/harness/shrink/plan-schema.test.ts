/** Every plan that can be drawn is one that can be read back; what is not a plan is named in one clause. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { defaultRunConfig, faultKindsOf, foreignRunConfig } from '../../../harness/plan/config.ts';
import { planOf } from '../../../harness/run/plan.ts';
import { parseConfig, parseLoad, parseSchedule } from '../../../harness/shrink/plan-schema.ts';
import { caseOf, requestOf } from './failing.ts';

test('a schedule of any kinds comes back as it was', () => {
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 3, max: 5 }), (seed, brokers) => {
      const { config } = requestOf({ seed, brokers, nemesis: faultKindsOf.sim, timeLimitMs: 60_000 });
      const schedule = planOf(config);
      expect(parseSchedule(JSON.parse(JSON.stringify(schedule)))).toEqual(schedule);
    }),
  );
});

test('a load comes back as it was', () => {
  const { load } = caseOf({ timeLimitMs: 3_000 });
  expect(parseLoad(JSON.parse(JSON.stringify(load)))).toEqual(load);
});

test('a configuration of an older run gets the defaults of what it does not know', () => {
  const { config } = requestOf();
  const { fetchMaxWaitMs: _, ...older } = config;
  expect(parseConfig({ ...older, leaveRunning: true })).toEqual({
    ...config,
    fetchMaxWaitMs: defaultRunConfig.fetchMaxWaitMs,
  });
});

test('what is wrong is said with its place', () => {
  const { schedule } = requestOf();
  expect(parseSchedule({ ...schedule, durationMs: '12 s' })).toMatch(/^durationMs: /);
  expect(parseSchedule({ ...schedule, faults: [{ ...schedule.faults[0], kind: 'flood' }] })).toMatch(/^faults\.0/);
  expect(parseLoad({ schemaVersion: 1, operations: [{ atMs: -1, thread: 0, operation: { f: 'poll' } }] })).toMatch(
    /^operations\.0\.atMs: /,
  );
  expect(parseConfig({ ...requestOf().config, brokers: 0 })).toMatch(/^brokers: /);
});

test('a configuration of brokers that others wrote comes back as it was, with its weights', () => {
  const { config } = requestOf({
    ...foreignRunConfig,
    build: 'image:example/broker:1',
    runtime: 'docker',
    description: 'broker.json',
    notAwaited: ['hw'],
    nemesisWeights: { crash: 5 },
  });
  expect(config.patience).toBeDefined();
  expect(parseConfig(JSON.parse(JSON.stringify(config)) as Record<string, unknown>)).toEqual(config);
});

test('a field that nobody knows is refused, in a configuration, a schedule and a load', () => {
  const { config } = requestOf();
  expect(parseConfig({ ...config, ratte: 3 })).toMatch(/^Unrecognized key: "ratte"$/);
  expect(parseConfig({ ...config, nemesisWeights: { flood: 2 } })).toMatch(/^nemesisWeights.*flood/);
  expect(parseConfig({ ...config, patience: { ...foreignRunConfig.patience, ratte: 3 } })).toMatch(
    /^patience: .*ratte/,
  );
  const { schedule } = requestOf({ nemesis: ['handover-crash'] });
  const [fault] = schedule.faults;
  if (fault === undefined || !('steps' in fault)) throw new Error('it has no composite');
  expect(parseSchedule({ ...schedule, faults: [{ ...fault, bogus: 1 }] })).toMatch(/^faults\.0: .*bogus/);
  const steps = fault.steps.map((step) => ({ ...step, bogus: 1 }));
  expect(parseSchedule({ ...schedule, faults: [{ ...fault, steps }] })).toMatch(/^faults\.0\.steps\.0: .*bogus/);
  const operations = [{ atMs: 0, thread: 0, extra: true, operation: { f: 'poll' } }];
  expect(parseLoad({ schemaVersion: 1, operations })).toMatch(/^operations\.0: .*extra/);
});

test.each([
  ['brokers', 10],
  ['partitions', 1e8],
  ['concurrency', 2 ** 52],
  ['rate', 1e300],
  ['timeLimitMs', 1e300],
  ['heartbeatIntervalMs', 0],
  ['highWatermarkCheckpointIntervalMs', 0],
  ['replicaLagTimeMaxMs', 0],
  ['seed', -5],
  ['topic', '../../x'],
])('a configuration whose %s is %s would never end, or is none: it is refused', (name, value) => {
  expect(parseConfig({ ...requestOf().config, [name]: value })).toMatch(new RegExp(`^${name}: `));
});

test.each([1.5, 1e300, 'half \uD800'])('the value %j would not come back as it was sent: it is refused', (value) => {
  const operation = { f: 'send', key: 'tide-0', value };
  expect(parseLoad({ schemaVersion: 1, operations: [{ atMs: 0, thread: 0, operation }] })).toMatch(
    /^operations\.0\.operation\.value: /,
  );
});
