/**
 * Clusters of three real brokers: how long until the first acks=all acknowledgement, how long until a partition is in
 * force and healed, how many sends a second.
 *
 * The first acknowledgement is the user's: from the call that deploys, through the creation of a topic of eight
 * partitions, to the `ok` of one send at acks=all. A partition cuts broker 1 from the two others in both directions.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultClientConfig } from '../../harness/client/contract.ts';
import { keyOf, type Completion } from '../../harness/client/operations.ts';
import { defaultRunConfig } from '../../harness/plan/config.ts';
import { createAdmin } from '../../harness/run/admin.ts';
import { nodeCommand } from '../../harness/run/node-command.ts';
import type { ChosenRuntime } from '../../harness/run/runtimes.ts';
import { clockFrom, driveClient } from '../../harness/run/sockets.ts';
import type { Cluster, Cut } from '../../nemesis/ports.ts';
import { median, spread, timed, type Figure } from './figure.ts';

const DEPLOYMENTS = 3;
const PARTITIONS_IN_A_ROW = 20;
const LOAD_MS = 2_000;
const WARM_UP_MS = 1_000;

interface Stage {
  readonly cluster: Cluster;
  readonly clockOriginNs: bigint;
  /** The runtime had to build an image first. */
  readonly built: boolean;
  close(): Promise<void>;
}

/** The figures of one runtime. */
export async function clusterFigures({ name, deploy }: ChosenRuntime): Promise<Figure[]> {
  const figures: Figure[] = [];
  const warm: number[] = [];
  const isolate: readonly Cut[] = [2, 3].flatMap((other) => [
    { from: 1, to: other },
    { from: other, to: 1 },
  ]);
  const applied: number[] = [];
  const healed: number[] = [];
  for (let deployment = 0; deployment < DEPLOYMENTS; deployment += 1) {
    const { ms, result: stage } = await timed(() => firstAcknowledgement(deploy));
    try {
      if (stage.built) {
        figures.push({
          what: `${name}: cluster to the first acknowledgement, image built first`,
          value: ms,
          unit: 'ms',
        });
        deployment -= 1;
        continue;
      }
      warm.push(ms);
      if (deployment < DEPLOYMENTS - 1) continue;
      for (let round = 0; round < PARTITIONS_IN_A_ROW; round += 1) {
        applied.push((await timed(() => stage.cluster.perform({ port: 'links', cuts: isolate }))).ms);
        healed.push((await timed(() => stage.cluster.perform({ port: 'links', cuts: [] }))).ms);
      }
    } finally {
      await stage.close();
    }
  }
  const budget = name === 'docker' ? { first: { budget: 'under 2 s' }, cut: { budget: 'under 50 ms' } } : {};
  const what = `${name}: cluster to the first acks=all acknowledgement`;
  figures.push({ what, value: median(warm), unit: 'ms', ...budget.first, note: spread(warm) });
  const cut = `${name}: partition`;
  const row = { unit: 'ms', ...budget.cut };
  figures.push({ what: `${cut} applied on all nodes`, value: median(applied), ...row, note: spread(applied, 1) });
  figures.push({ what: `${cut} healed on all nodes`, value: median(healed), ...row, note: spread(healed, 1) });
  return figures;
}

/** Sends a second at acks=all, one record each, by so many clients that each wait for their answer. */
export async function sendFigures(
  { name, deploy }: ChosenRuntime,
  concurrencies: readonly number[],
): Promise<Figure[]> {
  const stage = await firstAcknowledgement(deploy);
  try {
    const figures: Figure[] = [];
    for (const concurrency of concurrencies) {
      await load(stage, concurrency, WARM_UP_MS);
      const { latencies, errors } = await load(stage, concurrency, LOAD_MS);
      const what = `${name}: sends a second at acks=all, ${concurrency} ${concurrency === 1 ? 'client' : 'clients'}`;
      const failed = [...errors].map(([error, count]) => `, ${count} ${error}`).join('');
      const note = `median latency ${median(latencies).toFixed(1)} ms${failed}`;
      figures.push({ what, value: latencies.length / (LOAD_MS / 1000), unit: '1/s', note });
    }
    return figures;
  } finally {
    await stage.close();
  }
}

async function firstAcknowledgement(deploy: ChosenRuntime['deploy']): Promise<Stage> {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-bench-'));
  const clockOriginNs = process.hrtime.bigint();
  const { brokers, topic, partitions, replicationFactor } = defaultRunConfig;
  let built = false;
  const cluster = await deploy({
    runId: `bench-${process.pid}-${Date.now().toString(36)}`,
    brokers: Array.from({ length: brokers }, (_, index) => index + 1),
    command: nodeCommand({ ...defaultRunConfig, build: 'epoch' }, clockOriginNs),
    directory,
    progress: (line) => (built ||= line === 'building the image'),
    signal: new AbortController().signal,
  });
  const stage: Stage = {
    cluster,
    clockOriginNs,
    built,
    async close() {
      await cluster.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  try {
    cluster.subscribe(() => {});
    await createAdmin(cluster.addresses).createTopic({ name: topic, partitions, replicationFactor, timeoutMs: 30_000 });
    while ((await sendOnce(stage)).type !== 'ok');
    return stage;
  } catch (error) {
    await stage.close();
    throw error;
  }
}

function sendOnce(stage: Stage): Promise<Completion> {
  const { promise, resolve } = Promise.withResolvers<Completion>();
  const driver = driveOf(stage, 0, (completion) => {
    driver.close();
    resolve(completion);
  });
  driver.invoke({ f: 'send', key: keyOf(defaultRunConfig.topic, 0), value: 1 });
  return promise;
}

function driveOf(stage: Stage, process: number, onComplete: (completion: Completion) => void) {
  const config = {
    ...defaultClientConfig,
    process,
    bootstrap: [...stage.cluster.addresses].map(([node, address]) => ({ node, ...address })),
    acks: 'all' as const,
    // A slow machine shall give a low figure, not errors.
    operationTimeoutMs: 10_000,
    unixOriginMs: Date.now(),
  };
  return driveClient(config, clockFrom(stage.clockOriginNs), onComplete);
}

/** Every client sends, waits for the answer, and sends again, until the time is up. Only acknowledged sends count. */
async function load(stage: Stage, concurrency: number, durationMs: number) {
  const end = performance.now() + durationMs;
  const latencies: number[] = [];
  const errors = new Map<string, number>();
  let value = 0;
  const client = async (process: number): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let sentAt = 0;
    const driver = driveOf(stage, process, ({ type, error = 'failed' }) => {
      const now = performance.now();
      if (type !== 'ok') errors.set(error, (errors.get(error) ?? 0) + 1);
      else if (now < end) latencies.push(now - sentAt);
      if (now >= end) resolve();
      else next();
    });
    const next = (): void => {
      sentAt = performance.now();
      value += 1;
      driver.invoke({ f: 'send', key: keyOf(defaultRunConfig.topic, value % defaultRunConfig.partitions), value });
    };
    next();
    await promise;
    driver.close();
  };
  await Promise.all(Array.from({ length: concurrency }, (_, process) => client(process)));
  return { latencies, errors };
}
