/**
 * `tidemark gc`: removes what dead runs left on this machine, and nothing else.
 *
 * Normally there is nothing: a run cleans up after itself, and a reaper does it for a run that was killed. Live runs,
 * and containers and processes that are not ours, are never touched.
 */
import type { Command } from 'commander';
import { counted } from '../report/words.ts';

export function registerGc(program: Command): void {
  program
    .command('gc')
    .description('remove leftovers of dead runs: containers, networks, volumes, processes')
    .action(async () => {
      const { collectLocalGarbage } = await import('../local/runtime.ts');
      const removed = [...(await collectLocalGarbage()).removed];
      const { probeEngine } = await import('../../docker/engine.ts');
      const probe = await probeEngine();
      if (probe.ok) {
        const { collectGarbage } = await import('../../docker/cleanup.ts');
        removed.push(...(await collectGarbage({})).removed);
      } else {
        console.error(`containers were not looked at: ${probe.line}`);
      }
      for (const name of removed) console.error(`removed ${name}`);
      console.error(removed.length === 0 ? 'nothing was left over' : `${counted(removed.length, 'leftover')} removed`);
    });
}
