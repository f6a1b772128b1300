import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { proveHealed, settle } from '../../../harness/run/settle.ts';
import { recordTrace, type TraceLog } from '../../../harness/run/trace-log.ts';
import type { LinkProbe } from '../../../nemesis/ports.ts';
import { unrest } from '../../../nemesis/rest.ts';
import { paperCluster, type PaperCluster } from './paper-cluster.ts';

let directory: string;
let cluster: PaperCluster;
let trace: TraceLog;
const forever = new AbortController().signal;
const partition = 'tide-0';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tidemark-settle-'));
  cluster = paperCluster();
  trace = recordTrace(cluster, join(directory, 'trace.jsonl'), [partition], () => {});
});

afterEach(() => {
  trace.close();
  rmSync(directory, { recursive: true });
});

describe('a cluster at rest', () => {
  it('has its whole ISR, all roles taken, all logs and high watermarks at one end', () => {
    cluster.sayAtRest(5);
    expect(unrest(trace.view)).toEqual([]);
  });

  it.each<[string, () => void]>([
    [
      'tide-0 has no leader',
      () => cluster.say('controller', 'election', { partition, leader: null, leaderEpoch: 1, isr: [1] }),
    ],
    [
      'tide-0: the ISR is 1, 3 of 1, 2, 3',
      () => cluster.say('controller', 'isr', { partition, leaderEpoch: 0, to: [1, 3] }),
    ],
    ['broker 2 is fenced', () => cluster.say('controller', 'fence', { broker: 2 })],
    ['tide-0: broker 3 has not taken its role in epoch 0', () => cluster.say(3, 'start')],
    [
      "tide-0: the log of broker 2 ends at 9, the leader's at 5",
      () => cluster.say(2, 'append', { partition, batches: [{ base: 5, last: 8 }] }),
    ],
    [
      'tide-0: the high watermark of broker 3 is 4, the log ends at 5',
      () => cluster.say(3, 'hw', { partition, from: 3, to: 4 }),
    ],
  ])('is not one of which it holds: %s', (reason, happens) => {
    cluster.sayAtRest(5);
    happens();
    expect(unrest(trace.view)).toContain(reason);
  });

  it('is nothing that is concluded from silence', () => {
    expect(unrest(trace.view)).toEqual(['tide-0 does not exist']);
  });
});

describe('settling', () => {
  it('takes until nothing has changed for as long as was asked', async () => {
    cluster.sayAtRest(5);
    const started = performance.now();
    expect(await settle(trace, 60_000, 30, forever)).toEqual({ settled: true, residual: [] });
    expect(performance.now() - started).toBeGreaterThan(20);
  });

  it('starts over with every change, and ends with the first rest that lasts', async () => {
    cluster.sayAtRest(5);
    const settling = settle(trace, 60_000, 40, forever);
    for (const node of [2, 3, 1]) cluster.say(node, 'append', { partition, batches: [{ base: 5, last: 5 }] });
    expect(unrest(trace.view)).not.toEqual([]);
    for (const node of [1, 2, 3]) cluster.say(node, 'hw', { partition, from: 5, to: 6 });
    expect(await settling).toEqual({ settled: true, residual: [] });
  });

  it('gets its whole time again when this process stood still, and only then', async () => {
    cluster.sayAtRest(5);
    cluster.say(3, 'hw', { partition, from: 3, to: 4 });
    const settling = settle(trace, 300, 10, forever);
    // As a SIGSTOP does, or a machine that is starved.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
    // What was read late is seen after the first deadline has passed.
    setTimeout(() => cluster.say(3, 'hw', { partition, from: 4, to: 5 }), 50);
    expect(await settling).toEqual({ settled: true, residual: [] });
  });

  it('that does not come about within its bound says why', async () => {
    cluster.sayAtRest(5);
    cluster.say('controller', 'isr', { partition, leaderEpoch: 0, to: [1, 2] });
    expect(await settle(trace, 20, 10, forever)).toEqual({
      settled: false,
      residual: ['tide-0: the ISR is 1, 2 of 1, 2, 3'],
    });
  });

  it('says of a cluster that never stands still that it kept changing', async () => {
    cluster.sayAtRest(5);
    const settling = settle(trace, 60, 50, forever);
    const restless = setInterval(
      () => cluster.say(1, 'role', { partition, leaderEpoch: 0, role: 'leader', leader: 1, leo: 5, hw: 5 }),
      5,
    );
    expect(await settling).toEqual({ settled: false, residual: ['the replicas kept changing'] });
    clearInterval(restless);
  });

  it('ends at once when it is interrupted', async () => {
    expect(await settle(trace, 60_000, 10, AbortSignal.abort())).toMatchObject({ settled: false });
  });
});

describe('healed', () => {
  const link = (ok: boolean): LinkProbe => ({ from: 1, to: 2, ok, ...(ok ? {} : { error: 'no answer' }) });

  it('means that every link has answered a fresh probe, however often one has to ask', async () => {
    cluster.probes.push([link(false)], [link(false)], [link(true)]);
    expect(await proveHealed(cluster, 60_000, forever)).toEqual([]);
    expect(cluster.probes).toHaveLength(1);
  });

  it('is not said of links that never answer: they are named at the deadline, or at an interrupt', async () => {
    cluster.probes.push([link(true), link(false)]);
    expect(await proveHealed(cluster, 0, forever)).toEqual([link(false)]);
    expect(await proveHealed(cluster, 60_000, AbortSignal.abort())).toEqual([link(false)]);
  });
});
