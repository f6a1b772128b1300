import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Operation } from '../../../checker/history.ts';
import { defaultRunConfig } from '../../../harness/plan/config.ts';
import { createRandom } from '../../../harness/plan/random.ts';
import { startLoad } from '../../../harness/run/load.ts';
import { createAdmin } from '../../../harness/run/admin.ts';
import { createRecorder } from '../../../harness/run/recorder.ts';
import type { BareCluster } from './bare-cluster.ts';
import { startBareCluster } from './bare-cluster.ts';

const patience = { timeout: 30_000, interval: 50 };

let cluster: BareCluster;
let directory: string;

beforeEach(async () => {
  cluster = await startBareCluster('epoch');
  directory = mkdtempSync(join(tmpdir(), 'tidemark-load-'));
});
afterEach(async () => {
  await cluster.close();
  rmSync(directory, { recursive: true });
});

describe('the load on three brokers', () => {
  it('sends, polls, outlives a leader, and reads back every acknowledged record where it was acknowledged', async () => {
    const admin = createAdmin(cluster.addresses);
    await admin.createTopic({ name: 'tide', partitions: 8, replicationFactor: 3, timeoutMs: 20_000 });

    const path = join(directory, 'history.jsonl');
    const recorder = createRecorder(path, cluster.clockOriginNs);
    const load = startLoad({
      addresses: cluster.addresses,
      config: { ...defaultRunConfig, rate: 300 },
      recorder,
      random: createRandom(11),
      clockOriginNs: cluster.clockOriginNs,
    });
    const history = (): Operation[] =>
      readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Operation);
    const acknowledged = (): Operation[] => history().filter((each) => each.type === 'ok' && each.f === 'send');

    await vi.waitUntil(() => acknowledged().length >= 100, patience);
    const { partitions } = await admin.describe(['tide']);
    const leader = partitions.get('tide-0')?.leader ?? 0;
    const next = partitions.get('tide-0')?.isr.find((node) => node !== leader) ?? 0;
    expect(await admin.moveLeader('tide-0', next)).toMatchObject({ effective: true });

    await cluster.kill(next);
    const elected = async (): Promise<boolean> => {
      const known = await admin.describe(['tide'], leader);
      return [...known.partitions.values()].every((each) => each.leader !== null && each.leader !== next);
    };
    await vi.waitUntil(elected, patience);
    const before = acknowledged().length;
    await vi.waitUntil(() => acknowledged().length >= before + 100, patience);
    await cluster.start(next);
    const whole = async (): Promise<boolean> => {
      const known = await admin.describe(['tide'], leader);
      return [...known.partitions.values()].every((each) => each.isr.length === 3);
    };
    await vi.waitUntil(whole, patience);
    await load.stop();

    const ends = new Map<string, number>();
    const where = new Map<string, number>();
    for (const { value } of acknowledged()) {
      const [, key, [offset, sent]] = (value as any)[0];
      ends.set(key, Math.max(ends.get(key) ?? 0, offset + 1));
      where.set(`${key}=${sent}`, offset);
    }
    expect(ends.size).toBe(8);
    const reached = await load.finalRead(ends, 10_000);
    for (const each of reached.values()) expect(each).toMatchObject({ complete: true });
    const read = new Map<string, number>();
    const final = new Set(history().flatMap((each) => (each.final ? [each.process] : [])));
    for (const each of history()) {
      if (!final.has(each.process) || each.type !== 'ok' || each.f !== 'poll') continue;
      for (const [key, records] of Object.entries((each.value as any)[0][1] as Record<string, [number, number][]>)) {
        for (const [offset, value] of records) read.set(`${key}=${value}`, offset);
      }
    }
    for (const [record, offset] of where) expect([record, read.get(record)]).toEqual([record, offset]);

    // A message that is named in the history is named in the trace of the broker that it names.
    const { node, msg } = acknowledged()[0]!;
    expect(cluster.trace(node!)).toContain(`"msg":"${msg}"`);
    recorder.close();
  });
});
