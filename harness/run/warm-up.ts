/**
 * Warms up the brokers of a foreign cluster, before the load begins.
 *
 * A Java process that has just started answers its first requests hundreds of times slower than later ones; faults that
 * wait for a sign of traffic would meet a cluster without any. So records are sent to a topic of their own, one at a time
 * and to every broker in turn, until each has answered quickly some times in a row. No history holds them.
 *
 * Invariant: bounded; a cluster that stays slow is taken as it is.
 */
import type { Address, NodeId } from '../../nemesis/ports.ts';
import { defaultClientConfig, type ClientConfig } from '../client/contract.ts';
import { keyOf, type Completion } from '../client/operations.ts';
import { spreadReplicas } from '../client/admin-requests.ts';
import { readyTimeoutMs } from '../plan/patience.ts';
import { clockFrom, driveClient } from './sockets.ts';
import type { Spoken } from './subject.ts';

export interface WarmUpOptions extends Spoken {
  readonly addresses: ReadonlyMap<NodeId, Address>;
  readonly replicationFactor: number;
  readonly signal: AbortSignal;
}

/** Whoever keeps the cluster of a run will find it there, and may wonder. */
const topic = 'tidemark-warm-up';
const quickMs = 200;
const quickInARow = 5;
const timeoutMs = 30_000;

export async function warmUp(options: WarmUpOptions): Promise<void> {
  const { admin, addresses, versions, replicationFactor, reach, signal } = options;
  const brokers = [...addresses.keys()];
  const assignment = spreadReplicas(brokers, brokers.length, replicationFactor);
  const partitions = brokers.length;
  await admin.createTopic({
    name: topic,
    partitions,
    replicationFactor,
    assignment,
    timeoutMs: readyTimeoutMs,
    signal,
  });
  const waiting: ((completion: Completion) => void)[] = [];
  const config: ClientConfig = {
    ...defaultClientConfig,
    process: 0,
    bootstrap: [...addresses].map(([node, address]) => ({ node, ...address })),
    acks: 'all',
    unixOriginMs: Date.now(),
    versions: versions ?? defaultClientConfig.versions,
  };
  const clock = clockFrom(process.hrtime.bigint());
  const client = driveClient(config, clock, (completion) => waiting.shift()?.(completion), reach);
  const send = async (partition: number, value: number): Promise<boolean> => {
    const began = performance.now();
    const { promise, resolve } = Promise.withResolvers<Completion>();
    waiting.push(resolve);
    client.invoke({ f: 'send', key: keyOf(topic, partition), value });
    const { type } = await promise;
    return type === 'ok' && performance.now() - began < quickMs;
  };
  try {
    const deadline = performance.now() + timeoutMs;
    let quick = 0;
    for (
      let value = 0;
      quick < quickInARow * partitions && performance.now() < deadline && !signal.aborted;
      value += 1
    ) {
      quick = (await send(value % partitions, value)) ? quick + 1 : 0;
    }
  } finally {
    client.close();
  }
}
