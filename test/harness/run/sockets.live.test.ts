import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defaultClientConfig } from '../../../harness/client/contract.ts';
import type { ClientConfig } from '../../../harness/client/contract.ts';
import type { ClientOperation, Completion } from '../../../harness/client/operations.ts';
import type { ClientDriver } from '../../../harness/workload/thread.ts';
import { clockFrom, driveClient, roundTrip } from '../../../harness/run/sockets.ts';
import type { LittleBroker, Mood } from './little-broker.ts';
import { closedPort, startLittleBroker } from './little-broker.ts';

let broker: LittleBroker;
const drivers: ClientDriver[] = [];

beforeEach(async () => {
  broker = await startLittleBroker();
});
afterEach(async () => {
  for (const driver of drivers.splice(0)) driver.close();
  await broker.close();
});

interface Client {
  readonly driver: ClientDriver;
  /** Does one operation and waits for its end. */
  run(operation: ClientOperation): Promise<Completion>;
}

function startClient(config: Partial<ClientConfig> = {}): Client {
  let completed: (completion: Completion) => void = () => {};
  const bootstrap = [{ node: 1, ...broker.address }];
  const driver = driveClient(
    { ...defaultClientConfig, process: 0, bootstrap, acks: 'all', unixOriginMs: 0, operationTimeoutMs: 400, ...config },
    clockFrom(process.hrtime.bigint()),
    (completion) => completed(completion),
  );
  drivers.push(driver);
  return {
    driver,
    run(operation) {
      const { promise, resolve } = Promise.withResolvers<Completion>();
      completed = resolve;
      driver.invoke(operation);
      return promise;
    },
  };
}

const send = { f: 'send', key: 'tide-3', value: 1 } as const;

/** The broker does this with every Produce request, and answers all others. */
function onProduce(mood: Mood): void {
  broker.mood = (api) => (api === 'Produce' ? mood : 'answer');
}

