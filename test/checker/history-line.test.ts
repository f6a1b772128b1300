import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkRun } from '../../checker/check.ts';
import { HistoryLineReader } from '../../checker/history-line.ts';
import { byteLines } from '../../harness/check/read-lines.ts';
import { HistoryLines } from '../../harness/client/history-lines.ts';
import { bigHistory } from './big-history.ts';
import { historyInput } from './story.ts';

const utf8 = new TextEncoder();

/** What the reader makes of a line that stands among other bytes. */
function read(line: string, reader = new HistoryLineReader()): unknown {
  const bytes = utf8.encode(`"}\n${line}\n{"index":1`);
  return reader.read(bytes, 3, bytes.length - 11);
}

/** Whatever is read must be what `JSON.parse` reads, down to the order of the keys that were read. */
function agrees(line: string, reader?: HistoryLineReader): void {
  const fast = read(line, reader);
  if (fast === null) return;
  const slow: unknown = JSON.parse(line);
  expect(fast).toStrictEqual(slow);
  expect(Object.keys(polledIn(fast))).toEqual(Object.keys(polledIn(slow)));
}

function polledIn(operation: unknown): object {
  const { value } = operation as { readonly value: readonly (readonly unknown[])[] };
  return value.flatMap((micro) => (Array.isArray(micro) && micro[0] === 'poll' ? [micro[1] ?? {}] : []))[0] ?? {};
}

const key = fc.constantFrom(
  'tide-0',
  'tide-1',
  'a-b-c-12',
  '7',
  '__proto__',
  'constructor',
  'é-0',
  'x"-1',
  '',
  'a\\-1',
);
const number = fc.oneof(
  fc.nat(100),
  fc.maxSafeInteger(),
  fc.constantFrom(-1, -0, 999_999_999_999_999, 1_000_000_000_000_000, 2 ** 53, 1e21, 0.5),
);
const value = fc.oneof(number, fc.constantFrom('1', 'text', null));
const record = fc.tuple(number, value);
const micro = fc.oneof(
  fc.tuple(fc.constant('send'), key, value),
  fc.tuple(fc.constant('send'), key, fc.tuple(fc.oneof(number, fc.constant(null)), value)),
  fc.tuple(fc.constant('poll')),
  fc.tuple(fc.constant('poll'), fc.dictionary(key, fc.array(record, { maxLength: 4 }), { maxKeys: 3 })),
  fc.tuple(fc.constant('poll'), fc.constantFrom(null, [], 7)),
);
const operation = fc.record(
  {
    index: number,
    time: number,
    process: fc.oneof(number, fc.constant('nemesis')),
    type: fc.constantFrom('invoke', 'ok', 'fail', 'info', 'okay'),
    f: fc.constantFrom('send', 'poll', 'txn', 'assign', 'subscribe', 'crash', 'partition'),
    value: fc.oneof(fc.array(micro, { maxLength: 3 }), fc.array(key, { maxLength: 3 }), fc.constant(null)),
    acks: fc.constantFrom('all', 0, 1, 2, '1'),
    error: fc.constantFrom('timeout', 'NOT_LEADER_OR_FOLLOWER', 'é', 'a\nb'),
    node: number,
    msg: fc.constantFrom('client-3#17', 'client-3#017', 'client-3', 'a#b#3', '#', '#1', 'é#3', 'c#9007199254740993'),
    errors: fc.constant({ 'tide-0': 'OFFSET_OUT_OF_RANGE' }),
    final: fc.constantFrom(true, false),
  },
  { requiredKeys: ['index', 'time', 'process', 'type', 'f', 'value'], noNullPrototype: true },
);

