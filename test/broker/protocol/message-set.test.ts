/** Message sets: what Kafka 0.10 wrote to disk, what the checker's own decoder makes of it, and what is refused. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeMessageSet, encodeBatch, encodeMessageSet } from '../../../broker/protocol/index.ts';
import type { Unpackers } from '../../../broker/protocol/index.ts';
import { decode } from '../../../checker/logs/contents.ts';
import { Frame, readFrame } from '../../../checker/logs/frame.ts';
import { unpackLz4 } from '../../../checker/logs/lz4.ts';
import { unpackSnappy } from '../../../checker/logs/snappy.ts';
import { decompressors } from '../../../harness/check/decompressors.ts';
import { fromHex, hex, unspaced } from './hex.ts';

const unpackers: Unpackers = { snappy: unpackSnappy, lz4: unpackLz4 };

interface Inner {
  readonly offset: number | bigint;
  readonly value: Uint8Array | string;
  readonly magic?: 0 | 1;
  readonly attributes?: number;
  readonly timestampMs?: number;
}

/** One entry with its checksum, whatever it says. */
function entry({ offset, value, magic = 1, attributes = 0, timestampMs = 1000 }: Inner): Uint8Array {
  const bytes = Buffer.from(value);
  const head = magic === 1 ? 34 : 26;
  const made = Buffer.alloc(head + bytes.length);
  made.writeBigInt64BE(BigInt(offset), 0);
  made.writeInt32BE(made.length - 12, 8);
  made[16] = magic;
  made[17] = attributes;
  if (magic === 1) made.writeBigInt64BE(BigInt(timestampMs), 18);
  made.writeInt32BE(-1, head - 8);
  made.writeInt32BE(bytes.length, head - 4);
  bytes.copy(made, head);
  made.writeUInt32BE(crc32(made.subarray(16)), 12);
  return made;
}

function wrapper(offset: number, inner: readonly Inner[], also: Partial<Inner> = {}): Uint8Array {
  return entry({ offset, value: gzipSync(Buffer.concat(inner.map(entry))), attributes: 1, ...also });
}

function read(...parts: readonly Uint8Array[]): { readonly told: readonly unknown[]; readonly flaw?: string } {
  const { records, flaw } = decodeMessageSet(new Uint8Array(Buffer.concat(parts)), unpackers);
  const told = records.map(({ offset, value, timestampMs }) => [offset, Buffer.from(value!).toString(), timestampMs]);
  return flaw === undefined ? { told } : { told, flaw };
}

describe('a message set that we write', () => {
  it('is format v1, byte by byte', () => {
    const bytes = encodeMessageSet([{ key: null, value: '17', timestampMs: 0x0102 }]);
    const message = '01 00 0000000000000102 ffffffff 00000002 3137';
    const sum = crc32(fromHex(message)).toString(16).padStart(8, '0');
    expect(hex(bytes)).toBe(unspaced(`0000000000000000 00000018 ${sum} ${message}`));
  });

  it('is read by us', () => {
    const messages = ['a', 'ö', ''].map((value, index) => ({ key: `k${index}`, value, timestampMs: index }));
    expect(read(encodeMessageSet(messages)).told).toEqual([
      [0, 'a', 0],
      [1, 'ö', 1],
      [2, '', 2],
    ]);
  });
});

describe('the message sets that Kafka wrote', () => {
  const root = 'test/fixtures/kafka-logs';
  const logs = readdirSync(root)
    .filter((name) => name.startsWith('0.10'))
    .flatMap((name) =>
      (readdirSync(join(root, name, 'broker-1'), { recursive: true }) as string[])
        .filter((file) => file.endsWith('.log'))
        .map((file) => join(root, name, 'broker-1', file)),
    );

  it.each(logs)('%s says to us what it says to the checker, which decodes by itself', (file) => {
    const bytes = new Uint8Array(readFileSync(file));
    const frame = new Frame();
    const theirs: unknown[] = [];
    let at = 0;
    for (; readFrame(bytes, at, bytes.length, frame) === 'frame'; at += frame.size) {
      const { records, problem } = decode(bytes, at, frame, decompressors);
      expect(problem).toBeNull();
      for (const { offset, timestamp, key, value } of records) theirs.push([offset, timestamp, key, value]);
    }
    const { records, sizeBytes } = decodeMessageSet(bytes, unpackers);
    expect(theirs.length).toBeGreaterThan(0);
    expect(sizeBytes).toBe(at);
    expect(records.map(({ offset, timestampMs, key, value }) => [offset, timestampMs, key, value])).toEqual(theirs);
  });
});

