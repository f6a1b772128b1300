import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { SegmentEvent } from '../../../docker/agent/messages.ts';
import { watchSegments, type SegmentWatch } from '../../../docker/agent/watch.ts';

const epochs = fileURLToPath(new URL('../../fixtures/kafka-logs/4.4.0-epochs/broker-1/epochs-0', import.meta.url));
const bytes = readFileSync(join(epochs, '00000000000000000000.log'));
const firstBatch = bytes.subarray(0, 12 + bytes.readInt32BE(8));
const inTime = { timeout: 10_000, interval: 5 };

describe('watching the segments of a topic', () => {
  let folder: string;
  let told: SegmentEvent[];
  let blind: string[];
  let watch: SegmentWatch;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'watch-'));
    told = [];
    blind = [];
  });
  afterEach(() => {
    watch.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const begin = (): void => {
    watch = watchSegments({
      directory: join(folder, 'logs'),
      topic: 'tide-7',
      clockOriginNs: process.hrtime.bigint(),
      onSegments: (event) => told.push(event),
      onBlind: (reason) => blind.push(reason),
    });
  };
  const log = (): string => join(folder, 'logs', 'tide-7-0', '00000000000000000000.log');
  const make = (): void => {
    mkdirSync(join(folder, 'logs', 'tide-7-0'), { recursive: true });
    mkdirSync(join(folder, 'logs', 'tide-70-0'), { recursive: true });
    mkdirSync(join(folder, 'logs', 'tide-7-0.d41d-delete'), { recursive: true });
    appendFileSync(log(), firstBatch);
  };

  test('tells what is there, what is written, and what is cut', async () => {
    make();
    begin();
    expect(told).toMatchObject([{ partition: 'tide-7-0', batches: [{ base: 0 }] }]);
    appendFileSync(log(), bytes.subarray(firstBatch.length));
    await vi.waitFor(() => expect(told.at(-1)?.batches.at(-1)?.last).toBe(11), inTime);
    truncateSync(log(), firstBatch.length);
    const to = told[0]!.batches[0]!.last + 1;
    await vi.waitFor(() => expect(told.at(-1)?.truncation).toEqual({ from: 12, to }), inTime);
    const times = told.map(({ time }) => time);
    expect(times).toEqual(times.toSorted((one, other) => one - other));
    expect(blind).toEqual([]);
  });

  test('finds folders that come later, even that of all logs', async () => {
    begin();
    make();
    await vi.waitFor(() => expect(told).toMatchObject([{ partition: 'tide-7-0', batches: [{ base: 0 }] }]), inTime);
  });

  test('tells of a partition that is there and empty', () => {
    mkdirSync(join(folder, 'logs', 'tide-7-0'), { recursive: true });
    begin();
    expect(told).toMatchObject([{ partition: 'tide-7-0', batches: [] }]);
  });

  test('says once from when on it sees nothing: of a volume that is gone, and of a file that cannot be read', async () => {
    make();
    begin();
    rmSync(join(folder, 'logs'), { recursive: true });
    await vi.waitFor(() => expect(blind).toEqual([`${join(folder, 'logs')} is gone`]), inTime);
    make();
    begin();
    mkdirSync(join(folder, 'logs', 'tide-7-0', '00000000000000000012.log'));
    await vi.waitFor(() => expect(blind[1]).toContain('EISDIR'), inTime);
    const before = told.length;
    appendFileSync(log(), bytes.subarray(firstBatch.length));
    expect([told.length, blind.length]).toEqual([before, 2]);
  });
});
