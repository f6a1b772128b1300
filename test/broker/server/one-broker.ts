/** The smallest cluster: a controller and one broker, both as real processes, and what it takes to write to them. */
import { join } from 'node:path';
import { encodeBatch, ErrorCode, parseRecordSet, type RequestBody } from '../../../broker/protocol/index.ts';
import { temporaryDirectory } from '../storage/temporary.ts';
import { freePort, NodeProcess, processConfig } from './node-process.ts';
import type { RawClient } from './raw-client.ts';

export interface OneBroker {
  readonly directory: string;
  readonly controller: NodeProcess;
  readonly broker: NodeProcess;
  readonly port: number;
}

export async function oneBroker(build = 'epoch'): Promise<OneBroker> {
  const directory = temporaryDirectory();
  const [controllerPort, port] = [await freePort(), await freePort()];
  const controller = new NodeProcess(
    processConfig('controller', build, join(directory, 'controller'), controllerPort, controllerPort),
  );
  await controller.listening();
  const broker = new NodeProcess(processConfig(1, build, join(directory, '1'), port, controllerPort));
  await broker.listening();
  await controller.traced((line) => line.event === 'unfence');
  return { directory, controller, broker, port };
}

export async function createTopic(client: RawClient, topic: string, replicationFactor: number): Promise<void> {
  const wanted = { name: topic, numPartitions: 1, replicationFactor, assignments: [], configs: [] };
  const body = await client.request('CreateTopics', 2, { topics: [wanted], timeoutMs: 5_000, validateOnly: false });
  const errorCode = body.topics[0]?.errorCode;
  if (errorCode !== ErrorCode.NONE) throw new Error(`CreateTopics was answered ${errorCode}`);
}

/** A request that sends one batch of one record for each value to partition 0. */
export function produceRequest(topic: string, acks: -1 | 0 | 1, ...values: readonly string[]): RequestBody<'Produce'> {
  const records = values.map((value) => ({ key: null, value: Buffer.from(value) }));
  const bytes = encodeBatch({ baseOffset: 0, leaderEpoch: -1, records });
  return {
    transactionalId: null,
    acks,
    timeoutMs: 5_000,
    topicData: [{ name: topic, partitionData: [{ index: 0, records: parseRecordSet(bytes) }] }],
  };
}