describe('a wrapper', () => {
  const two = (first: number, magic: 0 | 1): readonly Inner[] => [
    { offset: first, value: 'a', magic },
    { offset: first + 1, value: 'b', magic, timestampMs: 2000 },
  ];

  it('of v1 gives its messages the offsets up to its own', () => {
    expect(read(wrapper(41, two(0, 1))).told).toEqual([
      [40, 'a', 1000],
      [41, 'b', 2000],
    ]);
  });

  it('of v1 that was written with whole offsets keeps them, with the gaps that a cleaner left', () => {
    const inner: readonly Inner[] = [
      { offset: 7, value: 'a' },
      { offset: 9, value: 'b' },
    ];
    expect(read(wrapper(9, inner)).told).toEqual([
      [7, 'a', 1000],
      [9, 'b', 1000],
    ]);
  });

  it('of v0 holds whole offsets and no times', () => {
    expect(read(wrapper(41, two(40, 0), { magic: 0 })).told).toEqual([
      [40, 'a', -1],
      [41, 'b', -1],
    ]);
  });

  it('that the broker stamped gives its messages its own time', () => {
    const stamped = wrapper(1, two(0, 1), { attributes: 1 | 8, timestampMs: 5000 });
    expect(read(stamped).told).toMatchObject([
      [0, 'a', 5000],
      [1, 'b', 5000],
    ]);
  });

  it.each([
    ['holds nothing', wrapper(3, [])],
    ['holds another wrapper', wrapper(3, [{ offset: 0, value: gzipSync(''), attributes: 1 }])],
    ['holds a message of another format', wrapper(3, two(0, 0))],
    ['has an offset below what it holds', wrapper(0, two(0, 1))],
    ['of v0 has an offset below what it holds', wrapper(40, two(40, 0), { magic: 0 })],
    ['holds offsets that do not rise', wrapper(5, [...two(0, 1), ...two(0, 1)])],
    ['does not unpack', entry({ offset: 3, value: 'no gzip', attributes: 1 })],
    ['is packed by an unknown codec', entry({ offset: 3, value: 'x', attributes: 7 })],
  ])('that %s is corrupt, and what stood before it counts', (_title, bytes) => {
    expect(read(entry({ offset: 0, value: 'good' }), bytes)).toEqual({ told: [[0, 'good', 1000]], flaw: 'corrupt' });
  });

  it('never unpacks to more than is allowed', () => {
    const large = new Uint8Array(wrapper(0, [{ offset: 0, value: 'x'.repeat(10_000) }]));
    expect(decodeMessageSet(large, {}, 20_000).records).toHaveLength(1);
    expect(decodeMessageSet(large, {}, 10_000)).toMatchObject({ records: [], flaw: 'corrupt' });
    const twice = new Uint8Array(Buffer.concat([large, large]));
    expect(decodeMessageSet(twice, {}, 15_000)).toMatchObject({ sizeBytes: large.length, flaw: 'corrupt' });
  });
});

describe('a message set ends', () => {
  const good = entry({ offset: 4, value: 'good' });

  it('with an entry that was cut, wherever it was cut', () => {
    for (let left = 1; left < good.length; left += 1) {
      expect(read(good, good.subarray(0, left))).toEqual({ told: [[4, 'good', 1000]], flaw: 'partial' });
    }
  });

  it('where batches of a newer format begin', () => {
    const batch = encodeBatch({ records: [{ key: null, value: 'new' }], baseOffset: 5 });
    expect(read(good, batch)).toEqual({ told: [[4, 'good', 1000]], flaw: 'unsupported-format' });
  });

  it.each([
    ['whose checksum is wrong', good.map((byte, at) => (at === good.length - 1 ? byte ^ 1 : byte))],
    ['that is too short to be one', good.map((byte, at) => (at === 11 ? 3 : byte))],
    ['with an offset beyond 2^53−1', entry({ offset: 2n ** 53n, value: 'far' })],
    ['with a negative offset', entry({ offset: -1, value: 'far' })],
  ])('at an entry %s', (_title, bad) => {
    expect(read(good, bad, good)).toEqual({ told: [[4, 'good', 1000]], flaw: 'corrupt' });
  });

  it('without a throw, whatever the bytes', () => {
    const base = Buffer.concat([
      good,
      wrapper(6, [
        { offset: 0, value: 'a' },
        { offset: 1, value: 'b' },
      ]),
    ]);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(base.length - 1), fc.nat(255)), { maxLength: 4 }), (changes) => {
        const bytes = Uint8Array.from(base);
        for (const [at, byte] of changes) bytes[at] = byte;
        expect(decodeMessageSet(bytes, unpackers).sizeBytes).toBeLessThanOrEqual(bytes.length);
      }),
    );
    fc.assert(fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => void decodeMessageSet(bytes, unpackers)));
  });
});
