/**
 * The reaper's process: `node reaper-main.ts <run> <owner> <word>`. Waits for the end of its standard input, and removes
 * everything of the run unless the word was said there. What it needs for that it loads only then: it starts while a
 * cluster is deployed, and most reapers never have anything to do.
 */
import { setTimeout as sleep } from 'node:timers/promises';

const sweepsMax = 30;
/** A request that the engine had already taken when the harness died may still create something. */
const pauseMs = 1_000;

const [runId = '', owner = '', cleanedUp] = process.argv.slice(2);
let said = '';
for await (const chunk of process.stdin) said += String(chunk);
if (said !== cleanedUp) await sweep();

/** Sweeps until two sweeps in a row, some time apart, find nothing left. */
async function sweep(): Promise<void> {
  const { connectEngine } = await import('./client.ts');
  const { removeRun } = await import('./cleanup.ts');
  const engine = await connectEngine();
  let clean = 0;
  for (let sweeps = 0; sweeps < sweepsMax && clean < 2; sweeps++) {
    const residue = await removeRun(engine, runId, owner).catch((error: unknown) => [String(error)]);
    clean = residue.length === 0 ? clean + 1 : 0;
    await sleep(pauseMs);
  }
}
