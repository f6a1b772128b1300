/** The replicas' logs as the verdicts read them: every format and every codec that Apache Kafka wrote. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { encodeBatch } from '../../broker/protocol/index.ts';
import { readLeaderValues, text } from '../../checker/final-logs.ts';
import { HistoryIndex } from '../../checker/index-history.ts';
import { decodeLog, decodeRecords, type SegmentFile } from '../../checker/segments.ts';
import { decompressors } from '../../harness/check/decompressors.ts';
import { sealed } from './logs/replicas.ts';

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

describe('the values of a final log', () => {
  const key = 'tide-0';

  /** Where values stand in a log of these batches, and how many of these could not be read. */
  function standing(values: readonly (number | string)[], batches: readonly Uint8Array[]): readonly unknown[] {
    const history = new HistoryIndex({ acks: 'all' });
    const id = history.keyId(key);
    const rows = values.map((value) => history.rows.rowOf(id, value));
    const log = decodeLog([{ baseOffset: 0, bytes: Uint8Array.from(Buffer.concat([...batches])) }], null, {});
    const unreadable = readLeaderValues(history, key, log, {});
    return [unreadable, ...rows.map((row) => history.values.finalOffset.get(row))];
  }

  const batch = (baseOffset: number, value: string | null): Uint8Array =>
    encodeBatch({ baseOffset, leaderEpoch: 0, records: [{ key: null, value }] });

  const withAttributes = (bytes: Uint8Array, attributes: number): Uint8Array =>
    sealed(bytes, (view) => view.setInt16(21, attributes));

  it('are found by number or text, at the first place and others', () => {
    expect(standing([7, 'wave', 'meer-\u00e9', 9], [batch(0, 'wave'), batch(1, '7'), batch(2, 'meer-\u00e9')])).toEqual(
      [0, 1, 0, 2, -1],
    );
    expect(standing([7], [batch(0, null), batch(1, '8'), batch(2, '7')])).toEqual([0, 2]);
  });

  it('are not those of control batches, and batches that cannot be unpacked are counted', () => {
    const control = 0x20;
    const unpackable = 0x07;
    const batches = [withAttributes(batch(0, '7'), control), withAttributes(batch(1, '8'), unpackable), batch(2, '9')];
    expect(standing([7, 8, 9], batches)).toEqual([1, -1, -1, 2]);
  });

  it('are text in UTF-8', () => {
    const bytes = (given: string): Uint8Array => new TextEncoder().encode(given);
    for (const given of ['', '17', '\u007f', '\u0080', '\u00e9t\u00e9', 'a\u{1f30a}'])
      expect(text(bytes(given))).toBe(given);
    expect(text(Uint8Array.of(0x80))).toBe('\ufffd');
  });
});
