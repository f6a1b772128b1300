import { expect, test } from 'vitest';
import { ErrorCode } from '../../../broker/protocol/index.ts';
import { TestController } from './cluster.ts';

const create = (
  controller: TestController,
  topic: { name?: string; partitions?: number; factor?: number; validateOnly?: boolean },
) =>
  controller.ask('CreateTopics', {
    topics: [
      {
        name: topic.name ?? 'tide',
        numPartitions: topic.partitions ?? 1,
        replicationFactor: topic.factor ?? 1,
        assignments: [],
        configs: [],
      },
    ],
    timeoutMs: 1000,
    validateOnly: topic.validateOnly ?? false,
  }).topics[0]?.errorCode;

test('replicas rotate over the live brokers, so that leaders spread', () => {
  const controller = TestController.withBrokers(3);
  expect(create(controller, { partitions: 4, factor: 3 })).toBe(ErrorCode.NONE);
  expect(controller.linesOf('create')).toEqual([
    { event: 'create', partition: 'tide-0', replicas: [1, 2, 3] },
    { event: 'create', partition: 'tide-1', replicas: [2, 3, 1] },
    { event: 'create', partition: 'tide-2', replicas: [3, 1, 2] },
    { event: 'create', partition: 'tide-3', replicas: [1, 2, 3] },
  ]);
  expect(controller.linesOf('election')).toHaveLength(4);
  expect(controller.partition(2)).toEqual({ leader: 3, leaderEpoch: 0, partitionEpoch: 0, isr: [3, 1, 2] });
});

test('the rotation goes on from topic to topic', () => {
  const controller = TestController.withBrokers(2);
  create(controller, { name: 'first' });
  create(controller, { name: 'second' });
  expect(controller.linesOf('create').map((line) => 'replicas' in line && line.replicas)).toEqual([[1], [2]]);
});

test('fenced brokers get no replicas', () => {
  const controller = TestController.withBrokers(2);
  controller.register(3);
  expect(create(controller, { partitions: 3, factor: 2 })).toBe(ErrorCode.NONE);
  expect(create(controller, { name: 'wide', factor: 3 })).toBe(ErrorCode.INVALID_REPLICATION_FACTOR);
});

test('an explicit assignment is honoured; replicas that are not live start outside of the ISR', () => {
  const controller = TestController.withBrokers(2);
  controller.register(3);
  expect(controller.createTopic('tide', [[3, 2, 1]])).toBe(ErrorCode.NONE);
  expect(controller.partition()).toMatchObject({ leader: 2, isr: [2, 1] });
});

test.each([
  ['a replica twice', [[1, 1]]],
  ['a broker that never registered', [[1, 9]]],
  ['no replica', [[]]],
])('an assignment with %s is refused', (_, assignment) => {
  const controller = TestController.withBrokers(2);
  expect(controller.createTopic('tide', assignment)).toBe(ErrorCode.INVALID_REPLICA_ASSIGNMENT);
});

test.each([
  ['an illegal name', { name: 'a/b' }, ErrorCode.INVALID_TOPIC_EXCEPTION],
  ['no partition', { partitions: 0 }, ErrorCode.INVALID_PARTITIONS],
  ['more partitions than anybody needs', { partitions: 1_000_000 }, ErrorCode.INVALID_PARTITIONS],
  ['more replicas than brokers', { factor: 3 }, ErrorCode.INVALID_REPLICATION_FACTOR],
])('a topic with %s is refused', (_, topic, errorCode) => {
  expect(create(TestController.withBrokers(2), topic)).toBe(errorCode);
});

test('a name can be taken once, and a validation takes nothing', () => {
  const controller = TestController.withBrokers(1);
  expect(create(controller, { validateOnly: true })).toBe(ErrorCode.NONE);
  expect(create(controller, {})).toBe(ErrorCode.NONE);
  expect(create(controller, {})).toBe(ErrorCode.TOPIC_ALREADY_EXISTS);
});
