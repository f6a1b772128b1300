/**
 * Apache Kafka in pods, broken and mended as runs do it. Here metadata is in ZooKeeper; with KRaft stands the image of
 * `image.live.test.ts`, and whole runs of both (`test/harness/compare`, `test/harness/fidelity`).
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SegmentEvent } from '../../../docker/agent/messages.ts';
import { kafkaTarget } from '../../../docker/targets/kafka.ts';
import { kafkaByNode, parseKafkaVersion } from '../../../docker/targets/kafka-versions.ts';
import { have } from '../../require.ts';
import { until } from '../../harness/cli/tidemark.ts';
import { deploy, type Stage } from './stage.ts';

function target(release: string) {
  const builds = new Map([1, 2, 3].map((node) => [node, `kafka:${release}`]));
  const versions = kafkaByNode(builds);
  if (typeof versions === 'string') throw new Error(versions);
  return kafkaTarget(`kafka:${release}`, versions);
}

const kcat = (bootstrap: string, input: string, ...argv: readonly string[]) =>
  spawnSync('kcat', ['-b', bootstrap, '-t', 'tide', '-p', '0', ...argv], { input, encoding: 'utf8', timeout: 30_000 });

describe.skipIf(!have.kafka || !have.kcat)('kafka:0.10.2.2 in pods', () => {
  let stage: Stage;
  const seen: SegmentEvent[] = [];

  beforeAll(async () => {
    stage = await deploy(target('0.10.2.2'));
    await stage.cluster.watchSegments({ topic: 'tide', clockOriginNs: process.hrtime.bigint() }, (node, event) => {
      if (node === 2 && !(event instanceof Error)) seen.push(event);
    });
  });

  afterAll(() => stage.close());

  it('takes records from a client that it never met, and gives them back', () => {
    expect(kcat(stage.bootstrap, 'ebb\nflow\n', '-P', '-X', 'acks=all')).toMatchObject({ status: 0 });
    const read = kcat(stage.bootstrap, '', '-C', '-e', '-q', '-f', '%o %s\n');
    expect(read).toMatchObject({ status: 0, stdout: '0 ebb\n1 flow\n' });
  });

  it('answers on every link, and shows what its brokers say and write', async () => {
    const links = await stage.cluster.probeLinks(5_000);
    expect(links).toHaveLength(15);
    expect(links.filter((link) => !link.ok)).toEqual([]);
    await until(() => seen.some(({ batches }) => batches.some(({ last }) => last === 1)));
    expect(stage.lines(2).some((line) => line.includes('started (kafka.server.Kafka'))).toBe(true);
  });

  it('goes on without a broker that lost its power, which comes back in sync without what it had not flushed', async () => {
    const lost = await stage.cluster.perform({ port: 'process', verb: 'power-loss', node: 1 });
    const segment = 'tide-0/00000000000000000000.log';
    expect(lost).toMatchObject({ effective: true, facts: { cut: { [segment]: expect.any(Number) as number } } });
    const others = stage.bootstrap.split(',').slice(1).join(',');
    await expect.poll(() => kcat(others, 'slack\n', '-P', '-X', 'acks=all').status, { timeout: 60_000 }).toBe(0);
    expect(await stage.cluster.perform({ port: 'process', verb: 'start', node: 1 })).toMatchObject({ effective: true });
    const isr = async () => (await stage.admin.describe(['tide'], 2)).partitions.get('tide-0')?.isr;
    await expect.poll(isr, { timeout: 60_000 }).toHaveLength(3);
  });

  it('hands over the replicas of a topic, and nothing else of size', async () => {
    await stage.cluster.collectTopic(stage.directory, 'tide');
    const copied = readdirSync(join(stage.directory, 'data/1'));
    expect(copied).toContain('tide-0');
    expect(existsSync(join(stage.directory, 'data/1/tide-0/00000000000000000000.log'))).toBe(true);
    expect(copied.filter((name) => /-\d+$/.test(name))).toEqual(['tide-0']);
  });

  it('ends in good order when it is asked to', async () => {
    const stopped = await stage.cluster.perform({ port: 'process', verb: 'stop', node: 3 });
    expect(stopped).toMatchObject({ effective: true, facts: { orderly: true } });
  });

  it('leaves nothing behind, and nothing is sent to where it was', async () => {
    expect(await stage.close()).toEqual([]);
    await expect(async () => stage.cluster.probeLinks(1_000)).rejects.toThrow('the cluster is gone');
  });
});

describe.skipIf(!have.kafka)('a release that was not fetched', () => {
  it('is refused with the command to type, before anything is made', async () => {
    const version = parseKafkaVersion('0.10.1.0')!;
    const missing = kafkaTarget('kafka:0.10.1.0', new Map([[1, version]]));
    expect(missing.lacks()).toContain('type `npm run tidemark -- fetch kafka:0.10.1.0`');
    await expect(deploy(missing)).rejects.toThrow('fetch kafka:0.10.1.0');
  });
});
