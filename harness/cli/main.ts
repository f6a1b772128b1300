/**
 * The command line: one file per command beside this one, and one place where errors become exit codes.
 *
 * A command's action returns its exit code; it throws UsageError (254), EnvironmentError (255) or InterruptedError
 * (130). Anything else is a programmer error and is shown with its stack; it exits with 255 too, wherever it was thrown,
 * since Node's own 1 would be an anomaly. Heavy modules are imported by the actions, so that `--help` is instant.
 */
import { Command, CommanderError } from 'commander';
import project from '../../package.json' with { type: 'json' };
import {
  EnvironmentError,
  InterruptedError,
  UsageError,
  environmentErrorFrom,
  errorCode,
  exitCodes,
  isSystemError,
} from '../errors.ts';
import { registerBundle } from './bundle.ts';
import { registerCheck } from './check.ts';
import { registerCompare } from './compare.ts';
import { registerDoctor } from './doctor.ts';
import { registerExplore } from './explore.ts';
import { registerFetch } from './fetch.ts';
import { registerGc } from './gc.ts';
import { registerMergeReports } from './merge-reports.ts';
import { registerNightly } from './nightly.ts';
import { registerReplay } from './replay.ts';
import { registerReport } from './report.ts';
import { registerRun } from './run.ts';
import { printable } from '../printable.ts';
import { registerScenario } from './scenario.ts';
import { registerServe } from './serve.ts';
import { registerShow } from './show.ts';
import { registerShrink } from './shrink.ts';
import { registerUp } from './up.ts';
import { registerVerifyLogs } from './verify-logs.ts';

/** Runs one command line and ends the process with its exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('tidemark')
    .description('Proves, or disproves, that a replicated log keeps its word.')
    .version(project.version, '-V, --version', 'display the version')
    .showHelpAfterError('(--help shows the flags)')
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'tidemark: ')) });
  for (const register of [
    registerCompare,
    registerRun,
    registerUp,
    registerExplore,
    registerCheck,
    registerScenario,
    registerReplay,
    registerShrink,
    registerShow,
    registerVerifyLogs,
    registerNightly,
    registerReport,
    registerMergeReports,
    registerServe,
    registerBundle,
    registerFetch,
    registerDoctor,
    registerGc,
  ]) {
    register(program);
  }
  // From a callback. The watchdogs of a run see the end of this process and clean up.
  process.on('uncaughtException', (error) => process.exit(exitCodeOf(error)));
  process.stdout.on('error', (error) => {
    // A reader who has gone, as `head` does, has seen enough; anything else has lost a verdict.
    if (errorCode(error) !== 'EPIPE') throw new EnvironmentError(`cannot write to standard output: ${error.message}`);
  });
  for (const command of program.commands) command.exitOverride().copyInheritedSettings(program);
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    process.exitCode = exitCodeOf(error);
  }
  await new Promise((resolve) => process.stdout.write('', resolve));
  // What is still open now (an idle keep-alive socket of the engine, say) may not keep a finished command from ending.
  process.exit();
}

/** Says what went wrong in one line, and which exit code that is. */
function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.valid : exitCodes.badArguments;
  if (error instanceof InterruptedError) return exitCodes.interrupted;
  if (error instanceof UsageError) return complain(error.message, exitCodes.badArguments);
  if (error instanceof EnvironmentError) return complain(error.message, exitCodes.environment);
  if (isSystemError(error))
    return complain(environmentErrorFrom(error, 'the system refused').message, exitCodes.environment);
  console.error(error);
  return exitCodes.environment;
}

function complain(message: string, code: number): number {
  console.error(`tidemark: ${printable(message)}`);
  return code;
}
