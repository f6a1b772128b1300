import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { TestController } from './cluster.ts';

/** What survives a crash: everything but sessions and pushes. */
const durable = ({ state }: TestController) => ({
  version: state.version,
  topics: [...state.topics.values()],
  brokers: state.brokers.map(({ id, epoch, incarnation, host, port, fenced, shuttingDown }) => {
    return { id, epoch, incarnation, host, port, fenced, shuttingDown };
  }),
});

const restarted = (controller: TestController) =>
  new TestController({ boot: 2 }, JSON.parse(JSON.stringify(controller.records)) as unknown[], controller.nowMs);

test('a controller that starts again tells every broker everything, at its last endpoint', () => {
  const before = TestController.withBrokers(2);
  before.createTopic('tide', [[1, 2]]);
  const after = restarted(before);
  expect(after.effects.slice(1, 3)).toEqual([
    { type: 'endpoint', peer: 1, host: 'host-1', port: 9091 },
    { type: 'endpoint', peer: 2, host: 'host-2', port: 9092 },
  ]);
  expect(after.pushes.map(({ peer, body }) => [peer, body.full, body.partitions.length])).toEqual([
    [1, true, 1],
    [2, true, 1],
  ]);
});

test('a controller that starts again gives live brokers a whole session before it fences them', () => {
  const before = TestController.withBrokers(2);
  before.createTopic('tide', [[1, 2]]);
  before.keepAlive([1, 2], 900);
  before.nowMs += 10_000;
  const after = restarted(before);
  after.epochs.set(1, before.epochs.get(1) ?? -1);
  after.pass(1400);
  expect(after.heartbeat(1)).toMatchObject({ errorCode: 0, isFenced: false });
  after.pass(200);
  expect(after.linesOf('fence')).toEqual([{ event: 'fence', broker: 2, reason: 'session-timeout' }]);
});

test.each([1400, 1600, 60_000])(
  'a controller that was stopped for %i ms hears what waits for it before it fences',
  (ms) => {
    const controller = TestController.withBrokers(3);
    controller.keepAlive([1, 2, 3], 300);
    controller.nowMs += ms;
    controller.take({ type: 'deadline' });
    controller.heartbeat(1);
    controller.heartbeat(2);
    expect(controller.linesOf('fence')).toEqual([]);
    controller.pass(400);
    expect(controller.linesOf('fence')).toEqual([{ event: 'fence', broker: 3, reason: 'session-timeout' }]);
  },
);

test('a record that contradicts what is known ends the process', () => {
  const change = { leader: 1, leaderEpoch: 0, partitionEpoch: 0, isr: [1] };
  expect(() => new TestController({}, [{ type: 'partition', topic: 'tide', partition: 0, ...change }])).toThrow(
    'names topic tide, never created',
  );
  const topic = { type: 'topic', topic: 'tide', replicas: [[1, 2]] };
  const outsider = { type: 'partition', topic: 'tide', partition: 0, ...change, isr: [1, 3] };
  expect(() => new TestController({}, [topic, outsider])).toThrow('unsound change of a partition');
  expect(() => new TestController({}, [{ type: 'surprise' }])).toThrow('is of no known type');
});

/** A controller that died when only so many of its records were on the disk. */
const cutShort = (controller: TestController, records: number) =>
  new TestController({ boot: 2 }, controller.records.slice(0, records), controller.nowMs);

test('a controller that died between a fencing and what follows from it ends the work at its next start', () => {
  const before = TestController.withBrokers(3);
  before.createTopic('tide', [[1, 2, 3]]);
  before.acknowledgeAll();
  before.keepAlive([2, 3], 1800);
  const fencing = before.records.findIndex((record) => (record as { type: string }).type === 'fence');
  expect(before.partition()).toMatchObject({ leader: 2, leaderEpoch: 1, isr: [2, 3] });
  const after = cutShort(before, fencing + 1);
  expect(after.partition()).toMatchObject({ leader: 2, leaderEpoch: 1, isr: [2, 3] });
  expect(after.linesOf('election')).toMatchObject([{ leader: 2, previousLeader: 1, leaderEpoch: 1 }]);
  /* Told only when it is on the disk. */
  expect(after.records).toHaveLength(fencing + 2);
  expect(after.pushes[0]?.body.partitions).toMatchObject([{ leader: 2, leaderEpoch: 1 }]);
});

