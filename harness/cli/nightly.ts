/**
 * `tidemark nightly FILE`: what a config file names, pair by pair, until its budget ends.
 *
 * A night leaves `store/nightly/<time>/`, with a folder for each cell that is one of `compare`. Whatever ends it early,
 * `--resume` goes on with it. Prints the seed first and last, a line for each pair, the verdict as one sentence and where
 * the reports are. Exit codes: see `docs/exit-codes.md`.
 */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { UsageError } from '../errors.ts';
import type { Cell } from '../nightly/cells.ts';
import { exitCodeOfNight } from '../nightly/conclude.ts';
import type { NightConfig } from '../nightly/config.ts';
import type { Declared } from '../nightly/folder.ts';
import { greatestSeed } from '../plan/limits.ts';
import type { Shard } from '../plan/shard.ts';
import { createProgress } from '../progress.ts';
import { counted, shellWord } from '../report/words.ts';
import type { ChosenRuntime } from '../run/runtimes.ts';
import { shownPath } from '../shown-path.ts';
import { createStoreDirectory, pointLatest } from '../store.ts';
import { onInterrupt } from './interrupt.ts';
import { numberOption, shardOption } from './option-types.ts';
import { drawSeed } from './options.ts';
import { tellNight, tellNightReports } from './tell-night.ts';

interface NightlyFlags {
  readonly seed?: number;
  /** True: the newest that is not over. */
  readonly resume?: true | string;
  readonly shard?: Shard;
  readonly store: string;
  readonly json: boolean;
}

export function registerNightly(program: Command): void {
  program
    .command('nightly')
    .description('run a config file’s matrix of builds, workloads, faults and seeds, within a budget of time')
    .argument('<file>', 'the config file: see docs/nightly.md')
    .addOption(
      numberOption(
        '--seed <n>',
        'the first seed, where the file names none (default: drawn)',
        undefined,
        0,
        greatestSeed,
      ),
    )
    .option(
      '--resume [dir]',
      'go on with a night that was ended early: the newest of this file, or the one in a folder',
    )
    .addOption(shardOption('the night'))
    .option('--store <dir>', 'where nights are kept', 'store')
    .option('--json', 'print the results as JSON on standard output', false)
    .action(async (file: string, flags: NightlyFlags) => {
      process.exitCode = await nightly(file, flags);
    });
}

