/** A plan in one file: what stands in it is played, or refused in one line that says where it is. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { UsageError } from '../../../harness/errors.ts';
import { readStoredPlan } from '../../../harness/shrink/stored-plan.ts';
import { requestOf } from './failing.ts';

const { config: configuration, schedule } = requestOf();
const directory = mkdtempSync(join(tmpdir(), 'tidemark-plan-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** The line that refuses a file with that content; without the name of the file. */
function refusal(content: object): string {
  const path = join(directory, 'plan.json');
  writeFileSync(path, JSON.stringify(content));
  try {
    readStoredPlan(path);
  } catch (error) {
    if (error instanceof UsageError) return error.message.replace(`${path}: `, '');
    throw error;
  }
  throw new Error('it was accepted');
}

test('a file with the smallest configuration is a plan: what it leaves out has its default', () => {
  const path = join(directory, 'small.json');
  writeFileSync(path, JSON.stringify({ configuration: { build: 'hw', runtime: 'sim', seed: 5 }, schedule }));
  expect(readStoredPlan(path)).toMatchObject({ config: { build: 'hw', brokers: 3, seed: 5 }, schedule });
});

test.each([
  [{ brokerSessionTimeoutMs: 300 }, 'brokerSessionTimeoutMs 300ms must be at least twice heartbeatIntervalMs 300ms'],
  [{ replicaLagTimeMaxMs: 100 }, 'replicaLagTimeMaxMs 100ms must be at least twice fetchMaxWaitMs 500ms'],
  [{ settleTimeoutMs: 500 }, 'settleTimeoutMs 500ms is less than a healthy cluster may need after a fault: give'],
  [{ ratte: 3 }, 'Unrecognized key: "ratte"'],
])(
  'a cluster with %j would be blamed for its configuration, or not have what was meant: it is refused',
  (odd, line) => {
    const said = refusal({ configuration: { ...configuration, ...odd }, schedule });
    expect(said.slice(0, `configuration: ${line}`.length)).toBe(`configuration: ${line}`);
    expect(said).not.toContain('\n');
  },
);

test('what stands beside the parts of a plan is refused by its name', () => {
  expect(refusal({ configuration, schedule, extra: 1 })).toBe(
    '"extra" is no part of a plan; they are configuration, schedule, load',
  );
});