test('a controller that died between the return of a broker and its election elects it at its next start', () => {
  const before = TestController.withBrokers(2);
  before.createTopic('tide', [[1, 2]]);
  before.alter(1, [1]);
  before.keepAlive([2], 1800);
  before.join(1, 2);
  expect(before.partition()).toMatchObject({ leader: 1, leaderEpoch: 2, isr: [1] });
  const after = cutShort(before, before.records.length - 1);
  expect(after.partition()).toMatchObject({ leader: 1, leaderEpoch: 2, isr: [1] });
});

test('a controller that died in the middle of creating a topic gives every partition its first leader', () => {
  const before = TestController.withBrokers(2);
  before.createTopic('tide', [
    [1, 2],
    [2, 1],
    [1, 2],
  ]);
  const after = cutShort(before, before.records.length - 2);
  expect([0, 1, 2].map((index) => after.partition(index))).toMatchObject([
    { leader: 1, leaderEpoch: 0, isr: [1, 2] },
    { leader: 2, leaderEpoch: 0, isr: [2, 1] },
    { leader: 1, leaderEpoch: 0, isr: [1, 2] },
  ]);
  expect(after.linesOf('create')).toMatchObject([{ partition: 'tide-1' }, { partition: 'tide-2' }]);
});

/** Anything that may happen to a controller of three brokers and one topic. */
const happening = fc.oneof(
  fc.record({ what: fc.constant('register' as const), broker: fc.integer({ min: 1, max: 3 }), life: fc.nat(3) }),
  fc.record({
    what: fc.constant('heartbeat' as const),
    broker: fc.integer({ min: 1, max: 3 }),
    wantFence: fc.boolean(),
    wantShutDown: fc.boolean(),
  }),
  fc.record({ what: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 900 }) }),
  fc.record({ what: fc.constant('acknowledge' as const) }),
  fc.record({ what: fc.constant('closed' as const), broker: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ what: fc.constant('move' as const), broker: fc.integer({ min: 1, max: 3 }) }),
  fc.record({
    what: fc.constant('alter' as const),
    broker: fc.integer({ min: 1, max: 3 }),
    isr: fc.subarray([1, 2, 3]),
  }),
);

type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never;

function happen(controller: TestController, event: Happening): void {
  switch (event.what) {
    case 'register':
      controller.register(event.broker, event.life);
      return;
    case 'heartbeat':
      controller.heartbeat(event.broker, event);
      return;
    case 'pass':
      controller.pass(event.ms);
      return;
    case 'acknowledge':
      if (controller.pushes[0] !== undefined) controller.acknowledge(controller.pushes[0]);
      return;
    case 'closed':
      controller.pushes = controller.pushes.filter(({ peer }) => peer !== event.broker);
      controller.take({ type: 'closed', peer: event.broker });
      return;
    case 'move':
      controller.move(0, event.broker);
      return;
    case 'alter':
      controller.alter(event.broker, event.isr);
  }
}

test.each([true, false])(
  'whatever happens, epochs grow, the ISR keeps a member and what is restored is what was known (unclean election: %s)',
  (uncleanElection) => {
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 60 }), (events) => {
        const controller = TestController.withBrokers(3, { uncleanElection });
        controller.createTopic('tide', [[3, 1, 2]]);
        const leaders = new Map([[0, 3]]);
        for (const event of events) {
          const before = controller.partition();
          happen(controller, event);
          const after = controller.partition();
          expect(after.isr.length).toBeGreaterThan(0);
          expect(after.leaderEpoch).toBeGreaterThanOrEqual(before.leaderEpoch);
          expect(after.partitionEpoch).toBeGreaterThanOrEqual(before.partitionEpoch);
          if (after.leader !== -1) expect(after.isr).toContain(after.leader);
          /* One leader for each epoch. */
          expect(leaders.get(after.leaderEpoch) ?? after.leader).toBe(after.leader);
          leaders.set(after.leaderEpoch, after.leader);
        }
        expect(durable(restarted(controller))).toEqual(durable(controller));
        expectSoundFromAnyRecord(controller);
      }),
      { numRuns: 200 },
    );
  },
);

/** After whichever record the controller dies: once it has started again nobody leads who is not live. */
function expectSoundFromAnyRecord(controller: TestController): void {
  for (let count = 0; count <= controller.records.length; count++) {
    const { state } = cutShort(controller, count);
    const live = (id: number) =>
      state.brokers.some((broker) => broker.id === id && !broker.fenced && !broker.shuttingDown);
    for (const { leader, isr } of state.topics.get('tide')?.partitions ?? []) {
      expect(isr.length).toBeGreaterThan(0);
      expect(leader === -1 ? isr.some(live) : !live(leader)).toBe(false);
    }
  }
}
