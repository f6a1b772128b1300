/**
 * `tidemark show DIR --key K --offset N`: everything about one record, from the history, the trace and the logs of all
 * nodes, in order.
 *
 * Reads the files of a stored run of any runtime and writes none. It judges nothing: exit code 0 says that there was
 * something to show.
 */
import type { Command } from 'commander';
import { UsageError } from '../errors.ts';

interface ShowFlags {
  readonly key: string;
  readonly offset?: string;
  readonly value?: string;
  readonly json: boolean;
}

export function registerShow(program: Command): void {
  program
    .command('show')
    .description('show everything about one record: history, trace and logs of all nodes, in order')
    .argument('<dir>', 'the folder of a run, such as store/latest')
    .requiredOption('--key <key>', 'topic-partition, such as tide-0')
    .option('--offset <n>', 'where the record stands, or stood')
    .option('--value <value>', 'its value instead: where it was acknowledged, or first read')
    .option('--json', 'print one JSON document on standard output', false)
    .action(async (directory: string, flags: ShowFlags) => {
      const wanted = wantedBy(flags);
      const { recordLife } = await import('../show/show.ts');
      const life = recordLife(directory, flags.key, wanted);
      if (flags.json) process.stdout.write(`${JSON.stringify(life, null, 2)}\n`);
      else {
        const { lifeText } = await import('../show/text.ts');
        process.stdout.write(lifeText(life));
      }
    });
}

function wantedBy({ offset, value }: ShowFlags): { readonly offset: number } | { readonly value: string } {
  if ((offset === undefined) === (value === undefined))
    throw new UsageError('name the record by one of --offset and --value');
  if (offset === undefined) return { value: value as string };
  const number = Number(offset);
  if (!/^\d+$/.test(offset) || !Number.isSafeInteger(number))
    throw new UsageError(`--offset ${offset}: give a whole number from 0 to 2^53-1`);
  return { offset: number };
}
