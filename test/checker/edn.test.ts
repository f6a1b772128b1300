/** EDN as Jepsen writes it, and as nobody should. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EdnError, EdnReader, type Edn } from '../../checker/edn.ts';

function read(text: string): Edn[] {
  const reader = new EdnReader(text.split('\n'));
  const forms: Edn[] = [];
  for (let form = reader.next(); form !== undefined; form = reader.next()) forms.push(form);
  return forms;
}

function plain(text: string): unknown {
  return JSON.parse(JSON.stringify(read(text)));
}

describe('a reader of EDN', () => {
  it.each([
    ['nil true false', [null, true, false]],
    ['1 -2 +3 4N 5.5 6.25M 7e2', [1, -2, 3, 4, 5.5, 6.25, 700]],
    ['9007199254740993 1/2 -12345678901234567890N', ['9007199254740993', '1/2', '-12345678901234567890']],
    ['"a\\n\\"b\\\\" "\\u00e9"', ['a\n"b\\', 'é']],
    [':ok :jepsen/nemesis symbol', [':ok', ':jepsen/nemesis', 'symbol']],
    ['[1 [2, 3] (4 5)] #{6}', [[1, [2, 3], [4, 5]], [6]]],
    ['{:a 1, 2 {"b" nil}, [1 :x] :y}', [{ ':a': 1, '2': { b: null }, '[1 :x]': ':y' }]],
    ['; a comment\n1 #_ 2 [#_3 4] #_[5 6] ^{:m 1} 7', [1, [4], 7]],
    ['#inst "2026-01-01" #jepsen.history.Op{:index 0} #uuid "u"', ['2026-01-01', { ':index': 0 }, 'u']],
    ['\\a \\newline \\( ##NaN', ['a', '\n', '(', '##NaN']],
    ['{:__proto__ {:x 1}}', [{ ':__proto__': { ':x': 1 } }]],
    ['', []],
  ])('reads %s', (text, forms) => {
    expect(plain(text)).toEqual(forms);
  });

  it('reads forms that go over many lines, and tells on which line each begins', () => {
    const reader = new EdnReader(['', '{:a', ' 1}', '; x', '[2', '3]']);
    expect(reader.next()).toEqual(Object.assign(Object.create(null), { ':a': 1 }));
    expect(reader.line).toBe(2);
    expect(reader.next()).toEqual([2, 3]);
    expect(reader.line).toBe(5);
    expect(reader.next()).toBeUndefined();
  });

  it('goes into a vector without reading it whole', () => {
    const reader = new EdnReader(['[{:a 1}', '{:a 2}]', '3']);
    expect(reader.enter()).toBe(true);
    const seen: unknown[] = [];
    while (!reader.leave()) seen.push(reader.next());
    expect(seen).toHaveLength(2);
    expect(reader.next()).toBe(3);
    expect(reader.enter()).toBe(false);
  });

  it.each([
    ['[1 2', 'the text ends within a form'],
    ['"abc', 'the text ends within a string'],
    ['{:a}', 'a map has a key without a value'],
    [']', '] closes nothing'],
    ['"\\q"', 'there is no escape \\q'],
    ['"\\u12"', 'a broken \\u escape'],
    ['['.repeat(200), 'forms are nested more than 100 deep'],
    ['#a '.repeat(200), 'forms are nested more than 100 deep'],
  ])('refuses %s', (text, message) => {
    expect(() => read(text)).toThrow(message);
  });

  it('goes on behind the line of what it refused', () => {
    const reader = new EdnReader(['{:a', '{:b 1}', '{:c 2}', '}']);
    expect(() => reader.next()).toThrow('a map has a key without a value');
    reader.recover();
    expect(Object.keys(reader.next() as object)).toEqual([':b']);
    expect(reader.line).toBe(2);
  });

  it('throws nothing else, and comes to an end, whatever it is given', () => {
    const piece = fc.oneof(fc.constantFrom(...'[](){}"\\;#^\':,_ \n-1/aNM'.split('')), fc.string({ maxLength: 3 }));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const reader = new EdnReader(pieces.join('').split('\n'));
        for (let count = 0; count < 1000; count += 1) {
          try {
            if (reader.next() === undefined) return;
          } catch (error) {
            expect(error).toBeInstanceOf(EdnError);
            reader.recover();
          }
        }
        expect.unreachable('a short text has no thousand forms');
      }),
      { numRuns: 3000, seed: 3 },
    );
  });

  it('takes linear time for one form of very many lines', () => {
    const lines = Array.from({ length: 200_000 }, (_, at) => String(at));
    const reader = new EdnReader(['(', ...lines, ')']);
    expect(reader.next()).toHaveLength(200_000);
  });
});
