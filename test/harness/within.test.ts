import { describe, expect, it } from 'vitest';
import { isWithin } from '../../harness/within.ts';

describe('a path lies within a folder', () => {
  it.each(['/a/b', '/a/b/c', '/a/b/..c', '/a/b/...'])('as %s within /a/b', (path) => {
    expect(isWithin('/a/b', path)).toBe(true);
  });

  it.each(['/a', '/', '/a/bc', '/a/c', '/a/b/../c'])('and %s not within /a/b', (path) => {
    expect(isWithin('/a/b', path)).toBe(false);
  });
});
