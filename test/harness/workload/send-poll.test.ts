import { describe, expect, it } from 'vitest';
import type { ClientOperation } from '../../../harness/client/operations.ts';
import { createRandom } from '../../../harness/plan/random.ts';
import type { Planned, SendPollConfig } from '../../../harness/workload/send-poll.ts';
import { createSendPoll, defaultSendPoll, nextOperation } from '../../../harness/workload/send-poll.ts';

const keys = Array.from({ length: 8 }, (_, partition) => `tide-${partition}`);
const config: SendPollConfig = { keys, rate: 100, concurrency: 8, ...defaultSendPoll };

/** What a process does when each operation takes no time. */
function planned(process: number, count: number, values = new Map<string, number>(), seed = 42): Planned[] {
  const state = createSendPoll(config, values, createRandom(seed).stream(`workload:${process}`), 0);
  let nowNs = 0;
  return Array.from({ length: count }, () => {
    const next = nextOperation(state, nowNs);
    nowNs = next.dueNs;
    return next;
  });
}

describe('the send-and-poll workload', () => {
  it('is the same for the same seed and process, and another for another', () => {
    expect(planned(3, 200)).toEqual(planned(3, 200));
    expect(planned(3, 200)).not.toEqual(planned(4, 200));
    expect(planned(3, 200)).not.toEqual(planned(3, 200, new Map(), 43));
  });

  it('begins each process with an assignment that says where to start', () => {
    for (let process = 0; process < 20; process += 1) {
      const first = planned(process, 1)[0]?.operation as Extract<ClientOperation, { f: 'assign' }>;
      expect(first.f).toBe('assign');
      expect(first.keys.length).toBeGreaterThan(0);
      expect(['earliest', 'latest']).toContain(first.seek);
    }
  });

  it('sends unique values to every key, counting up over all processes', () => {
    const values = new Map<string, number>();
    const sent = [0, 1, 2].flatMap((process) => planned(process, 1_000, values)).map((each) => each.operation);
    for (const key of keys) {
      const ofKey = sent.flatMap((operation) =>
        operation.f === 'send' && operation.key === key ? [operation.value] : [],
      );
      expect(ofKey.length).toBeGreaterThan(150);
      expect(ofKey).toEqual(ofKey.map((_, index) => index + 1));
    }
  });

  it('mixes sends, polls and a few assignments', () => {
    const count = { send: 0, poll: 0, assign: 0 };
    for (const { operation } of planned(0, 10_000)) count[operation.f] += 1;
    expect(count.send / 10_000).toBeCloseTo(0.59, 1);
    expect(count.poll / 10_000).toBeCloseTo(0.39, 1);
    expect(count.assign).toBeGreaterThan(100);
    expect(count.assign).toBeLessThan(220);
  });

  it('keeps the rate: one operation every concurrency/rate seconds, never before the one before', () => {
    const due = planned(0, 10_000).map((each) => each.dueNs);
    expect(due).toEqual(due.toSorted((a, b) => a - b));
    expect((due.at(-1) ?? 0) / 10_000 / 1e6).toBeCloseTo(80, -1);
  });

  it('does not make up for what was missed while an operation took long', () => {
    const state = createSendPoll(config, new Map(), createRandom(1).stream('workload:0'), 0);
    const late = nextOperation(state, 5e9);
    expect(late.dueNs).toBe(5e9);
    expect(nextOperation(state, 5e9).dueNs).toBeGreaterThan(5e9);
  });

  it('does the same whatever becomes of the operations, but for times and values', () => {
    const slow = createSendPoll(config, new Map([['tide-0', 70]]), createRandom(42).stream('workload:3'), 9e9);
    const shape = ({ operation }: Planned): unknown => (operation.f === 'send' ? operation.key : operation);
    const slowly = Array.from({ length: 200 }, (_, index) => shape(nextOperation(slow, index * 3e9)));
    expect(slowly).toEqual(planned(3, 200).map(shape));
  });
});
