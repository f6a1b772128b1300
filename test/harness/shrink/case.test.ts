/** The edits of a case, and a load that is written out. */
import { describe, expect, it } from 'vitest';
import {
  LEAD_IN_MS,
  closeGap,
  cutAfter,
  cutBefore,
  onlyKey,
  startMsOf,
  turnDraws,
  withBrokers,
  withOperations,
  withThreads,
  withoutIdleThreads,
} from '../../../harness/shrink/case.ts';
import type { Case } from '../../../harness/shrink/case.ts';
import { simulate } from '../../../harness/sim/simulate.ts';
import { caseOf, requestOf } from './failing.ts';

const whole = caseOf();

const sends = (from: Case): string[] =>
  from.load.operations.flatMap(({ operation: each }) => (each.f === 'send' ? [`${each.value} to ${each.key}`] : []));

describe('a load that is written out', () => {
  it('is what clients did: played, it gives the same history until the first thread has done its part', () => {
    const lastMs = new Map(whole.load.operations.map(({ thread, atMs }) => [thread, atMs]));
    const [drawn, written] = [simulate(requestOf()), simulate(whole)].map(({ history, loadStartNs }) => {
      const endNs = (loadStartNs ?? 0) + Math.min(...lastMs.values()) * 1e6;
      return history.filter(({ time }) => time < endNs);
    });
    expect(written?.length).toBeGreaterThan(400);
    expect(written).toEqual(drawn);
  });
});

describe('a case', () => {
  it('that is cut at the end holds nothing that begins later', () => {
    const cut = cutAfter(whole, 4_000);
    expect([cut.schedule.durationMs, cut.config.timeLimitMs]).toEqual([4_000, 4_000]);
    expect(cut.schedule.faults.every((fault) => startMsOf(fault) < 4_000)).toBe(true);
    expect(cut.load.operations.every(({ atMs }) => atMs < 4_000)).toBe(true);
    expect(cut.load.operations.length).toBeGreaterThan(0);
  });

  it('that is cut at the beginning is the rest, earlier, with the keys that threads had been assigned', () => {
    const cut = cutBefore(whole, 6_000);
    const kept = whole.load.operations.filter(({ atMs }) => atMs >= 6_000);
    expect(sends(cut)).toEqual(sends(withOperations(whole, kept)));
    const assigns = cut.load.operations.filter(({ atMs, operation }) => atMs === 0 && operation.f === 'assign');
    expect(assigns).toHaveLength(whole.config.concurrency);
    expect(cut.schedule.durationMs).toBe(6_000 + LEAD_IN_MS);
    const later = whole.schedule.faults.filter((fault) => startMsOf(fault) >= 6_000);
    expect(cut.schedule.faults.map(startMsOf)).toEqual(later.map((fault) => startMsOf(fault) - 6_000 + LEAD_IN_MS));
  });

  it('loses a gap with what was sent in it, and keeps the order of the rest', () => {
    const closed = closeGap(whole, 2_000, 5_000);
    expect(closed.schedule.durationMs).toBe(9_000);
    expect(closed.schedule.faults).toHaveLength(whole.schedule.faults.length);
    const times = closed.load.operations.map(({ atMs }) => atMs);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times.every((ms) => ms <= 9_000)).toBe(true);
  });

  it('of one partition calls it the first, wherever a plan names one', () => {
    const only = onlyKey(whole, 'tide-1');
    expect(only.config.partitions).toBe(1);
    expect(JSON.stringify(only.schedule)).not.toContain('tide-1');
    expect(sends(only)).toEqual(
      sends(whole)
        .filter((send) => send.endsWith('tide-1'))
        .map((send) => send.replace('tide-1', 'tide-0')),
    );
  });

  it('turns every draw among brokers by the same', () => {
    const drawn = { role: 'one', draw: 7 } as const;
    const fault = { id: 'f1', kind: 'crash', at: { ms: 1 }, until: { ms: 1 }, targets: drawn } as const;
    const turned = turnDraws({ ...whole, schedule: { ...whole.schedule, faults: [fault] } }, 2);
    expect(turned.schedule.faults).toMatchObject([{ targets: { draw: 9 } }]);
  });

  it('with fewer brokers has no more replicas than brokers', () => {
    expect(withBrokers(whole, 1).config).toMatchObject({ brokers: 1, replicationFactor: 1, minInsyncReplicas: 1 });
    expect(withBrokers(whole, 2).config).toMatchObject({ brokers: 2, replicationFactor: 2, minInsyncReplicas: 2 });
  });

  it('with fewer threads keeps every operation', () => {
    const fewer = withThreads(whole, 2);
    expect(fewer.load.operations).toHaveLength(whole.load.operations.length);
    expect(new Set(fewer.load.operations.map(({ thread }) => thread))).toEqual(new Set([0, 1]));
    const third = withOperations(
      whole,
      whole.load.operations.filter(({ thread }) => thread === 2),
    );
    const alone = withoutIdleThreads(third);
    expect(alone.config.concurrency).toBe(1);
    expect(alone.load.operations.every(({ thread }) => thread === 0)).toBe(true);
  });
});
