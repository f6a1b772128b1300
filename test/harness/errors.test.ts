import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  EnvironmentError,
  UsageError,
  environmentErrorFrom,
  errorCode,
  exitCodes,
  isSystemError,
} from '../../harness/errors.ts';

/** An error as the operating system reports it. */
function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: it was refused\n    in more than one line`), { code, errno: -1 });
}

describe('an error of the operating system', () => {
  it.each([
    ['ENOSPC', 'the disk is full'],
    ['EROFS', 'the file system is read-only'],
    ['EACCES', 'permission denied'],
    ['EADDRINUSE', 'the port is in use: stop the program that has it'],
    ['EMFILE', 'ulimit -n'],
  ])('%s becomes one line that says what, where and the remedy', (code, remedy) => {
    const error = environmentErrorFrom(systemError(code), 'cannot write store/x');
    expect(error).toBeInstanceOf(EnvironmentError);
    expect(error.message).toMatch(new RegExp(`^cannot write store/x: ${code}, `));
    expect(error.message).toContain(remedy);
    expect(error.message).not.toContain('\n');
  });

  it('that has no remedy keeps the first line of its own words', () => {
    expect(environmentErrorFrom(systemError('EIO'), 'cannot read x').message).toBe(
      'cannot read x: EIO: it was refused',
    );
  });

  it('is told from a mistake of ours', () => {
    expect(isSystemError(systemError('EIO'))).toBe(true);
    for (const other of [new TypeError('x is not a function'), { code: 'ERR_X' }, null, 'EIO']) {
      expect(isSystemError(other)).toBe(false);
    }
  });
});

describe('an error', () => {
  it('that is clear already is passed on as it is', () => {
    const clear = new EnvironmentError('the engine went away');
    expect(environmentErrorFrom(clear, 'the run failed')).toBe(clear);
  });

  it('keeps its cause for those who look deeper', () => {
    const cause = systemError('EIO');
    expect(environmentErrorFrom(cause, 'x').cause).toBe(cause);
    expect(environmentErrorFrom('just words', 'x').message).toBe('x: just words');
  });

  it('has a code only if it is text', () => {
    expect([errorCode(systemError('EIO')), errorCode({ code: 5 }), errorCode(undefined)]).toEqual([
      'EIO',
      undefined,
      undefined,
    ]);
  });

  it('of usage is none of the environment', () => {
    expect(new UsageError('x')).not.toBeInstanceOf(EnvironmentError);
  });
});

describe('exit codes', () => {
  it('are those of docs/exit-codes.md, each with one meaning', () => {
    const documented = [...readFileSync('docs/exit-codes.md', 'utf8').matchAll(/^\| (\d+) \|/gm)].map((row) =>
      Number(row[1]),
    );
    expect(Object.values(exitCodes)).toEqual(documented);
    expect(new Set(documented).size).toBe(documented.length);
  });
});
