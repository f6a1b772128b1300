/**
 * `tidemark check PATH`: the verdict over a stored run, or over a history alone, without any cluster.
 *
 * Reads files, and writes none unless it is to export. With `--json` the results stand alone on standard output; the text for people goes there
 * without it.
 */
import { Option, type Command } from 'commander';
import { UsageError, exitCodeOfVerdict } from '../errors.ts';

interface CheckFlags {
  readonly json: boolean;
  readonly acks?: 'all' | 0 | 1;
  readonly minInsync?: number;
  readonly unclean?: boolean;
  readonly export?: string;
}

export function registerCheck(program: Command): void {
  program
    .command('check')
    .description('check a stored run, or a history alone, without any cluster')
    .argument('<path>', 'the folder of a run, or a history: .jsonl or .edn (Jepsen), plain or .zst')
    .option('--json', 'print the results as JSON on standard output', false)
    .addOption(
      new Option('--acks <acks>', 'judge sends that do not say as all, 1 or 0 (default: as in run.json)').argParser(
        acksFlag,
      ),
    )
    .addOption(new Option('--min-insync <n>', 'min.insync.replicas (default: as in run.json)').argParser(countFlag))
    .option('--unclean', 'unclean leader election was allowed (default: as in run.json)')
    .option('--export <file>', 'write the history as EDN, as Jepsen reads it')
    .action(async (path: string, flags: CheckFlags) => {
      const { checkPath, historyAt } = await import('../check/load-run.ts');
      if (flags.export !== undefined) {
        const { exportEdn } = await import('../check/export-edn.ts');
        const { operations, left } = exportEdn(historyAt(path), flags.export);
        const besides = left === 0 ? '' : `; ${left} lines that are no operations were left out`;
        process.stderr.write(`${operations} operations written to ${flags.export}${besides}\n`);
      }
      const results = checkPath(path, {
        acks: flags.acks,
        minInsyncReplicas: flags.minInsync,
        uncleanElection: flags.unclean,
      });
      if (flags.json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
      else {
        const { verdictText } = await import('../check/verdict-text.ts');
        process.stdout.write(verdictText(results));
      }
      const { valid } = results;
      process.exitCode = exitCodeOfVerdict(valid);
    });
}

function acksFlag(text: string): 'all' | 0 | 1 {
  if (text === 'all' || text === '-1') return 'all';
  if (text === '0') return 0;
  if (text === '1') return 1;
  throw new UsageError(`--acks ${text}: write all, 1 or 0`);
}

function countFlag(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1) return count;
  throw new UsageError(`--min-insync ${text}: write a whole number from 1 up`);
}
