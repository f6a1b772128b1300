import { describe, expect, it } from 'vitest';
import { ActiveController } from '../../../harness/observe/active-controller.ts';

const named = (controller: ActiveController, node: number, controllerId: number): unknown[] =>
  controller.namedBy(node, { controllerId }).map((sighting) => sighting['controller']);

function quorum(leaderId: number, leaderEpoch: number, errorCode = 0): Parameters<ActiveController['describedBy']>[0] {
  const partition = { partitionIndex: 0, errorCode, errorMessage: null, leaderId, leaderEpoch, highWatermark: 9 };
  const partitions = [{ ...partition, currentVoters: [], observers: [] }];
  return { errorCode, errorMessage: null, topics: [{ topicName: '__cluster_metadata', partitions }], nodes: [] };
}

describe('the active controller in ZooKeeper’s time', () => {
  it('is told once, whoever names it, and again when a broker names another', () => {
    const controller = new ActiveController();
    expect([named(controller, 1, 100), named(controller, 2, 100), named(controller, 1, 100)]).toEqual([[100], [], []]);
    expect([named(controller, 2, 3), named(controller, 1, 3)]).toEqual([[3], []]);
  });

  it('is not who one that was paused, or starts, still takes for it', () => {
    const controller = new ActiveController();
    named(controller, 1, 100);
    named(controller, 2, 100);
    named(controller, 1, 3);
    expect(named(controller, 2, 100)).toEqual([]);
    controller.forget(2);
    expect(named(controller, 2, 100)).toEqual([]);
    expect(named(controller, 2, -1)).toEqual([]);
    expect(named(controller, 2, 1)).toEqual([1]);
  });
});

describe('the active controller in KRaft', () => {
  it('is the leader of the quorum, with its epoch; an older epoch and a refusal say nothing', () => {
    const controller = new ActiveController();
    const told = [
      quorum(100, 1),
      quorum(100, 1),
      quorum(-1, 2),
      quorum(100, 1),
      quorum(100, 2),
      quorum(-1, 2),
      quorum(7, 9, 41),
    ];
    expect(told.flatMap((answer) => controller.describedBy(answer))).toEqual(
      [
        { controller: 100, epoch: 1 },
        { controller: null, epoch: 2 },
        { controller: 100, epoch: 2 },
      ].map((said) => ({ node: 'controller', event: 'active-controller', source: 'metadata', ...said })),
    );
  });
});
