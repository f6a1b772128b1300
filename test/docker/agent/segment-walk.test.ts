import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { headerBytesMax, readHeader } from '../../../docker/agent/segment-headers.ts';
import {
  batchesPerLookMax,
  createWalk,
  look,
  type LogWalk,
  type SegmentFile,
} from '../../../docker/agent/segment-walk.ts';

const fixtures = fileURLToPath(new URL('../../fixtures/kafka-logs', import.meta.url));

interface Facts {
  readonly leo: number;
  readonly logStart: number;
  readonly epochs: readonly (readonly [number, number, number])[];
}

/** Every replica that Apache Kafka left, with what its own tool says of it. */
const replicas = readdirSync(fixtures, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .flatMap(({ name }) => {
    const expected = JSON.parse(readFileSync(join(fixtures, name, 'expected.json'), 'utf8')) as {
      brokers: Record<string, Record<string, Facts>>;
    };
    return Object.entries(expected.brokers).flatMap(([broker, logs]) =>
      Object.entries(logs).map(([log, facts]) => ({ name: `${name}/${broker}/${log}`, facts })),
    );
  });

describe('a log of Apache Kafka, walked by its headers', () => {
  test.each(replicas)('$name ends where its own tool says, in the epochs that it says', ({ name, facts }) => {
    const walk = createWalk();
    const { batches, more } = look(walk, filesOf(name));
    expect(more).toBe(false);
    expect(walk.end).toBe(facts.leo);
    const lastOfEpoch = new Map(batches.map(({ epoch, last }) => [epoch, last]));
    for (const [epoch, , last] of facts.epochs) expect(lastOfEpoch.get(epoch)).toBeGreaterThanOrEqual(last);
  });

  test('tells the same when it grows byte by byte, and nothing before it is whole', () => {
    const [file] = filesOf('4.4.0-epochs/broker-1/epochs-0');
    const bytes = file!.read(0, file!.size);
    const walk = createWalk();
    const told = [];
    for (let size = 0; size <= bytes.length; size += 1) {
      const seen = look(walk, [segment(0, bytes.subarray(0, size))]);
      expect(seen.truncation).toBeUndefined();
      told.push(...seen.batches);
    }
    expect(told).toEqual(look(createWalk(), [file!]).batches);
  });
});

describe('a log that is looked at again', () => {
  test('tells only what is new', () => {
    const walk = walked([batch(0, 2, 0)]);
    expect(look(walk, [segment(0, batch(0, 2, 0), batch(3, 3, 1))])).toEqual({
      batches: [{ base: 3, last: 3, epoch: 1 }],
      more: false,
    });
  });

  test('was cut where it is shorter than before', () => {
    const walk = walked([batch(0, 0, 0), batch(1, 2, 0), batch(3, 3, 0)]);
    expect(look(walk, [segment(0, batch(0, 0, 0))])).toEqual({
      truncation: { from: 4, to: 1 },
      batches: [],
      more: false,
    });
    expect(walk.end).toBe(1);
  });

  test('was cut and written anew where other bytes stand at a known place, though the file is longer', () => {
    const walk = walked([batch(0, 0, 0), batch(1, 1, 0)]);
    const seen = look(walk, [segment(0, batch(0, 0, 0), batch(1, 1, 1), batch(2, 2, 1))]);
    expect(seen.truncation).toEqual({ from: 2, to: 1 });
    expect(seen.batches.map(({ base, epoch }) => [base, epoch])).toEqual([
      [1, 1],
      [2, 1],
    ]);
  });

  test('was cut to nothing where its only segment begins anew at the same offset', () => {
    const walk = walked([batch(0, 0, 0), batch(1, 1, 0)]);
    expect(look(walk, [segment(0)]).truncation).toEqual({ from: 2, to: 0 });
  });

  test('was cut where its last segment is gone, and not where its first one is', () => {
    const first = segment(0, batch(0, 1, 0));
    const second = segment(2, batch(2, 3, 0));
    const walk = createWalk();
    look(walk, [first, second]);
    expect(look(walk, [second])).toEqual({ batches: [], more: false });
    const other = createWalk();
    look(other, [first, second]);
    expect(look(other, [first]).truncation).toEqual({ from: 4, to: 2 });
  });

  test('was cut where all of it is gone and it begins at a lower offset', () => {
    const walk = createWalk();
    look(walk, [segment(5, batch(5, 9, 0))]);
    expect(look(walk, [segment(3, batch(3, 3, 2))])).toEqual({
      truncation: { from: 10, to: 3 },
      batches: [{ base: 3, last: 3, epoch: 2 }],
      more: false,
    });
  });

  test('says nothing of offsets while its folder is empty', () => {
    const walk = walked([batch(0, 4, 0)]);
    expect(look(walk, [])).toEqual({ batches: [], more: false });
    expect(walk.end).toBe(5);
  });

  test('is not read further than one look may', () => {
    const all = Array.from({ length: batchesPerLookMax + 5 }, (_, offset) => batch(offset, offset, 0));
    const walk = createWalk();
    const first = look(walk, [segment(0, ...all)]);
    expect(first).toMatchObject({ more: true });
    expect(first.batches).toHaveLength(batchesPerLookMax);
    expect(look(walk, [segment(0, ...all)]).batches).toHaveLength(5);
  });

  test('that was cut deeper than is remembered is told again from its beginning', () => {
    const all = Array.from({ length: 6_000 }, (_, offset) => batch(offset, offset, 0));
    const walk = createWalk();
    while (look(walk, [segment(0, ...all)]).more);
    const seen = look(walk, [segment(0, ...all.slice(0, 10))]);
    expect(seen.truncation).toEqual({ from: 6_000, to: 0 });
    expect(seen.batches).toHaveLength(10);
  });
});

describe('a header', () => {
  test('is none in the zeros of a file that was made long in advance', () => {
    expect(readHeader(new Uint8Array(headerBytesMax))).toBe('none');
  });

  test('of an old wrapper says its last offset only', () => {
    const wrapper = Buffer.alloc(40);
    wrapper.writeBigInt64BE(9n, 0);
    wrapper.writeInt32BE(28, 8);
    wrapper.writeInt8(1, 16);
    wrapper.writeUInt8(2, 17);
    expect(readHeader(wrapper)).toEqual({ base: null, last: 9, epoch: -1, bytes: 40 });
  });
});

function filesOf(name: string): SegmentFile[] {
  const folder = join(fixtures, name);
  return readdirSync(folder)
    .filter((file) => /^\d{20}\.log$/.test(file))
    .toSorted()
    .map((file) => segment(Number(file.slice(0, 20)), readFileSync(join(folder, file))));
}

function segment(base: number, ...parts: Uint8Array[]): SegmentFile {
  const bytes = Buffer.concat(parts);
  return { base, size: bytes.length, read: (position, length) => bytes.subarray(position, position + length) };
}

/** A batch of format 2 without records; its checksum stands for its content. */
function batch(base: number, last: number, epoch: number): Uint8Array {
  const bytes = Buffer.alloc(70);
  bytes.writeBigInt64BE(BigInt(base), 0);
  bytes.writeInt32BE(bytes.length - 12, 8);
  bytes.writeInt32BE(epoch, 12);
  bytes.writeInt8(2, 16);
  bytes.writeUInt32BE(1_000 * epoch + base, 17);
  bytes.writeInt32BE(last - base, 23);
  return bytes;
}

function walked(batches: readonly Uint8Array[]): LogWalk {
  const walk = createWalk();
  look(walk, [segment(0, ...batches)]);
  return walk;
}
