import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ErrorCode } from '../../../broker/protocol/index.ts';
import type { RequestBody } from '../../../broker/protocol/index.ts';
import { adminVersions } from '../../../harness/client/admin-requests.ts';
import { createAdmin } from '../../../harness/run/admin.ts';
import { reachOf } from '../../../harness/run/reach.ts';
import type { LittleBroker } from './little-broker.ts';
import { closedPort, startLittleBroker } from './little-broker.ts';

let broker: LittleBroker;

beforeEach(async () => {
  broker = await startLittleBroker(4);
});
afterEach(() => broker.close());

describe('the admin client', () => {
  it('describes leaders, replicas and ISR, asking the next broker when one is gone', async () => {
    const gone = { host: '127.0.0.1', port: await closedPort() };
    const admin = createAdmin(
      new Map([
        [2, gone],
        [1, broker.address],
      ]),
    );
    const { brokers, partitions } = await admin.describe(['tide']);
    expect(brokers).toEqual([1]);
    expect(partitions.get('tide-3')).toEqual({ leader: 1, leaderEpoch: 0, replicas: [1], isr: [1] });
  });

  it('waits for a topic until every broker knows its leaders', async () => {
    let questions = 0;
    broker.mood = () => ((questions += 1) <= 3 ? 'hang-up' : 'answer');
    const admin = createAdmin(new Map([[1, broker.address]]));
    await admin.createTopic({ name: 'tide', partitions: 4, replicationFactor: 1, timeoutMs: 5_000 });
    expect(broker.requests).toEqual(['CreateTopics', 'CreateTopics', 'CreateTopics', 'CreateTopics', 'Metadata']);
  });

  it('gives up waiting with the reason', async () => {
    const admin = createAdmin(new Map([[1, broker.address]]));
    const topic = { name: 'tide', partitions: 5, replicationFactor: 1, timeoutMs: 200 };
    await expect(admin.createTopic(topic)).rejects.toThrow(
      'broker 1 knows a leader for 4 of the 5 partitions of topic tide',
    );
    const gone = createAdmin(new Map([[2, { host: '127.0.0.1', port: await closedPort() }]]));
    await expect(gone.createTopic(topic)).rejects.toThrow(/^no broker answers: CreateTopics to 127\.0\.0\.1:\d+: /u);
  });

  it('says whether a leader was moved, and why not, as evidence', async () => {
    const admin = createAdmin(new Map([[1, broker.address]]));
    expect(await admin.moveLeader('tide-0', 1)).toEqual({ effective: true, facts: { through: 1 } });
    broker.mood = () => 'hang-up';
    expect(await admin.moveLeader('tide-0', 1)).toMatchObject({
      effective: false,
      facts: { error: 'no broker answers' },
    });
  });

  it('sends no move to a broker that does not answer, where it could take effect much later', async () => {
    const paused = await startLittleBroker(4, 2);
    paused.mood = () => 'silent';
    const admin = createAdmin(
      new Map([
        [2, paused.address],
        [1, broker.address],
      ]),
    );
    expect(await admin.moveLeader('tide-0', 2)).toEqual({ effective: true, facts: { through: 1 } });
    expect(paused.requests).toEqual(['Metadata']);
    await paused.close();
  });

  it('asks the controller for a topic where the first broker refers to it, with the replicas that were given', async () => {
    const controller = await startLittleBroker(4, 9);
    const brokers = [
      { nodeId: 1, host: '127.0.0.1', port: broker.port, rack: null },
      { nodeId: 9, host: '127.0.0.1', port: controller.port, rack: null },
    ];
    const refused = { name: 'tide', errorCode: ErrorCode.NOT_CONTROLLER, errorMessage: null };
    broker.answers.CreateTopics = () => ({ throttleTimeMs: 0, topics: [refused] });
    const known = broker.metadata();
    broker.answers.Metadata = () => ({ ...known, brokers, controllerId: 9 });
    let asked: RequestBody<'CreateTopics'> | null = null;
    controller.answers.CreateTopics = (body) => {
      asked = body;
      return null;
    };
    const reach = reachOf([broker.address, controller.address]);
    const admin = createAdmin(new Map([[1, broker.address]]), 1_000, { reach });
    const assignment = [[1], [1], [1], [1]];
    await admin.createTopic({ name: 'tide', partitions: 4, replicationFactor: 1, assignment, timeoutMs: 5_000 });
    expect(controller.requests).toEqual(['Metadata', 'CreateTopics']);
    expect(asked).toMatchObject({ topics: [{ numPartitions: -1, assignments: [{ brokerIds: [1] }, {}, {}, {}] }] });
    await controller.close();
  });

  it('asks nobody at an address that is not the cluster’s own, whoever names it', async () => {
    const stranger = await startLittleBroker(4, 9);
    const known = broker.metadata();
    broker.answers.Metadata = () => ({
      ...known,
      brokers: [...known.brokers, { nodeId: 9, ...stranger.address, rack: null }],
      controllerId: 9,
    });
    const refused = { name: 'tide', errorCode: ErrorCode.NOT_CONTROLLER, errorMessage: null };
    broker.answers.CreateTopics = () => ({ throttleTimeMs: 0, topics: [refused] });
    const admin = createAdmin(new Map([[1, broker.address]]));
    const where = `${stranger.address.host}:${stranger.port} is no address of this cluster`;
    await expect(admin.demandOwnAddresses()).rejects.toThrow(`broker 1 names broker 9: ${where}`);
    const topic = { name: 'tide', partitions: 4, replicationFactor: 1, timeoutMs: 100 };
    await expect(admin.createTopic(topic)).rejects.toThrow(`the controller is not asked: ${where}`);
    expect(stranger.requests).toEqual([]);
    await stranger.close();
  });

  it('closes its connection when it is interrupted, and opens no other', async () => {
    broker.mood = () => 'silent';
    const interrupt = new AbortController();
    const admin = createAdmin(new Map([[1, broker.address]]), 60_000, { signal: interrupt.signal });
    const asked = broker.next('Metadata');
    const answer = admin.describe(['tide']);
    await asked;
    interrupt.abort();
    await expect(answer).rejects.toThrow('interrupted');
    await expect(admin.describe(['tide'])).rejects.toThrow('interrupted');
    await expect.poll(() => broker.connections()).toBe(0);
    expect(broker.requests).toEqual(['Metadata']);
  });

  it('speaks the versions that it is given', async () => {
    const versions = { ...adminVersions, Metadata: 2 };
    let spoken = -1;
    broker.answers.Metadata = (_body, version) => {
      spoken = version;
      return null;
    };
    const { partitions } = await createAdmin(new Map([[1, broker.address]]), 1_000, { versions }).describe(['tide']);
    expect(spoken).toBe(2);
    expect(partitions.get('tide-0')).toMatchObject({ leader: 1, leaderEpoch: -1 });
  });

  it('says where partitions end, and of which nobody knows it', async () => {
    const admin = createAdmin(new Map([[1, broker.address]]));
    expect(await admin.endOffsets(['tide-0', 'tide-3', 'tide-4'])).toEqual({
      ends: new Map([
        ['tide-0', 0],
        ['tide-3', 0],
      ]),
      missing: ['nobody leads tide-4'],
    });
    broker.mood = (api) => (api === 'ListOffsets' ? 'hang-up' : 'answer');
    const { ends, missing } = await admin.endOffsets(['tide-0']);
    expect(ends.size).toBe(0);
    expect(missing).toEqual([expect.stringMatching(/^no broker answers: ListOffsets to 127\.0\.0\.1:\d+: /u)]);
  });

  it('moves no leader of brokers whose leaders cannot be moved', async () => {
    const admin = createAdmin(new Map([[1, broker.address]]), 1_000, { moves: { by: 'none' } });
    expect((await admin.moveLeader('tide-0', 1)).effective).toBe(false);
    expect(broker.requests).toEqual([]);
  });
});
