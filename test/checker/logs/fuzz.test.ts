/**
 * Bytes that nobody wrote: logs of noise, logs of Apache Kafka with bytes changed, torn or blown up. Whatever they are,
 * the checker comes to an end, never throws, and what it says of them is a finding.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseEpochCheckpoint, parseOffsetCheckpoint } from '../../../checker/logs/checkpoint-files.ts';
import { unpackedMax } from '../../../checker/logs/contents.ts';
import { UnreadableError } from '../../../checker/logs/source.ts';
import { batch, batches, joined, replica, sealed, verify } from './replicas.ts';

const fixtures = readdirSync('test/fixtures/kafka-logs').map((name) => {
  const broker = join('test/fixtures/kafka-logs', name, 'broker-1');
  const partition = readdirSync(broker).find((entry) => /-\d+$/.test(entry))!;
  const log = readdirSync(join(broker, partition)).find((entry) => entry.endsWith('.log'))!;
  return { name, bytes: readFileSync(join(broker, partition, log)) };
});

/** A log damaged in a few places: bytes changed, a part cut out, noise put in. */
const damage = fc.array(
  fc.record({
    at: fc.nat(5000),
    kind: fc.constantFrom('flip', 'cut', 'insert', 'length', 'zero'),
    byte: fc.nat(255),
    size: fc.nat(80),
  }),
  { minLength: 1, maxLength: 4 },
);

function damaged(
  bytes: Uint8Array,
  list: readonly { at: number; kind: string; byte: number; size: number }[],
): Uint8Array {
  let copy = Buffer.from(bytes);
  for (const { at: anywhere, kind, byte, size } of list) {
    const at = copy.length === 0 ? 0 : anywhere % copy.length;
    if (kind === 'flip') copy[at] = byte;
    if (kind === 'zero') copy.fill(0, at, Math.min(copy.length, at + size));
    if (kind === 'cut') copy = Buffer.concat([copy.subarray(0, at), copy.subarray(at + size)]);
    if (kind === 'insert') copy = Buffer.concat([copy.subarray(0, at), Buffer.alloc(size, byte), copy.subarray(at)]);
    if (kind === 'length' && copy.length >= at + 12) copy.writeInt32BE((byte << 23) | size, at + 8);
  }
  return copy;
}

describe('hostile logs', () => {
  it('of noise come to an end', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.uint8Array({ maxLength: 400 }), (one, other) => {
        const report = verify([replica('broker-1', { 0: one }), replica('broker-2', { 0: other, 9: one })]);
        expect(report.comparison.exit).not.toBe(0);
      }),
      { seed: 1, numRuns: 2000 },
    );
  });

  it.each(fixtures)('of $name, damaged, come to an end, and damage is seen beside the whole log', ({ bytes }) => {
    const whole = replica('broker-1', { 0: bytes });
    fc.assert(
      fc.property(damage, fc.boolean(), (list, compacted) => {
        const copy = damaged(bytes, list);
        const report = verify([whole, replica('broker-2', { 0: copy }, { cleaner: compacted ? 5 : null })]);
        if (Buffer.compare(bytes, copy) === 0) expect(report.comparison.verdict).toBe('agree');
        else if (!compacted) expect(report.comparison.exit).not.toBe(0);
      }),
      { seed: 2, numRuns: 150 },
    );
  });

  it('that unpack to more than is allowed are said to', () => {
    const zeros = Buffer.alloc(unpackedMax + 1);
    for (const [codec, packed] of [
      [1, gzipSync(zeros, { level: 1 })],
      [4, zstdCompressSync(zeros)],
    ] as const) {
      const log = packedBatch(codec, packed);
      const report = verify([replica('broker-1', { 0: log })]);
      expect(report.copies['broker-1']?.findings).toMatchObject([
        {
          name: 'unreadable',
          offset: 0,
          reason: expect.stringMatching(/cannot be read: it cannot be unpacked/) as string,
        },
      ]);
      expect(report.comparison.exit).toBe(2);
    }
  });

  it('that claim billions of records, or records of any length, are said not to hold them', () => {
    const [first] = batches;
    for (const claim of [0x7fff_ffff, -1, -0x8000_0000]) {
      const log = sealed(first!, (view) => view.setInt32(57, claim));
      expect(verify([replica('broker-1', { 0: log })]).copies['broker-1']?.findings).toMatchObject([
        { name: 'unreadable', offset: 0 },
      ]);
    }
    for (let byte = 0; byte < 256; byte += 1) {
      const log = sealed(first!, (view) => view.setUint8(61 + (byte % 9), byte));
      const { findings, records } = verify([replica('broker-1', { 0: log })]).copies['broker-1']!;
      expect(findings.length === 0 ? records === 3 : findings[0]?.name === 'unreadable').toBe(true);
    }
  });

  it('with offsets beyond 2^53 are not rounded but refused', () => {
    const log = joined([batches[0]!, sealed(batches[1]!, (view) => view.setBigInt64(0, 2n ** 53n))]);
    expect(verify([replica('broker-1', { 0: log })]).copies['broker-1']?.findings).toMatchObject([
      { name: 'unreadable', offset: 3 },
    ]);
  });

  it('full of frames that only look like batches do not cost more than their length', () => {
    // Each of them claims all that follows it, under a checksum that is wrong.
    const lies = Buffer.alloc(1 << 20);
    for (let at = 0; at + 61 < lies.length; at += 61) {
      lies.writeInt32BE(at + 1, at + 4);
      lies.writeInt32BE(lies.length - at - 12, at + 8);
      lies.writeUInt8(2, at + 16);
    }
    const report = verify([replica('broker-1', { 0: joined([batch(0, ['a']), lies]) })]);
    expect(report.comparison.exit).not.toBe(0);
    expect(report.copies['broker-1']?.records).toBe(1);
  }, 60_000);
});

