/**
 * Golden files: expected output as readable text, reviewed as prose.
 *
 * `npm run golden` rewrites them; commit the difference only if you understand it.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'vitest';

/** Compares `text` with the file at `path` (from the project's root), or writes the file when asked to. */
export function expectGolden(path: string, text: string): void {
  if (process.env['TIDEMARK_REWRITE'] === '1') {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return;
  }
  const golden = existsSync(path) ? readFileSync(path, 'utf8') : `(${path} does not exist: npm run golden)`;
  expect(text).toBe(golden);
}