async function nightly(file: string, flags: NightlyFlags): Promise<number> {
  const { readNightConfig } = await import('../nightly/config.ts');
  const config = readNightConfig(file);
  const progress = createProgress();
  const night = await (flags.resume === undefined ? newNight(file, config, flags) : storedNight(file, config, flags));
  const { lockNight } = await import('../nightly/lock.ts');
  const { runNight } = await import('../nightly/night.ts');
  const directory = night.directory ?? (await createNight(night.declared, flags));
  const unlock = lockNight(directory);
  try {
    const signal = onInterrupt(progress, 'telling what was found so far');
    const { declared, cells, runtime } = night;
    const { from } = declared.seeds;
    progress.line(`seed ${from} · ${nightInWords(declared, cells)}`);
    if (runtime !== null) progress.line(runtime.reason);
    progress.line(`folder ${shownPath(directory)}`);
    const command = commandOf(file, declared);
    const { results, failure } = await runNight({ directory, declared, cells, command, runtime, progress, signal });
    const left = runtime === null ? null : await (await import('../run/runtimes.ts')).releaseRuntime(runtime);
    tellNight(progress, results);
    const unreported = await tellNightReports(directory, results, progress);
    if (results.ended === 'unfinished')
      progress.line(
        `resume  npm run tidemark -- nightly ${shellWord(file)} --resume ${shellWord(shownPath(directory))}`,
      );
    progress.line(`again   ${command}`);
    progress.line(`seed ${from}`);
    if (flags.json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
    // The verdict stands without a report; what went wrong first is what the command ends with.
    if (failure !== null) throw failure;
    if (left !== null) throw left;
    if (unreported !== null) throw unreported.error;
    return exitCodeOfNight(results);
  } finally {
    unlock();
  }
}

interface Night {
  /** Null: still to be made. */
  readonly directory: string | null;
  readonly declared: Declared;
  readonly cells: readonly Cell[];
  /** Null: the simulator. */
  readonly runtime: ChosenRuntime | null;
}

/** A night as the file declares it; nothing is made yet. */
async function newNight(file: string, config: NightConfig, flags: NightlyFlags): Promise<Night> {
  const { seed, shard } = flags;
  if (seed !== undefined && config.seeds.from !== undefined && seed !== config.seeds.from) {
    throw new UsageError(
      `--seed ${seed}: ${file} names the first seed (seeds.from ${config.seeds.from}); leave one of them out`,
    );
  }
  const named = seed ?? config.seeds.from;
  if (shard !== undefined && named === undefined) {
    throw new UsageError(
      `--shard: name the seed too, with --seed or as seeds.from in ${file}; it is to be the same for all shards`,
    );
  }
  const seeds = { from: named ?? drawSeed(), count: config.seeds.count };
  return prepare(null, file, config, seeds, shard, config.runtime);
}

/** A night that was ended early, as it was declared. */
async function storedNight(file: string, config: NightConfig, flags: NightlyFlags): Promise<Night> {
  const { differenceOf, isOver, newestUnfinished, readDeclared } = await import('../nightly/folder.ts');
  const { seed, shard, resume, store } = flags;
  const directory = typeof resume === 'string' ? resolve(resume) : newestUnfinished(store, file, shard);
  const { seeds, ...declared } = readDeclared(directory);
  const shown = shownPath(directory);
  const difference =
    differenceOf(declared.config, config) ??
    (seed === undefined || seed === seeds.from ? null : `--seed is ${seed}, and was ${seeds.from}`) ??
    (shard === undefined ? null : differenceOf(declared.shard, shard, ['--shard']));
  if (difference !== null) {
    throw new UsageError(
      `${file} is not what ${shown} was begun with: ${difference}; put it back, or start a new night`,
    );
  }
  if (isOver(directory)) {
    throw new UsageError(
      `${shown} is over, there is nothing to resume: leave --resume out (report writes the pages of a night, and of a cell, anew)`,
    );
  }
  return prepare(directory, file, config, seeds, declared.shard, declared.runtime);
}

async function prepare(
  directory: string | null,
  file: string,
  config: NightConfig,
  seeds: Declared['seeds'],
  shard: Shard | undefined,
  wanted: Declared['runtime'] | undefined,
): Promise<Night> {
  const { cellsOf } = await import('../nightly/cells.ts');
  const cellsIn = (name: Declared['runtime']): Promise<Cell[]> =>
    cellsOf(config, { file, runtime: name, seeds, shard });
  const { isForeignBuild } = await import('../foreign-build.ts');
  const builds = Object.values(config.builds).flatMap(({ control, candidate }) => [control.build, candidate.build]);
  // What is wrong is said before an engine is asked for.
  const tried = await cellsIn(wanted ?? (builds.some(isForeignBuild) ? 'docker' : 'local'));
  let runtime: ChosenRuntime | null = null;
  if (wanted !== 'sim') {
    const { chooseRuntime } = await import('../run/runtimes.ts');
    const brokers = Math.max(...tried.map((cell) => cell.brokers));
    runtime = await chooseRuntime(wanted, { builds, brokers, description: config.description });
  }
  const name = runtime?.name ?? 'sim';
  const cells = name === wanted ? tried : await cellsIn(name);
  const declared: Declared = {
    schemaVersion: 1,
    file: resolve(file),
    config,
    seeds,
    ...(shard === undefined ? {} : { shard }),
    runtime: name,
  };
  return { directory, declared, cells, runtime };
}

async function createNight(declared: Declared, { store }: NightlyFlags): Promise<string> {
  const { writeDeclared } = await import('../nightly/folder.ts');
  const directory = createStoreDirectory(store, 'nightly', new Date());
  writeDeclared(directory, declared);
  pointLatest(store, directory);
  return directory;
}

function nightInWords({ config, seeds, shard }: Declared, cells: readonly Cell[]): string {
  const ofShard = shard === undefined ? '' : `, shard ${shard.index} of ${shard.count}`;
  return `a night of ${counted(cells.length, 'cell')} with ${counted(seeds.count, 'pair')} each${ofShard}, budget ${config.budget}`;
}

/** The command that repeats it. */
function commandOf(file: string, { config, seeds, shard }: Declared): string {
  return [
    `npm run tidemark -- nightly ${shellWord(file)}`,
    ...(config.seeds.from === undefined ? [`--seed ${seeds.from}`] : []),
    ...(shard === undefined ? [] : [`--shard ${shard.index}/${shard.count}`]),
  ].join(' ');
}
