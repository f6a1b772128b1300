/** What each defect of the controller does, beside what the healthy one does in the same place. */
import { expect, test } from 'vitest';
import { ErrorCode } from '../../../broker/protocol/index.ts';
import { TestController } from './cluster.ts';

const clusterOfThree = (...defects: readonly string[]) => {
  const controller = TestController.withBrokers(3, { defects });
  controller.createTopic('tide', [[3, 1, 2]]);
  controller.acknowledgeAll();
  return controller;
};

test('bounce-undetected lets a broker that came back quickly keep its place, and tells it everything again', () => {
  const controller = clusterOfThree('bounce-undetected');
  const before = controller.partition();
  expect(controller.register(3, 2).errorCode).toBe(ErrorCode.NONE);
  expect(controller.heartbeat(3)).toMatchObject({ errorCode: ErrorCode.NONE, isFenced: false });
  expect(controller.partition()).toEqual(before);
  expect(controller.linesOf('fence')).toEqual([]);
  expect(controller.pushes.find(({ peer }) => peer === 3)?.body).toMatchObject({
    full: true,
    partitions: [{ topic: 'tide', leader: 3, leaderEpoch: 0 }],
  });
  // One that stays away is fenced as ever.
  controller.keepAlive([1, 2], 1500);
  expect(controller.partition()).toMatchObject({ leader: 1, isr: [1, 2] });
});

test.each([
  { defects: [], leader: 2, isr: [2] },
  { defects: ['elect-outside-isr'], leader: 3, isr: [2, 3] },
])('with defects $defects broker $leader follows a leader that dies with one broker in sync', (expected) => {
  const controller = clusterOfThree(...expected.defects);
  controller.keepAlive([1, 2], 1500);
  controller.join(3, 2);
  expect(controller.partition()).toMatchObject({ leader: 1, isr: [1, 2] });
  controller.keepAlive([2, 3], 1500);
  expect(controller.partition()).toMatchObject({ leader: expected.leader, isr: expected.isr });
  expect(controller.linesOf('election').at(-1)).toMatchObject({ leader: expected.leader, clean: true });
});

test.each([
  { defects: [], errorCode: ErrorCode.INELIGIBLE_REPLICA, isr: [3, 1] },
  { defects: ['rejoin-while-fenced'], errorCode: ErrorCode.NONE, isr: [3, 1, 2] },
])(
  'with defects $defects a broker that is fenced, or shuts down, finds the ISR $isr',
  ({ defects, errorCode, isr }) => {
    const fenced = clusterOfThree(...defects);
    fenced.keepAlive([3, 1], 1500);
    expect(fenced.partition().isr).toEqual([3, 1]);
    expect(fenced.alter(3, [3, 1, 2]).errorCode).toBe(errorCode);
    expect(fenced.partition().isr).toEqual(isr);
    const leaving = clusterOfThree(...defects);
    leaving.heartbeat(2, { wantShutDown: true });
    expect(leaving.partition().isr).toEqual([3, 1]);
    expect(leaving.alter(3, [3, 1, 2]).errorCode).toBe(errorCode);
    expect(leaving.partition().isr).toEqual(isr);
  },
);
