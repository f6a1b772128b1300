/** Operations as lines of EDN, letter by letter, and back. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EdnHistory, operationOf } from '../../checker/edn-history.ts';
import { operationToEdn } from '../../checker/edn-write.ts';
import { EdnReader, type Edn } from '../../checker/edn.ts';
import type { Operation } from '../../checker/history.ts';

const operation = (fields: Readonly<Record<string, unknown>>): Operation =>
  ({ index: 3, time: 5, process: 1, type: 'ok', f: 'poll', value: null, ...fields }) as unknown as Operation;

/** What stands in the line beyond the fields that every operation has. */
const written = (fields: Readonly<Record<string, unknown>>): string => {
  const line = operationToEdn(operation(fields));
  const head = /^\{:index 3, :time 5, :type :ok, :process 1, :f :[\w-]+, :value /.exec(line)?.[0] ?? 'another head';
  expect(line.endsWith('}')).toBe(true);
  return line.slice(head.length, -1);
};

describe('a line of EDN', () => {
  it('has the fields in the order of Jepsen, all names as keywords', () => {
    expect(operationToEdn(operation({ time: 5.4, type: 'info', process: 'nemesis', f: 'start-partition' }))).toBe(
      '{:index 3, :time 5, :type :info, :process :nemesis, :f :start-partition, :value nil}',
    );
    expect(operationToEdn(operation({ time: 5.6 }))).toContain(':time 6,');
    expect(operationToEdn(operation({ f: 'two words' }))).toContain(':f "two words",');
  });

  it.each([
    ['send', [['send', 'a-0', 1]], '[[:send "a-0" 1]]'],
    [
      'send',
      [
        ['send', '5', [null, 'x']],
        ['send', ':k', [3, ':v']],
      ],
      '[[:send 5 [nil "x"]] [:send :k [3 :v]]]',
    ],
    ['poll', [['poll']], '[[:poll]]'],
    ['poll', [['poll', null]], '[[:poll]]'],
    ['poll', [['poll', {}]], '[[:poll {}]]'],
    [
      'poll',
      [
        [
          'poll',
          {
            'a-0': [
              [0, 1],
              [1, 'y'],
            ],
            '5': [],
          },
        ],
      ],
      '[[:poll {5 [], "a-0" [[0 1] [1 "y"]]}]]',
    ],
    ['txn', [['poll'], ['send', 'a-0', 1]], '[[:poll] [:send "a-0" 1]]'],
    ['txn', [7, ['rest', 'a-0'], 'x'], '[7 ["rest" "a-0"] "x"]'],
    ['txn', null, 'nil'],
    ['assign', ['a-0', '7', ':k'], '["a-0" 7 :k]'],
    ['subscribe', ['a-0', '7'], '["a-0" 7]'],
    ['send', [['send', ['a', 1], 2]], '[[:send ["a" 1] 2]]'],
    ['subscribe', 'a-0', '"a-0"'],
    ['assign', [], '[]'],
    ['dance', ['7', 'a'], '["7" "a"]'],
    ['crash', null, 'nil'],
    [
      'partition',
      { fault: 'f1', phase: 'end', effective: true, roles: { 'the leader': [1] } },
      '{:fault "f1", :phase "end", :effective true, :roles {"the leader" [1]}}',
    ],
  ])('holds the value of a %s: %j', (f, value, text) => {
    expect(written({ f, value })).toBe(text);
  });

  it.each([
    ['0', '0'],
    ['-7', '-7'],
    ['123456789012345', '123456789012345'],
    ['1234567890123456', '"1234567890123456"'],
    ['007', '"007"'],
    ['1x', '"1x"'],
    ['x1', '"x1"'],
    ['', '""'],
    [':', '":"'],
    [':a b', '":a b"'],
    [':1', '":1"'],
    ['a:b', '"a:b"'],
    [':a/b-c.d_e!', ':a/b-c.d_e!'],
    ['a"\\b\n\r\t', '"a\\"\\\\b\\n\\r\\t"'],
  ])('names the key %j', (key, text) => {
    expect(written({ f: 'send', value: [['send', key, 1]] })).toBe(`[[:send ${text} 1]]`);
    expect(written({ f: 'assign', value: [key] })).toBe(`[${text}]`);
  });

  it.each([
    [{ acks: 'all' }, ':acks :all'],
    [{ acks: 1 }, ':acks 1'],
    [{ error: 'timeout' }, ':error "timeout"'],
    [{ error: 'all' }, ':error "all"'],
    [{ node: 2, msg: 'client-1#2' }, ':node 2, :msg "client-1#2"'],
    [{ final: true }, ':final true'],
    [{ seek: 'earliest' }, ':seek-to-beginning? true'],
    [{ seek: 'latest' }, ':seek "latest"'],
    [{ error: 'earliest' }, ':error "earliest"'],
    [{ seek: { 'a-0': 3, '5': 4 } }, ':seek {5 4, "a-0" 3}'],
    [{ seek: null }, ':seek nil'],
    [{ errors: { '5': 'NOT_LEADER_OR_FOLLOWER' } }, ':errors {5 "NOT_LEADER_OR_FOLLOWER"}'],
    [{ other: { '5': 1.5, b: [true, undefined] } }, ':other {"5" 1.5, :b [true nil]}'],
    [{ 'my field': 1 }, '"my field" 1'],
  ])('holds %j', (fields, text) => {
    expect(written(fields)).toBe(`nil, ${text}`);
  });

  it('leaves out what is undefined', () => {
    expect(written({ error: undefined, msg: undefined })).toBe('nil');
  });
});

describe('what is read from EDN', () => {
  const read = (text: string): unknown => {
    const found = operationOf(new EdnReader([text]).next() as Edn);
    return found === null ? null : (JSON.parse(JSON.stringify(found)) as unknown);
  };

  it.each([
    ['{:type :ok :f :poll :process 1 :acks :all}', { type: 'ok', f: 'poll', process: 1, acks: 'all', value: null }],
    [
      '{:type "ok" :f "poll" :process :nemesis :acks 1}',
      { type: 'ok', f: 'poll', process: 'nemesis', acks: 1, value: null },
    ],
    ['{"type" 7 type :ok}', { type: 'ok', value: null }],
    ['{:f [1 :a]}', { f: '[1 :a]', value: null }],
    ['{:error [:crashed "x"]}', { error: '[:crashed x]', value: null }],
    ['{:error nil}', { value: null }],
    ['{:error :timeout}', { error: ':timeout', value: null }],
    [
      '{:f :send :value [[:send 5 1] [:send :k [0 :v]] [:send nil [nil [1 2]]]]}',
      {
        f: 'send',
        value: [
          ['send', '5', 1],
          ['send', ':k', [0, ':v']],
          ['send', 'nil', [null, '[1 2]']],
        ],
      },
    ],
    [
      '{:f :send :value [[:send] [:send 5] [:send 5 [0]] [:send 5 []]]}',
      {
        f: 'send',
        value: [
          ['send', null, null],
          ['send', '5', null],
          ['send', '5', [0, null]],
          ['send', '5', [null, null]],
        ],
      },
    ],
    [
      '{:f :txn :value [[:poll] [:poll nil] [:poll {5 [[0 1]]}] [:append 5 1] 7 :x]}',
      { f: 'txn', value: [['poll'], ['poll', null], ['poll', { '5': [[0, 1]] }], [':append', 5, 1], 7, ':x'] },
    ],
    ['{:f :assign :value [5 "a-0" [1 :b]]}', { f: 'assign', value: ['5', 'a-0', '[1 :b]'] }],
    ['{:f :subscribe :value [5]}', { f: 'subscribe', value: ['5'] }],
    ['{:f :subscribe :value 5}', { f: 'subscribe', value: 5 }],
    ['{:f :start :value :majority}', { f: 'start', value: 'majority' }],
    [
      '{:f :start :value {:fault "f1" :nodes {:a [{:b :c}]}}}',
      { f: 'start', value: { fault: 'f1', nodes: { a: [{ b: 'c' }] } } },
    ],
    ['{:f :start :value true}', { f: 'start', value: true }],
    [
      '{:rebalance-log [{:keys [5 :k] :more nil} :x]}',
      { 'rebalance-log': [{ keys: [5, 'k'], more: null }, 'x'], value: null },
    ],
    ['{:rebalance-log 5}', { 'rebalance-log': 5, value: null }],
  ])('from %s', (text, fields) => {
    expect(read(text)).toEqual(fields);
  });

  it('is no operation unless it is a map', () => {
    for (const text of ['nil', '7', '"x"', ':x', '[{:f :poll}]']) expect(read(text)).toBeNull();
  });
});

describe('any operation of ours', () => {
  const key = fc.constantFrom('tide-0', '5', '-7', ':k', '007', 'a "b"\\-1', ':not one', '', 'é\t-0');
  const value = fc.oneof(fc.maxSafeInteger(), fc.constantFrom('x', ':v', 'a\nb', 'nil', '7x'));
  const offset = fc.nat(2 ** 31);
  const micro = fc.oneof(
    fc.tuple(fc.constant('send'), key, value),
    fc.tuple(fc.constant('send'), key, fc.tuple(fc.oneof(offset, fc.constant(null)), value)),
    fc.tuple(fc.constant('poll')),
    fc.tuple(
      fc.constant('poll'),
      fc.dictionary(key, fc.array(fc.tuple(offset, value), { maxLength: 3 }), { maxKeys: 3 }),
    ),
  );
  const shape = fc.record(
    {
      index: fc.nat(),
      time: fc.nat(),
      process: fc.oneof(fc.nat(9), fc.constant('nemesis')),
      type: fc.constantFrom('invoke', 'ok', 'fail', 'info'),
      f: fc.constantFrom('send', 'poll', 'txn'),
      value: fc.oneof(fc.array(micro, { maxLength: 3 }), fc.constant(null)),
      acks: fc.constantFrom('all', 0, 1),
      error: fc.constantFrom('timeout', 'a "b"'),
      errors: fc.dictionary(key, fc.constant('OFFSET_OUT_OF_RANGE'), { maxKeys: 2 }),
      node: fc.nat(9),
      msg: fc.constantFrom('client-3#17'),
      seek: fc.oneof(fc.constant('latest'), fc.dictionary(key, offset, { maxKeys: 2 })),
      final: fc.constant(true),
    },
    { requiredKeys: ['index', 'time', 'process', 'type', 'f', 'value'], noNullPrototype: true },
  );

  it('comes back as it was, one line each', () => {
    fc.assert(
      fc.property(fc.array(shape, { maxLength: 4 }), (operations) => {
        const lines = operations.map((each) => operationToEdn(each as unknown as Operation));
        for (const line of lines) expect(line).not.toContain('\n');
        const back = JSON.parse(JSON.stringify([...new EdnHistory(lines)])) as unknown;
        expect(back).toEqual(JSON.parse(JSON.stringify(operations)));
      }),
      { numRuns: 300 },
    );
  });
});

describe('a history of EDN', () => {
  const told = (lines: readonly string[]): unknown[] => {
    const history = new EdnHistory(lines);
    const found: unknown[] = [];
    for (const each of history) found.push('unreadable' in each ? each : [each.index, history.line]);
    return found;
  };

  it('tells on which line each operation begins, in a vector and outside of one', () => {
    expect(new EdnHistory(['{:index 0}']).line).toBe(0);
    expect(told(['', '{:index 0}', '{:index', '1} {:index 2}'])).toEqual([
      [0, 2],
      [1, 3],
      [2, 4],
    ]);
    expect(told(['[{:index 0}', '{:index 1}]', '({:index 2})', '{:index 3}'])).toEqual([
      [0, 1],
      [1, 2],
      [2, 3],
      [3, 4],
    ]);
    expect(told([])).toEqual([]);
    expect(told(['[', ']'])).toEqual([]);
  });

  it('names what is no operation, what is no EDN, and a vector that does not end', () => {
    const noMap = (line: number) => ({ unreadable: 'not an operation: it is no map', line });
    expect(told(['7', '{:index 1}', ':x'])).toEqual([noMap(1), [1, 2], noMap(3)]);
    expect(told(['[{:index 0}'])).toEqual([[0, 1], { unreadable: 'the history ends within a vector', line: 2 }]);
    expect(told(['{:index 0}', '}', '{:index 2}'])).toEqual([
      [0, 1],
      { unreadable: 'not EDN: } closes nothing', line: 2 },
      [2, 3],
    ]);
  });

  it('is given up after a hundred broken forms', () => {
    expect(told(Array.from({ length: 150 }, () => '}'))).toHaveLength(100);
    expect(told([...Array.from({ length: 99 }, () => '}'), '{:index 0}']).at(-1)).toEqual([0, 100]);
  });
});