describe('a file that cannot be read', () => {
  it('is a finding, and the files after it are read', () => {
    const sick = replica('broker-1', { 0: joined(batches.slice(0, 5)), 15: joined(batches.slice(5)) });
    const [first, second] = sick.segments;
    const refusing = {
      ...first!,
      read: (): number => {
        throw new UnreadableError('EIO');
      },
    };
    const report = verify([{ ...sick, segments: [refusing, second!] }, replica('broker-2', { 0: joined(batches) })]);
    expect(report.copies['broker-1']).toMatchObject({
      records: 15,
      findings: [
        { name: 'unreadable', reason: 'EIO' },
        { name: 'offset-gap', offset: 0, last: 14 },
      ],
    });
    expect(report.comparison).toMatchObject({ verdict: 'diverge', exit: 1 });
  });

  it('that is shorter than its size said ends there', () => {
    const { segments, ...rest } = replica('broker-1', { 0: joined(batches) });
    const longer = segments.map((segment) => ({ ...segment, size: segment.size + 1000 }));
    expect(verify([{ ...rest, segments: longer }]).copies['broker-1']).toMatchObject({ leo: 30, findings: [] });
  });
});

describe('checkpoint files', () => {
  it('are read as Kafka writes them', () => {
    const offsets = parseOffsetCheckpoint('0\n2\ntide 0 12\nwith-dash 3 9007199254740993\n');
    expect('entries' in offsets && [...offsets.entries]).toEqual([
      ['tide-0', 12],
      ['with-dash-3', 9007199254740992],
    ]);
    expect(parseEpochCheckpoint('0\n2\n0 0\n7 12\n')).toEqual({
      entries: [
        { epoch: 0, start: 0 },
        { epoch: 7, start: 12 },
      ],
    });
    expect(parseEpochCheckpoint('')).toEqual({ entries: [] });
  });

  it.each([
    ['1\n0\n', 'its first line is not the version 0'],
    ['0\n', 'its second line is not a count'],
    ['0\n2\n0 0\n', 'it announces 2 entries and holds 1'],
    ['0\n1\n0 0\n1 5\n', 'it announces 1 entries and holds 2'],
    ['0\n1\n0 -3\n', 'its line 3 cannot be understood'],
    ['\0\0\0\0', 'its first line is not the version 0'],
  ])('are refused as a whole: %j', (text, flaw) => {
    expect(parseEpochCheckpoint(text)).toEqual({ flaw });
  });

  it('of any text never throw', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), (text) => {
        for (const parse of [parseEpochCheckpoint, parseOffsetCheckpoint]) expect(parse(`0\n1\n${text}`)).toBeDefined();
      }),
      { seed: 5 },
    );
  });
});

function packedBatch(codec: number, packed: Uint8Array): Uint8Array {
  const bytes = Buffer.concat([batches[0]!.subarray(0, 61), packed]);
  return sealed(bytes, (view) => {
    view.setInt32(8, bytes.length - 12);
    view.setInt16(21, codec);
  });
}
