/** EDN form by form: random forms as anybody may write them, every escape and delimiter, and where errors are told. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EdnError, EdnReader, ednText, type Edn } from '../../checker/edn.ts';

/** Text, and what it is read as. */
type Form = readonly [text: string, value: unknown];

const number = fc.oneof(
  fc.maxSafeInteger().map((value): Form => [`${value}`, value]),
  fc.nat(999).map((value): Form => [`+${value}N`, value]),
  fc.nat(999).map((value): Form => [`${value}.M`, value]),
  fc.tuple(fc.nat(999), fc.nat(99)).map(([whole, part]): Form => [`${whole}.${part}`, Number(`${whole}.${part}`)]),
  fc
    .tuple(fc.integer({ min: -99, max: 99 }), fc.nat(9))
    .map(([base, power]): Form => [`${base}E+${power}`, base * 10 ** power]),
  fc.tuple(fc.nat(99), fc.nat(9)).map(([base, power]): Form => [`${base}e-${power}`, Number(`${base}e-${power}`)]),
);
const word = fc.constantFrom(
  ...[':ok', ':a/b', 'x', 'nile', '-', '+a', '.5', '1/2', '1a', '1.5.2', '1e', 'true?', "a'b", 'a#b'].map(
    (text): Form => [text, text],
  ),
  ...(Object.entries({
    nil: null,
    true: true,
    false: false,
    '##Inf': '##Inf',
    '\\a': 'a',
    '\\tab': '\t',
    '\\space': ' ',
    '\\return': '\r',
    '\\newline': '\n',
    '\\\\': '\\',
    '\\;': ';',
    '\\unknown': 'unknown',
    '\\constructor': 'constructor',
  }) as Form[]),
);
const text = fc.string().map((value): Form => [JSON.stringify(value), value]);
const space = fc.constantFrom(
  ' ',
  ', ',
  '\n',
  ' ; a ] comment " \n',
  '\t\r',
  '\u00a0',
  ' #_ gone ',
  ' #_[1 {:a 2} "]"] ',
);

const form: fc.Arbitrary<Form> = fc.letrec<{ form: Form }>((tie) => ({
  form: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    number,
    word,
    text,
    fc
      .tuple(fc.constantFrom(['[', ']'], ['(', ')'], ['#{', '}']), fc.array(tie('form'), { maxLength: 4 }), space)
      .map(([[open, close], items, gap]): Form => [
        `${open}${gap}${items.map(([each]) => each).join(gap)}${gap}${close}`,
        items.map(([, value]) => value),
      ]),
    fc
      .tuple(fc.array(tie('form'), { maxLength: 3 }), space)
      .map(([items, gap]): Form => [
        `{${items.map(([each], at) => `:k${at}${gap}${each}`).join(gap)}${gap}}`,
        Object.fromEntries(items.map(([, value], at) => [`:k${at}`, value])),
      ]),
    fc
      .tuple(fc.constantFrom('#tag ', '#my/tag', "'", '^:meta ', '^{:a 1}', '#_ 1 ', '#"'), tie('form'))
      .map(([before, [each, value]]): Form => (before === '#"' ? ['#"a.b"', 'a.b'] : [`${before} ${each}`, value])),
  ),
})).form;

function reading(given: string): unknown[] {
  const reader = new EdnReader(given.split('\n'));
  const forms: unknown[] = [];
  for (let next = reader.next(); next !== undefined; next = reader.next()) forms.push(next);
  return JSON.parse(JSON.stringify(forms)) as unknown[];
}

describe('any forms', () => {
  it('are read as what they say, whatever stands between them', () => {
    fc.assert(
      fc.property(fc.array(form, { maxLength: 3 }), (forms) => {
        const given = forms.map(([each]) => each).join('\n');
        expect(reading(given)).toEqual(JSON.parse(JSON.stringify(forms.map(([, value]) => value))));
      }),
      { numRuns: 400 },
    );
  });

  it('begin on the line that is told, also behind much more than is kept', () => {
    const lines = Array.from({ length: 60 }, (_, at) => (at % 3 === 1 ? '' : `"${'x'.repeat(3000 + at)}"`));
    const reader = new EdnReader(lines);
    const seen: unknown[] = [];
    for (let form = reader.next(); form !== undefined; form = reader.next())
      seen.push([reader.line, (form as string).length]);
    expect(seen).toEqual(lines.flatMap((line, at) => (line === '' ? [] : [[at + 1, line.length - 2]])));
  });

  it('begin on the line that is told, also behind much that was read before', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(3), fc.nat(2), fc.nat(9000)), { maxLength: 30 }), (forms) => {
        const lines: string[] = [];
        const begins: number[] = [];
        for (const [empty, more, size] of forms) {
          for (let line = 0; line < empty; line += 1) lines.push(line === 1 ? '; nothing' : '');
          begins.push(lines.length + 1);
          lines.push(`  ["${'x'.repeat(size)}"`, ...Array.from({ length: more }, () => '1'), ']');
        }
        const reader = new EdnReader(lines);
        const seen: number[] = [];
        while (reader.next() !== undefined) seen.push(reader.line);
        expect(seen).toEqual(begins);
      }),
      { numRuns: 60 },
    );
  });
});

