/** Records as people see them, and in what two of them differ. */
import { describe, expect, it } from 'vitest';
import type { LogRecord } from '../../../checker/logs/contents.ts';
import { Frame } from '../../../checker/logs/frame.ts';
import { differencesOf, shownRecord } from '../../../checker/logs/shown.ts';

const utf8 = (value: string | null): Uint8Array | null => (value === null ? null : new TextEncoder().encode(value));

function recordOf(change: Partial<LogRecord> = {}): LogRecord {
  return { offset: 7, timestamp: 1000, key: utf8('k'), value: utf8('v'), headers: [], ...change };
}

const place = { file: 'tide-0/0.log', position: 61, sound: true };

const valueOf = (value: Uint8Array | null): string | null => shownRecord(recordOf({ value }), new Frame(), place).value;

describe('a record', () => {
  it('is shown with all that it says, and where it stands', () => {
    const headers = [
      [utf8('name'), utf8('content')],
      [utf8(''), null],
    ] as const;
    const frame = Object.assign(new Frame(), { epoch: 3 });
    expect(shownRecord(recordOf({ headers }), frame, place)).toEqual({
      key: 'k',
      value: 'v',
      headers: [
        ['name', 'content'],
        ['', null],
      ],
      timestamp: 1000,
      epoch: 3,
      ...place,
    });
  });

  it('has an epoch from 0 on, or none', () => {
    const epochs = [-1, 0, 1].map(
      (epoch) => shownRecord(recordOf(), Object.assign(new Frame(), { epoch }), place).epoch,
    );
    expect(epochs).toEqual([null, 0, 1]);
  });

  it('is shown with twenty headers at the most', () => {
    const many = Array.from({ length: 21 }, (_, at) => [utf8(`${at}`), null] as const);
    expect(shownRecord(recordOf({ headers: many }), new Frame(), place).headers.map(([name]) => name)).toEqual(
      Array.from({ length: 20 }, (_, at) => `${at}`),
    );
  });
});

describe('bytes', () => {
  it.each([
    ['', ''],
    ['tide 😀 – é', 'tide 😀 – é'],
    ['x'.repeat(200), 'x'.repeat(200)],
    ['x'.repeat(201), `${'x'.repeat(200)}… (201 bytes)`],
    // Cut within a letter: what is left of it is left out.
    [`${'x'.repeat(199)}é!`, `${'x'.repeat(199)}… (202 bytes)`],
  ])('that can be printed are text, cut at 200: %j', (text, shown) => {
    expect(valueOf(utf8(text))).toBe(shown);
  });

  it.each<[string, readonly number[], string]>([
    ['a control character', [0x61, 0x0a], '0x610a'],
    ['a zero', [0], '0x00'],
    ['no UTF-8', [0xff, 0x61], '0xff61'],
    ['a letter that breaks off', [0x61, 0xc3], '0x61c3'],
    ['fifty bytes', Array<number>(50).fill(1), `0x${'01'.repeat(50)}`],
    ['one more', Array<number>(51).fill(1), `0x${'01'.repeat(50)}… (51 bytes)`],
    ['many', Array<number>(300).fill(1), `0x${'01'.repeat(50)}… (300 bytes)`],
  ])('that cannot are hexadecimal, cut at 50: %s', (_, bytes, shown) => {
    expect(valueOf(Uint8Array.from(bytes))).toBe(shown);
  });

  it('may be none', () => {
    expect(valueOf(null)).toBeNull();
  });
});

describe('two records', () => {
  const header = (name: string | null, value: string | null) => [utf8(name), utf8(value)] as const;
  const one = recordOf({ headers: [header('a', 'x'), header('b', null)] });

  it.each<[readonly string[], string, Partial<LogRecord>]>([
    [[], 'in nothing', {}],
    [[], 'in nothing, at other offsets', { offset: 9 }],
    [['value'], 'in their values', { value: utf8('w') }],
    [['value'], 'in the length of their values', { value: utf8('vv') }],
    [['value'], 'in one value that is none', { value: null }],
    [['value'], 'in one value that is empty', { value: utf8('') }],
    [['key'], 'in their keys', { key: utf8('l') }],
    [['key'], 'in one key that is none', { key: null }],
    [['timestamp'], 'in their timestamps', { timestamp: 1001 }],
    [['headers'], 'in the name of one header', { headers: [header('a', 'x'), header('c', null)] }],
    [['headers'], 'in the content of one header', { headers: [header('a', 'y'), header('b', null)] }],
    [['headers'], 'in one content that is none', { headers: [header('a', 'x'), header('b', '')] }],
    [['headers'], 'in one header less', { headers: [header('a', 'x')] }],
    [['headers'], 'in one header more', { headers: [...one.headers, header('c', '')] }],
    [['headers'], 'in the order of their headers', { headers: one.headers.toReversed() }],
    [['value', 'key', 'timestamp', 'headers'], 'in everything', { value: null, key: null, timestamp: 0, headers: [] }],
  ])('differ in %j: %s', (what, _, change) => {
    const other = { ...one, key: utf8('k'), value: utf8('v'), ...change };
    expect(differencesOf(one, other)).toEqual(what);
    expect(differencesOf(other, one)).toEqual(what);
  });

  it('differ by any of their bytes', () => {
    const values = ['abc', 'xbc', 'axc', 'abx'].map((value) => recordOf({ value: utf8(value) }));
    expect(values.map((value) => differencesOf(values[0]!, value).length)).toEqual([0, 1, 1, 1]);
  });

  it('may both hold nothing', () => {
    const empty = recordOf({ key: null, value: null });
    expect(differencesOf(empty, { ...empty })).toEqual([]);
  });
});
