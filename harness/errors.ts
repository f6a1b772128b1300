/**
 * The two ways in which the harness itself may fail, each with its exit code.
 *
 * A verdict is never an error: anomalies, unknowns and silent controls are results. An error is one clear line that
 * says what, where and the remedy; a stack trace is for programmer errors only, which are not caught here.
 */
import type { Verdict } from '../checker/results.ts';

export const exitCodes = {
  valid: 0,
  anomaly: 1,
  unknown: 2,
  controlSilent: 3,
  notDeterministic: 4,
  interrupted: 130,
  badArguments: 254,
  environment: 255,
} as const;

/** The exit code of a verdict on one run. */
export function exitCodeOfVerdict(valid: Verdict): number {
  return valid === true ? exitCodes.valid : valid === false ? exitCodes.anomaly : exitCodes.unknown;
}

/** What the user asked for cannot be done as asked: exit code 254. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The harness or its surroundings failed: exit code 255. Never reported as an anomaly. */
export class EnvironmentError extends Error {
  override readonly name = 'EnvironmentError';
}

/** The user interrupted: exit code 130, after clean-up. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
  constructor() {
    super('interrupted');
  }
}

const remedies: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full: free some space or choose another place with --store',
  EDQUOT: 'the disk quota is used up: free some space or choose another place with --store',
  EACCES: 'permission denied: choose a place that you may write, with --store',
  EPERM: 'permission denied: choose a place that you may write, with --store',
  EROFS: 'the file system is read-only: choose another place with --store',
  ENOTDIR: 'a part of the path is not a folder: choose another place with --store',
  EEXIST: 'a file of that name is in the way: choose another place with --store',
  EMFILE: 'too many open files: raise the limit with ulimit -n',
  EADDRINUSE: 'the port is in use: stop the program that has it, or try again',
};

/** One line for an error of the operating system at `where`, with its remedy where we know one. */
export function environmentErrorFrom(cause: unknown, doing: string): EnvironmentError {
  if (cause instanceof EnvironmentError) return cause;
  const code = errorCode(cause);
  const remedy = code === undefined ? undefined : remedies[code];
  const text = cause instanceof Error ? cause.message : String(cause);
  const detail = remedy === undefined ? text.split('\n')[0] : `${code}, ${remedy}`;
  return new EnvironmentError(`${doing}: ${detail}`, { cause });
}

/** `ENOSPC` and the like, where the error carries one. */
export function errorCode(cause: unknown): string | undefined {
  if (typeof cause !== 'object' || cause === null || !('code' in cause)) return undefined;
  return typeof cause.code === 'string' ? cause.code : undefined;
}

/** True for errors that the operating system reported (they have an errno), false for our own mistakes. */
export function isSystemError(cause: unknown): boolean {
  return typeof cause === 'object' && cause !== null && 'errno' in cause && errorCode(cause) !== undefined;
}