describe('a token', () => {
  it('ends where anything begins that is no part of it', () => {
    expect(reading('a[1]b(2)c{:k 3}d"4"e;5\nf,g')).toEqual([
      'a',
      [1],
      'b',
      [2],
      'c',
      { ':k': 3 },
      'd',
      '4',
      'e',
      'f',
      'g',
    ]);
    expect(reading('[a]')).toEqual([['a']]);
    expect(reading('(a)')).toEqual([['a']]);
    expect(reading('{a b}')).toEqual([{ a: 'b' }]);
    for (const code of [0, 9, 13, 32, 44, 0xa0, 0xfeff])
      expect(reading(`a${String.fromCharCode(code)}b`)).toEqual(['a', 'b']);
    for (const letter of [
      '!',
      '#',
      "'",
      '*',
      '+',
      '-',
      '.',
      '/',
      ':',
      '<',
      '?',
      '@',
      '\\',
      '^',
      '_',
      '|',
      '~',
      '\u00e9',
    ])
      expect(reading(`a${letter}b`)).toEqual([`a${letter}b`]);
  });

  it('is a number only if all of it is', () => {
    expect(reading('1 +1 -1 1N 1M 01 1. 1.5 -0.5 1e2 1E2 1e+2 1e-2 1.5e1M')).toEqual([
      1, 1, -1, 1, 1, 1, 1, 1.5, -0.5, 100, 100, 100, 0.01, 15,
    ]);
    for (const token of [
      '1x',
      '1NN',
      '1MN',
      '1N2',
      '1/2',
      '1.2.3',
      '1e',
      '1ee2',
      '0x10',
      '12:30',
      '1.5eM',
      'N',
      'a1',
      '--1',
      '+-1',
      '1-',
      '1e2.5',
    ])
      expect(reading(token)).toEqual([token]);
  });

  it('that is a whole number which would be rounded stays its text', () => {
    expect(reading('9007199254740991 9007199254740992 +9007199254740993N -9007199254740993 1e+300 1e-300')).toEqual([
      9007199254740991,
      '9007199254740992',
      '9007199254740993',
      '-9007199254740993',
      '1e+300',
      1e-300,
    ]);
  });
});

describe('a string', () => {
  it('may hold every escape, and go over lines', () => {
    expect(reading('"\\n\\t\\r\\b\\f\\"\\\\\\/\\u00e9\\uABCDx"')).toEqual(['\n\t\r\b\f"\\/\u00e9\uabcdx']);
    expect(reading('"a\n b" "" "\\\\"')).toEqual(['a\n b', '', '\\']);
    expect(reading('"]})" ";"')).toEqual([']})', ';']);
  });

  it.each(['"\\u00e"', '"\\u00g0"', '"\\u"', '"\\u 041"', '"\\u00410', '"\\ux0041"'])(
    'with a broken escape is refused: %s',
    (given) => {
      expect(() => reading(given)).toThrow(given === '"\\u00410' ? 'ends within a string' : 'a broken \\u escape');
    },
  );

  it.each(['"\\a"', '"\\N"', '"\\0"', '"\\ "'])('with an escape that there is not is refused: %s', (given) => {
    expect(() => reading(given)).toThrow(`there is no escape \\${given[2]}`);
  });

  it('that never ends is refused', () => {
    for (const given of ['"', '"a', '"a\\"', '"a\n\nb', '#"a'])
      expect(() => reading(given)).toThrow('the text ends within a string');
  });
});

