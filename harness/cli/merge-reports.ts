/**
 * `tidemark merge-reports DIR…`: joins what the shards of a comparison, or of a night, have left into one, with one
 * verdict.
 *
 * Prints the seed first and last, which shards there are and which are missing, the verdict as one sentence, and the
 * command that does it all again on one machine. Exit codes are those of `compare` and `nightly`; a shard that is missing,
 * or that did not come to its end, is a failure of its environment (255).
 */
import type { Command } from 'commander';
import type { ComparisonResults, NightResults } from '../../checker/results.ts';
import type { RunCopy, ShardFolder } from '../compare/merge-folders.ts';
import { EnvironmentError, UsageError, environmentErrorFrom } from '../errors.ts';
import { printable } from '../printable.ts';
import { createProgress, paint, type Progress } from '../progress.ts';
import { counted, listInWords } from '../report/words.ts';
import { createStoreDirectory, pointLatest } from '../store.ts';
import { tellReport, tellVerdict, type Unwritten } from './tell-comparison.ts';
import { tellNight, tellNightReports } from './tell-night.ts';

interface MergeFlags {
  readonly store: string;
  readonly json: boolean;
}

type Results = ComparisonResults | NightResults;

/** What the shards have become, and how it is kept and told. */
interface Merged {
  readonly results: Results;
  readonly title: string;
  readonly firstSeed: number | undefined;
  readonly copies: readonly RunCopy[];
  readonly write: (directory: string) => void;
  readonly tell: (progress: Progress) => void;
  readonly report: (directory: string, progress: Progress) => Promise<Unwritten | null>;
  /** What failed in the environment of a shard, if something did. */
  readonly failed: string | null;
  readonly exitCode: number;
}

/** More are told as a number. */
const MISSING_NAMED_MAX = 10;

export function registerMergeReports(program: Command): void {
  program
    .command('merge-reports')
    .description('join the results of shards into one report, with one verdict')
    .argument('<dirs...>', 'the folders that compare or nightly has left with --shard, one for each shard')
    .option('--store <dir>', 'where the merged results are kept', 'store')
    .option('--json', 'print the results as JSON on standard output', false)
    .action(async (named: readonly string[], flags: MergeFlags) => {
      process.exitCode = await mergeReports(named, flags);
    });
}

async function mergeReports(named: readonly string[], { store, json }: MergeFlags): Promise<number> {
  const { readShard } = await import('../compare/merge-folders.ts');
  const shards = named.map(readShard);
  const merged = await mergeWhole(shards);
  const progress = createProgress();
  const seed = `seed ${merged.firstSeed}`;
  const present = new Set(shards.map(indexOf));
  progress.line(`${seed} · ${merged.title}, ${present.size} of ${counted(countOf(shards), 'shard')}`);
  tellShards(progress, shards);
  const { directory, failure } = await keep(store, merged);
  merged.tell(progress);
  const unreported = directory === null ? null : await merged.report(directory, progress);
  // As the first shard has it, which may come from anywhere.
  progress.line(`again   ${printable(merged.results.command)}`);
  progress.line(seed);
  if (json) process.stdout.write(`${JSON.stringify(merged.results, null, 2)}\n`);
  // The verdict stands without its files.
  if (failure !== null) throw failure;
  if (unreported !== null) throw unreported.error;
  if (merged.failed !== null) throw new EnvironmentError(merged.failed);
  return merged.exitCode;
}

function mergeWhole(shards: readonly ShardFolder<Results>[]): Promise<Merged> {
  const comparisons = shards.filter((shard): shard is ShardFolder => shard.results.type === 'comparison');
  const nights = shards.filter((shard): shard is ShardFolder<NightResults> => shard.results.type === 'night');
  const [comparison, night] = [comparisons[0], nights[0]];
  if (comparison !== undefined && night !== undefined) {
    throw new UsageError(`${comparison.name} is a comparison, and ${night.name} a night: merge each by themselves`);
  }
  return night === undefined ? mergeOfComparison(comparisons) : mergeOfNight(nights);
}

async function mergeOfComparison(shards: readonly ShardFolder[]): Promise<Merged> {
  const { mergeComparisons, wholeCommand } = await import('../compare/merge.ts');
  const { copiesOf, writeMergedResults } = await import('../compare/merge-folders.ts');
  const { exitCodeOfComparison, failureIn } = await import('../compare/verdict.ts');
  const { partsOf } = await import('../compare/two-parts.ts');
  const parts = shards.map((shard) => shard.results);
  const names = shards.map(({ name }) => name);
  const results = mergeComparisons(parts, wholeCommand(parts[0]?.command ?? ''), names);
  const [failed] = partsOf(results).flatMap((part) => failureIn(part) ?? []);
  return {
    results,
    title: `${results.control.build} against ${results.candidate.build}`,
    firstSeed: results.seeds[0],
    copies: copiesOf(shards),
    write: (directory) => writeMergedResults(directory, results),
    tell: (progress) => tellVerdict(progress, results),
    report: tellReport,
    failed: failed ?? secondLacking(results),
    exitCode: exitCodeOfComparison(results),
  };
}

