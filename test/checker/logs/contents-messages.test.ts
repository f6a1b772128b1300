/**
 * What lies inside of message sets, the formats before record batches, put together here byte by byte: single messages,
 * wrappers around packed ones, and each thing that can be wrong with them in the words in which it is told.
 */
import { crc32, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Contents } from '../../../checker/logs/contents.ts';
import { expectProblem, gzip, look, lz4Frame, nothing } from './looks.ts';

interface Message {
  readonly magic?: number;
  readonly attributes?: number;
  readonly time?: number;
  readonly key?: string | null;
  readonly value?: string | Uint8Array | null;
}

/** An entry of a message set. */
function message(
  offset: number,
  { magic = 1, attributes = 0, time = 7000, key = null, value = 'v' }: Message,
): number[] {
  const sized = (part: string | Uint8Array | null): Buffer => {
    const size = Buffer.alloc(4);
    size.writeInt32BE(part === null ? -1 : Buffer.byteLength(part));
    return Buffer.concat([size, Buffer.from(part ?? '')]);
  };
  const head = Buffer.alloc(magic === 0 ? 18 : 26);
  head.writeBigInt64BE(BigInt(offset));
  head[16] = magic;
  head[17] = attributes;
  if (magic !== 0) head.writeBigInt64BE(BigInt(time), 18);
  const bytes = Buffer.concat([head, sized(key), sized(value)]);
  bytes.writeInt32BE(bytes.length - 12, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(16)), 12);
  return [...bytes];
}

const alone = (entry: readonly number[]): Uint8Array => Uint8Array.from([255, 255, 255, ...entry, 255, 255, 255, 255]);

/** A wrapper around entries, packed by gzip. */
function wrapper(offset: number, entries: readonly (readonly number[])[], more: Message = {}): Uint8Array {
  const value = gzipSync(Uint8Array.from(entries.flat()));
  return alone(message(offset, { attributes: 1, value, time: 8000, ...more }));
}

describe('a message', () => {
  it.each([0, 1])('of format v%i is one record', (magic) => {
    const { contents, frame, records, problem } = look(alone(message(77, { magic, key: 'k', value: null })));
    expect(contents).toEqual({ ...nothing, records: 1, first: 77, last: 77, problem: null });
    expect(frame).toMatchObject({ base: 77, last: 77, count: 1 });
    const timestamp = magic === 0 ? -1 : 7000;
    expect(records).toEqual([{ offset: 77, timestamp, key: 'k', value: null, headers: [] }]);
    expect(problem).toBeNull();
  });

  it('is told if its length is not that of its parts', () => {
    for (const magic of [0, 1]) {
      const entry = message(77, { magic, key: 'k', value: 'value' });
      const longer = Uint8Array.from([...entry, 0]);
      longer[11]! += 1;
      expectProblem(alone([...longer]), 'the length of a message is wrong');
      const shorter = Uint8Array.from(entry.slice(0, -1));
      shorter[11]! -= 1;
      expectProblem(alone([...shorter]), 'it breaks off');
    }
  });
});

