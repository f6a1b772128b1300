/**
 * The watchdog of a run: a process of its own that does nothing until the harness is gone.
 *
 * The harness holds the other end of its standard input. When that end closes, for whatever reason, the watchdog kills
 * what is left of the run and removes its folder; after an orderly end there is nothing left, and it just ends. A
 * harness that is merely stopped keeps the pipe open, so nothing happens to its run.
 */
import { removeRun } from './leftovers.ts';

const runId = process.argv[2];
if (runId === undefined) throw new Error('usage: watchdog.ts RUN-ID');
process.stdin.on('end', () => void removeRun(runId)).resume();
