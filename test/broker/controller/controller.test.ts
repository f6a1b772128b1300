import { expect, test } from 'vitest';
import { ErrorCode } from '../../../broker/protocol/index.ts';
import { TestController } from './cluster.ts';

const clusterOfThree = () => {
  const controller = TestController.withBrokers(3);
  controller.createTopic('tide', [[3, 1, 2]]);
  controller.acknowledgeAll();
  return controller;
};

test('a broker that registers is fenced until it knows the cluster and sends a heartbeat', () => {
  const controller = new TestController();
  expect(controller.register(1)).toMatchObject({ errorCode: ErrorCode.NONE, brokerEpoch: 1 });
  expect(controller.heartbeat(1)).toMatchObject({ isFenced: true, isCaughtUp: false });
  controller.acknowledgeAll();
  expect(controller.linesOf('unfence')).toEqual([{ event: 'unfence', broker: 1 }]);
  expect(controller.heartbeat(1)).toMatchObject({ isFenced: false, isCaughtUp: true });
});

test('a broker of another cluster is refused', () => {
  const controller = new TestController({ clusterId: 'another' });
  expect(controller.register(1).errorCode).toBe(ErrorCode.INCONSISTENT_CLUSTER_ID);
});

test('a second life is refused while the first is not fenced, and accepted after', () => {
  const controller = clusterOfThree();
  expect(controller.register(3, 2).errorCode).toBe(ErrorCode.DUPLICATE_BROKER_REGISTRATION);
  controller.keepAlive([1, 2], 1500);
  expect(controller.linesOf('fence')).toEqual([{ event: 'fence', broker: 3, reason: 'session-timeout' }]);
  expect(controller.partition()).toMatchObject({ leader: 1, leaderEpoch: 1, isr: [1, 2] });
  expect(controller.register(3, 2).errorCode).toBe(ErrorCode.NONE);
});

test('a registration repeated within one life gets the same broker epoch', () => {
  const controller = new TestController();
  const first = controller.register(1);
  expect(controller.register(1)).toEqual(first);
  expect(controller.records).toHaveLength(1);
});

test('a heartbeat of a former life or of a stranger is refused', () => {
  const controller = TestController.withBrokers(1);
  controller.epochs.set(1, 99);
  expect(controller.heartbeat(1).errorCode).toBe(ErrorCode.STALE_BROKER_EPOCH);
  expect(controller.heartbeat(2).errorCode).toBe(ErrorCode.BROKER_ID_NOT_REGISTERED);
});

test('a broker that is silent for a session is fenced, leaves the ISR with a new leader epoch, and the leader stays', () => {
  const controller = clusterOfThree();
  controller.keepAlive([3, 1], 1500);
  expect(controller.partition()).toEqual({ leader: 3, leaderEpoch: 1, partitionEpoch: 1, isr: [3, 1] });
  expect(controller.linesOf('isr')).toEqual([
    { event: 'isr', partition: 'tide-0', leaderEpoch: 1, from: [3, 1, 2], to: [3, 1], reason: 'fenced' },
  ]);
});

test('a fenced broker comes back only after it knows of its fencing', () => {
  const controller = clusterOfThree();
  controller.keepAlive([3, 1], 1500);
  expect(controller.heartbeat(2)).toMatchObject({ errorCode: ErrorCode.NONE, isFenced: true });
  controller.pass(100);
  controller.acknowledgeAll();
  expect(controller.linesOf('unfence').at(-1)).toEqual({ event: 'unfence', broker: 2 });
  expect(controller.heartbeat(2)).toMatchObject({ isFenced: false });
});

test('leaders are elected in the order of the assignment among live members of the ISR', () => {
  const controller = clusterOfThree();
  controller.alter(3, [3, 2]);
  controller.keepAlive([1, 2], 1500);
  expect(controller.partition()).toEqual({ leader: 2, leaderEpoch: 1, partitionEpoch: 2, isr: [2] });
  expect(controller.linesOf('election').at(-1)).toEqual({
    event: 'election',
    partition: 'tide-0',
    leaderEpoch: 1,
    leader: 2,
    previousLeader: 3,
    isr: [2],
    clean: true,
    reason: 'fenced',
  });
});

