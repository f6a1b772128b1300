/**
 * Which outside tools the tests can use here.
 *
 * On a user's machine a missing tool skips its tests with one clear line. In CI `TIDEMARK_REQUIRE=docker,kcat,chromium`
 * turns the same absence into a failure, so that nothing goes untested unseen.
 */
import { spawnSync } from 'node:child_process';

const required = new Set((process.env['TIDEMARK_REQUIRE'] ?? '').split(',').filter((name) => name !== ''));

function present(name: string, command: string, args: readonly string[]): boolean {
  const probe = spawnSync(command, args, { stdio: 'ignore', timeout: 10_000 });
  if (probe.status === 0) return true;
  if (required.has(name)) throw new Error(`TIDEMARK_REQUIRE names ${name}, but \`${command}\` does not answer here`);
  process.stderr.write(`skipping the tests that need ${name}: \`${command} ${args.join(' ')}\` does not answer here\n`);
  return false;
}

export const have = {
  /** A Docker engine that answers, and the `nft` that its pods need. */
  get docker(): boolean {
    return memo(
      'docker',
      () =>
        present('docker', 'docker', ['version', '--format', '{{.Server.Version}}']) &&
        present('docker', 'nft', ['--version']),
    );
  },
  get kcat(): boolean {
    return memo('kcat', () => present('kcat', 'kcat', ['-V']));
  },
  get chromium(): boolean {
    return memo('chromium', () => present('chromium', 'chromium', ['--version']));
  },
};

const answers = new Map<string, boolean>();

function memo(name: string, probe: () => boolean): boolean {
  let answer = answers.get(name);
  if (answer === undefined) {
    answer = probe();
    answers.set(name, answer);
  }
  return answer;
}
