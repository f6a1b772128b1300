/**
 * `tidemark verify-logs DIR…`: compares replica log directories on disk, byte by byte, and names the first difference.
 *
 * Reads files of any Kafka broker, writes none, needs no cluster. With `--json` one document stands alone on standard
 * output; the text for people goes there without it. Exit code 1: bytes that differ or a log that is damaged inside; 2:
 * something could not be read, or only lengths differ.
 */
import type { Command } from 'commander';

interface VerifyFlags {
  readonly compacted?: string;
  readonly json: boolean;
}

export function registerVerifyLogs(program: Command): void {
  program
    .command('verify-logs')
    .description('compare replica log directories on disk and name the first difference')
    .argument('<dir...>', "log directories of brokers, or parents of several (such as a run's data folder)")
    .option(
      '--compacted <topics>',
      'topics that are compacted, comma-separated, or all (default: those that a cleaner-offset-checkpoint names)',
    )
    .option('--json', 'print one JSON document on standard output', false)
    .action(async (directories: string[], flags: VerifyFlags) => {
      const { verifyDirectories } = await import('../verify/verify.ts');
      const document = await verifyDirectories(directories, flags.compacted?.split(',') ?? []);
      if (flags.json) process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
      else {
        const { verifyText } = await import('../verify/text.ts');
        process.stdout.write(verifyText(document));
      }
      process.exitCode = document.exit;
    });
}
