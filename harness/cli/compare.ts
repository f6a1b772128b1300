/**
 * `tidemark compare`, which is also `npm start`: does the candidate build keep what the control build loses?
 *
 * Without `--runtime` it compares twice: in the simulator, where hundreds of pairs take seconds, and then on a few pairs
 * of real processes. Prints the seed first and last, what each part found, the verdict as one sentence, the report's path
 * and the command that repeats it all. Exit codes: see `docs/exit-codes.md`.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { ComparisonOutcome } from '../compare/compare.ts';
import { exitCodeOfComparison } from '../compare/verdict.ts';
import { UsageError, environmentErrorFrom } from '../errors.ts';
import type { RunConfig } from '../plan/config.ts';
import { seedsFrom, seedsOfShard, type Shard } from '../plan/shard.ts';
import { createProgress, type Progress } from '../progress.ts';
import { createStoreDirectory, pointLatest, writeJson } from '../store.ts';
import { counted } from '../report/words.ts';
import { besideForeign, demandContainers, isDescribed } from './beside-foreign.ts';
import { onInterrupt } from './interrupt.ts';
import { numberOption, shardOption } from './option-types.ts';
import { isForeignBuild } from '../foreign-build.ts';
import { addRunOptions, drawSeed, flagsOf, runConfigFrom, type RunFlags } from './options.ts';
import { tellReport, tellVerdict } from './tell-comparison.ts';

interface CompareFlags extends RunFlags {
  readonly control: string;
  readonly candidate: string;
  readonly testCount?: number;
  readonly simTestCount: number;
  readonly shard?: Shard;
}

/** Pairs, where nothing else is said: as many as take seconds in the simulator, and minutes on processes. */
const SIMULATED_PAIRS = 200;
const REAL_PAIRS = 6;

export function registerCompare(program: Command): void {
  const command = program
    .command('compare')
    .description(
      'run the same seeds and faults on a control build and a candidate build: the verdict and the statistics',
    )
    .option('--control <build>', 'the build that is expected to break', 'hw')
    .option('--candidate <build>', 'the build that is to keep its word', 'epoch')
    .addOption(
      numberOption(
        '--test-count <n>',
        `pairs of runs (default: ${REAL_PAIRS}, with --runtime sim ${SIMULATED_PAIRS})`,
        undefined,
        1,
        10_000,
      ),
    )
    .addOption(
      numberOption(
        '--sim-test-count <n>',
        'without --runtime: pairs of the first part, in the simulator',
        SIMULATED_PAIRS,
        1,
        10_000,
      ),
    )
    .addOption(shardOption('the comparison'));
  addRunOptions(command, 'first the simulator, then containers where an engine answers').action(
    async (flags: CompareFlags) => {
      if (command.getOptionValueSource('simTestCount') === 'cli') demandTwoParts(flags);
      const builds = [flags.control, flags.candidate];
      process.exitCode = await compare(builds.some(isForeignBuild) ? await onlyInContainers(flags, command) : flags);
    },
  );
}

/** The pairs of the first part of two. */
function demandTwoParts({ runtime, simTestCount, control, candidate }: CompareFlags): void {
  const alone = runtime === undefined ? [control, candidate].find(isForeignBuild) : `--runtime ${runtime}`;
  if (alone === undefined) return;
  throw new UsageError(
    `--sim-test-count ${simTestCount}: with ${alone} there is one part only, whose pairs are --test-count; leave it out`,
  );
}

