/**
 * What lies inside of frames that are put together here byte by byte: records and messages of every shape, packed and
 * plain, and each thing that can be wrong with them in the words in which it is told.
 */
import { crc32, gunzipSync, gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Contents, decode, inspect, type Decompressors } from '../../../checker/logs/contents.ts';
import { Frame, readFrame } from '../../../checker/logs/frame.ts';

const text = (value: string): number[] => [...new TextEncoder().encode(value)];

/** Zigzag and base 128. */
function varint(value: number): number[] {
  let rest = value >= 0 ? value * 2 : -value * 2 - 1;
  const bytes: number[] = [];
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return [...bytes, rest];
}

const counted = (value: string | null): number[] =>
  value === null ? varint(-1) : [...varint(text(value).length), ...text(value)];

interface Written {
  readonly delta: number;
  readonly time?: number;
  readonly key?: string | null;
  readonly value?: string | null;
  readonly headers?: readonly (readonly [string, string | null])[];
  /** Added to the length that the record states. */
  readonly excess?: number;
}

function record({ delta, time = 0, key = null, value = null, headers = [], excess = 0 }: Written): number[] {
  const content = [
    0,
    ...varint(time),
    ...varint(delta),
    ...counted(key),
    ...counted(value),
    ...varint(headers.length),
    ...headers.flatMap(([name, of]) => [...counted(name), ...counted(of)]),
  ];
  return [...varint(content.length + excess), ...content];
}

const base = 100;
/** Frames stand somewhere in a window. */
const lead = 3;

interface Batch {
  readonly count?: number;
  readonly last?: number;
  readonly attributes?: number;
}

/** A batch whose records are these bytes, its first offset 100, between other bytes. */
function batchOf(payload: readonly number[], { count = 1, last = 0, attributes = 0 }: Batch = {}): Uint8Array {
  const bytes = new Uint8Array(lead + 61 + payload.length + 4).fill(0xff);
  bytes.set(payload, lead + 61);
  const view = new DataView(bytes.buffer, lead);
  view.setBigInt64(0, BigInt(base));
  view.setInt32(8, 49 + payload.length);
  view.setUint8(16, 2);
  view.setInt16(21, attributes);
  view.setInt32(23, last);
  view.setBigInt64(27, 5000n);
  view.setBigInt64(35, 9000n);
  view.setInt32(57, count);
  return bytes;
}

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

const gzip: Decompressors = { gzip: (bytes) => gunzipSync(bytes) };

/** Both looks at the frame: what is found without keeping anything, and the records themselves. */
function look(bytes: Uint8Array, decompressors: Decompressors = gzip, contents = new Contents(), max?: number) {
  const frame = new Frame();
  expect(readFrame(bytes, lead, bytes.length, frame)).toBe('frame');
  inspect(bytes, lead, frame, decompressors, contents);
  const { records, problem } = decode(bytes, lead, frame, decompressors, max);
  const shown = (part: Uint8Array | null): string | null => (part === null ? null : new TextDecoder().decode(part));
  return {
    contents,
    frame,
    problem,
    records: records.map(({ offset, timestamp, key, value, headers }) => ({
      offset,
      timestamp,
      key: shown(key),
      value: shown(value),
      headers: headers.map(([name, of]) => [shown(name), shown(of)]),
    })),
  };
}

const nothing = { records: 0, first: -1, last: -1, gapFrom: -1, gapTo: -1, markers: [] };

/** Both looks tell the same problem, and the first of them nothing else. */
function expectProblem(bytes: Uint8Array, problem: string, decompressors: Decompressors = gzip): void {
  const { contents, ...decoded } = look(bytes, decompressors);
  expect(contents).toEqual({ ...nothing, problem });
  expect(decoded.problem).toBe(problem);
}

