/**
 * `tidemark run --runtime sim`: one test of one build in virtual time.
 *
 * Nothing is deployed and nothing has to be healed: an interrupt gives up what is not done, and leaves no empty folder.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { RunResults } from '../../checker/results.ts';
import { InterruptedError, exitCodeOfVerdict, exitCodes } from '../errors.ts';
import { paint, type Progress } from '../progress.ts';
import type { SimulatedRunName } from '../run/simulated-run.ts';
import type { SimulationRequest } from '../sim/simulation.ts';
import { shownPath } from '../shown-path.ts';
import { createStoreDirectory, pointLatest } from '../store.ts';
import { commandOfRun } from './compare.ts';
import { onInterrupt } from './interrupt.ts';
import { runConfigFrom, type RunFlags } from './options.ts';

export interface SimulatedRunFlags extends RunFlags {
  readonly build: string;
  readonly codec: boolean;
  readonly checkDeterminism: boolean;
}

/** Runs it, tells what came of it, and answers with the exit code. */
export async function runSimulated(
  flags: SimulatedRunFlags,
  seed: number,
  progress: Progress,
  sayResults: (results: RunResults, line: (text: string) => void) => void,
): Promise<number> {
  progress.line('brokers run in the simulator, in virtual time');
  const config = runConfigFrom(flags, flags.build, seed, 'sim');
  const signal = onInterrupt(progress, givingUp);
  const { executeInterruptibly, planOf } = await import('../run/simulated-run.ts');
  const { writeRunReport } = await import('../report/run.ts');
  const request = { config, schedule: planOf(config), ...(flags.codec ? { codec: true } : {}) };
  const command = commandOfRun(config) + (flags.codec ? ' --codec' : '');
  const name = `${flags.build}-${seed}`;
  const directory = createStoreDirectory(flags.store, 'run', new Date());
  progress.step('simulating');
  const wanted = {
    request,
    name,
    command,
    directory,
    keep: () => true,
    report: (where: string) => {
      progress.step('writing the report');
      writeRunReport(where);
    },
    onlooker: {
      onSecond: (ms: number) => progress.detail(`${ms / 1000} of ${Math.round(config.timeLimitMs / 1000)} s`),
    },
  };
  const report = await executeInterruptibly(wanted, signal);
  if (report === null) throw givenUp(directory, progress, seed);
  const { results, error, kept } = report;
  if (kept) pointLatest(flags.store, directory);
  if (results !== null) {
    sayResults(results, progress.line);
    if (kept) progress.line(`report  ${shownPath(join(directory, 'report.html'))}`);
    progress.line(`again   ${command}`);
    if (flags.json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
  }
  let difference: string | null = null;
  try {
    if (flags.checkDeterminism) difference = await differenceOf(request, { name, command }, progress, signal);
  } finally {
    progress.line(`seed ${seed}`);
  }
  if (error !== null) throw error;
  if (signal.aborted) throw new InterruptedError();
  if (difference !== null) return exitCodes.notDeterministic;
  return results === null ? exitCodes.environment : exitCodeOfVerdict(results.valid);
}

/** What an interrupt of a simulated run says first. */
export const givingUp = 'what is not done is given up; the seed makes the same run again';

/** Of a run that was interrupted before its end nothing is kept; the last line is its seed. */
export function givenUp(directory: string, progress: Progress, seed: number): InterruptedError {
  progress.line(`seed ${seed}`);
  rmSync(directory, { recursive: true, force: true });
  return new InterruptedError();
}

async function differenceOf(
  request: SimulationRequest,
  name: SimulatedRunName,
  progress: Progress,
  signal: AbortSignal,
): Promise<string | null> {
  progress.step('checking that two runs are the same');
  const { differenceBetweenTwoRuns } = await import('../run/determinism.ts');
  const difference = await differenceBetweenTwoRuns(request, name, signal);
  if (difference === null)
    progress.line(paint('good', 'two runs gave the same events, history, trace, replicas and results'));
  else progress.line(`${paint('bad', 'not deterministic:')} ${difference}`);
  return difference;
}
