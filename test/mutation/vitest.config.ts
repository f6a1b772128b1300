/**
 * The tests that mutation testing runs: those of the checker that are pure and quick. Twins and schedules drawn at random
 * are left out: a mutant that only they kill is killed by luck.
 */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['test/checker/**/*.test.ts'],
    exclude: ['test/checker/twins/**', '**/*.property.test.ts', '**/fuzz.test.ts'],
    // Those that draw at random, and those that measure.
    testNamePattern:
      /^(?!.*(?:makes the checker throw|judged at once|JSON.parse reads it|its text gives|in linear time|very many)).*$/,
    isolate: false,
  },
});
