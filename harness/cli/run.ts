/**
 * `tidemark run`: one test of one build, from deployment to report.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { RunResults } from '../../checker/results.ts';
import type { Cluster } from '../../nemesis/ports.ts';
import { UsageError, exitCodeOfVerdict, exitCodes } from '../errors.ts';
import { createProgress, paint, type Progress } from '../progress.ts';
import { buildInWords, counted } from '../report/words.ts';
import { shownPath } from '../shown-path.ts';
import { createStoreDirectory, pointLatest } from '../store.ts';
import { commandOfRun } from './compare.ts';
import { onInterrupt, untilAborted } from './interrupt.ts';
import { bootstrapOf } from '../run/node-command.ts';
import { isForeignBuild } from '../foreign-build.ts';
import { addBesideForeignOptions, besideForeign, demandContainers } from './beside-foreign.ts';
import { addRunOptions, drawSeed, runConfigFrom } from './options.ts';
import type { SimulatedRunFlags } from './run-simulated.ts';

type SingleRunFlags = SimulatedRunFlags;

export function registerRun(program: Command): void {
  const command = program
    .command('run')
    .description('run one test of one build: deploy, load, break, heal, settle, read back, check, report')
    .option(
      '--build <build>',
      'build of all brokers, or of each: 1=hw,2-3=epoch; kafka:<version>, image:<ref>',
      'epoch',
    );
  addRunOptions(command)
    .option('--leave-db-running', 'keep the cluster after the test, until Ctrl-C', false)
    .option('--codec', 'simulator: encode and decode every message as on a real wire', false)
    .option(
      '--check-determinism',
      'simulator: run twice, compare everything, and exit with 4 if anything differs',
      false,
    );
  addBesideForeignOptions(command).action(async (flags: SingleRunFlags) => {
    const foreign = isForeignBuild(flags.build) || flags.besideForeign === true;
    process.exitCode = await run(foreign ? await besideForeign(flags, command, [flags.build]) : flags);
  });
}

async function run(flags: SingleRunFlags): Promise<number> {
  const seed = flags.seed ?? drawSeed();
  checkSimulatorFlags(flags);
  demandContainers(flags, [flags.build]);
  runConfigFrom(flags, flags.build, seed, flags.runtime ?? (flags.besideForeign === true ? 'docker' : 'local'));
  const progress = createProgress();
  progress.line(`seed ${seed} · ${buildInWords(flags.build, flags.defect)}`);
  if (flags.runtime === 'sim') {
    const { runSimulated } = await import('./run-simulated.ts');
    return runSimulated(flags, seed, progress, sayResults);
  }
  const signal = onInterrupt(progress);
  const { chooseRuntime } = await import('../run/runtimes.ts');
  const { nodes: brokers, description } = flags;
  const runtime = await chooseRuntime(flags.runtime, { builds: [flags.build], brokers, description });
  progress.line(runtime.reason);
  const directory = createStoreDirectory(flags.store, 'run', new Date());
  pointLatest(flags.store, directory);
  const config = runConfigFrom(flags, flags.build, seed, runtime.name);
  const command = commandOfRun(config);
  const { executeRun } = await import('../run/run.ts');
  const { releaseRuntime } = await import('../run/runtimes.ts');
  const report = await executeRun({
    config,
    runtime,
    directory,
    name: `${flags.build}-${seed}`,
    command,
    progress,
    signal,
    ...(flags.leaveDbRunning ? { keep: (cluster) => keepUntilInterrupted(cluster, progress, signal) } : {}),
  });
  const { results } = report;
  const error = report.error ?? (await releaseRuntime(runtime));
  if (results !== null) {
    sayResults(results, progress.line);
    const report = join(directory, 'report.html');
    if (existsSync(report)) progress.line(`report  ${shownPath(report)}`);
    progress.line(`again   ${command}`);
    if (flags.json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
  }
  progress.line(`seed ${seed}`);
  if (error !== null) throw error;
  return results === null ? exitCodes.environment : exitCodeOfVerdict(results.valid);
}

/** Flags that mean something in the simulator only, or nothing there. */
function checkSimulatorFlags({ runtime, codec, checkDeterminism, leaveDbRunning }: SingleRunFlags): void {
  const needsSimulator = codec ? '--codec' : checkDeterminism ? '--check-determinism' : null;
  if (needsSimulator !== null && runtime !== 'sim') {
    throw new UsageError(`${needsSimulator} is for the simulator: add --runtime sim`);
  }
  if (runtime === 'sim' && leaveDbRunning === true) {
    throw new UsageError('--leave-db-running: nothing runs after a simulation; leave it out, or use --runtime local');
  }
}

/** `--leave-db-running`: the cluster stays for a look, and goes with Ctrl-C, so that it can never be forgotten. */
async function keepUntilInterrupted(cluster: Cluster, progress: Progress, signal: AbortSignal): Promise<void> {
  progress.line(`the cluster stays up at ${bootstrapOf(cluster)}; Ctrl-C removes it, and then the run is checked`);
  await untilAborted(signal);
}

/** The anomalies and the verdict of one run, for a terminal. */
export function sayResults(results: RunResults, line: (text: string) => void): void {
  for (const [kind, most] of [
    ['violation', 20],
    ['expected', 3],
  ] as const) {
    const found = results.anomalies.filter((anomaly) => anomaly.class === kind);
    const mood = kind === 'violation' ? 'bad' : 'unsure';
    for (const anomaly of found.slice(0, most)) {
      line(`${paint(mood, `${anomaly.kind} (${kind})`)} ${anomaly.summary}`);
    }
    if (found.length > most) line(`… and ${found.length - most} more (${kind}): see the report`);
  }
  for (const note of results.notes) line(`note: ${note}`);
  const exposures = exposuresInWords(results);
  const violations = results.anomalies.filter((anomaly) => anomaly.class === 'violation').length;
  if (results.valid === true) line(paint('good', `valid: no promise was broken (${exposures})`));
  else if (results.valid === false) line(paint('bad', `not valid: ${counted(violations, 'violation')} (${exposures})`));
  else line(paint('unsure', `unknown: the evidence does not suffice for a verdict (${exposures})`));
}

/** A run that was spared the dangerous moment proves little, so its verdict says so. */
function exposuresInWords({ exposures }: RunResults): string {
  if (exposures === null) return 'exposures unknown';
  return exposures.length === 0
    ? '0 exposures: the high watermark flaw was not exercised'
    : counted(exposures.length, 'exposure');
}
