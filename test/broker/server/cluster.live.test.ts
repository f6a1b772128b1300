import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Kafka, logLevel } from 'kafkajs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { have } from '../../require.ts';
import { temporaryDirectory } from '../storage/temporary.ts';
import { freePort, NodeProcess, processConfig } from './node-process.ts';
import { createTopic, produceRequest } from './one-broker.ts';
import { RawClient } from './raw-client.ts';

interface Cluster {
  readonly directory: string;
  readonly controller: NodeProcess;
  readonly brokers: NodeProcess[];
}

/** A controller and three brokers that it counts as live. */
async function cluster(build: string): Promise<Cluster> {
  const directory = temporaryDirectory();
  const controllerPort = await freePort();
  const start = (node: 'controller' | number, port: number): NodeProcess =>
    new NodeProcess(processConfig(node, build, join(directory, String(node)), port, controllerPort));
  const controller = start('controller', controllerPort);
  const ports = [await freePort(), await freePort(), await freePort()];
  const brokers = ports.map((port, index) => start(index + 1, port));
  for (const node of [1, 2, 3]) await controller.traced((line) => line.event === 'unfence' && line['broker'] === node);
  return { directory, controller, brokers };
}

const addressOf = ({ config }: NodeProcess): string => `${config.listen.host}:${config.listen.port}`;

/** Creates `tide`, and waits until its leader, broker 1, has taken its role. */
async function createTide({ brokers }: Cluster): Promise<RawClient> {
  const leader = await RawClient.connect(brokers[0]!.config.listen.port);
  await createTopic(leader, 'tide', 3);
  await brokers[0]!.traced((line) => line.event === 'role' && line['role'] === 'leader');
  return leader;
}

/** The bytes of the first log of each broker. */
function logsOf({ directory }: Cluster): Buffer[] {
  return [1, 2, 3].map((node) => {
    const folder = join(directory, String(node), 'tide-0');
    const [name] = readdirSync(folder).filter((file) => file.endsWith('.log'));
    return readFileSync(join(folder, name!));
  });
}

function kcat(args: readonly string[], input = ''): string {
  const { status, stdout, stderr } = spawnSync('kcat', args, { input, encoding: 'utf8', timeout: 20_000 });
  if (status !== 0) throw new Error(`kcat ${args.join(' ')} ended with ${status}: ${stderr}`);
  return stdout;
}

describe.each(['hw', 'hw-elect', 'epoch'])('three brokers of the build %s', (build) => {
  test('acknowledge what is on all of them, and hold the same bytes, also after one was killed', async () => {
    const all = await cluster(build);
    const leader = await createTide(all);
    const follower = all.brokers[2]!;
    const produce = async (value: string): Promise<number> => {
      const { responses } = await leader.request('Produce', 7, produceRequest('tide', -1, value));
      const { errorCode, baseOffset } = responses[0]!.partitionResponses[0]!;
      expect(errorCode).toBe(0);
      return baseOffset;
    };
    for (let offset = 0; offset < 20; offset += 1) expect(await produce(`before ${offset}`)).toBe(offset);
    const [first, second, third] = logsOf(all);
    expect(second).toEqual(first);
    expect(third).toEqual(first);

    await follower.kill('SIGKILL');
    for (let offset = 20; offset < 30; offset += 1) expect(await produce(`between ${offset}`)).toBe(offset);
    const again = new NodeProcess(follower.config);
    await all.controller.traced((line) => {
      return line.event === 'isr' && (line['to'] as number[]).length === 3;
    });
    expect(await produce('after')).toBe(30);
    expect(again.trace[1]).toMatchObject({ event: 'recover', from: 20, to: 20, cut: 'none' });
    const [one, , returned] = logsOf(all);
    expect(returned).toEqual(one);
  });
});

describe('clients of others', () => {
  test.skipIf(!have.kcat)('kcat lists the metadata, produces and consumes', async () => {
    const all = await cluster('epoch');
    await createTide(all);
    const bootstrap = addressOf(all.brokers[1]!);
    const listing = kcat(['-b', bootstrap, '-L', '-t', 'tide']);
    expect(listing).toContain('partition 0, leader 1, replicas: 1,2,3, isrs: 1,2,3');
    for (const broker of all.brokers) expect(listing).toContain(`at ${addressOf(broker)}`);
    const values = Array.from({ length: 500 }, (_, index) => `value ${index}`).join('\n');
    kcat(['-b', bootstrap, '-P', '-t', 'tide', '-p', '0', '-X', 'acks=all', '-X', 'compression.codec=gzip'], values);
    const read = kcat(['-b', bootstrap, '-C', '-t', 'tide', '-p', '0', '-o', 'beginning', '-e', '-q']);
    expect(read).toBe(`${values}\n`);
    const last = kcat(['-b', bootstrap, '-C', '-t', 'tide', '-p', '0', '-o', '-2', '-e', '-q', '-f', '%o %s\n']);
    expect(last).toBe('498 value 498\n499 value 499\n');
  });

  test('kafkajs makes a topic, produces with every kind of acknowledgement, and reads the offsets back', async () => {
    const all = await cluster('epoch');
    const kafka = new Kafka({ clientId: 'test', brokers: all.brokers.map(addressOf), logLevel: logLevel.NOTHING });
    const admin = kafka.admin();
    const producer = kafka.producer();
    onTestFinished(async () => {
      await producer.disconnect();
      await admin.disconnect();
    });
    await admin.connect();
    await admin.createTopics({ topics: [{ topic: 'tide', numPartitions: 2, replicationFactor: 3 }] });
    await producer.connect();
    for (const acks of [0, 1, -1]) {
      await producer.send({ topic: 'tide', acks, messages: [{ partition: 1, value: `acks ${acks}` }] });
    }
    const offsets = await admin.fetchTopicOffsets('tide');
    expect(offsets.find(({ partition }) => partition === 1)).toMatchObject({ low: '0', high: '3' });
    const described = await admin.describeCluster();
    expect(new Set(described.brokers.map(({ nodeId }) => nodeId))).toEqual(new Set([1, 2, 3]));
  });
});
