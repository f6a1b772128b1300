/**
 * `tidemark run --runtime sim`: one test of one build in virtual time.
 *
 * Nothing is deployed and nothing has to be removed, so an interrupt may end the process where it is.
 */
import { join } from 'node:path';
import type { RunResults } from '../../checker/results.ts';
import { exitCodeOfVerdict, exitCodes } from '../errors.ts';
import { paint, type Progress } from '../progress.ts';
import type { SimulatedRunName } from '../run/simulated-run.ts';
import type { SimulationRequest } from '../sim/simulation.ts';
import { shownPath } from '../shown-path.ts';
import { createStoreDirectory, pointLatest } from '../store.ts';
import { commandOfRun } from './compare.ts';
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
  const { executeSimulatedRun, planOf } = await import('../run/simulated-run.ts');
  const { writeRunReport } = await import('../report/run.ts');
  const request = { config, schedule: planOf(config), ...(flags.codec ? { codec: true } : {}) };
  const command = commandOfRun(config) + (flags.codec ? ' --codec' : '');
  const name = `${flags.build}-${seed}`;
  const directory = createStoreDirectory(flags.store, 'run', new Date());
  progress.step('simulating');
  const { results, error, kept } = executeSimulatedRun({
    request,
    name,
    command,
    directory,
    keep: () => true,
    report: (where) => {
      progress.step('writing the report');
      writeRunReport(where);
    },
    onlooker: { onSecond: (ms) => progress.detail(`${ms / 1000} of ${Math.round(config.timeLimitMs / 1000)} s`) },
  });
  // Nothing answers an interrupt on the way: whoever comes then still finds the run before.
  if (kept) pointLatest(flags.store, directory);
  if (results !== null) {
    sayResults(results, progress.line);
    if (kept) progress.line(`report  ${shownPath(join(directory, 'report.html'))}`);
    progress.line(`again   ${command}`);
    if (flags.json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
  }
  const difference = flags.checkDeterminism ? await differenceOf(request, { name, command }, progress) : null;
  progress.line(`seed ${seed}`);
  if (error !== null) throw error;
  if (difference !== null) return exitCodes.notDeterministic;
  return results === null ? exitCodes.environment : exitCodeOfVerdict(results.valid);
}

async function differenceOf(
  request: SimulationRequest,
  name: SimulatedRunName,
  progress: Progress,
): Promise<string | null> {
  progress.step('checking that two runs are the same');
  const { differenceBetweenTwoRuns } = await import('../run/determinism.ts');
  const difference = differenceBetweenTwoRuns(request, name);
  if (difference === null)
    progress.line(paint('good', 'two runs gave the same events, history, trace, replicas and results'));
  else progress.line(`${paint('bad', 'not deterministic:')} ${difference}`);
  return difference;
}
