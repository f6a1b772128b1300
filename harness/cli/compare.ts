/**
 * `tidemark compare`, which is also `npm start`: does the candidate build keep what the control build loses?
 *
 * Prints the seed first and last, one line per run, the verdict as one sentence, the report's path and the command
 * that repeats it all. Exit codes: see `docs/exit-codes.md`.
 */
import { join, relative } from 'node:path';
import type { Command } from 'commander';
import type { ComparisonResults } from '../../checker/results.ts';
import { controlShowed } from '../compare/verdict.ts';
import { exitCodeOfVerdict, exitCodes } from '../errors.ts';
import type { RunConfig } from '../plan/config.ts';
import { createProgress, paint } from '../progress.ts';
import { createStoreDirectory, pointLatest } from '../store.ts';
import { counted } from '../report/words.ts';
import { onInterrupt } from './interrupt.ts';
import { addRunOptions, drawSeed, flagsOf, numberOption, runConfigFrom, type RunFlags } from './options.ts';

interface CompareFlags extends RunFlags {
  readonly control: string;
  readonly candidate: string;
  readonly testCount: number;
}

export function registerCompare(program: Command): void {
  const command = program
    .command('compare')
    .description('the same seeds and faults on a control build and a candidate build: the verdict and the statistics')
    .option('--control <build>', 'the build that is expected to break', 'hw')
    .option('--candidate <build>', 'the build that is to keep its word', 'epoch')
    .addOption(numberOption('--test-count <n>', 'pairs of runs', 6, 1, 10_000));
  addRunOptions(command).action(async (flags: CompareFlags) => {
    process.exitCode = await compare(flags);
  });
}

async function compare(flags: CompareFlags): Promise<number> {
  const seed = flags.seed ?? drawSeed();
  const seeds = Array.from({ length: flags.testCount }, (_, index) => seed + index);
  // Both configurations are checked before anything is started.
  for (const build of [flags.control, flags.candidate]) runConfigFrom(flags, build, seed, flags.runtime ?? 'local');
  const progress = createProgress();
  const signal = onInterrupt(progress);
  progress.line(`seed ${seed} · ${flags.control} against ${flags.candidate}, ${counted(flags.testCount, 'pair')}`);
  const { chooseRuntime } = await import('../run/runtimes.ts');
  const runtime = await chooseRuntime(flags.runtime);
  progress.line(runtime.reason);

  const directory = createStoreDirectory(flags.store, 'compare', new Date());
  pointLatest(flags.store, directory);
  const configure = (build: string, runSeed: number): RunConfig => runConfigFrom(flags, build, runSeed, runtime.name);
  const command = [
    `npm start -- --seed ${seed}`,
    ...(flags.control === 'hw' ? [] : [`--control ${flags.control}`]),
    ...(flags.candidate === 'epoch' ? [] : [`--candidate ${flags.candidate}`]),
    ...(flags.testCount === 6 ? [] : [`--test-count ${flags.testCount}`]),
    ...flagsOf(configure(flags.control, seed)),
  ].join(' ');
  const { runComparison } = await import('../compare/compare.ts');
  const { results, failure } = await runComparison({
    control: flags.control,
    candidate: flags.candidate,
    seeds,
    configure,
    runtime,
    directory,
    command,
    commandOfRun: (config) => commandOfRun(config),
    progress,
    signal,
  });
  say(progress.line, results);
  const { writeComparisonReport } = await import('../report/comparison.ts');
  try {
    const report = relative('.', writeComparisonReport(directory));
    progress.line(`report  ${report}`);
    progress.line(`results ${join(report, '..', 'results.json')}`);
  } catch (error) {
    // The verdict stands without a report; what went wrong first is what the command ends with.
    if (failure === null) throw error;
  }
  progress.line(`again   ${command}`);
  progress.line(`seed ${seed}`);
  if (flags.json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
  if (failure !== null) throw failure;
  return exitCodeOf(results);
}

/** The command that shows one run again. */
export function commandOfRun(config: RunConfig): string {
  return [`npm run tidemark -- run --build ${config.build} --seed ${config.seed}`, ...flagsOf(config)].join(' ');
}

function say(line: (text: string) => void, results: ComparisonResults): void {
  line('');
  const mood = results.valid === true && controlShowed(results) ? 'good' : results.valid === false ? 'bad' : 'unsure';
  line(paint(mood, results.verdict));
}

function exitCodeOf(results: ComparisonResults): number {
  if (results.valid === true && !controlShowed(results)) return exitCodes.controlSilent;
  return exitCodeOfVerdict(results.valid);
}