describe('a wrapper', () => {
  const inner = (...offsets: number[]): number[][] =>
    offsets.map((offset) => message(offset, { key: `${offset}`, time: 7000 + offset }));

  it('of format v1 gives its messages offsets up to its own', () => {
    const { contents, frame, records, problem } = look(wrapper(52, inner(0, 1, 2)));
    expect(contents).toEqual({ ...nothing, records: 3, first: 50, last: 52, problem: null });
    expect(frame).toMatchObject({ base: 50, last: 52, count: 3 });
    expect(problem).toBeNull();
    expect(records).toEqual(
      [0, 1, 2].map((at) => ({ offset: 50 + at, timestamp: 7000 + at, key: `${at}`, value: 'v', headers: [] })),
    );
  });

  it('may have lost messages to a cleaner', () => {
    expect(look(wrapper(59, inner(1, 2, 6, 9))).contents).toMatchObject({
      records: 4,
      first: 51,
      last: 59,
      gapFrom: 53,
      gapTo: 56,
    });
    expect(look(wrapper(3, inner(3))).contents).toMatchObject({
      records: 1,
      first: 3,
      last: 3,
      gapFrom: -1,
      gapTo: -1,
    });
  });

  it('of format v0 holds the offsets themselves', () => {
    const entries = [50, 51].map((offset) => message(offset, { magic: 0 }));
    const { contents, frame, records } = look(wrapper(51, entries, { magic: 0 }));
    expect(contents).toMatchObject({ records: 2, first: 50, last: 51, problem: null });
    expect(frame.base).toBe(50);
    expect(records).toMatchObject([
      { offset: 50, timestamp: -1 },
      { offset: 51, timestamp: -1 },
    ]);
    const other = look(wrapper(52, entries, { magic: 0 }));
    expect(other.contents).toMatchObject({ ...nothing, problem: 'the offsets of its messages are wrong' });
    expect(other.records.map(({ offset }) => offset)).toEqual([50, 51]);
  });

  it('that was stamped by the broker shares its time', () => {
    expect(look(wrapper(1, inner(0, 1), { attributes: 9 })).records.map(({ timestamp }) => timestamp)).toEqual([
      8000, 8000,
    ]);
  });

  it.each<[string, number, readonly number[]]>([
    ['fall', 9, [1, 0]],
    ['stay', 9, [0, 0]],
    ['are negative', 9, [-1, 0]],
    ['would begin below 0', 1, [0, 1, 2]],
  ])('has messages whose offsets %s', (_, offset, offsets) => {
    const { contents, frame } = look(wrapper(offset, inner(...offsets)));
    expect(contents).toEqual({ ...nothing, problem: 'the offsets of its messages are wrong' });
    expect(frame.base).toBe(offset);
  });

  it('may begin with the offset 0', () => {
    expect(look(wrapper(2, inner(0, 1, 2))).contents).toMatchObject({ first: 0, problem: null });
  });

  const entry = message(0, { value: 'value' });
  const alter = (at: number, byte: number): number[] => entry.with(at, byte);
  /** Another byte, and the checksum that it asks for. */
  const sealed = (at: number, byte: number): number[] => {
    const bytes = Buffer.from(alter(at, byte));
    bytes.writeUInt32BE(crc32(bytes.subarray(16)), 12);
    return [...bytes];
  };
  const sized = (size: number): number[] => [...entry.slice(0, 8), 0, 0, 0, size, ...entry.slice(12)];

  it.each<[string, readonly (readonly number[])[]]>([
    ['a packed message does not match its checksum', [alter(entry.length - 1, 0x41)]],
    ['a packed message does not match its checksum', [alter(12, 0)]],
    ['a packed message is of an unknown format', [sealed(16, 2)]],
    ['a wrapper holds another wrapper', [sealed(17, 1)]],
    ['a wrapper holds another wrapper', [sealed(17, 4)]],
    ['a packed message breaks off', [entry.slice(0, -1)]],
    ['a packed message breaks off', [sized(13)]],
    ['a packed message breaks off', [entry, sized(entry.length - 11)]],
    ['it breaks off', [entry, entry.slice(0, 11)]],
    ['it breaks off', [entry.slice(0, 7)]],
    ['the length of a message is wrong', [sealed(33, 4)]],
    ['a wrapper holds nothing', []],
  ])('holds what it should not: %s', (problem, entries) => {
    expectProblem(wrapper(9, entries), problem);
    const { frame } = look(wrapper(9, entries));
    expect(frame.base).toBe(9);
  });

  it('of format v1 may hold messages of format v0, and attributes that are no codec', () => {
    expect(look(wrapper(9, [message(0, { magic: 0 })])).records).toMatchObject([{ offset: 9, timestamp: -1 }]);
    expect(look(wrapper(9, [sealed(17, 8)])).records).toMatchObject([{ offset: 9, value: 'value' }]);
  });

  it('may hold the shortest message there is', () => {
    // No room for key and value: it is whole, and still no message.
    const bytes = Buffer.from([...message(0, { magic: 0 }).slice(0, 18), 255, 255, 255, 255, 255, 255, 255, 255]);
    bytes.writeInt32BE(14, 8);
    bytes.writeUInt32BE(crc32(bytes.subarray(16)), 12);
    expect(look(wrapper(9, [[...bytes]])).records).toMatchObject([{ offset: 9, key: null, value: null }]);
  });

  it('without a value, or without anything in it, holds nothing', () => {
    for (const value of [null, '']) {
      expectProblem(alone(message(9, { attributes: 1, value })), 'a wrapper holds nothing');
    }
  });

  it('keeps so many messages and no more', () => {
    const bytes = wrapper(2, inner(0, 1, 2));
    expect(look(bytes, gzip, new Contents(), 3).records).toHaveLength(3);
    expect(look(bytes, gzip, new Contents(), 2)).toMatchObject({
      problem: 'it holds more than 2 records',
      records: [],
      contents: { records: 3, problem: null },
    });
  });

  it('of format v0 alone may be packed by LZ4 with the old checksum of its header', () => {
    const packed = (magic: number, old: boolean): Uint8Array =>
      alone(message(0, { magic, attributes: 3, value: Uint8Array.from(lz4Frame(message(0, { magic }), old)) }));
    for (const magic of [0, 1]) expect(look(packed(magic, false)).problem).toBeNull();
    expect(look(packed(0, true)).problem).toBeNull();
    expectProblem(packed(1, true), 'the header of an LZ4 frame does not match its checksum');
  });
});
