/**
 * `tidemark doctor`: what this machine can do and why not, and what can be done to each kind of broker and known of it.
 *
 * Only looks. What a machine lacks is said, and is no error: the exit code is 0.
 */
import type { Command } from 'commander';

export function registerDoctor(program: Command): void {
  program
    .command('doctor')
    .description('say what this machine can do and why not, and what can be known of which brokers')
    .option('--json', 'print one JSON document on standard output', false)
    .action(async ({ json }: { readonly json: boolean }) => {
      const { examine } = await import('../doctor/examine.ts');
      const { targetsHere } = await import('../doctor/targets.ts');
      const { checks, runs } = await examine();
      const document = { schemaVersion: 1, type: 'doctor', checks, runs, targets: targetsHere() } as const;
      if (json) process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
      else {
        const { doctorText } = await import('../doctor/text.ts');
        process.stdout.write(doctorText(document));
      }
    });
}
