import { expect, it } from 'vitest';
import { printable } from '../../harness/printable.ts';

it('shows what would move the cursor, colour or turn a line as an escape, and leaves all else as it is', () => {
  expect(printable('a\u001B[31mb\r\nc\u202Ed\u0007')).toBe('a\\u{1b}[31mb\\u{d}\\u{a}c\\u{202e}d\\u{7}');
  expect(printable('“tide-0”: 3 → 5, 漢字 \\ é')).toBe('“tide-0”: 3 → 5, 漢字 \\ é');
});
