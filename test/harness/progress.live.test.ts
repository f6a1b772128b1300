/** What a person sees of a long task, on a terminal and off it. */
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

const program = `
  import { createProgress, paint } from './harness/progress.ts';
  const progress = createProgress(process.argv[1] === 'quiet');
  progress.step('deploying');
  progress.detail('1 of 3 s');
  progress.line('seed 7');
  progress.step('x'.repeat(500));
  progress.line(paint('good', 'valid'));
`;

/** Runs the program by a shell command in which `$NODE` stands for it. */
function show(command: string, env: Readonly<Record<string, string>> = {}): ReturnType<typeof run> {
  return run(command, env);
}

function run(command: string, env: Readonly<Record<string, string>>) {
  // What a terminal wants is asked, not what the one wants that runs the tests; under CI Node takes none for colourful.
  const { NO_COLOR: _no, FORCE_COLOR: _force, CI: _ci, ...rest } = process.env;
  const script = command.replaceAll('$NODE', `'${process.execPath}' --input-type=module -e "$PROGRAM"`);
  return spawnSync('bash', ['-c', script], { encoding: 'utf8', env: { ...rest, ...env, PROGRAM: program } });
}

describe('progress', () => {
  it('off a terminal is one plain line per step on standard error, and nothing on standard output', () => {
    const { stdout, stderr, status } = show('$NODE');
    expect(stderr).toBe(`deploying\nseed 7\n${'x'.repeat(500)}\nvalid\n`);
    expect([stdout, status]).toEqual(['', 0]);
  });

  it('when quiet shows only lines that stay', () => {
    expect(show('$NODE quiet').stderr).toBe('seed 7\nvalid\n');
  });

  it('does not take the task down when nobody is there to read it', () => {
    expect(show('$NODE 2>&-').status).toBe(0);
    expect(show('{ $NODE 2>&1 >/dev/null; echo "$?" >&3; } 3>&2 | true').stderr).toBe('0\n');
  });

  const script = spawnSync('script', ['--version']).status === 0;
  it.skipIf(!script)('on a terminal rewrites one line that fits, and colours a verdict', () => {
    const { stdout } = show(`script -qec '$NODE' /dev/null`.replace("'$NODE'", '"stty cols 40; $SHOW"'), {
      SHOW: `'${process.execPath}' --input-type=module -e "$PROGRAM"`,
      TERM: 'xterm-256color',
    });
    const seen = stdout.replaceAll('\r\n', '\n');
    expect(seen).toContain('\r\u001B[2Kdeploying · 1 of 3 s\r\u001B[2Kseed 7\n');
    expect(seen).toContain(`${'x'.repeat(39)}\r`);
    expect(seen).not.toContain('x'.repeat(40));
    expect(seen).toContain('\u001B[32mvalid\u001B[39m');
  });
});
