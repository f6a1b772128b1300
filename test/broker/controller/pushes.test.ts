import { expect, test } from 'vitest';
import { ErrorCode } from '../../../broker/protocol/index.ts';
import { TestController } from './cluster.ts';

const settled = (count = 3) => {
  const controller = TestController.withBrokers(count);
  controller.createTopic('tide', [Array.from({ length: count }, (_, index) => index + 1)]);
  controller.acknowledgeAll();
  return controller;
};

test('a new broker is told everything, and later only what changed', () => {
  const controller = settled();
  controller.createTopic('other', [[1, 2]]);
  const [push] = controller.pushes;
  expect(push?.body).toMatchObject({ full: false, partitions: [{ topic: 'other', partition: 0 }] });
  controller.acknowledgeAll();
  controller.keepAlive([1, 2], 1500);
  controller.register(3, 2);
  const full = controller.pushes.find(({ peer }) => peer === 3);
  expect(full?.body.full).toBe(true);
  expect(full?.body.partitions.map(({ topic }) => topic)).toEqual(['tide', 'other']);
});

test('a push holds the endpoints, broker epochs and fences of all brokers and the whole state of a partition', () => {
  const controller = TestController.withBrokers(1);
  controller.register(2);
  controller.createTopic('tide', [[1]]);
  const { pushes } = controller;
  controller.acknowledge(pushes[0]!);
  const push = controller.pushes.find(({ peer }) => peer === 1);
  expect(push?.body).toEqual({
    metadataVersion: controller.state.version,
    full: false,
    brokers: [
      { brokerId: 1, brokerEpoch: 1, host: 'host-1', port: 9091, fenced: false },
      { brokerId: 2, brokerEpoch: 3, host: 'host-2', port: 9092, fenced: true },
    ],
    partitions: [
      {
        topic: 'tide',
        partition: 0,
        leader: 1,
        leaderEpoch: 0,
        partitionEpoch: 0,
        isr: [1],
        replicas: [1],
        deleted: false,
      },
    ],
  });
});

test('one push is in flight per broker; what changes meanwhile comes with the next, and an epoch can be missed', () => {
  const controller = settled();
  controller.move(0, 2);
  controller.move(0, 3);
  controller.move(0, 1);
  expect(controller.pushes.map(({ peer, body }) => [peer, body.partitions[0]?.leaderEpoch])).toEqual([
    [1, 1],
    [2, 1],
    [3, 1],
  ]);
  controller.acknowledge(controller.pushes[1]!);
  expect(controller.pushes.at(-1)).toMatchObject({ peer: 2, body: { partitions: [{ leaderEpoch: 3, leader: 1 }] } });
});

test('a push without an answer closes its connection and is repeated', () => {
  const controller = settled();
  controller.move(0, 2);
  controller.acknowledgeAll([1, 2]);
  controller.pass(500);
  expect(controller.effects).toEqual([{ type: 'close', peer: 3 }]);
  controller.pass(100);
  expect(controller.pushes).toMatchObject([{ peer: 3, body: { partitions: [{ leaderEpoch: 1 }] } }]);
  expect(controller.pushes[0]?.correlationId).not.toBe(undefined);
});

test('a push whose connection ends, or that is refused, is repeated after a pause', () => {
  const controller = settled(2);
  controller.move(0, 2);
  const [first, second] = controller.pushes;
  controller.pushes = [];
  controller.take({ type: 'closed', peer: 1 });
  const body = { errorCode: ErrorCode.STALE_BROKER_EPOCH, metadataVersion: -1 };
  controller.take({ ...second!, type: 'response', body } as never);
  expect(controller.pushes).toEqual([]);
  controller.pass(100);
  expect(controller.pushes.map(({ peer, body: { metadataVersion } }) => [peer, metadataVersion])).toEqual([
    [1, first?.body.metadataVersion],
    [2, first?.body.metadataVersion],
  ]);
});

test('fenced brokers are told as well', () => {
  const controller = settled();
  controller.keepAlive([1, 2], 1800);
  controller.pass(100);
  expect(controller.pushes.some(({ peer }) => peer === 3)).toBe(true);
});

test('a deleted topic is told until every broker knows, and only then its name is free', () => {
  const controller = settled();
  const deletion = { topicNames: ['tide', 'nothing'], timeoutMs: 1000 };
  expect(controller.ask('DeleteTopics', deletion).responses).toMatchObject([
    { name: 'tide', errorCode: ErrorCode.NONE },
    { name: 'nothing', errorCode: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION },
  ]);
  expect(controller.linesOf('delete')).toEqual([{ event: 'delete', partition: 'tide-0' }]);
  expect(controller.pushes[0]?.body.partitions).toMatchObject([{ topic: 'tide', deleted: true, leader: -1 }]);
  controller.acknowledgeAll([1, 2]);
  expect(controller.createTopic('tide', [[1, 2, 3]])).toBe(ErrorCode.TOPIC_ALREADY_EXISTS);
  controller.acknowledgeAll();
  expect(controller.createTopic('tide', [[1, 2, 3]])).toBe(ErrorCode.NONE);
});
