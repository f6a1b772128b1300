/**
 * A simulation is the same on every machine and under every version of Node: what a few of them leave is stored here as
 * checksums, so that every Node that runs the tests is held to them. Whatever changes what a run does, or what is said of
 * it, changes them too, and is rewritten with `npm run golden`.
 */
import { createHash } from 'node:crypto';
import { describe, it } from 'vitest';
import { checkSimulation } from '../../../harness/run/simulated-run.ts';
import { simulate } from '../../../harness/sim/simulate.ts';
import { expectGolden } from '../../golden.ts';
import { requestFor } from './requests.ts';

function checksum(values: readonly unknown[]): string {
  const hash = createHash('sha256');
  for (const value of values) hash.update(`${JSON.stringify(value)}\n`);
  return hash.digest('hex').slice(0, 16);
}

describe('simulated runs', () => {
  it('leave the same history, trace and results on every machine and every Node', () => {
    const lines = [['build  seed', 'events', 'history', 'trace', 'results'].join('  ')];
    for (const build of ['hw', 'epoch']) {
      for (const seed of [1, 2, 3]) {
        const request = requestFor(build, seed);
        const run = simulate(request);
        const results = checkSimulation(run, request);
        const sums = [run.hash, checksum(run.history), checksum([...run.trace]), checksum([results])];
        lines.push([build.padEnd(6), String(seed), ...sums].join('  '));
      }
    }
    expectGolden('test/golden/simulated-runs.txt', `${lines.join('\n')}\n`);
  }, 60_000);
});