describe('the records of a batch', () => {
  const three: Written[] = [
    {
      delta: 0,
      time: 1,
      key: 'k',
      value: 'v',
      headers: [
        ['h', 'x'],
        ['i', null],
        ['', ''],
      ],
    },
    { delta: 1, time: -5000, key: '', value: null },
    { delta: 2, time: 2 ** 40, key: null, value: '' },
  ];
  const plain = batchOf(three.flatMap(record), { count: 3, last: 2 });

  it('are all there, with everything that they say', () => {
    const { contents, records, problem } = look(plain);
    expect(contents).toEqual({ ...nothing, records: 3, first: 100, last: 102, problem: null });
    expect(problem).toBeNull();
    expect(records).toEqual([
      {
        offset: 100,
        timestamp: 5001,
        key: 'k',
        value: 'v',
        headers: [
          ['h', 'x'],
          ['i', null],
          ['', ''],
        ],
      },
      { offset: 101, timestamp: 0, key: '', value: null, headers: [] },
      { offset: 102, timestamp: 5000 + 2 ** 40, key: null, value: '', headers: [] },
    ]);
  });

  it('share the time of the broker where the batch says so', () => {
    const stamped = batchOf(three.flatMap(record), { count: 3, last: 2, attributes: 8 });
    expect(look(stamped).records.map(({ timestamp }) => timestamp)).toEqual([9000, 9000, 9000]);
  });

  it.each<[string, readonly number[], number, number, number]>([
    ['none', [0, 1, 2], 2, -1, -1],
    ['one before the first', [2, 3], 3, 100, 102],
    ['one between', [0, 1, 4], 4, 102, 104],
    ['one behind the last', [0, 1], 2, 102, 103],
    ['several behind the last', [0, 1], 5, 102, 106],
    ['the first of several', [1, 5, 9], 20, 100, 101],
    ['all that the batch covers', [], 4, 100, 105],
  ])('leave gaps, of which the first is noted: %s', (_, deltas, last, gapFrom, gapTo) => {
    const payload = deltas.flatMap((delta) => record({ delta }));
    const { contents, records } = look(batchOf(payload, { count: deltas.length, last }));
    const [first = -1, end = -1] = deltas.length === 0 ? [] : [base + deltas[0]!, base + deltas.at(-1)!];
    const expected = { records: deltas.length, first, last: end, gapFrom, gapTo, markers: [], problem: null };
    expect(contents).toEqual(expected);
    expect(records.map(({ offset }) => offset)).toEqual(deltas.map((delta) => base + delta));
  });

  it('are counted anew for each batch', () => {
    const contents = new Contents();
    expect(contents).toEqual({ ...nothing, problem: null });
    const marker = batchOf(record({ delta: 1, key: '\0\0\0\x01' }), { last: 3, attributes: 0x20 });
    look(marker, gzip, contents);
    expect(contents).toMatchObject({ gapFrom: 100, gapTo: 101, markers: [{ offset: 101 }] });
    look(plain, gzip, contents);
    expect(contents).toEqual({ ...nothing, records: 3, first: 100, last: 102, problem: null });
    look(batchOf([], { count: 1 }), gzip, contents);
    look(plain, gzip, contents);
    expect(contents.problem).toBeNull();
  });

  it.each<[string, Uint8Array]>([
    ['its record count is wrong', batchOf(three.flatMap(record), { count: 2, last: 2 })],
    ['its record count is wrong', batchOf(three.flatMap(record), { count: 0, last: 2 })],
    ['its record count is wrong', batchOf(three.flatMap(record), { count: -1, last: 2 })],
    ['its record count is wrong', batchOf([], { count: -1 })],
    ['it breaks off', batchOf(three.flatMap(record), { count: 4, last: 3 })],
    ['it breaks off', batchOf([])],
    ['the length of a record is wrong', batchOf(record({ delta: 0, value: 'v', excess: 1 }))],
    ['the length of a record is wrong', batchOf(record({ delta: 0, value: 'v', excess: -1 }))],
  ])('are not as they should be: %s', (problem, bytes) => {
    expectProblem(bytes, problem);
  });

  it.each<[string, readonly number[], number]>([
    ['falls', [1, 0], 1],
    ['stays', [0, 0], 1],
    ['is below that of its batch', [-1], 0],
    ['is above the last of its batch', [0, 2], 1],
  ])('have offsets that rise; one %s', (_, deltas, last) => {
    const bytes = batchOf(
      deltas.flatMap((delta) => record({ delta })),
      { count: deltas.length, last },
    );
    const { contents } = look(bytes);
    expect(contents).toEqual({ ...nothing, problem: 'the offsets of its records are wrong' });
  });

  it('that cannot be read leave the bounds of their batch as they are', () => {
    const { frame } = look(batchOf(three.flatMap(record), { count: 2, last: 2 }));
    expect([frame.base, frame.last]).toEqual([100, 102]);
  });

  it('are refused where they break off, whatever is cut', () => {
    const whole = record({ delta: 0, time: 300, key: 'key', value: 'value', headers: [['name', 'content']] });
    for (let size = 0; size < whole.length; size += 1) expectProblem(batchOf(whole.slice(0, size)), 'it breaks off');
    expect(look(batchOf(whole)).problem).toBeNull();
  });

  it('are told about alike by both looks, whatever byte of them is changed', () => {
    const payload = three.flatMap(record);
    fc.assert(
      fc.property(fc.nat(payload.length - 1), fc.nat(255), (at, byte) => {
        const { contents, problem, records } = look(batchOf(payload.with(at, byte), { count: 3, last: 2 }));
        if (contents.problem === 'the offsets of its records are wrong') return;
        expect(problem).toBe(contents.problem);
        if (problem === null) expect(records.map(({ offset }) => offset)).toEqual([100, 101, 102]);
      }),
      { seed: 3, numRuns: 2000 },
    );
  });

  it('are kept up to a number, and more are told', () => {
    expect(look(plain, gzip, new Contents(), 3)).toMatchObject({ problem: null, records: { length: 3 } });
    expect(look(plain, gzip, new Contents(), 2)).toMatchObject({
      problem: 'it holds more than 2 records',
      records: [{ offset: 100 }, { offset: 101 }],
    });
  });
});

