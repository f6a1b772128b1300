import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { shownPath } from '../../harness/shown-path.ts';

test('A path below the current directory is shown from there', () => {
  expect(shownPath(resolve('store/run/one'))).toBe('store/run/one');
  expect(shownPath('store/run/../latest')).toBe('store/latest');
  expect(shownPath('.')).toBe('.');
});

test('A path elsewhere is shown whole, not by steps upward', () => {
  expect(shownPath('/var/lib/tidemark/store')).toBe('/var/lib/tidemark/store');
  expect(shownPath('..')).toBe(resolve('..'));
  expect(shownPath('../other/store')).toBe(resolve('../other/store'));
});

test('A name that begins with two dots is no step upward', () => {
  expect(shownPath(resolve('..store/run'))).toBe('..store/run');
});
