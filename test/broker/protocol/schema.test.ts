/** What the language of the tables means, shown on small tables. */
import { describe, expect, it } from 'vitest';
import { compile } from '../../../broker/protocol/codec.ts';
import { ProtocolError } from '../../../broker/protocol/index.ts';
import { Reader } from '../../../broker/protocol/reader.ts';
import {
  array,
  bool,
  field,
  int16,
  int32,
  int64,
  string,
  struct,
  uint16,
  uuid,
} from '../../../broker/protocol/schema.ts';
import type { Type } from '../../../broker/protocol/schema.ts';
import { Writer } from '../../../broker/protocol/writer.ts';
import { fromHex, hex, unspaced } from './hex.ts';

interface Version {
  readonly version: number;
  readonly flexible: boolean;
}
const plain = { version: 0, flexible: false };
const flexible = { version: 0, flexible: true };

function hexOf<T>(type: Type<T>, value: T, { version, flexible }: Version): string {
  const writer = new Writer();
  compile(type.shape, version, flexible).write(writer, value);
  return hex(writer.finish());
}

function decode(type: Type<unknown>, hex: string, { version, flexible }: Version): unknown {
  return compile(type.shape, version, flexible).read(new Reader(fromHex(hex)));
}

describe('a field', () => {
  const table = struct({
    always: int16,
    from1: field(int32, { since: 1, default: -1 }),
    until1: field(int16, { until: 1 }),
  });

  it('is on the wire only in its versions', () => {
    const body = { always: 1, from1: 2, until1: 3 };
    expect(hexOf(table, body, { version: 0, flexible: false })).toBe('00010003');
    expect(hexOf(table, body, { version: 1, flexible: false })).toBe('0001000000020003');
    expect(hexOf(table, body, { version: 2, flexible: false })).toBe('000100000002');
  });

  it('has its default in versions without it', () => {
    expect(decode(table, '00010003', { version: 0, flexible: false })).toEqual({ always: 1, from1: -1, until1: 3 });
    expect(decode(table, '000100000002', { version: 2, flexible: false })).toEqual({ always: 1, from1: 2, until1: 0 });
  });
});

describe('null', () => {
  const table = struct({
    names: field(array(string), { nullableSince: 1 }),
    name: field(string, { nullableSince: 1 }),
  });

  it('is written where the version allows it', () => {
    const body = { names: null, name: null };
    expect(hexOf(table, body, { version: 1, flexible: false })).toBe('ffffffffffff');
    expect(hexOf(table, body, { version: 1, flexible: true })).toBe('000000');
    expect(decode(table, 'ffffffffffff', { version: 1, flexible: false })).toEqual(body);
    expect(decode(table, '000000', { version: 1, flexible: true })).toEqual(body);
  });

  it('is a fault of the writer, and a malformed message to the reader, where it does not', () => {
    expect(() => hexOf(table, { names: null, name: '' }, plain)).toThrow(
      new TypeError('field names: null where a value is needed'),
    );
    expect(() => decode(table, 'ffffffff0000', plain)).toThrow('field names: null where a value is needed');
    expect(() => decode(table, '000000', flexible)).toThrow(ProtocolError);
  });
});

