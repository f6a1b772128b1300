/**
 * What lies inside of record batches that are put together here byte by byte: records of every shape, markers, packed and
 * plain, and each thing that can be wrong with them in the words in which it is told.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Contents, decode, type Decompressors } from '../../../checker/logs/contents.ts';
import { Frame, readFrame } from '../../../checker/logs/frame.ts';
import { expectProblem, gzip, lead, look, lz4Frame, nothing } from './looks.ts';

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
