/**
 * `tidemark replay DIR`: a stored run's schedule again, on any build and any runtime.
 */
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { Option, type Command } from 'commander';
import type { Fault, FaultKind } from '../../nemesis/schedule.ts';
import type { RunReport } from '../run/run.ts';
import { InterruptedError, UsageError, exitCodeOfVerdict, exitCodes } from '../errors.ts';
import { capabilitiesOf } from './beside-foreign.ts';
import { isForeignBuild } from '../foreign-build.ts';
import { whyBeyondTarget } from '../run/beyond-target.ts';
import { faultKindsOf } from '../plan/config.ts';
import type { RunConfig } from '../plan/config.ts';
import { createProgress } from '../progress.ts';
import type { Progress } from '../progress.ts';
import { buildInWords, counted } from '../report/words.ts';
import type { StoredPlan } from '../shrink/stored-plan.ts';
import { shownPath } from '../shown-path.ts';
import { createStoreDirectory, pointLatest } from '../store.ts';
import { onInterrupt } from './interrupt.ts';
import { givenUp, givingUp } from './run-simulated.ts';
import { sayResults } from './run.ts';

interface ReplayFlags {
  readonly build?: string;
  readonly runtime?: RunConfig['runtime'];
  readonly resolved: boolean;
  readonly store: string;
  readonly json: boolean;
}

export function registerReplay(program: Command): void {
  program
    .command('replay')
    .argument(
      '<dir>',
      'folder of a run, of a run in a comparison, or of a find; or a file with a configuration and a schedule',
    )
    .description('play a stored run’s schedule again, on any build and any runtime')
    .option('--build <build>', 'build of all brokers, or of each: 1=hw,2-3=epoch (default: as stored)')
    .addOption(
      new Option('--runtime <runtime>', 'where brokers run (default: as stored)').choices(['sim', 'local', 'docker']),
    )
    .option('--resolved', 'break the nodes that each role was in the stored run, whoever has the role now', false)
    .option('--store <dir>', 'where runs are kept', 'store')
    .option('--json', 'print the results as JSON on standard output', false)
    .action(async (path: string, flags: ReplayFlags) => {
      process.exitCode = await replay(path, flags);
    });
}

async function replay(path: string, flags: ReplayFlags): Promise<number> {
  const plan = await wantedPlan(path, flags);
  const { config, schedule } = plan;
  const progress = createProgress();
  progress.line(
    `seed ${config.seed} · ${buildInWords(config.build, config.defects)} · ${counted(schedule.faults.length, 'fault')} of ${shownPath(path)}`,
  );
  /* Not by the name of a link: the newest run is this one from now on. */
  const folder = shownPath(realpathSync(path));
  const command = [
    `npm run tidemark -- replay ${folder}`,
    ...(flags.build === undefined ? [] : [`--build ${flags.build}`]),
    `--runtime ${config.runtime}`,
    ...(flags.resolved ? ['--resolved'] : []),
  ].join(' ');
  const directory = createStoreDirectory(flags.store, 'replay', new Date());
  if (config.runtime !== 'sim') pointLatest(flags.store, directory);
  const signal = onInterrupt(progress, config.runtime === 'sim' ? givingUp : undefined);
  const place = { directory, command, progress, signal };
  const report = await (config.runtime === 'sim' ? inSimulator : onMachines)(plan, place);
  if (report === null) throw givenUp(directory, progress, config.seed);
  const { results, error } = report;
  if (config.runtime === 'sim' && existsSync(join(directory, 'results.json'))) pointLatest(flags.store, directory);
  if (results !== null) {
    sayResults(results, progress.line);
    const report = join(directory, 'report.html');
    if (existsSync(report)) progress.line(`report  ${shownPath(report)}`);
    progress.line(`again   ${command}`);
    if (flags.json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
  }
  progress.line(`seed ${config.seed}`);
  if (error !== null) throw error;
  if (signal.aborted) throw new InterruptedError();
  return results === null ? exitCodes.environment : exitCodeOfVerdict(results.valid);
}

/** What is to be played, every word of it checked. */
async function wantedPlan(path: string, flags: ReplayFlags): Promise<StoredPlan> {
  const { planOn, readStoredPlan, resolvedPlan } = await import('../shrink/stored-plan.ts');
  const stored = readStoredPlan(path);
  const plan = planOn(stored, flags.build, flags.runtime ?? stored.config.runtime);
  const able = faultKindsOf[plan.config.runtime];
  const strange = plan.schedule.faults.find((fault) => !canBePlayed(fault, able));
  if (strange !== undefined) {
    throw new UsageError(
      `${path}: its fault ${strange.id} is ${strange.kind}, which runtime ${plan.config.runtime} cannot do; use --runtime sim`,
    );
  }
  const { build, brokers: nodes, description } = plan.config;
  if (isForeignBuild(build)) {
    const capabilities = await capabilitiesOf(build, { nodes, ...(description === undefined ? {} : { description }) });
    const why = whyBeyondTarget(plan.schedule, build, capabilities);
    if (why !== null) throw new UsageError(`${path}: ${why}`);
  }
  return flags.resolved ? resolvedPlan(plan, path) : plan;
}

/** A script is played everywhere, as far as each of its steps is. */
function canBePlayed(fault: Fault, able: readonly FaultKind[]): boolean {
  if (fault.kind !== 'script') return able.includes(fault.kind);
  return able.includes('slow-links') || fault.steps.every(({ step }) => step !== 'slow');
}

interface Place {
  readonly directory: string;
  readonly command: string;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** Null if it was interrupted before it was over. */
async function inSimulator(request: StoredPlan, place: Place): Promise<RunReport | null> {
  const { directory, command, progress, signal } = place;
  const { executeInterruptibly } = await import('../run/simulated-run.ts');
  const { writeRunReport } = await import('../report/run.ts');
  progress.step('simulating');
  const name = nameOf(request);
  const wanted = { request, name, command, directory, keep: () => true, report: writeRunReport };
  return executeInterruptibly(wanted, signal);
}

async function onMachines(plan: StoredPlan, { directory, command, progress, signal }: Place): Promise<RunReport> {
  const { chooseRuntime, releaseRuntime } = await import('../run/runtimes.ts');
  const { executeRun } = await import('../run/run.ts');
  const { build, brokers, description } = plan.config;
  const runtime = await chooseRuntime(plan.config.runtime === 'sim' ? undefined : plan.config.runtime, {
    builds: [build],
    brokers,
    description,
  });
  progress.line(runtime.reason);
  const report = await executeRun({ ...plan, runtime, directory, name: nameOf(plan), command, progress, signal });
  const residue = await releaseRuntime(runtime);
  return { ...report, error: report.error ?? residue };
}

function nameOf({ config }: StoredPlan): string {
  return `${config.build}-${config.seed}`;
}