describe('a flexible version', () => {
  const table = struct({
    name: string,
    ids: array(int32),
    nested: array(struct({ flag: bool })),
    epoch: field(int64, { tag: 1, default: -1 }),
    notes: field(array(string), { tag: 4 }),
  });
  const body = { name: 'tide', ids: [1], nested: [{ flag: true }], epoch: -1, notes: [] };

  it('counts in varints of length + 1 and ends each struct with tagged fields', () => {
    expect(hexOf(table, body, flexible)).toBe(unspaced('0574696465 0200000001 020100 00'));
  });

  it('writes a tagged field only when it differs from its default, by ascending tag', () => {
    expect(hexOf(table, { ...body, notes: ['a'], epoch: 5 }, flexible)).toBe(
      unspaced('0574696465 0200000001 020100 02 01080000000000000005 0403020261'),
    );
    expect(hexOf(table, { ...body, notes: ['a'] }, flexible)).toMatch(/00010403020261$/);
  });

  it('reads tagged fields that it knows and skips those that it does not, at every level', () => {
    const message = '0574696465 0200000001 0201 01 0702beef 03 01080000000000000005 0200 630101';
    expect(decode(table, message, flexible)).toEqual({ ...body, epoch: 5 });
  });

  it('refuses tags out of order, twice, longer than what is left, or with bytes to spare', () => {
    const head = '0574696465 01 01';
    const fails: [string, string][] = [
      ['02 0400 0100', 'bytes announced, 0 left'],
      ['02 0701ff 0500', 'tag 5 after tag 7'],
      ['02 0701ff 0700', 'tag 7 after tag 7'],
      ['01 07ff', 'announced'],
      ['01 0109000000000000000500', '1 bytes too many for tag 1'],
      ['01 010700000000000000', '8 bytes announced, 7 left'],
    ];
    for (const [tags, message] of fails) expect(() => decode(table, head + tags, flexible)).toThrow(message);
  });

  it('refuses varints longer than 32 bits', () => {
    expect(() => decode(struct({ name: string }), 'ffffffff7f00', flexible)).toThrow('longer than 32 bits');
    expect(() => decode(struct({ name: string }), 'ffffffffffffffffff01', flexible)).toThrow('too long');
  });

  it('holds strings to 32767 bytes, as the older ones do', () => {
    const text = 'x'.repeat(32768);
    expect(() => hexOf(struct({ name: string }), { name: text }, flexible)).toThrow(
      'field name: a string of 32768 bytes',
    );
    const tooLong = '818002' + Buffer.from(text).toString('hex') + '00';
    expect(() => decode(struct({ name: string }), tooLong, flexible)).toThrow('a string of 32768 bytes, 32767 at most');
  });
});

describe('an int64', () => {
  const table = struct({ offset: int64 });

  it('is a number up to 2^53-1 in both directions and refused beyond', () => {
    expect(hexOf(table, { offset: Number.MAX_SAFE_INTEGER }, plain)).toBe('001fffffffffffff');
    expect(hexOf(table, { offset: -2 }, plain)).toBe('fffffffffffffffe');
    expect(decode(table, '001fffffffffffff', plain)).toEqual({ offset: Number.MAX_SAFE_INTEGER });
    expect(decode(table, 'fffffffffffffffe', plain)).toEqual({ offset: -2 });
    expect(() => decode(table, '0020000000000000', plain)).toThrow('an int64 is beyond 2^53-1');
    expect(() => decode(table, '8000000000000000', plain)).toThrow(ProtocolError);
    expect(() => hexOf(table, { offset: 2 ** 53 }, plain)).toThrow(RangeError);
  });
});

describe('a string', () => {
  it('that is not UTF-8 is refused, and a replacement character is not', () => {
    const table = struct({ name: string });
    expect(decode(table, '0003efbfbd', plain)).toEqual({ name: '\ufffd' });
    expect(() => decode(table, '0001ff', plain)).toThrow('field name: a string is not UTF-8');
  });
});

describe('a value that its type cannot hold', () => {
  it('is a fault of the writer that names the field', () => {
    expect(() => hexOf(struct({ id: int16 }), { id: 40_000 }, plain)).toThrow(
      new RangeError('field id: 40000 is not an integer from -32768 to 32767'),
    );
    expect(() => hexOf(struct({ port: uint16 }), { port: -1 }, plain)).toThrow(RangeError);
    expect(() => hexOf(struct({ id: int32 }), {} as { id: number }, plain)).toThrow('field id: undefined');
    expect(() => hexOf(struct({ ids: array(int32) }), {} as { ids: number[] }, plain)).toThrow(
      'field ids: undefined where an array is needed',
    );
    expect(() => hexOf(struct({ id: uuid }), { id: 'nonsense' }, plain)).toThrow('field id: nonsense is not a UUID');
    expect(() => hexOf(struct({ flag: bool }), { flag: 1 as unknown as boolean }, plain)).toThrow(TypeError);
  });
});
