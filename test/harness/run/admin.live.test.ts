import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAdmin } from '../../../harness/run/admin.ts';
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
});