test('the last member stays in the ISR when it is gone, and nobody leads until it returns', () => {
  const controller = clusterOfThree();
  controller.alter(3, [3]);
  controller.keepAlive([1, 2], 1500);
  expect(controller.partition()).toEqual({ leader: -1, leaderEpoch: 1, partitionEpoch: 2, isr: [3] });
  controller.join(3, 2);
  expect(controller.partition()).toEqual({ leader: 3, leaderEpoch: 2, partitionEpoch: 3, isr: [3] });
});

test('brokers whose sessions end at once hand nothing over to one another', () => {
  const controller = clusterOfThree();
  controller.move(0, 1);
  controller.pass(200);
  for (const id of [1, 2, 3]) controller.heartbeat(id);
  controller.pass(1000);
  controller.heartbeat(2);
  controller.pass(500);
  expect(controller.linesOf('fence')).toMatchObject([{ broker: 1 }, { broker: 3 }]);
  expect(controller.linesOf('election').slice(2)).toMatchObject([{ leader: 2, previousLeader: 1 }]);
  expect(controller.partition()).toMatchObject({ leader: 2, isr: [2] });
});

test('an unclean election takes the first live replica, and only where it is allowed', () => {
  const controller = TestController.withBrokers(3, { uncleanElection: true });
  controller.createTopic('tide', [[3, 1, 2]]);
  controller.alter(3, [3]);
  controller.acknowledgeAll();
  controller.keepAlive([1, 2], 1500);
  expect(controller.partition()).toMatchObject({ leader: 1, isr: [1] });
  expect(controller.linesOf('election').at(-1)).toMatchObject({ clean: false });
});

test('a leader proposes an ISR by AlterPartition; only the partition epoch grows', () => {
  const controller = clusterOfThree();
  expect(controller.alter(3, [3, 1])).toMatchObject({ errorCode: ErrorCode.NONE, isr: [3, 1], partitionEpoch: 1 });
  expect(controller.partition()).toEqual({ leader: 3, leaderEpoch: 0, partitionEpoch: 1, isr: [3, 1] });
});

test('a proposal of what the ISR is already changes nothing', () => {
  const controller = clusterOfThree();
  const before = controller.records.length;
  expect(controller.alter(3, [2, 1, 3])).toMatchObject({
    errorCode: ErrorCode.NONE,
    isr: [3, 1, 2],
    partitionEpoch: 0,
  });
  expect(controller.records).toHaveLength(before);
  expect(controller.linesOf('isr')).toEqual([]);
});

test.each([
  ['a leader epoch ahead', ErrorCode.NOT_CONTROLLER, 3, [3], { leaderEpoch: 9 }],
  ['a partition epoch ahead', ErrorCode.NOT_CONTROLLER, 1, [1], { partitionEpoch: 9 }],
  ['a leader epoch behind', ErrorCode.FENCED_LEADER_EPOCH, 1, [1], { leaderEpoch: -1, partitionEpoch: -1 }],
  ['a sender that does not lead', ErrorCode.INVALID_REQUEST, 1, [1], { partitionEpoch: -1 }],
  ['a partition epoch behind', ErrorCode.INVALID_UPDATE_VERSION, 3, [9], { partitionEpoch: -1 }],
  ['a member that is no replica', ErrorCode.INVALID_REQUEST, 3, [3, 4], {}],
  ['an ISR without the leader', ErrorCode.INVALID_REQUEST, 3, [1, 2], {}],
  ['an empty ISR', ErrorCode.INVALID_REQUEST, 3, [], {}],
  ['a sender of a former life', ErrorCode.STALE_BROKER_EPOCH, 3, [3, 1], { brokerEpoch: 0 }],
] as const)('AlterPartition refuses %s', (_, errorCode, sender, newIsr, epochs) => {
  const controller = clusterOfThree();
  const before = controller.partition();
  expect(controller.alter(sender, newIsr, epochs).errorCode).toBe(errorCode);
  expect(controller.partition()).toEqual(before);
});

test('AlterPartition refuses a member that is fenced', () => {
  const controller = clusterOfThree();
  controller.keepAlive([3, 1], 1500);
  expect(controller.alter(3, [3, 1, 2]).errorCode).toBe(ErrorCode.INELIGIBLE_REPLICA);
});

