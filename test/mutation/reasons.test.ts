/** The files of reasons: how they are read, what is held against a report, and that they speak of lines that exist. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { disagreement, lineOf, measure, parseReport, readReasons } from './reasons.ts';

const source = [
  'function end(log: Log): number {',
  '  if (log.end > 0 && log.kept) return log.end;',
  '  return 0;',
  '}',
  '',
].join('\n');

const place = (line: number, column: number) => ({ line, column });
const mutants = [
  {
    mutatorName: 'ConditionalExpression',
    replacement: 'true',
    status: 'Survived',
    location: { start: place(2, 7), end: place(2, 18) },
  },
  {
    mutatorName: 'BlockStatement',
    replacement: '{}',
    status: 'NoCoverage',
    location: { start: place(1, 32), end: place(4, 2) },
  },
  {
    mutatorName: 'ConditionalExpression',
    replacement: 'false',
    status: 'Killed',
    location: { start: place(2, 7), end: place(2, 18) },
  },
  {
    mutatorName: 'EqualityOperator',
    replacement: 'log.end <= 0',
    status: 'Timeout',
    location: { start: place(2, 7), end: place(2, 18) },
  },
];
const guard =
  '    ConditionalExpression: if (log.end > 0 && log.kept) return log.end;\n    -> if (true && log.kept) return log.end;';
const body = '    BlockStatement: function end(log: Log): number {\n    -> function end(log: Log): number {}';

describe('a report', () => {
  const whole = { files: { 'checker/end.ts': { source, mutants } } };

  it('is read as it stands', () => {
    expect(parseReport(JSON.stringify(whole))).toEqual(whole);
  });

  it.each([
    '',
    'null',
    '[]',
    JSON.stringify(whole).slice(0, -5),
    '{"files":null}',
    '{"files":{"a.ts":null}}',
    '{"files":{"a.ts":{"source":"","mutants":{}}}}',
    '{"files":{"a.ts":{"source":"","mutants":[null]}}}',
    '{"files":{"a.ts":{"source":"","mutants":[{"mutatorName":"BlockStatement","status":"Killed"}]}}}',
  ])('that is none, or not whole, is known: %s', (text) => {
    expect(parseReport(text)).toBeNull();
  });
});

describe('a mutant', () => {
  it('is told as its line, and as what the line becomes', () => {
    expect(measure({ source, mutants })).toEqual({ mutants: 4, killed: 2, living: [guard, body] });
    expect(lineOf(guard)).toBe('if (log.end > 0 && log.kept) return log.end;');
  });
});

describe('a file of reasons', () => {
  it('is sentences, each with the mutants that it speaks of', () => {
    expect(readReasons(`No log is kept\nwithout an end.\n${guard}\n${body}\n\nAnother.\n${guard}\n`)).toEqual([
      { why: 'No log is kept without an end.', mutants: [guard, body] },
      { why: 'Another.', mutants: [guard] },
    ]);
  });

  it.each([
    [`${guard}\n`, 'line 1: a mutant without a reason'],
    ['No log is kept.\n\n', 'line 1: a reason without a mutant'],
    [`Why.\n${guard}\nAnd why.\n`, 'line 4: an empty line must precede a reason'],
    [`Why.\n${guard.split('\n')[0]}\n`, 'line 3: not what the line becomes'],
  ])('of another form is refused by the number of its line', (text, error) => {
    expect(() => readReasons(text)).toThrow(error);
  });

  it('needs an entry for each mutant that lives, and none for others', () => {
    const reasons = readReasons(`Why.\n${guard}\n`);
    expect(disagreement([guard, guard], reasons)).toEqual({ unreasoned: [guard], stale: [] });
    expect(disagreement([body], reasons)).toEqual({ unreasoned: [body], stale: [guard] });
  });

  it.each(globSync('test/mutation/survivors/**/*.txt'))('speaks of lines that its source has: %s', (file) => {
    const path = file.replace('test/mutation/survivors/', '').replace(/\.txt$/, '.ts');
    expect(existsSync(path), path).toBe(true);
    const lines = new Set(
      readFileSync(path, 'utf8')
        .split('\n')
        .map((line) => line.trim()),
    );
    const told = readReasons(readFileSync(file, 'utf8')).flatMap((reason) => reason.mutants.map(lineOf));
    expect(told.filter((line) => !lines.has(line))).toEqual([]);
  });
});