describe('a client on real sockets', () => {
  it('sends and polls over one connection to the broker', async () => {
    const client = startClient();
    expect(await client.run(send)).toMatchObject({
      type: 'ok',
      value: [['send', 'tide-3', [0, 1]]],
      msg: 'client-0#1',
    });
    expect(await client.run({ ...send, value: 2 })).toMatchObject({ value: [['send', 'tide-3', [1, 2]]] });
    await client.run({ f: 'assign', keys: ['tide-3'], seek: 'earliest' });
    expect(await client.run({ f: 'poll' })).toMatchObject({
      type: 'ok',
      value: [
        [
          'poll',
          {
            'tide-3': [
              [0, 1],
              [1, 2],
            ],
          },
        ],
      ],
    });
    expect(client.driver.positions().get('tide-3')).toBe(2);
    expect(broker.connections()).toBe(1);
  });

  it('tells a refused connection, which is a fail, from one that ended, which is info', async () => {
    const nobody = [{ node: 1, host: '127.0.0.1', port: await closedPort() }];
    expect(await startClient({ bootstrap: nobody }).run(send)).toMatchObject({
      type: 'fail',
      error: 'connection-refused',
    });
    for (const mood of ['hang-up', 'reset'] as const) {
      onProduce(mood);
      expect(await startClient().run(send)).toMatchObject({ type: 'info', error: 'disconnect', msg: 'client-0#1' });
    }
  });

  it('opens no connection to an address that only a broker names', async () => {
    const stranger = await startLittleBroker(8, 2);
    const { topics, ...known } = broker.metadata();
    const partitions = topics[0]!.partitions.map((partition) => ({ ...partition, leaderId: 2 }));
    broker.answers.Metadata = () => ({
      ...known,
      brokers: [...known.brokers, { nodeId: 2, ...stranger.address, rack: null }],
      topics: [{ ...topics[0]!, partitions }],
    });
    const client = startClient();
    expect(await client.run(send)).toMatchObject({ type: 'fail', error: 'connection-refused' });
    await client.run({ f: 'assign', keys: ['tide-3'], seek: 'earliest' });
    expect(await client.run({ f: 'poll' })).toMatchObject({ type: 'fail' });
    expect([stranger.requests, stranger.connections()]).toEqual([[], 0]);
    await stranger.close();
  });

  it('that gets no answer is info at its deadline, and its connection is closed', async () => {
    onProduce('silent');
    const client = startClient();
    const before = performance.now();
    expect(await client.run(send)).toMatchObject({ type: 'info', error: 'timeout', msg: 'client-0#1' });
    expect(performance.now() - before).toBeGreaterThanOrEqual(399);
    broker.answerLate();
    // The late answer went to a closed connection: the next operation opens another and hears its own answer only.
    onProduce('answer');
    expect(await client.run({ ...send, value: 2 })).toMatchObject({ type: 'ok', value: [['send', 'tide-3', [1, 2]]] });
  });

  it('that gets garbage, or the answer to another request, is info, malformed', async () => {
    for (const mood of ['garbage', 'wrong-id'] as const) {
      onProduce(mood);
      expect(await startClient().run(send)).toMatchObject({ type: 'info', error: 'malformed' });
    }
  });

  it('goes on with the next broker when one does not answer for metadata', async () => {
    const silent = await startLittleBroker(8, 2);
    silent.mood = () => 'silent';
    const bootstrap = [
      { node: 2, ...silent.address },
      { node: 1, ...broker.address },
    ];
    const client = startClient({ bootstrap, metadataTimeoutMs: 50 });
    expect(await client.run(send)).toMatchObject({ type: 'ok', node: 1 });
    expect(silent.requests).toEqual(['Metadata']);
    expect(silent.connections()).toBeLessThanOrEqual(1);
    await silent.close();
  });

  it('at acks=0 is ok once the request is written', async () => {
    const client = startClient({ acks: 0 });
    const read = broker.next('Produce');
    expect(await client.run(send)).toMatchObject({ type: 'ok', acks: 0, value: [['send', 'tide-3', [null, 1]]] });
    await read;
  });

  it('opens another connection when the one it had has ended', async () => {
    const client = startClient();
    await client.run(send);
    const { port } = broker;
    await broker.close();
    broker = await startLittleBroker(8, 1, port);
    // It may find out only by writing to the old connection.
    const first = await client.run({ ...send, value: 2 });
    if (first.type !== 'ok') expect(first).toMatchObject({ type: 'info', error: 'disconnect' });
    expect(await client.run({ ...send, value: 3 })).toMatchObject({ type: 'ok' });
  });

  it('leaves no socket and no timer behind, and hears nothing more, after close', async () => {
    onProduce('silent');
    const client = startClient({ operationTimeoutMs: 60_000 });
    const completions: Completion[] = [];
    void client.run(send).then((completion) => completions.push(completion));
    await broker.next('Produce');
    const handles = (): string[] => process.getActiveResourcesInfo().filter((name) => name === 'Timeout');
    const before = handles().length;
    client.driver.close();
    expect(handles().length).toBe(before - 1);
    broker.answerLate();
    // A round trip of somebody else, so that the broker has surely seen the connection end.
    await roundTrip(broker.address, 'client-9', metadataRequest, 1_000);
    expect(completions).toEqual([]);
    expect(broker.connections()).toBeLessThanOrEqual(1);
  });
});

const metadataRequest = {
  api: 'Metadata',
  version: 7,
  body: {
    topics: [{ name: 'tide' }],
    allowAutoTopicCreation: false,
    includeClusterAuthorizedOperations: false,
    includeTopicAuthorizedOperations: false,
  },
} as const;

describe('a round trip', () => {
  it('resolves with the answer', async () => {
    const answer = await roundTrip(broker.address, 'client-9', metadataRequest, 1_000);
    expect(answer.brokers).toEqual([{ nodeId: 1, host: '127.0.0.1', port: broker.port, rack: null }]);
  });

  it('rejects with one clear line when nobody listens, nobody answers, or the answer is garbage', async () => {
    const port = await closedPort();
    await expect(roundTrip({ host: '127.0.0.1', port }, 'client-9', metadataRequest, 1_000)).rejects.toThrow(
      `Metadata to 127.0.0.1:${port}: connect ECONNREFUSED`,
    );
    broker.mood = () => 'silent';
    await expect(roundTrip(broker.address, 'client-9', metadataRequest, 50)).rejects.toThrow('no answer within 50 ms');
    broker.mood = () => 'garbage';
    await expect(roundTrip(broker.address, 'client-9', metadataRequest, 1_000)).rejects.toThrow('a frame of');
  });
});