describe('control records', () => {
  const marker = (type: number, more: Partial<Written> = {}): number[] =>
    record({ delta: 0, key: `\0\0${String.fromCharCode(type >> 8, type & 0x7f)}`, value: 'x', ...more });

  it.each([
    [0, 'abort'],
    [1, 'commit'],
    [2, 'leader-change'],
    [3, 'snapshot-header'],
    [4, 'snapshot-footer'],
    [5, 'kraft-version'],
    [6, 'kraft-voters'],
    [7, 'type 7'],
    [0x0105, 'type 261'],
  ])('of type %i are known as %s', (type, name) => {
    const { contents } = look(batchOf(marker(type), { attributes: 0x30 }));
    expect(contents).toMatchObject({ records: 1, markers: [{ offset: 100, type: name }] });
  });

  it('are all of a batch that says so, and none of others', () => {
    const two = [...marker(1), ...marker(0, { delta: 3 })];
    expect(look(batchOf(two, { count: 2, last: 3, attributes: 0x20 })).contents.markers).toEqual([
      { offset: 100, type: 'commit' },
      { offset: 103, type: 'abort' },
    ]);
    expect(look(batchOf(two, { count: 2, last: 3, attributes: 0x10 })).contents.markers).toEqual([]);
  });

  it('have a key of four bytes at least, else they are no marker', () => {
    for (const key of [null, '', '\0\0\0']) {
      expect(look(batchOf(marker(1, { key }), { attributes: 0x20 })).contents).toMatchObject({
        records: 1,
        markers: [],
      });
    }
    const longer = look(batchOf(marker(1, { key: '\0\0\0\x01\0' }), { attributes: 0x20 }));
    expect(longer.contents.markers).toEqual([{ offset: 100, type: 'commit' }]);
  });
});

describe('packed records', () => {
  const payload = record({ delta: 0, value: 'packed' });
  const packed = [9, 8, 7];

  it.each([
    [1, 'gzip'],
    [4, 'zstd'],
  ] as const)('of codec %i are unpacked by what is handed in for %s', (attributes, codec) => {
    const handed: number[][] = [];
    const unpacks: Decompressors = {
      [codec]: (bytes: Uint8Array) => {
        handed.push([...bytes]);
        return Uint8Array.from(payload);
      },
    };
    const { contents, records } = look(batchOf(packed, { attributes }), unpacks);
    expect(contents).toMatchObject({ records: 1, problem: null });
    expect(records).toMatchObject([{ offset: 100, value: 'packed' }]);
    expect(handed).toEqual([packed, packed]);
    expectProblem(batchOf(packed, { attributes }), `nothing is here to unpack ${codec}`, {});
  });

  it('of snappy and LZ4 are unpacked here', () => {
    const snappy = [payload.length, (payload.length - 1) << 2, ...payload];
    expect(look(batchOf(snappy, { attributes: 2 })).records).toMatchObject([{ value: 'packed' }]);
    const lz4 = lz4Frame(payload, false);
    expect(look(batchOf(lz4, { attributes: 3 })).records).toMatchObject([{ value: 'packed' }]);
  });

  it.each([5, 6, 7])('of the unknown codec %i are told', (codec) => {
    expectProblem(batchOf(packed, { attributes: codec | 0x18 }), `it is packed by the unknown codec ${codec}`);
  });

  it('of which a cleaner left none are not unpacked', () => {
    for (const attributes of [1, 2, 3, 4, 5]) {
      const { contents, problem } = look(batchOf([], { count: 0, last: 1, attributes }), {});
      expect(contents).toMatchObject({ records: 0, gapFrom: 100, gapTo: 102, problem: null });
      expect(problem).toBeNull();
    }
  });

  it('that cannot be unpacked are told in the first line of what their decompressor says', () => {
    const refuses: Decompressors = {
      gzip: () => {
        throw new Error('unexpected end\nof file');
      },
    };
    expectProblem(batchOf(packed, { attributes: 1 }), 'it cannot be unpacked: unexpected end', refuses);
    const fails: Decompressors = {
      gzip: () => {
        // oxlint-disable-next-line typescript/only-throw-error -- what no decompressor does
        throw 'no error at all';
      },
    };
    expect(() => look(batchOf(packed, { attributes: 1 }), fails)).toThrow('no error at all');
    const frame = new Frame();
    const bytes = batchOf(packed, { attributes: 1 });
    readFrame(bytes, lead, bytes.length, frame);
    expect(() => decode(bytes, lead, frame, fails)).toThrow('no error at all');
  });
});

/** An LZ4 frame of one block that is not packed; `old` with the header checksum of message format v0. */
function lz4Frame(content: readonly number[], old: boolean): number[] {
  // The two checksums are those of exactly these six bytes, from their fifth and from their first on.
  const head = [0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, old ? 0x1a : 0x82];
  return [...head, content.length, 0, 0, 0x80, ...content, 0, 0, 0, 0];
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
