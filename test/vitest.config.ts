/**
 * How the tests are run. Two projects: `pure` holds everything without processes or sockets and shares one module
 * graph; `live` (`*.live.test.ts`) starts real processes, containers and browsers, one file at a time.
 */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    reporters: ['default', fileURLToPath(new URL('./count-reporter.ts', import.meta.url))],
    projects: [
      {
        extends: true,
        test: {
          name: 'pure',
          include: ['test/**/*.test.ts'],
          exclude: ['test/**/*.live.test.ts'],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'live',
          include: ['test/**/*.live.test.ts'],
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
