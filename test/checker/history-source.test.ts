/** A history in each of its forms: texts, bytes, operations, what others could not read; and how each line is named. */
import { describe, expect, it } from 'vitest';
import type { Operation } from '../../checker/history.ts';
import {
  isEmptyLine,
  Malformations,
  readHistory,
  type HistoryLine,
  type HistorySource,
} from '../../checker/parse-history.ts';

const utf8 = new TextEncoder();

/** A line among others, as bytes. */
function bytes(line: string): HistoryLine {
  const all = utf8.encode(`x\n${line}\ny`);
  return { bytes: all, start: 2, end: all.length - 2 };
}

function operation(index: number, fields: Readonly<Record<string, unknown>> = {}): Operation {
  return { index, time: 5, process: 1, type: 'invoke', f: 'poll', value: [['poll']], ...fields } as Operation;
}

const text = (index: number, fields: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify(operation(index, fields));

/** What was visited, what was malformed, and what the reading says of itself. */
function read(source: HistorySource, visit: (operation: Operation) => string | null = () => null) {
  const visited: [Operation, number][] = [];
  const malformed = new Malformations();
  const reading = readHistory(source, malformed, (each, line) => {
    visited.push([each, line]);
    return visit(each);
  });
  const flaws = malformed.named.map(({ line, detail }) => `${line}: ${detail}`);
  return { visited, indices: visited.map(([{ index }]) => index), flaws, count: malformed.count, ...reading };
}

describe('a history of lines', () => {
  it.each<[string, (line: string) => HistoryLine]>([
    ['texts', (line) => line],
    ['bytes', bytes],
  ])('as %s is read line by line, past empty ones', (_, as) => {
    const lines = [text(0), '', text(1, { note: 'é' }), '\r', `${text(2)}\r`, ` ${text(3)} `];
    const { visited, flaws, lines: count, torn } = read(lines.map(as));
    expect(visited).toEqual([
      [operation(0), 1],
      [operation(1, { note: 'é' }), 3],
      [operation(2), 5],
      [operation(3), 6],
    ]);
    expect([flaws, count, torn]).toEqual([[], 6, false]);
  });

  it.each<[string, (line: string) => HistoryLine]>([
    ['texts', (line) => line],
    ['bytes', bytes],
  ])('as %s may break off in the last one, and nowhere else', (_, as) => {
    const broken = text(1).slice(0, 30);
    expect(read([text(0), broken].map(as))).toMatchObject({ indices: [0], flaws: [], torn: true, lines: 2 });
    expect(read([text(0), broken, '', text(2)].map(as))).toMatchObject({
      indices: [0, 2],
      flaws: ['2: not JSON'],
      torn: false,
    });
    expect(read([text(0), broken, ''].map(as))).toMatchObject({ flaws: ['2: not JSON'], torn: false });
  });

  it('as bytes may not begin with a mark of their order', () => {
    expect(read([bytes(`\ufeff${text(0)}`), bytes(text(1))]).flaws).toEqual(['1: not JSON']);
  });

  it('as operations is taken as it is, also where one has a field of bytes', () => {
    const odd = operation(1, { bytes: 'none', start: 0, end: 0 });
    expect(read([operation(0), odd]).visited).toEqual([
      [operation(0), 1],
      [odd, 2],
    ]);
  });

  it('may tell by itself at which line it stands', () => {
    const source = {
      line: 40,
      *[Symbol.iterator]() {
        yield operation(0);
        yield operation(0);
      },
    };
    const { visited, flaws, lines } = read(source);
    expect([visited, lines]).toEqual([[[operation(0), 40]], 2]);
    expect(flaws).toEqual(['40: its index is 0, and there was one before: it stands twice, or out of place']);
  });

  it('may hold what its own reader could not read, which is named by that', () => {
    const source = [operation(0), { unreadable: 'not EDN', line: 7 }, operation(2)];
    expect(read(source)).toMatchObject({ indices: [0, 2], flaws: ['7: not EDN'], torn: false });
    expect(read(source.slice(0, 2))).toMatchObject({ flaws: [], torn: true });
  });
});

describe('an empty line', () => {
  it('is one of no letters, or of a carriage return', () => {
    for (const line of ['', '\r']) expect([isEmptyLine(line), isEmptyLine(bytes(line))]).toEqual([true, true]);
    for (const line of [' ', '\n\r', '\r\r', 'x', '{}'])
      expect([isEmptyLine(line), isEmptyLine(bytes(line))]).toEqual([false, false]);
    expect([isEmptyLine(operation(0)), isEmptyLine({ unreadable: '', line: 1 })]).toEqual([false, false]);
  });
});

describe('an operation', () => {
  const needs = (line: number): string => `${line}: not an operation: it needs index, time, process, type and f`;

  it.each(['null', '7', '"x"', 'true', '[]'])('is none of %s', (line) => {
    expect(read([line, text(1)])).toMatchObject({ indices: [1], flaws: [needs(1)] });
  });

  it.each<[string, unknown]>([
    ['index', '1'],
    ['index', 1.5],
    ['index', 2 ** 53],
    ['time', '1'],
    ['process', 'client'],
    ['process', 0.5],
    ['process', undefined],
    ['process', null],
    ['type', 'okay'],
    ['type', undefined],
    ['f', 7],
    ['f', undefined],
  ])('needs another %s than %j', (name, value) => {
    for (const as of [(line: string) => line, bytes])
      expect(read([text(0), as(text(1, { [name]: value })), text(2)])).toMatchObject({
        indices: [0, 2],
        flaws: [needs(2)],
      });
  });

  it('needs a time that is finite', () => {
    expect(read([text(0).replace('"time":5', '"time":1e400'), text(1)]).flaws).toEqual([needs(1)]);
  });

  it('may be of the nemesis, of each type, and at a broken time', () => {
    const lines = ['invoke', 'ok', 'fail', 'info'].map((type, at) => text(at, { type, process: 'nemesis', time: 0.5 }));
    expect(read(lines)).toMatchObject({ indices: [0, 1, 2, 3], flaws: [] });
  });

  it('of another tester may lack index and time', () => {
    const bare = (fields: object): string =>
      JSON.stringify({ process: 1, type: 'ok', f: 'poll', value: null, ...fields });
    const { visited, flaws } = read([
      bare({}),
      '',
      bare({ time: 3 }),
      bare({ index: null, time: null }),
      bare({ index: 3 }),
    ]);
    expect(visited.map(([{ index, time }]) => [index, time])).toEqual([
      [0, 0],
      [1, 3],
      [2, 0],
      [3, 0],
    ]);
    expect(flaws).toEqual([]);
  });
});

describe('an index', () => {
  const gap = (line: number, index: number, expected: number): string =>
    `${line}: its index is ${index}, not ${expected}: lines are missing or out of place`;
  const twice = (line: number, index: number): string =>
    `${line}: its index is ${index}, and there was one before: it stands twice, or out of place`;

  it('counts the lines, without empty ones', () => {
    expect(read([text(0), '', text(1), text(2)]).flaws).toEqual([]);
    expect(read([text(1), text(2)])).toMatchObject({ indices: [1, 2], flaws: [gap(1, 1, 0)] });
    expect(read([text(0), text(3), text(4)])).toMatchObject({ indices: [0, 3, 4], flaws: [gap(2, 3, 1)] });
  });

  it('counts lines that cannot be read', () => {
    expect(read([text(0), 'x', text(2)]).flaws).toEqual(['2: not JSON']);
    expect(read([text(0), 'x', text(1)]).flaws).toEqual(['2: not JSON', gap(3, 1, 2)]);
    expect(read([text(0), '7', text(2)]).flaws).toHaveLength(1);
  });

  it('that has been reached is not read again', () => {
    expect(read([text(0), text(1), text(1), text(0), text(2)])).toMatchObject({
      indices: [0, 1, 2],
      flaws: [twice(3, 1), twice(4, 0)],
    });
  });

  it('that is wrong once moves nothing', () => {
    expect(read([text(0), text(90), text(2), text(3)])).toMatchObject({
      indices: [0, 90, 2, 3],
      flaws: [gap(2, 90, 1), gap(3, 2, 91)],
    });
  });

  it('is told only where nothing is wrong inside of the operation', () => {
    expect(read([text(4), text(5)], ({ index }) => (index === 4 ? 'no good' : null)).flaws).toEqual(['1: no good']);
  });
});

describe('malformed lines', () => {
  it('are named up to twenty, and counted', () => {
    const { flaws, count } = read([...Array.from({ length: 23 }, () => 'x'), text(23)]);
    expect([flaws.length, flaws.at(-1), count]).toEqual([20, '20: not JSON', 23]);
  });
});
