/**
 * Which outside tools the tests can use here.
 *
 * On a user's machine a missing tool skips its tests with one clear line. In CI `TIDEMARK_REQUIRE=docker,kcat,chromium,kafka`
 * turns the same absence into a failure, so that nothing goes untested unseen.
 */
import { spawnSync } from 'node:child_process';
import { cachedKafka } from '../docker/targets/kafka-cache.ts';

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
  /** An engine, and two releases of Kafka in the cache: one of ZooKeeper's time, one of KRaft's. */
  get kafka(): boolean {
    return memo('kafka', () => have.docker && fetched('0.10.2.2', '4.4.0'));
  },
  get chromium(): boolean {
    return memo('chromium', () => present('chromium', 'chromium', ['--version']));
  },
};

function fetched(...releases: readonly string[]): boolean {
  const missing = releases.filter((release) => cachedKafka(release) === null).map((release) => `kafka:${release}`);
  if (missing.length === 0) return true;
  const line = `${missing.join(' and ')} not fetched: type \`npm run tidemark -- fetch ${missing.join(' ')}\``;
  if (required.has('kafka')) throw new Error(`TIDEMARK_REQUIRE names kafka, but ${line}`);
  process.stderr.write(`skipping the tests that need kafka: ${line}\n`);
  return false;
}

const answers = new Map<string, boolean>();

function memo(name: string, probe: () => boolean): boolean {
  let answer = answers.get(name);
  if (answer === undefined) {
    answer = probe();
    answers.set(name, answer);
  }
  return answer;
}
