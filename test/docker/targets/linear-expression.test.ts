/** Expressions that would take for ever on the wrong line, and those that are refused since they might. */
import { expect, it } from 'vitest';
import { linearExpression } from '../../../docker/targets/linear-expression.ts';

const longestLine = 4_000;

it.each(['(a+)+$', '^(\\w+\\s?)*$', '^(a|aa)*b$', '^(?<key>a*)*(?<offset>a|x)*$'])(
  '%s is done with any line soon',
  (source) => {
    const expression = linearExpression(source);
    const began = performance.now();
    expect(expression.test(`${'a'.repeat(longestLine)}!b`)).toBe(false);
    expect(performance.now() - began).toBeLessThan(2_000);
  },
);

it('finds what it always finds, by the names of its groups', () => {
  const found = linearExpression(String.raw`hw of (?<key>\S+-\d+) is (?<offset>\d+)`).exec('the hw of tide-7-0 is 41.');
  expect({ ...found?.groups }).toEqual({ key: 'tide-7-0', offset: '41' });
});

it.each(['(a)\\1', 'a(?=b)', 'a{1,5000}'])('%s is refused: a line could stall it', (source) => {
  expect(() => linearExpression(source)).toThrow('a line could stall it');
});