describe('a form that is no EDN', () => {
  const refusal = (given: string): EdnError => {
    try {
      reading(given);
    } catch (error) {
      return error as EdnError;
    }
    throw new Error(`${given} was read`);
  };

  it.each([
    ['[1\n(2', 'the text ends within a form', 3],
    ['{:a\n\n1', 'the text ends within a form', 4],
    ['1\n#_', 'the text ends within a form', 3],
    ['#tag', 'the text ends within a form', 2],
    ["'", 'the text ends within a form', 2],
    ['^:a', 'the text ends within a form', 2],
    ['\n[1 }', '} closes nothing', 2],
    ['(1\n]', '] closes nothing', 2],
    ['[1\n)', ') closes nothing', 2],
    ['{1\n]', '] closes nothing', 2],
    ['#{1)', ') closes nothing', 1],
    [')', ') closes nothing', 1],
    ['}', '} closes nothing', 1],
    ['\n\n{:a 1 :b\n}', 'a map has a key without a value', 4],
  ])('is told with its line, or behind the last: %j', (given, message, line) => {
    expect(refusal(given)).toMatchObject({ message, line });
    expect(refusal(given)).toBeInstanceOf(EdnError);
  });

  it.each([
    ['[', ']'],
    ['(', ')'],
    ['#{', '}'],
    ['#a [', ']'],
  ])('is one that is nested too deep: %s', (open, close) => {
    const nested = (depth: number): string => `${open.repeat(depth)}1${close.repeat(depth)}`;
    const each = open.length > 2 ? 2 : 1;
    expect(() => reading(nested(100 / each))).not.toThrow();
    expect(refusal(nested(100 / each + 1)).message).toBe('forms are nested more than 100 deep');
  });

  it.each(["'", '^:a ', '#a ', '#_1 '])('is one of too many prefixes: %s', (prefix) => {
    expect(() => reading(`${prefix.repeat(100)}1`)).not.toThrow();
    expect(refusal(`${prefix.repeat(101)}1`).message).toBe('forms are nested more than 100 deep');
  });

  it('ends no reading: what follows its first line is read on', () => {
    const reader = new EdnReader(['1', '  {:a', '2]', '3', '"\\q" 4', '5']);
    expect(reader.next()).toBe(1);
    const told: unknown[] = [];
    for (let count = 0; count < 9; count += 1) {
      try {
        const next = reader.next();
        if (next === undefined) break;
        told.push([next, reader.line]);
      } catch (error) {
        told.push([(error as EdnError).message, (error as EdnError).line]);
        reader.recover();
      }
    }
    expect(told).toEqual([
      ['] closes nothing', 3],
      [2, 3],
      ['] closes nothing', 3],
      [3, 4],
      ['there is no escape \\q', 5],
      [5, 6],
    ]);
  });

  it.each(['^', '#_', '[#_', '{#_', "'"])('is one that is nested too deep within what is skipped: %s', (open) => {
    expect(refusal(open.repeat(150)).message).toBe('forms are nested more than 100 deep');
  });

  it('may be the last line: nothing follows', () => {
    const reader = new EdnReader(['[1']);
    expect(() => reader.next()).toThrow('the text ends within a form');
    reader.recover();
    expect(reader.next()).toBeUndefined();
  });
});

describe('a vector or a list that is gone into', () => {
  it.each([
    ['[', ']'],
    ['(', ')'],
  ])('ends with its bracket: %s', (open, close) => {
    const reader = new EdnReader([` ${open} `, '1', `; ${close}`, `[2] ${close} 3`]);
    expect([reader.leave(), reader.enter(), reader.leave()]).toEqual([false, true, false]);
    expect(reader.next()).toBe(1);
    expect(reader.leave()).toBe(false);
    expect(reader.next()).toEqual([2]);
    expect([reader.line, reader.leave(), reader.enter()]).toEqual([4, true, false]);
    expect(reader.next()).toBe(3);
    expect([reader.enter(), reader.leave()]).toEqual([false, false]);
  });

  it('is nothing else', () => {
    for (const given of ['{', '#{', '1', '"[', '']) expect(new EdnReader([given]).enter()).toBe(false);
  });
});

describe('the text of a form', () => {
  it.each<[Edn, string]>([
    ['a', 'a'],
    [':a', ':a'],
    [null, 'nil'],
    [true, 'true'],
    [1.5, '1.5'],
    [[1, ['a', null]], '[1 [a nil]]'],
    [{ ':a': 1, b: [2] }, '{:a 1, b [2]}'],
    [{}, '{}'],
  ])('of %j', (given, told) => {
    expect(ednText(given)).toBe(told);
  });
});
