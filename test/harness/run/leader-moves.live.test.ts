/** Leaders of other people's brokers are moved: two brokers that believe what a controller beside them decides. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ErrorCode } from '../../../broker/protocol/index.ts';
import type { RequestBody, ResponseBody } from '../../../broker/protocol/index.ts';
import { createAdmin, type Admin, type LeaderMoves } from '../../../harness/run/admin.ts';
import { startLittleBroker, type LittleBroker } from './little-broker.ts';
import { startLittleZooKeeper, type LittleZooKeeper } from './little-zookeeper.ts';

interface Belief {
  leader: number;
  leaderEpoch: number;
  replicas: readonly number[];
  isr: readonly number[];
}

let brokers: readonly LittleBroker[];
let belief: Belief;

beforeEach(async () => {
  belief = { leader: 1, leaderEpoch: 4, replicas: [1, 2], isr: [1, 2] };
  brokers = await Promise.all([1, 2].map((node) => startLittleBroker(1, node)));
  for (const broker of brokers) broker.answers.Metadata = () => metadataOf(belief);
});
afterEach(async () => {
  await Promise.all(brokers.map((broker) => broker.close()));
});

function metadataOf({ leader, leaderEpoch, replicas, isr }: Belief): ResponseBody<'Metadata'> {
  const known = brokers[0]!.metadata();
  const [topic] = known.topics;
  const partition = { ...topic!.partitions[0]!, leaderId: leader, leaderEpoch, replicaNodes: replicas, isrNodes: isr };
  return { ...known, topics: [{ ...topic!, partitions: [partition] }] };
}

function adminThat(moves: LeaderMoves): Admin {
  return createAdmin(new Map(brokers.map((broker, index) => [index + 1, broker.address])), 1_000, { moves });
}

describe('by requests', () => {
  beforeEach(() => {
    for (const broker of brokers) {
      broker.answers.AlterPartitionReassignments = (body: RequestBody<'AlterPartitionReassignments'>) => {
        belief.replicas = body.topics[0]!.partitions[0]!.replicas!;
        return answered('AlterPartitionReassignments');
      };
      broker.answers.ElectLeaders = () => {
        belief.leader = belief.replicas[0]!;
        belief.leaderEpoch += 1;
        return elected(ErrorCode.NONE);
      };
    }
  });

  const answered = (_api: 'AlterPartitionReassignments'): ResponseBody<'AlterPartitionReassignments'> => ({
    throttleTimeMs: 0,
    allowReplicationFactorChange: true,
    errorCode: ErrorCode.NONE,
    errorMessage: null,
    responses: [],
  });
  const elected = (errorCode: number): ResponseBody<'ElectLeaders'> => ({
    throttleTimeMs: 0,
    errorCode,
    replicaElectionResults: [],
  });

  it('the wanted leader is put first and elected, through itself, and then the order is as it was', async () => {
    expect(await adminThat({ by: 'reassign' }).moveLeader('tide-0', 2)).toEqual({
      effective: true,
      facts: { through: 'reassignment' },
    });
    expect(belief).toMatchObject({ leader: 2, replicas: [1, 2] });
    expect(brokers[1]!.requests).toContain('ElectLeaders');
    expect(brokers[0]!.requests).not.toContain('ElectLeaders');
  });

  it('it is only elected where it stands first already', async () => {
    belief.replicas = [2, 1];
    expect(await adminThat({ by: 'reassign' }).moveLeader('tide-0', 2)).toMatchObject({ effective: true });
    expect(brokers.flatMap(({ requests }) => requests)).not.toContain('AlterPartitionReassignments');
  });

  it.each([
    ['leads already', 1, 'broker 1 leads tide-0 already'],
    ['has no replica', 3, 'broker 3 is no replica of tide-0'],
  ])('nothing is ordered where the wanted leader %s', async (_title, to, error) => {
    expect(await adminThat({ by: 'reassign' }).moveLeader('tide-0', to)).toEqual({
      effective: false,
      facts: { error },
    });
    expect(new Set(brokers.flatMap(({ requests }) => requests))).toEqual(new Set(['Metadata']));
  });

  it('nothing is ordered where the wanted leader is not in the ISR', async () => {
    belief.isr = [1];
    expect(await adminThat({ by: 'reassign' }).moveLeader('tide-0', 2)).toMatchObject({
      facts: { error: 'broker 2 is not in the ISR of tide-0' },
    });
  });

  it('a broker that has not heard of the last election is not believed', async () => {
    const old = { ...belief, leader: 2, leaderEpoch: 3 };
    brokers[1]!.answers.Metadata = () => metadataOf(belief.leader === 2 ? belief : old);
    expect(await adminThat({ by: 'reassign' }).moveLeader('tide-0', 2)).toMatchObject({ effective: true });
  });

  it('nothing is asked of a broker that is paused', async () => {
    brokers[1]!.mood = () => 'silent';
    for (const broker of brokers) broker.answers.ElectLeaders = () => elected(ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE);
    expect(await adminThat({ by: 'reassign' }).moveLeader('tide-0', 2)).toEqual({
      effective: false,
      facts: { error: 'the election is refused: PREFERRED_LEADER_NOT_AVAILABLE' },
    });
    expect(new Set(brokers[1]!.requests)).toEqual(new Set(['Metadata']));
  });
});

describe('by orders in ZooKeeper', () => {
  let keeper: LittleZooKeeper;
  const state = '/brokers/topics/tide/partitions/0/state';

  beforeEach(async () => {
    keeper = await startLittleZooKeeper();
    keeper.nodes.set('/brokers/topics/tide', JSON.stringify({ version: 1, partitions: { 0: [1, 2] } }));
    keeper.nodes.set(state, JSON.stringify({ leader: 1, isr: [1, 2] }));
    keeper.onWrite = (path) => {
      const order = keeper.nodes.get(path);
      if (order === undefined) return;
      const [wanted] = (JSON.parse(order) as { partitions: { replicas: number[] }[] }).partitions;
      if (path === '/admin/reassign_partitions') {
        belief.replicas = wanted!.replicas;
        keeper.nodes.set('/brokers/topics/tide', JSON.stringify({ version: 1, partitions: { 0: wanted!.replicas } }));
      } else {
        belief.leader = belief.replicas[0]!;
      }
      keeper.nodes.delete(path);
    };
  });
  afterEach(() => keeper.close());

  const move = (to: number): ReturnType<Admin['moveLeader']> =>
    adminThat({ by: 'zookeeper', address: keeper.address }).moveLeader('tide-0', to);

  it('the wanted leader is put first and elected, the order is as it was, and no connection is left', async () => {
    expect(await move(2)).toEqual({ effective: true, facts: { through: 'zookeeper' } });
    expect(belief).toMatchObject({ leader: 2, replicas: [1, 2] });
    await expect.poll(() => keeper.connections()).toBe(0);
  });

  it('what ZooKeeper says of leader and ISR counts, not what brokers have heard', async () => {
    keeper.nodes.set(state, JSON.stringify({ leader: 2, isr: [1, 2] }));
    expect(await move(2)).toEqual({ effective: false, facts: { error: 'broker 2 leads tide-0 already' } });
  });

  it('an order that nobody takes away is taken back', async () => {
    keeper.onWrite = () => {};
    expect(await move(2)).toEqual({
      effective: false,
      facts: { error: 'the controller did not take the new order of the replicas' },
    });
    expect(keeper.nodes.has('/admin/reassign_partitions')).toBe(false);
  });

  it('a ZooKeeper that answers nonsense makes it ineffective, with the reason', async () => {
    keeper.mood = 'refuse';
    expect(await move(2)).toEqual({
      effective: false,
      facts: { error: 'ZooKeeper refuses get /brokers/topics/tide: error -102' },
    });
  });
});
