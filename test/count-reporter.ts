/**
 * Prints `N passed, N failed` as the very last line of a test run, for people and for CI.
 *
 * A file that fails before it can collect its tests counts as one failure: nothing that went wrong may hide in a zero.
 */
import { writeSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    let passed = 0;
    let failed = unhandledErrors.length;
    let skipped = 0;
    for (const module of modules) {
      failed += module.state() === 'failed' && module.errors().length > 0 ? 1 : 0;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed') passed += 1;
        else if (state === 'failed') failed += 1;
        else skipped += 1;
      }
    }
    const line = `${passed} passed, ${failed} failed${skipped > 0 ? ` (${skipped} skipped)` : ''}`;
    process.once('exit', () => writeSync(1, `${line}\n`));
  }
}
