/**
 * The tests that mutation testing runs: those of the checker, with fewer random histories for the twins (the same at each
 * run, since their seeds count up from 0). What fuzzes, measures or draws for long is left out, so that a mutant which
 * nothing kills costs seconds.
 */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['test/checker/**/*.test.ts'],
    exclude: ['**/*.property.test.ts', '**/fuzz.test.ts'],
    env: { TWINS: '200', PLAYS: '40' },
    testNamePattern:
      /^(?!.*(?:makes the checker throw|judged at once|JSON.parse reads it|its text gives|in linear time|very many)).*$/,
    isolate: false,
  },
});