/** Where two parts were asked for, and no shard came to its second one. */
function secondLacking({ runtime, realism, command }: ComparisonResults): string | null {
  const isLacking = runtime === 'sim' && realism === undefined && !command.includes(' --runtime ');
  return isLacking ? 'no shard came to its second part, on real processes' : null;
}

async function mergeOfNight(shards: readonly ShardFolder<NightResults>[]): Promise<Merged> {
  const { wholeCommand } = await import('../compare/merge.ts');
  const { failureIn } = await import('../compare/verdict.ts');
  const { exitCodeOfNight } = await import('../nightly/conclude.ts');
  const { mergeNights } = await import('../nightly/merge.ts');
  const folders = await import('../nightly/merge-folders.ts');
  const parts = shards.map(({ name, directory, results }) => folders.readNightFolder(name, directory, results));
  const names = shards.map(({ name }) => name);
  const night = mergeNights(parts, wholeCommand(shards[0]?.results.command ?? ''), names);
  const { results, comparisons } = night;
  const [failed] = [...comparisons.values()].flatMap((comparison) => failureIn(comparison) ?? []);
  return {
    results,
    title: `a night of ${counted(results.cells.length, 'cell')}`,
    firstSeed: results.seeds.from,
    copies: folders.nightCopiesOf(parts),
    write: (directory) => folders.writeMergedNight(directory, night),
    tell: (progress) => tellNight(progress, results),
    report: (directory, progress) => tellNightReports(directory, results, progress),
    failed: nightLacking(shards) ?? failed ?? null,
    exitCode: exitCodeOfNight(results),
  };
}

/** A pair that a budget had no time for is no failure; one that nobody came to is. */
function nightLacking(shards: readonly ShardFolder<NightResults>[]): string | null {
  const [missing] = missingOf(shards);
  if (missing !== undefined) return `shard ${missing}/${countOf(shards)} is missing`;
  const unfinished = shards.find(({ results }) => results.ended === 'unfinished');
  if (unfinished === undefined) return null;
  return `${unfinished.name} is not finished: go on with it by nightly --resume, and merge again`;
}

interface Kept {
  /** Null where not even the results could be written. */
  readonly directory: string | null;
  readonly failure: EnvironmentError | null;
}

/** The results first: they are small, and they are the truth. */
async function keep(store: string, { write, copies }: Merged): Promise<Kept> {
  const { copyRuns } = await import('../compare/merge-folders.ts');
  let directory: string;
  try {
    directory = createStoreDirectory(store, 'merge', new Date());
    write(directory);
    pointLatest(store, directory);
  } catch (error) {
    return { directory: null, failure: environmentErrorFrom(error, `cannot write into the store ${store}`) };
  }
  return { directory, failure: copyRuns(copies, directory) };
}

/** One line for each folder, and one for what is missing. */
function tellShards(progress: Progress, shards: readonly ShardFolder<Results>[]): void {
  const told = new Set<number>();
  for (const shard of shards) {
    const index = indexOf(shard);
    const twice = told.has(index) ? ', the same shard again: each seed counts once' : '';
    progress.line(`shard ${index} · ${pairsInWords(shard.results)} · ${shard.name}${twice}`);
    told.add(index);
  }
  const missing = missingOf(shards);
  if (missing.length === 0) return;
  const which =
    missing.length > MISSING_NAMED_MAX ? counted(missing.length, 'shard') : `shard ${listInWords(missing.map(String))}`;
  progress.line(paint('unsure', `${which} ${missing.length === 1 ? 'is' : 'are'} missing`));
}

function pairsInWords(results: Results): string {
  const told = (done: number, declared: number): string => `${done} of ${counted(declared, 'pair')}`;
  if (results.type === 'comparison') {
    const { pairs, seeds, realism } = results;
    const second = realism === undefined ? '' : `, then ${told(realism.pairs.length, realism.seeds.length)}`;
    return told(pairs.length, seeds.length) + second;
  }
  const sum = (of: 'done' | 'declared'): number => results.cells.reduce((all, cell) => all + cell[of], 0);
  return told(sum('done'), sum('declared'));
}

/** The numbers of the shards that nobody named. */
function missingOf(shards: readonly ShardFolder<Results>[]): readonly number[] {
  const present = new Set(shards.map(indexOf));
  return Array.from({ length: countOf(shards) }, (_, at) => at + 1).filter((index) => !present.has(index));
}

function indexOf({ results }: ShardFolder<Results>): number {
  return results.shard?.index ?? 0;
}

function countOf(shards: readonly ShardFolder<Results>[]): number {
  return shards[0]?.results.shard?.count ?? 0;
}
