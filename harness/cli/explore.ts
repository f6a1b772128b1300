/**
 * `tidemark explore`: searches seeds in the simulator for broken promises.
 *
 * Each run draws its own cluster, load, timing and faults; a flag that is given pins its dimension. Prints the seed first
 * and last, what was found by signature, which marks were hit, and the command that shows the first find again. Exit
 * codes: 1 a promise was broken, 2 only unknown runs, 0 neither.
 */
import type { Command } from 'commander';
import { describeAsDrawn, pinsFrom } from '../explore/pins.ts';
import type { ExploreReport } from '../explore/report.ts';
import { UsageError, exitCodes } from '../errors.ts';
import { defaultRunConfig, faultKindsOf } from '../plan/config.ts';
import { createProgress } from '../progress.ts';
import { buildInWords, counted } from '../report/words.ts';
import { onInterrupt } from './interrupt.ts';
import { durationOption, numberOption, seconds } from './option-types.ts';
import { addRunOptions, drawSeed, type RunFlags } from './options.ts';

interface ExploreFlags extends RunFlags {
  readonly build: string;
  readonly budget?: number;
  readonly runs?: number;
  readonly untilFail: boolean;
  readonly guided: boolean;
  readonly shrink: boolean;
  readonly jobs?: number;
}

const DEFAULT_BUDGET_MS = 60_000;

export function registerExplore(program: Command): void {
  const command = program
    .command('explore')
    .description('search seeds in the simulator for anomalies: every run draws its cluster, load, timing and faults')
    .option('--build <build>', 'build of all brokers, or of each: 1=hw,2-3=epoch', 'epoch')
    .addOption(durationOption('--budget <time>', 'how long to search (default: 60s, where --runs does not say)'))
    .addOption(numberOption('--runs <n>', 'how many runs', undefined, 1, 1_000_000_000))
    .option('--until-fail', 'stop at the first find', false)
    .option('--guided', 'keep and change plans that reach new states', false)
    .option('--shrink', 'make finds as small as they get, the first of each signature', false)
    .addOption(
      numberOption('--jobs <n>', 'threads, four a core at most (default: as many as cores)', undefined, 1, 256),
    );
  addRunOptions(command);
  describeAsDrawn(command);
  for (const option of command.options) {
    // Only our own builds run here, and only in the simulator.
    if (option.long === '--runtime' || option.long === '--description') option.hideHelp();
    if (option.long === '--settle-timeout') option.defaultValueDescription = seconds(defaultRunConfig.settleTimeoutMs);
    if (option.long === '--seed') option.description = 'seed of the first run; the next ones count up (default: drawn)';
  }
  command.action(async (flags: ExploreFlags) => {
    process.exitCode = await explore(command, flags);
  });
}

async function explore(command: Command, flags: ExploreFlags): Promise<number> {
  if (flags.runtime !== undefined && (flags.runtime as string) !== 'sim') {
    throw new UsageError(`--runtime ${flags.runtime}: explore searches in the simulator only; leave it out`);
  }
  const kinds = faultKindsOf.sim;
  const pins = pinsFrom(command, flags, flags.build, kinds);
  const seed = flags.seed ?? drawSeed();
  const runs = flags.runs ?? Infinity;
  const budgetMs = flags.budget ?? (flags.runs === undefined ? DEFAULT_BUDGET_MS : Infinity);
  const progress = createProgress();
  const signal = onInterrupt(progress, 'telling what was found so far');
  const limit = budgetMs === Infinity ? counted(runs, 'run') : `${budgetMs / 1000} s`;
  progress.line(
    `seed ${seed} · ${buildInWords(flags.build, flags.defect)}, ${flags.guided ? 'guided, ' : ''}${limit} at most`,
  );
  const { exploreSeeds } = await import('../explore/explore.ts');
  const { report, failure } = await exploreSeeds({
    build: flags.build,
    seed,
    pins,
    kinds,
    runs,
    budgetMs,
    untilFail: flags.untilFail,
    guided: flags.guided,
    shrink: flags.shrink,
    ...(flags.jobs === undefined ? {} : { threads: flags.jobs }),
    store: flags.store,
    command: commandOfSearch(process.argv.slice(2), seed),
    progress,
    signal,
  });
  progress.line(`seed ${seed}`);
  if (flags.json) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  if (failure !== null) throw failure;
  return exitCodeOf(report);
}

/** What was typed, with the seed that was drawn. */
function commandOfSearch(argv: readonly string[], seed: number): string {
  const rest = argv.filter((word, at) => {
    const isSeed = word === '--seed' || argv[at - 1] === '--seed' || word.startsWith('--seed=');
    return !isSeed && word !== '--json';
  });
  return ['npm run tidemark --', ...rest, `--seed ${seed}`].join(' ');
}

function exitCodeOf({ anomalous, unknown }: ExploreReport): number {
  if (anomalous > 0) return exitCodes.anomaly;
  return unknown > 0 ? exitCodes.unknown : exitCodes.valid;
}
