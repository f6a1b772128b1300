/** The replicas' logs as the verdicts read them: every format and every codec that Apache Kafka wrote. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decodeLog, decodeRecords, type SegmentFile } from '../../checker/segments.ts';
import { decompressors } from '../../harness/check/decompressors.ts';

const root = 'test/fixtures/kafka-logs';

interface Expected {
  readonly records: number;
  readonly first: number | null;
  readonly last: number | null;
  readonly leo: number;
  readonly logStart: number;
  readonly epochs: readonly (readonly [epoch: number, first: number, last: number])[];
}

/** Every replica of every fixture. */
const replicas = readdirSync(root).flatMap((name) => {
  const { brokers } = JSON.parse(readFileSync(join(root, name, 'expected.json'), 'utf8')) as {
    brokers: Record<string, Record<string, Expected>>;
  };
  return Object.entries(brokers).flatMap(([broker, logs]) =>
    Object.entries(logs).map(([key, expected]) => [name, broker, key, expected] as const),
  );
});

function segmentsOf(directory: string): SegmentFile[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.log'))
    .map((name) => ({
      baseOffset: Number(name.slice(0, 20)),
      bytes: new Uint8Array(readFileSync(join(directory, name))),
    }));
}

describe('a final log', () => {
  it.each(replicas)('is read to its end: %s/%s/%s', (name, broker, key, expected) => {
    const log = decodeLog(segmentsOf(join(root, name, broker, key)), expected.logStart, decompressors);
    expect(log.flaw).toBeNull();
    expect(log).toMatchObject({ start: expected.logStart, end: expected.leo });
    const records = log.batches.flatMap((batch) => decodeRecords(log, batch, decompressors) ?? [null]);
    expect(records).toHaveLength(expected.records);
    expect(records[0]?.offset ?? null).toBe(expected.first);
    expect(records.at(-1)?.offset ?? null).toBe(expected.last);
    const epochs = new Set(log.batches.map(({ epoch }) => epoch).filter((epoch) => epoch !== -1));
    expect([...epochs]).toEqual(expected.epochs.map(([epoch]) => epoch));
  });
});
