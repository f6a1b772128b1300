/** The race behind a small failure: two events of which the run passes when they come the other way round. */
import { expect, it } from 'vitest';
import type { Anomaly } from '../../../checker/results.ts';
import type { Fault } from '../../../nemesis/schedule.ts';
import type { RunConfig } from '../../../harness/plan/config.ts';
import type { Case } from '../../../harness/shrink/case.ts';
import { nearestOrder } from '../../../harness/shrink/order.ts';
import { planLines } from '../../../harness/shrink/tell.ts';
import { judge } from '../../../harness/shrink/trial.ts';
import { requestOf } from './failing.ts';

function caseWith(fault: Fault, sentAtMs: number, overrides: Partial<RunConfig>): Case {
  const request = requestOf({ partitions: 1, concurrency: 1, ...overrides });
  const operation = { f: 'send', key: 'tide-0', value: 1 } as const;
  return {
    ...request,
    schedule: { ...request.schedule, durationMs: request.config.timeLimitMs, faults: [fault] },
    load: { schemaVersion: 1, operations: [{ atMs: sentAtMs, thread: 0, operation }] },
  };
}

function lossOf(failing: Case): Anomaly {
  const loss = [...judge(failing).violations.values()].find(({ kind }) => kind === 'lost-acked-write');
  if (loss === undefined) throw new Error('nothing is lost');
  return loss;
}

function added(failing: Case, passing: Case): string[] {
  const before = planLines(failing);
  return planLines(passing).filter((line) => !before.includes(line));
}

it('hw loses nothing if two brokers end before the fetch comes that lets the leader acknowledge', () => {
  const failing = caseWith(
    { id: 'f1', kind: 'crash', at: { ms: 1_130 }, until: { ms: 1_000 }, targets: { role: 'majority', draw: 540 } },
    1_000,
    { seed: 49, timeLimitMs: 2_200, replicaLagTimeMaxMs: 1_000, fetchMaxWaitMs: 200 },
  );
  const order = nearestOrder(failing, lossOf(failing), () => true);
  if (order === null) throw new Error('no order passes');
  expect(order.change).toMatch(
    /^f1 begins [\d.]+ ms earlier, before the Fetch request from 2 to 1 \(request broker-2\.1#\d+\) comes$/,
  );
  expect(judge(order.passing).results.valid).toBe(true);
  expect(order.passing.load).toBe(failing.load);
  expect(added(failing, order.passing)).toEqual([expect.stringMatching(/^f1 crash .* at [\d.]+ ms, for 1000 ms$/)]);
});

const handover: Fault = {
  id: 'f1',
  kind: 'leader-move',
  at: { ms: 960 },
  until: { await: { seen: 'leads', partition: 'tide-0', node: 'targets' }, deadlineMs: 1_000 },
  partition: 'tide-0',
  targets: { role: 'isr-follower', partition: 'tide-0', draw: 0 },
};
const handedOver = caseWith(handover, 800, { build: 'hw-elect', brokers: 2, replicationFactor: 2, timeLimitMs: 1_400 });

it('one message that comes late, and nothing else, makes it pass', () => {
  const order = nearestOrder(handedOver, lossOf(handedOver), () => true);
  if (order === null) throw new Error('no order passes');
  expect(order.change).toMatch(
    /^the Fetch request from 2 to 1 \(.*\) comes [\d.]+ ms later, after the PartitionStates request from controller to 1 \(.*\) comes$/,
  );
  expect(judge(order.passing).results.valid).toBe(true);
  expect(order.passing.schedule).toBe(handedOver.schedule);
  expect(added(handedOver, order.passing)).toEqual([
    expect.stringMatching(/^request broker-2\.1#\d+ is late by [\d.]+ ms$/),
  ]);
});

it('is not looked for when there is no time', () => {
  expect(nearestOrder(handedOver, lossOf(handedOver), () => false)).toBeNull();
});
