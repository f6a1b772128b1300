/**
 * `tidemark merge-reports DIR…`: joins what the shards of a comparison have left into one comparison, with one verdict.
 *
 * Prints the seed first and last, which shards there are and which are missing, the verdict as one sentence, and the
 * command that does it all again on one machine. Exit codes are those of `compare`; a shard that is missing, or that did
 * not come to its end, is a failure of its environment (255).
 */
import type { Command } from 'commander';
import type { ComparisonResults } from '../../checker/results.ts';
import type { RunCopy, ShardFolder } from '../compare/merge-folders.ts';
import { EnvironmentError, environmentErrorFrom } from '../errors.ts';
import { createProgress, paint, type Progress } from '../progress.ts';
import { counted, listInWords } from '../report/words.ts';
import { createStoreDirectory, pointLatest } from '../store.ts';
import { tellReport, tellVerdict } from './tell-comparison.ts';

interface MergeFlags {
  readonly store: string;
  readonly json: boolean;
}

export function registerMergeReports(program: Command): void {
  program
    .command('merge-reports')
    .description('join the results of shards into one report, with one verdict')
    .argument('<dirs...>', 'the folders that compare --shard has left, one for each shard')
    .option('--store <dir>', 'where the merged comparison is kept', 'store')
    .option('--json', 'print the results as JSON on standard output', false)
    .action(async (named: readonly string[], flags: MergeFlags) => {
      process.exitCode = await mergeReports(named, flags);
    });
}

async function mergeReports(named: readonly string[], { store, json }: MergeFlags): Promise<number> {
  const { mergeComparisons, wholeCommand } = await import('../compare/merge.ts');
  const { copiesOf, readShardFolder } = await import('../compare/merge-folders.ts');
  const { exitCodeOfComparison, failureIn } = await import('../compare/verdict.ts');
  const { partsOf } = await import('../compare/two-parts.ts');
  const shards = named.map(readShardFolder);
  const parts = shards.map(({ results }) => results);
  const results = mergeComparisons(parts, wholeCommand(parts[0]?.command ?? ''), named);
  const copies = copiesOf(shards);

  const progress = createProgress();
  const seed = `seed ${results.seeds[0]}`;
  progress.line(`${seed} · ${results.control.build} against ${results.candidate.build}, ${shardsInWords(shards)}`);
  tellShards(progress, shards);
  const { directory, failure } = await keep(store, results, copies);
  tellVerdict(progress, results);
  const unreported = directory === null ? null : await tellReport(directory, progress);
  progress.line(`again   ${results.command}`);
  progress.line(seed);
  if (json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
  // The verdict stands without its files.
  if (failure !== null) throw failure;
  if (unreported !== null) throw unreported.error;
  const failed = partsOf(results).flatMap((part) => failureIn(part) ?? []);
  if (failed[0] !== undefined) throw new EnvironmentError(failed[0]);
  return exitCodeOfComparison(results);
}

interface Kept {
  /** Null where not even the results could be written. */
  readonly directory: string | null;
  readonly failure: EnvironmentError | null;
}

/** The results first: they are small, and they are the truth. */
async function keep(store: string, results: ComparisonResults, copies: readonly RunCopy[]): Promise<Kept> {
  const { copyRuns, writeMergedResults } = await import('../compare/merge-folders.ts');
  let directory: string;
  try {
    directory = createStoreDirectory(store, 'merge', new Date());
    writeMergedResults(directory, results);
    pointLatest(store, directory);
  } catch (error) {
    return { directory: null, failure: environmentErrorFrom(error, `cannot write into the store ${store}`) };
  }
  return { directory, failure: copyRuns(copies, directory) };
}

function shardsInWords(shards: readonly ShardFolder[]): string {
  return `${presentIn(shards).size} of ${counted(countOf(shards), 'shard')}`;
}

/** One line for each folder, and one for what is missing. */
function tellShards(progress: Progress, shards: readonly ShardFolder[]): void {
  const told = new Set<number>();
  for (const { name, results } of shards) {
    const index = results.shard?.index ?? 0;
    const pairs = `${results.pairs.length} of ${counted(results.seeds.length, 'pair')}`;
    const twice = told.has(index) ? ', the same shard again: each seed counts once' : '';
    progress.line(`shard ${index} · ${pairs} · ${name}${twice}`);
    told.add(index);
  }
  const missing = Array.from({ length: countOf(shards) }, (_, at) => at + 1).filter((index) => !told.has(index));
  if (missing.length === 0) return;
  const which = missing.length > 10 ? counted(missing.length, 'shard') : `shard ${listInWords(missing.map(String))}`;
  const [are, their] = missing.length === 1 ? ['is', 'its'] : ['are', 'their'];
  progress.line(paint('unsure', `${which} ${are} missing: ${their} seeds count as runs without a verdict`));
}

function presentIn(shards: readonly ShardFolder[]): ReadonlySet<number> {
  return new Set(shards.map(({ results }) => results.shard?.index ?? 0));
}

function countOf(shards: readonly ShardFolder[]): number {
  return shards[0]?.results.shard?.count ?? 0;
}