describe('a line that is read from its bytes', () => {
  it('is read as JSON.parse reads it, whatever operation it holds', () => {
    const reader = new HistoryLineReader();
    const property = fc.property(operation, (each) => agrees(JSON.stringify(each), reader));
    fc.assert(property, { numRuns: 3000 });
  });

  it('is read as JSON.parse reads it when a bit of it was deleted, doubled or replaced', () => {
    const reader = new HistoryLineReader();
    const lines = [...bigHistory({ operations: 200, partitions: 3, processes: 3 })];
    const pieces = fc.constantFrom(
      '',
      ' ',
      '"',
      '\\',
      '\\u0041',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '0',
      '00',
      '-',
      '1.',
      'e5',
      'null',
      'true',
      'é',
      '\t',
      '\u0000',
      '\u007f',
      '9999999999999999',
      '9007199254740993',
      '"index":7,',
      ',"node":2',
      ',"type":"ok"',
    );
    const property = fc.property(
      fc.constantFrom(...lines),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.nat(3),
      pieces,
      (line, place, removed, piece) => {
        const at = Math.floor(place * line.length);
        const damaged = line.slice(0, at) + piece + line.slice(at + removed);
        if (read(damaged, reader) !== null) agrees(damaged, reader);
      },
    );
    fc.assert(property, { numRuns: 5000 });
  });

  it('is read at once, when it is one of those that a recorder writes', () => {
    const lines = new HistoryLines();
    const send = { f: 'send', key: 'tide-0', value: 3 } as const;
    const written = [
      lines.invoke(1, 0, send, 'all', false),
      lines.complete(2, 0, { type: 'ok', f: 'send', value: [['send', 'tide-0', [7, 3]]], node: 1, msg: 'client-0#4' }),
      lines.invoke(3, 0, send, 1, false),
      lines.complete(4, 0, { type: 'info', f: 'send', value: [['send', 'tide-0', 3]], error: 'timeout', node: 1 }),
      lines.invoke(5, 1, { f: 'poll' }, 'all', true),
      lines.complete(6, 1, { type: 'ok', f: 'poll', value: [['poll', { 'tide-0': [[7, 3]], 'tide-1': [] }]] }),
      lines.invoke(7, 2, { f: 'assign', keys: ['tide-0', 'tide-1'] }, 'all', false),
      lines.complete(8, 2, { type: 'ok', f: 'assign', value: [] }),
      lines.complete(9, 2, { type: 'ok', f: 'send', value: [['send', 'tide-0', [null, 3]]], acks: 0 }),
    ];
    for (const line of written) expect(read(JSON.stringify(line))).toStrictEqual(JSON.parse(JSON.stringify(line)));
  });

  it.each([
    ['white space', (line: string) => line.replace('"time":', '"time": ')],
    ['fields in another order', (line: string) => line.replace(/("time":\d+),("process":\d+)/, '$2,$1')],
    ['a field twice', (line: string) => line.replace('"time":', '"index":4,"time":')],
    ['an escape', (line: string) => line.replace('tide', '\\u0074ide')],
    ['letters beyond ASCII', (line: string) => line.replace('tide', 'tïde')],
    ['a number that could be rounded', (line: string) => line.replace('[0,1]', '[9007199254740993,1]')],
    ['a fraction', (line: string) => line.replace('[0,1]', '[0.5,1]')],
    ['a negative number', (line: string) => line.replace('[0,1]', '[-1,1]')],
    ['a zero before a number', (line: string) => line.replace('[0,1]', '[00,1]')],
    ['a carriage return', (line: string) => `${line}\r`],
    ['something after its end', (line: string) => `${line}}`],
    ['a field that nobody knows', (line: string) => line.replace(',"node"', ',"note"')],
    ['no end', (line: string) => line.slice(0, -1)],
  ])('is left to JSON.parse when it holds %s', (_, change) => {
    const line =
      '{"index":0,"time":1,"process":0,"type":"ok","f":"send","value":[["send","tide-0",[0,1]]],"node":1,"msg":"c#2"}';
    expect(read(line)).toStrictEqual(JSON.parse(line));
    expect(read(change(line))).toBeNull();
  });

  const whole = (value: string, f = 'send', rest = ''): string =>
    `{"index":0,"time":1,"process":0,"type":"ok","f":"${f}","value":${value}${rest}}`;
  const long = (length: number): string => 'k'.repeat(length);

  it.each([
    whole('[]'),
    whole('[]', 'poll'),
    whole('[]').replace('"ok"', '"invoke"'),
    whole('[]').replace('"ok"', '"info"'),
    whole('[]').replace('"ok"', '"fail"'),
    whole('[]', 'crash'),
    whole('[]', 'assign'),
    whole('[]', 'subscribe'),
    whole('["a-0"]', 'assign'),
    whole('["a-0","b-0",""]', 'subscribe'),
    whole('[["send","a-0",0]]'),
    whole('[["send","a-0",10],["send","a-0",[0,1]],["send","b-0",[null,2]]]', 'txn'),
    whole('[["send","",[7,999999999999999]]]'),
    whole('[["poll"],["poll",{}],["poll",{"a-0":[]}]]', 'poll'),
    whole('[["poll",{"a-0":[[0,1],[12,34]],"b-0":[[5,6]]}],["send","a-0",7]]', 'txn'),
    whole('[]', 'send', ',"acks":"all"'),
    whole('[]', 'send', ',"acks":0'),
    whole('[]', 'send', ',"acks":1,"error":"timeout","node":12,"msg":"client-3#17"'),
    whole('[]', 'send', ',"msg":"client-3#0","node":0,"final":true'),
    whole('[]', 'send', ',"msg":"client-3"'),
    whole('[]', 'send', ',"msg":"client 3#17"'),
    whole('[]', 'send', ',"msg":"#5"'),
    whole('[]', 'send', ',"msg":""'),
    whole('[]', 'send', ',"error":""'),
    whole(`[["send","${long(256)}",1]]`),
    whole('[]', 'send', `,"msg":"${long(256)}"`),
    whole('[]', 'send', `,"msg":"${long(256)}#5"`),
    whole('[["send"," ~!#$%&()*+,-./:;<=>?@[]^_`{|}",1]]'),
  ])('is read at once: %s', (line) => {
    expect(read(line)).toStrictEqual(JSON.parse(line));
  });

  it.each([
    whole('null'),
    whole('{}'),
    whole('[', 'poll'),
    whole('[]]'),
    whole('["a-0"]'),
    whole('[["send","a-0",0]]', 'assign'),
    whole('["a-0",]', 'assign'),
    whole('["a-0" "b-0"]', 'assign'),
    whole('["a-0"', 'assign'),
    whole('[["send"]]'),
    whole('[["send","a-0"]]'),
    whole('[["send","a-0",]]'),
    whole('[["send","a-0",1,2]]'),
    whole('[["send","a-0",[1]]]'),
    whole('[["send","a-0",[1,2,3]]]'),
    whole('[["send","a-0",[nil,2]]]'),
    whole('[["send","a-0",[null]]]'),
    whole('[["send","a-0",[1,null]]]'),
    whole('[["send",7,1]]'),
    whole('[["send","a-0",1]'),
    whole('[["send","a-0",[1,2]]'),
    whole('["send"]'),
    whole('[["sent","a-0",1]]'),
    whole('[["poll",null]]', 'poll'),
    whole('[["poll",[]]]', 'poll'),
    whole('[["poll",{]]', 'poll'),
    whole('[["poll",{"a-0"}]]', 'poll'),
    whole('[["poll",{"a-0":{}}]]', 'poll'),
    whole('[["poll",{"a-0":[[0,1]}]]', 'poll'),
    whole('[["poll",{"a-0":[[0]]}]]', 'poll'),
    whole('[["poll",{"a-0":[[0,1,2]]}]]', 'poll'),
    whole('[["poll",{"a-0":[0,1]}]]', 'poll'),
    whole('[["poll",{"a-0":[[0,1],]}]]', 'poll'),
    whole('[["poll",{"a-0":[[,1]]}]]', 'poll'),
    whole('[["poll",{"a-0":[[0,x]]}]]', 'poll'),
    whole('[["poll",{"a-0":[],}]]', 'poll'),
    whole('[["poll",{},{}]]', 'poll'),
    whole('[["poll",{"__proto__":[]}]]', 'poll'),
    whole('[]', 'dance'),
    whole('[]', 'send', ',"acks":2'),
    whole('[]', 'send', ',"acks":"1"'),
    whole('[]', 'send', ',"acks":null'),
    whole('[]', 'send', ',"error":7'),
    whole('[]', 'send', ',"errors":{}'),
    whole('[]', 'send', ',"final":false'),
    whole('[]', 'send', ',"node":null'),
    whole('[]', 'send', ',"msg":7'),
    whole('[]', 'send', ',"msg":"a#"'),
    whole('[]', 'send', ',"msg":"a#01"'),
    whole('[]', 'send', ',"msg":"a#1b"'),
    whole('[]', 'send', ',"msg":"\\u0061#1"'),
    whole('[]', 'send', ',"msg":"é#1"'),
    whole('[]', 'send', ','),
    whole('[]', 'send', ',"mode":1'),
    whole('[]', 'send', ' ,"node":1'),
    whole('[["send","a-0",1000000000000000]]'),
    whole('[["send","a-0",00]]'),
    whole('[["send","a-0",/]]'),
    whole('[["send","a-0",:]]'),
    whole(`[["send","${long(257)}",1]]`),
    whole('[]', 'send', `,"msg":"${long(257)}"`),
    whole('[]', 'send', `,"msg":"${long(257)}#5"`),
    whole('[["send","a\u007f-0",1]]'),
    whole('[["send","a\u001f-0",1]]'),
    whole('[]', 'send', ',"msg":"a\u007f#1"'),
    whole('[]', 'send', ',"msg":"a\u001f#1"'),
    whole('[]').replace('"ok"', '"okay"'),
    whole('[]').replace('"ok"', '"info'),
    whole('[]').replace('"ok"', 'ok'),
    whole('[]').replace('"time":1', '"time":-1'),
    whole('[]').replace('"process":0', '"process":"nemesis"'),
    whole('[]').replace('"index":0', '"index":x'),
    '{"index":0,"time":1,"process":0,"type":"ok","f"}',
    whole('[]').replace('"index":0', '"index":'),
    whole('[]').replace('"time":1', '"time":'),
    whole('[]').replace('"process":0', '"process":'),
    whole('[]').replace('"type":"ok"', '"type":'),
    whole('[]').replace('"f":"send"', '"f":'),
    whole('[,["poll"]]', 'poll'),
    whole('[[]]', 'poll'),
    whole('[["poll",{:[]}]]', 'poll'),
    whole('[["poll",{"a-0":[[0,]]}]]', 'poll'),
    whole('[["poll",{xa-0":[]}]]', 'poll'),
    whole('[["send",,1]]'),
    whole('[["send",xa-0",1]]'),
    whole('[["send","a-0",[,1]]]'),
    whole('[["send","a-0",[1,]]]'),
    whole('[]', 'send', ',"msg":xclient#5"'),
    whole('[]', 'send', ',"error":}'),
    whole('[]', 'send', ',"acks":}'),
    whole('[]', 'send', ',"acts":1'),
    whole('[]', 'send', ',"find":true'),
    '{}',
    '',
  ])('is left to JSON.parse: %s', (line) => {
    expect(read(line)).toBeNull();
  });

  it('remembers no text for another that begins with it', () => {
    const reader = new HistoryLineReader();
    for (let at = 0; at < 20_000; at += 1)
      for (const name of [`p-${at}`, 'p']) {
        const line = whole(`[["send","${name}",1]]`);
        expect((read(line, reader) as { readonly value: readonly (readonly unknown[])[] }).value[0]?.[1]).toBe(name);
      }
  });

  it('remembers texts without mixing them up, however many there are', () => {
    const reader = new HistoryLineReader();
    const names = Array.from({ length: 6000 }, (_, at) => `topic-${(at * 7919) % 6000}-${at % 10}`);
    for (const round of [0, 1])
      for (const name of names) {
        const line = whole(`[["send","${name}",${round}]]`, 'send', `,"msg":"${name}#${round}"`);
        expect(read(line, reader)).toStrictEqual(JSON.parse(line));
      }
  });

  it('gives the verdict that its text gives, also where it is malformed', () => {
    const lines = [...bigHistory({ operations: 400, partitions: 3, processes: 3 })];
    const damages = fc.constantFrom(
      (line: string) => line.replace(/\[\d+,(\d+)\]/, '[9007199254740993,$1]'),
      (line: string) => line.replace(/\[(\d+),\d+\]/, '[$1,1]'),
      (line: string) => line.replace('"ok"', '"fail"'),
      (line: string) => line.slice(0, line.length >> 1),
      (line: string) => line.replace('tide', 't\\u00efde'),
      (line: string) => ` ${line} `,
      () => '',
      () => '\r',
      () => '\u00ff\ufeff{}',
    );
    const places = fc.array(fc.tuple(fc.nat(lines.length - 1), damages), { maxLength: 4 });
    const property = fc.property(places, fc.integer({ min: 1, max: 3000 }), (damaged, chunk) => {
      const told = [...lines];
      for (const [at, damage] of damaged) told[at] = damage(told[at] as string);
      const bytes = utf8.encode(told.join('\n'));
      const pieces = Array.from({ length: Math.ceil(bytes.length / chunk) }, (_, at) =>
        bytes.subarray(at * chunk, (at + 1) * chunk),
      );
      const fast = checkRun({ ...historyInput([]), history: byteLines(pieces) });
      expect(fast).toEqual(checkRun(historyInput(told)));
    });
    fc.assert(property, { numRuns: 60 });
  }, 30_000);
});
