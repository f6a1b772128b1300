/** A process that tries to lock a night whenever it is told a moment for it, and says whether it got it. */
import { EnvironmentError } from '../../../harness/errors.ts';
import { lockNight } from '../../../harness/nightly/lock.ts';

const [, , directory = ''] = process.argv;

process.on('message', (at: number) => {
  while (performance.timeOrigin + performance.now() < at) {
    // All of them at once: a timer would be late by more than what is looked for.
  }
  process.send?.(isMine());
});
process.send?.('ready');

function isMine(): boolean {
  try {
    lockNight(directory);
    return true;
  } catch (error) {
    if (error instanceof EnvironmentError) return false;
    throw error;
  }
}
