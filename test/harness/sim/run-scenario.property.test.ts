import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { faultKinds } from '../../../nemesis/faults/index.ts';
import type { Fault, Target } from '../../../nemesis/schedule.ts';
import type { ClientOperation } from '../../../harness/client/operations.ts';
import { defaultRunConfig, faultKindsOf } from '../../../harness/plan/config.ts';
import type { RunConfig } from '../../../harness/plan/config.ts';
import { planOf } from '../../../harness/run/plan.ts';
import { ScenarioError } from '../../../harness/sim/scenario-lines.ts';
import { parseRunScenario, writeRunScenario } from '../../../harness/sim/run-scenario.ts';
import { parseScenario } from '../../../harness/sim/scenario.ts';
import type { LateMessage, PlannedOperation, SimulationRequest } from '../../../harness/sim/simulation.ts';

const ms = fc.oneof(
  fc.nat(60_000),
  fc.double({ min: 0, max: 60_000, noNaN: true }).map((value) => value + 0),
);
const partition = fc.constantFrom('tide-0', 'tide-11', 'a-b.c_d-3');
const draw = fc.nat(1_000_000);
const target: fc.Arbitrary<Target> = fc.oneof(
  fc.record({ role: fc.constantFrom('one', 'minority', 'majority'), draw }),
  fc.record({ role: fc.constantFrom('all', 'controller') }),
  fc.record({ role: fc.constantFrom('leader', 'last-in-isr'), partition }),
  fc.record({ role: fc.constant('isr-follower'), partition, draw }),
  fc.record({
    role: fc.constant('nodes'),
    nodes: fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constant('controller' as const)), { maxLength: 3 }),
  }),
);
const reach = { controller: fc.boolean(), clients: fc.boolean() };
const common = {
  id: fc.oneof(fc.constantFrom('f1', 'f2', 'f3'), fc.string()),
  at: fc.record({ ms }),
  until: fc.record({ ms }),
};
const simpleFault = fc.oneof(
  fc.record({ ...common, kind: fc.constantFrom('pause', 'crash', 'power-loss'), targets: target }),
  fc.record({ ...common, kind: fc.constant('leader-move'), partition, targets: target }),
  fc.record({ ...common, kind: fc.constant('pause'), targets: target, exclusive: fc.constant(true as const) }),
  fc.record({
    ...common,
    kind: fc.constant('partition'),
    topology: fc.oneof(
      fc.record({ shape: fc.constant('isolated-node'), side: target, ...reach }),
      fc.record({
        shape: fc.constant('one-way'),
        side: target,
        direction: fc.constantFrom('outward', 'inward'),
        ...reach,
      }),
    ),
  }),
) as fc.Arbitrary<Fault>;

const operation = fc.oneof(
  fc.record({ f: fc.constant('poll') }),
  fc.record({ f: fc.constant('send'), key: partition, value: fc.oneof(fc.nat(), fc.string()) }),
  fc.record(
    {
      f: fc.constant('assign'),
      keys: fc.array(partition, { maxLength: 3 }),
      seek: fc.oneof(
        fc.constantFrom('earliest', 'latest'),
        fc.dictionary(partition, fc.nat(), { noNullPrototype: true }),
      ),
    },
    { requiredKeys: ['f', 'keys'] },
  ),
) as fc.Arbitrary<ClientOperation>;
const planned: fc.Arbitrary<PlannedOperation> = fc.record(
  { atMs: ms, thread: fc.nat(40), called: fc.constantFrom('m1', 'a-b.c_9'), operation },
  { requiredKeys: ['atMs', 'thread', 'operation'] },
);

const config: fc.Arbitrary<RunConfig> = fc
  .record({
    build: fc.constantFrom('hw', 'epoch', '1=hw,2-3=epoch'),
    seed: fc.nat(),
    acks: fc.constantFrom('all', 0, 1) as fc.Arbitrary<RunConfig['acks']>,
    partitions: fc.integer({ min: 1, max: 12 }),
    topic: fc.constantFrom('tide', 'true', '12', 'with space', 'a"b'),
    defects: fc.subarray(['ack-at-leo', 'truncate-none']),
    uncleanElection: fc.boolean(),
    fetchMaxWaitMs: fc.nat(2_000),
    nemesis: fc.subarray([...faultKinds]),
    nemesisIntervalMs: fc.integer({ min: 500, max: 5_000 }),
  })
  .map((changed) => ({ ...defaultRunConfig, runtime: 'sim', ...changed }));

const late: fc.Arbitrary<LateMessage> = fc.record({
  message: fc.constantFrom('request broker-1.1#17', 'response broker-1.12#0', 'response controller.1#3'),
  byMs: ms,
});

const request: fc.Arbitrary<SimulationRequest> = fc
  .record({
    config,
    faults: fc.array(simpleFault, { maxLength: 5 }),
    durationMs: ms,
    planSeed: fc.option(fc.nat()),
    operations: fc.option(fc.array(planned, { maxLength: 8 })),
    codec: fc.option(fc.boolean()),
    late: fc.uniqueArray(late, { maxLength: 2, selector: ({ message }) => message }),
    drawn: fc.boolean(),
  })
  .map(({ config: made, faults, durationMs, planSeed, operations, codec, late: delays, drawn }) => ({
    config: made,
    schedule: drawn
      ? planOf({ ...made, topic: 'tide', nemesis: faultKindsOf.sim })
      : { schemaVersion: 1, seed: planSeed ?? made.seed, durationMs, faults },
    ...(operations === null ? {} : { load: { schemaVersion: 1, operations } }),
    ...(codec === null ? {} : { codec }),
    ...(delays.length === 0 ? {} : { late: delays }),
  }));

test('a request that is written down and read again is the same request', () => {
  fc.assert(
    fc.property(request, (asked) => {
      const expectations = [{ build: asked.config.build, expects: 'nothing is broken' }];
      const text = writeRunScenario(asked, expectations, 'A story.\n\nOf two paragraphs.');
      const read = parseRunScenario('a.scenario', text);
      expect(read.request).toEqual(asked);
      expect(read.story).toEqual(['A story.', '', 'Of two paragraphs.']);
    }),
    { numRuns: 300 },
  );
});

const vocabulary = `play on|run on|hw|cluster of|2|brokers|set|to|min.insync.replicas|expect|on|:|hold|fetches of|at|ms|pause|the
leader of|tide-0|until|fault|{"id":"f1"}|thread|send|seed|load as written|with defects|nothing is broken|#|lost-acked-write|is a
violation`;
const words = fc.constantFrom(...vocabulary.replaceAll('\n', ' ').split('|'));
const anyLine = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(words, { maxLength: 8 }).map((parts) => parts.join(' ')),
);

test.each([
  ['steps', parseScenario],
  ['a run', parseRunScenario],
])('whatever stands in a file of %s, it is read, or its first bad line is named', (_, parse) => {
  fc.assert(
    fc.property(fc.array(anyLine, { maxLength: 12 }), (lines) => {
      const text = lines.join('\n');
      try {
        parse('a.scenario', text);
      } catch (error) {
        if (!(error instanceof ScenarioError) || error.kind !== 'malformed') throw error;
        expect(error.message).toMatch(/^a\.scenario:\d+: ./);
      }
    }),
    { numRuns: 1_000 },
  );
});