async function compare(flags: CompareFlags): Promise<number> {
  if (flags.shard !== undefined && flags.seed === undefined) {
    throw new UsageError('--shard: name the seed too, with --seed; it is to be the same for all shards');
  }
  const seed = flags.seed ?? drawSeed();
  checkBefore(flags, seed);
  const progress = createProgress();
  const signal = onInterrupt(progress, flags.runtime === 'sim' ? 'telling what was found so far' : undefined);
  progress.line(`seed ${seed} · ${flags.control} against ${flags.candidate}, ${pairsInWords(flags, seed)}`);
  const around = { flags, seed, progress, signal };
  const { results, failure, directory } = await (flags.runtime === 'sim'
    ? compareSimulated(around)
    : flags.runtime === undefined
      ? compareTwice(around)
      : compareReal({ ...around, flags: { ...flags, runtime: flags.runtime } }));
  tellVerdict(progress, results);
  const unreported = await tellReport(directory, progress);
  progress.line(`again   ${results.command}`);
  progress.line(`seed ${seed}`);
  if (flags.json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
  // The verdict stands without a report; what went wrong first is what the command ends with.
  if (failure !== null) throw failure;
  if (unreported !== null) throw unreported.error;
  return exitCodeOfComparison(results);
}

/** Brokers that others wrote cannot be simulated, so there is one part only. */
async function onlyInContainers(flags: CompareFlags, command: Command): Promise<CompareFlags> {
  const builds = [flags.control, flags.candidate];
  demandContainers(flags, builds);
  return { ...(await besideForeign(flags, command, builds)), runtime: 'docker' };
}

/** Both configurations are checked before anything is started, for every runtime that is to run them. */
function checkBefore(flags: CompareFlags, seed: number): void {
  const runtimes = flags.runtime === undefined ? (['sim', 'local'] as const) : [flags.runtime];
  for (const runtime of runtimes) {
    for (const build of [flags.control, flags.candidate]) runConfigFrom(flags, build, seed, runtime);
  }
}

function pairsInWords({ runtime, testCount, simTestCount, shard }: CompareFlags, seed: number): string {
  const told = (pairs: number): string =>
    shard === undefined
      ? counted(pairs, 'pair')
      : `${seedsOfShard(seedsFrom(seed, pairs), shard).length} of ${counted(pairs, 'pair')}`;
  const ofShard = shard === undefined ? '' : `shard ${shard.index} of ${shard.count}: `;
  if (runtime === 'sim') return ofShard + told(testCount ?? SIMULATED_PAIRS);
  const real = told(testCount ?? REAL_PAIRS);
  return ofShard + (runtime === undefined ? `${told(simTestCount)} in the simulator, then ${real}` : real);
}

interface Around<Flags = CompareFlags> {
  readonly flags: Flags;
  readonly seed: number;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

interface Compared extends ComparisonOutcome {
  readonly directory: string;
}

function compareSimulated(around: Around): Promise<Compared> {
  const { flags } = around;
  return simulatedPart(around, newFolder(flags), flags.testCount ?? SIMULATED_PAIRS, commandOf(around, 'sim'));
}

async function compareReal(
  around: Around<CompareFlags & { readonly runtime?: 'local' | 'docker' }>,
): Promise<Compared> {
  const runtime = await chosenRuntime(around);
  return realPart(around, runtime, newFolder(around.flags), commandOf(around, runtime.name));
}

/** The simulator for the numbers, then real processes: two comparisons in one document. */
async function compareTwice(around: Around): Promise<Compared> {
  const { flags } = around;
  const command = commandOf(around, null);
  const directory = newFolder(flags);
  const primary = await simulatedPart(around, directory, flags.simTestCount, command);
  if (primary.failure !== null) return primary;
  const { joinComparisons, REALISM_FOLDER } = await import('../compare/two-parts.ts');
  const realism = join(directory, REALISM_FOLDER);
  try {
    mkdirSync(realism);
  } catch (error) {
    return { ...primary, failure: environmentErrorFrom(error, `cannot make ${realism}`) };
  }
  // The runtime is looked for only now: the first part needs none, and its figures stand whatever this one does.
  const runtime = await chosenRuntime({ ...around, flags: { ...flags, runtime: undefined } });
  const second = await realPart(around, runtime, realism, commandOf(around, runtime.name));
  const results = joinComparisons(primary.results, second.results, command);
  let { failure } = second;
  try {
    writeJson(join(directory, 'results.json'), results);
  } catch (error) {
    failure ??= environmentErrorFrom(error, 'cannot write the results');
  }
  return { results, failure, directory };
}

async function simulatedPart(around: Around, directory: string, pairs: number, command: string): Promise<Compared> {
  const { flags, seed, progress, signal } = around;
  const { runSimulatedComparison } = await import('../compare/simulated.ts');
  const outcome = await runSimulatedComparison({
    control: flags.control,
    candidate: flags.candidate,
    seeds: seedsFrom(seed, pairs),
    shard: flags.shard,
    configure: (build, runSeed) => runConfigFrom(flags, build, runSeed, 'sim'),
    directory,
    command,
    commandOfRun,
    progress,
    signal,
  });
  return { ...outcome, directory };
}

type Runtime = Awaited<ReturnType<typeof chosenRuntime>>;

async function chosenRuntime({
  flags,
  progress,
}: Around<Omit<CompareFlags, 'runtime'> & { readonly runtime?: 'local' | 'docker' | undefined }>) {
  const { chooseRuntime } = await import('../run/runtimes.ts');
  const { control, candidate, nodes: brokers, description } = flags;
  const runtime = await chooseRuntime(flags.runtime, { builds: [control, candidate], brokers, description });
  progress.line(runtime.reason);
  return runtime;
}

async function realPart(around: Around, runtime: Runtime, directory: string, command: string): Promise<Compared> {
  const { flags, seed, progress, signal } = around;
  const { runComparison } = await import('../compare/compare.ts');
  const { releaseRuntime } = await import('../run/runtimes.ts');
  const outcome = await runComparison({
    control: flags.control,
    candidate: flags.candidate,
    seeds: seedsFrom(seed, flags.testCount ?? REAL_PAIRS),
    shard: flags.shard,
    configure: (build, runSeed) => runConfigFrom(flags, build, runSeed, runtime.name),
    runtime,
    directory,
    command,
    commandOfRun,
    progress,
    signal,
  });
  const left = await releaseRuntime(runtime);
  return { results: outcome.results, failure: outcome.failure ?? left, directory };
}

function newFolder({ store }: CompareFlags): string {
  const directory = createStoreDirectory(store, 'compare', new Date());
  pointLatest(store, directory);
  return directory;
}

/** The command that repeats it; without a runtime it is the whole of two parts. */
function commandOf({ flags, seed }: Around, runtime: RunConfig['runtime'] | null): string {
  const { control, candidate, testCount, simTestCount, shard } = flags;
  const [, ...others] = flagsOf(runConfigFrom(flags, control, seed, runtime ?? 'local')).map((flag) =>
    // What all kinds of fault are differs between the two parts.
    runtime === null && flags.nemesis === 'all' && flag.startsWith('--nemesis ') ? '--nemesis all' : flag,
  );
  return [
    `npm start -- --seed ${seed}`,
    ...(control === 'hw' ? [] : [`--control ${control}`]),
    ...(candidate === 'epoch' ? [] : [`--candidate ${candidate}`]),
    ...(testCount === undefined || (testCount === REAL_PAIRS && runtime !== 'sim')
      ? []
      : [`--test-count ${testCount}`]),
    ...(runtime === null && simTestCount !== SIMULATED_PAIRS ? [`--sim-test-count ${simTestCount}`] : []),
    ...(shard === undefined ? [] : [`--shard ${shard.index}/${shard.count}`]),
    ...(runtime === null ? [] : [`--runtime ${runtime}`]),
    ...others,
    // Of the candidate alone, and not among the flags of the control.
    ...(flags.description === undefined || isDescribed(control) ? [] : [`--description ${flags.description}`]),
  ].join(' ');
}

/** The command that shows one run again. */
export function commandOfRun(config: RunConfig): string {
  const { build, seed, patience, notAwaited = [] } = config;
  return [
    `npm run tidemark -- run --build ${build} --seed ${seed}`,
    ...(patience === undefined || isForeignBuild(build) ? [] : ['--beside-foreign']),
    // A comparison finds that out for itself, from both of its targets.
    ...(notAwaited.length === 0 ? [] : [`--not-awaited ${notAwaited.join(',')}`]),
    ...flagsOf(config),
  ].join(' ');
}
