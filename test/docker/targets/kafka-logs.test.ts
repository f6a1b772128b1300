/** Lines that Kafka really wrote as broker 1 (`kafka-lines/<version>.txt`), and what is read from them. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { kafkaLogPatterns } from '../../../docker/targets/kafka-logs.ts';
import { expectGolden } from '../../golden.ts';

const folder = join(import.meta.dirname, 'kafka-lines');
const releases = readdirSync(folder)
  .filter((name) => /^\d[\d.]*\.txt$/.test(name))
  .map((name) => name.slice(0, -'.txt'.length));

function linesOf(release: string): string[] {
  return readFileSync(join(folder, `${release}.txt`), 'utf8')
    .trimEnd()
    .split('\n');
}

/** As an observer reads: the first pattern that matches counts. */
function read(line: string, node = 1): { readonly shows: string; readonly groups: Record<string, string> } | null {
  for (const { shows, pattern } of kafkaLogPatterns(node)) {
    const match = pattern.exec(line);
    if (match !== null) return { shows, groups: { ...match.groups } };
  }
  return null;
}

function readingOf(line: string): string {
  const reading = read(line);
  const words = line.replace(/^\[[^\]]*\] /, '').slice(0, 110);
  if (reading === null) return `-\t${words}`;
  const groups = Object.entries(reading.groups).filter(([, value]) => value !== undefined);
  return `${reading.shows} ${groups.map(([name, value]) => `${name}=${value}`).join(' ')}\t${words}`;
}

describe('the log lines of Kafka', () => {
  it.each(releases)('of %s are read as they mean', (release) => {
    expectGolden(join(folder, `read/${release}.txt`), `${linesOf(release).map(readingOf).join('\n')}\n`);
  });

  it('name a leader: whether that is the broker itself, its own id tells', () => {
    const line =
      "[2026-11-29 23:59:39,730] TRACE [Broker id=2] Received LeaderAndIsr request LeaderAndIsrPartitionState(topicName='tide-7', partitionIndex=0, controllerEpoch=1, leader=12, leaderEpoch=3, isr=[1, 2, 3], zkVersion=0) correlation id 1 from controller 100 epoch 1 (state.change.logger)";
    expect(read(line, 12)?.shows).toBe('leads');
    expect(read(line, 1)).toMatchObject({ shows: 'follows', groups: { leader: '12', epoch: '3', topic: 'tide-7' } });
  });

  it('are at least one for each pattern: what was never written is not looked for', () => {
    const lines = releases.flatMap((release) => linesOf(release));
    const untried = kafkaLogPatterns(1).filter(({ pattern }) => !lines.some((line) => pattern.test(line)));
    expect(untried).toEqual([]);
  });

  it('name a lost session only where a stack trace begins, and only that of ZooKeeper', () => {
    const exception = 'kafka.zookeeper.ZooKeeperClientTimeoutException: Timed out waiting for connection';
    expect(read(exception)?.shows).toBe('lost-session');
    expect(read(`[2026-11-29 23:59:39,730] WARN it met ${exception} (kafka.server.KafkaServer)`)).toBeNull();
    expect(read('java.io.IOException: KeeperErrorCode = Session expired for /brokers/ids/1')).toBeNull();
  });
});
