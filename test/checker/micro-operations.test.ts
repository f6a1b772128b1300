/** What stands inside of an operation, piece by piece: what is believed of it, and what is said of the rest. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Operation } from '../../checker/history.ts';
import {
  canonicalValue,
  correlationOf,
  faultOf,
  keyOf,
  readPair,
  readSend,
  rebalancedKeys,
  seeksOf,
} from '../../checker/micro-operations.ts';
import { ValueRows } from '../../checker/value-rows.ts';

const badSend = 'a send holds only ["send", key, value]';
const badOffset = 'an offset that is not a whole number from 0 to 2^53-1';
const badValue = 'a value that is neither a text nor a whole number within 2^53';
const operation = (fields: Readonly<Record<string, unknown>>): Operation => fields as unknown as Operation;

describe('a value', () => {
  it('is a number where a number is written that way, and only there', () => {
    fc.assert(fc.property(fc.maxSafeInteger(), (number) => canonicalValue(String(number)) === number));
    const texts = ['', '00', '01', '-0', '-01', '+1', '1.0', '1e3', ' 1', '1 ', '0x1', '-', 'a1', '1a'];
    for (const text of texts) expect(canonicalValue(text)).toBe(text);
    expect(['0', '-1', '10', '9007199254740991'].map(canonicalValue)).toEqual([0, -1, 10, 9007199254740991]);
    expect(canonicalValue(7)).toBe(7);
  });

  it('stays a text where its number would be rounded', () => {
    for (const text of ['9007199254740992', '-9007199254740992', '9007199254740993', '10000000000000000'])
      expect(canonicalValue(text)).toBe(text);
  });
});

describe('a send', () => {
  it.each([
    [['send', 'a-0', 1], { key: 'a-0', value: 1, offset: -1 }],
    [['send', 'a-0', 'x'], { key: 'a-0', value: 'x', offset: -1 }],
    [['send', 7, [0, 1]], { key: '7', value: 1, offset: 0 }],
    [['send', 'a-0', [null, 1]], { key: 'a-0', value: 1, offset: -1 }],
    [['send', 'a-0', [undefined, 1]], { key: 'a-0', value: 1, offset: -1 }],
    [['send', 'a-0', [2 ** 53 - 1, 'x']], { key: 'a-0', value: 'x', offset: 2 ** 53 - 1 }],
    [['poll'], badSend],
    [null, badSend],
    [{ 0: 'send', 1: 'a-0', 2: 1 }, badSend],
    [['send', null, 1], badSend],
    [['send'], badSend],
    [['send', 'a-0'], badValue],
    [['send', 'a-0', 1.5], badValue],
    [['send', 'a-0', 2 ** 53], badValue],
    [['send', 'a-0', [0]], badValue],
    [['send', 'a-0', [-1, 2 ** 53]], badValue],
    [['send', 'a-0', [-1, 1]], badOffset],
    [['send', 'a-0', ['0', 1]], badOffset],
    [['send', 'a-0', [2 ** 53, 1]], badOffset],
  ])('like %j is read', (micro, reading) => {
    expect(readSend(micro)).toEqual(reading);
  });
});

describe('a record that was polled', () => {
  it.each([
    [[0, 1], null],
    [[5, 'x'], null],
    [7, 'something that is not [offset, value]'],
    [{ 0: 1, 1: 2 }, 'something that is not [offset, value]'],
    [[-1, 1], badOffset],
    [[0.5, 1], badOffset],
    [[null, 1], badOffset],
    [[0], badValue],
    [[0, {}], badValue],
  ])('like %j is looked at', (record, flaw) => {
    expect(readPair(record)).toBe(flaw);
  });
});

describe('a key', () => {
  it.each([
    ['a-0', 'a-0'],
    ['', ''],
    [7, '7'],
    [true, 'true'],
    [['a', 1], '["a",1]'],
    [{ a: 1 }, '{"a":1}'],
    [null, null],
    [undefined, null],
  ])('like %j is a text', (key, text) => {
    expect(keyOf(key)).toBe(text);
  });
});

describe('the number of a message', () => {
  it('stands behind the last hash sign of its name', () => {
    const number = fc.oneof(fc.nat(1e6), fc.nat(999_999_999_999_999));
    fc.assert(fc.property(fc.string(), number, (name, id) => correlationOf(`${name}#${id}`) === id));
    expect(correlationOf('a#b#17')).toBe(17);
    expect(correlationOf('#0')).toBe(0);
    expect(correlationOf('a#007')).toBe(7);
    expect(correlationOf('a#999999999999999')).toBe(999_999_999_999_999);
  });

  it.each([null, undefined, 17, '', '17', 'a#', 'a#x', 'a#1x', 'a#-1', 'a#1:', 'a#1/', 'a#1000000000000000'])(
    'is none in %j',
    (msg) => {
      expect(correlationOf(msg)).toBe(-1);
    },
  );
});

describe('an assignment', () => {
  it('seeks where it says so, in our words or in those of Jepsen', () => {
    for (const fields of [
      { seek: 'earliest' },
      { seek: { 'a-0': 3 } },
      { 'seek-to-beginning?': true },
      { 'seek-to-beginning': true },
    ])
      expect(seeksOf(operation(fields))).toBe(true);
    for (const fields of [{}, { 'seek-to-beginning?': false }, { 'seek-to-beginning': 'no' }, { final: true }])
      expect(seeksOf(operation(fields))).toBe(false);
  });
});

describe('a rebalance log', () => {
  const keysOf = (log: unknown): string[] | null => {
    const rows = new ValueRows();
    const found = rebalancedKeys(operation({ 'rebalance-log': log }), rows);
    return found === null ? null : [...found].map((id) => rows.keys[id] as string);
  };

  it('names the keys that changed hands', () => {
    expect(keysOf([{ type: 'assign', keys: ['a-0', 7] }, { keys: ['a-0', [1, 2]] }])).toEqual(['a-0', '7', '[1,2]']);
    expect(keysOf([])).toEqual([]);
  });

  it('may hold what nobody understands, and names nothing by it', () => {
    expect(keysOf([null, 7, 'keys', {}, { keys: 'a-0' }, { keys: [null, undefined] }, { keys: ['b-1'] }])).toEqual([
      'b-1',
    ]);
    for (const log of [undefined, null, 'x', {}]) expect(keysOf(log)).toBeNull();
  });
});

describe('a line of the nemesis', () => {
  const needs = 'a nemesis line needs a value with fault and phase';
  const line = (value: unknown, type = 'info') => faultOf(operation({ index: 9, type, value }));

  it('is one of ours by its fault and its phase', () => {
    for (const phase of ['start', 'end']) {
      const value = { fault: 'f1', phase, nodes: {} };
      expect(line(value)).toBe(value);
    }
  });

  it('of another tester is a fault of its own that began', () => {
    const fault = { fault: 'line-9', phase: 'start', roles: {}, nodes: {} };
    for (const value of [null, undefined, 'cut', { n1: 'paused' }, ['n1']]) expect(line(value)).toEqual(fault);
    expect(line(null, 'ok')).toEqual(fault);
    expect(line(null, 'invoke')).toBe(needs);
  });

  it('that is half of ours is malformed', () => {
    for (const value of [
      { fault: 'f1' },
      { phase: 'start' },
      { fault: 1, phase: 'start' },
      { fault: 'f1', phase: 'x' },
    ])
      expect(line(value)).toBe(needs);
  });
});