test('a copy of a refused proposal that arrives when the member is eligible again is outdated', () => {
  const controller = clusterOfThree();
  controller.keepAlive([3, 1], 1500);
  const asked = { partitionEpoch: controller.partition().partitionEpoch };
  expect(controller.alter(3, [3, 1, 2], asked).errorCode).toBe(ErrorCode.INELIGIBLE_REPLICA);
  controller.register(2, 2);
  controller.acknowledgeAll();
  controller.heartbeat(2);
  expect(controller.alter(3, [3, 1, 2], asked).errorCode).toBe(ErrorCode.INVALID_UPDATE_VERSION);
  expect(controller.partition().isr).toEqual([3, 1]);
  expect(controller.alter(3, [3, 1, 2])).toMatchObject({ errorCode: ErrorCode.NONE, isr: [3, 1, 2] });
});

test('MoveLeader makes a live member of the ISR the leader and keeps the ISR', () => {
  const controller = clusterOfThree();
  expect(controller.move(0, 2)).toEqual({ errorCode: ErrorCode.NONE, errorMessage: null });
  expect(controller.partition()).toEqual({ leader: 2, leaderEpoch: 1, partitionEpoch: 1, isr: [3, 1, 2] });
  expect(controller.linesOf('election').at(-1)).toMatchObject({
    previousLeader: 3,
    clean: true,
    reason: 'move-leader',
  });
});

test('MoveLeader refuses a broker outside of the ISR, the present leader, and an unknown partition', () => {
  const controller = clusterOfThree();
  controller.alter(3, [3, 1]);
  expect(controller.move(0, 2)).toEqual({
    errorCode: ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE,
    errorMessage: 'broker 2 is not a live member of the ISR [3, 1]',
  });
  expect(controller.move(0, 3).errorCode).toBe(ErrorCode.ELECTION_NOT_NEEDED);
  expect(controller.move(7, 1).errorCode).toBe(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
});

test('ElectLeaders gives every partition back to its preferred leader and is silent where that leads already', () => {
  const controller = TestController.withBrokers(2);
  controller.createTopic('tide', [
    [1, 2],
    [2, 1],
  ]);
  controller.move(0, 2);
  const answer = controller.ask('ElectLeaders', { electionType: 0, topicPartitions: null, timeoutMs: 1000 });
  expect(answer.replicaElectionResults).toEqual([
    { topic: 'tide', partitionResult: [{ partitionId: 0, errorCode: ErrorCode.NONE, errorMessage: null }] },
  ]);
  expect(controller.partition()).toMatchObject({ leader: 1, leaderEpoch: 2 });
});

test('a controlled shutdown hands leaderships over, waits until the others know, and fences', () => {
  const controller = clusterOfThree();
  expect(controller.heartbeat(3, { wantShutDown: true })).toMatchObject({ shouldShutDown: false, isFenced: false });
  expect(controller.partition()).toMatchObject({ leader: 1, leaderEpoch: 1, isr: [1, 2] });
  controller.acknowledgeAll();
  expect(controller.heartbeat(3, { wantShutDown: true })).toMatchObject({ shouldShutDown: true, isFenced: true });
  expect(controller.linesOf('fence')).toEqual([{ event: 'fence', broker: 3, reason: 'controlled-shutdown' }]);
  expect(controller.register(3, 2).errorCode).toBe(ErrorCode.NONE);
});

test('a broker that is about to leave may not join an ISR again', () => {
  const controller = clusterOfThree();
  controller.heartbeat(2, { wantShutDown: true });
  expect(controller.partition().isr).toEqual([3, 1]);
  expect(controller.alter(3, [3, 1, 2]).errorCode).toBe(ErrorCode.INELIGIBLE_REPLICA);
});

test('every change is traced and persisted before it is told', () => {
  const controller = clusterOfThree();
  controller.move(0, 1);
  expect(controller.effects.map(({ type }) => type)).toEqual(['trace', 'persist', 'respond', 'send', 'send', 'send']);
});

test('a controller without brokers waits for nothing', () => {
  const controller = new TestController();
  controller.pass(60_000);
  expect(controller.effects).toEqual([
    { type: 'trace', line: { event: 'start', port: 9090, build: 'controller', defects: [] } },
  ]);
});

test('a request that is none of its business ends the connection', () => {
  const controller = new TestController();
  const body = { topics: null, allowAutoTopicCreation: false };
  const origin = { connection: 7, correlationId: 0, clientId: 'client-0' };
  controller.take({ type: 'request', origin, api: 'Metadata', version: 4, body } as never);
  expect(controller.effects).toEqual([{ type: 'disconnect', connection: 7 }]);
});
