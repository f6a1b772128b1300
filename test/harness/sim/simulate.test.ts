import { describe, expect, it } from 'vitest';
import type { FaultRecord, Operation } from '../../../checker/history.ts';
import type { Fault } from '../../../nemesis/schedule.ts';
import { checkSimulation } from '../../../harness/run/simulated-run.ts';
import { simulate } from '../../../harness/sim/simulate.ts';
import type { LoadPlan, Simulation } from '../../../harness/sim/simulation.ts';
import { requestFor, requestWith } from './requests.ts';

/** Everything that a simulation leaves, as one text. */
function textOf({ history, trace, replicas, facts, hash, events, virtualNs }: Simulation): string {
  const files = replicas.map(({ segments, ...rest }) => ({
    ...rest,
    segments: segments.map(({ baseOffset, bytes }) => [baseOffset, Buffer.from(bytes).toString('base64')]),
  }));
  return JSON.stringify({ history, trace: [...trace], files, facts, hash, events, virtualNs });
}

function ofClients({ history }: Simulation): readonly Operation[] {
  return history.filter(({ process }) => process !== 'nemesis');
}

function endOf({ history }: Simulation, fault: string): FaultRecord {
  const records = history.filter(({ process }) => process === 'nemesis').map(({ value }) => value as FaultRecord);
  const end = records.find((record) => record.fault === fault && record.phase === 'end');
  if (end === undefined) throw new Error(`the history tells no end of ${fault}`);
  return end;
}

describe('a simulation', () => {
  it('is a function of its request, to the byte', () => {
    expect(textOf(simulate(requestFor('hw', 11)))).toBe(textOf(simulate(requestFor('hw', 11))));
  });

  it('is another one under another seed', () => {
    const [one, other] = [simulate(requestFor('epoch', 1)), simulate(requestFor('epoch', 2))];
    expect(one.hash).not.toBe(other.hash);
    expect(JSON.stringify(one.history)).not.toBe(JSON.stringify(other.history));
  });

  it('gives the same run when every message goes through the codec', () => {
    const request = requestFor('hw', 5);
    expect(textOf(simulate({ ...request, codec: true }))).toBe(textOf(simulate(request)));
  });

  it('does not care who looks on', () => {
    const request = requestFor('epoch', 3);
    const seconds: number[] = [];
    let events = 0;
    const watched = simulate(request, { onEvent: () => (events += 1), onSecond: (ms) => seconds.push(ms) });
    expect(textOf(watched)).toBe(textOf(simulate(request)));
    expect(events).toBe(watched.events);
    expect(seconds).toEqual(Array.from({ length: 12 }, (_, index) => (index + 1) * 1_000));
  });

  it('shows the loss of hw in most seeds, and none of epoch, under the same plans', () => {
    const seeds = Array.from({ length: 12 }, (_, index) => 100 + index);
    const verdicts = (build: string) =>
      seeds.map((seed) => {
        const request = requestFor(build, seed);
        return checkSimulation(simulate(request), request).valid;
      });
    expect(verdicts('hw').filter((valid) => valid === false).length).toBeGreaterThanOrEqual(9);
    expect(verdicts('epoch')).toEqual(seeds.map(() => true));
  }, 60_000);
});

describe('the phases of a simulated run', () => {
  const run = simulate(requestFor('epoch', 7));

  it('end healed, settled and read back, at rest in every replica', () => {
    expect(run.facts).toMatchObject({ healed: true, settled: true, finalReadComplete: true, residual: [] });
    for (const key of new Set(run.replicas.map((replica) => replica.key))) {
      const logs = run.replicas.filter((replica) => replica.key === key);
      expect(logs).toHaveLength(3);
      for (const { segments } of logs) expect(segments).toEqual(logs[0]!.segments);
    }
  });

  it('leave a history whose index counts without a gap and whose time never goes back', () => {
    expect(run.history.map(({ index }) => index)).toEqual(run.history.map((_, index) => index));
    for (const [index, { time }] of run.history.entries()) {
      expect(time).toBeGreaterThanOrEqual(run.history[index - 1]?.time ?? 0);
    }
  });

  it('read back only when the load is over, with two fresh processes', () => {
    const finals = ofClients(run).filter(({ final }) => final === true);
    expect(finals).toHaveLength(2);
    const before = ofClients(run).filter(({ index }) => index < finals[0]!.index);
    const known = new Set(before.map(({ process }) => process));
    expect(finals.every(({ process }) => !known.has(process))).toBe(true);
    const open = new Set<unknown>();
    for (const { process, type } of before) {
      if (type === 'invoke') open.add(process);
      else open.delete(process);
    }
    expect([...open]).toEqual([]);
  });

  it('tell the start and the end of every fault of the plan', () => {
    const told = run.history.filter(({ process }) => process === 'nemesis').map(({ value }) => value as FaultRecord);
    const planned = requestFor('epoch', 7).schedule.faults.map(({ id }) => id);
    for (const phase of ['start', 'end']) {
      expect(
        told
          .filter((record) => record.phase === phase)
          .map(({ fault }) => fault)
          .toSorted(),
      ).toEqual(planned.toSorted());
    }
  });
});

describe('a request that arrives when its client is long gone', () => {
  it('and when the cluster had come to rest, lets it come to rest once more', () => {
    const request = requestWith([]);
    const { trace } = simulate(request);
    const appends = [...trace].filter(({ event, msg }) => event === 'append' && msg?.startsWith('client-') === true);
    const [first, last] = [appends[0]!, appends.at(-1)!];
    const restMs = 2 * request.config.fetchMaxWaitMs;
    /* Around the end of the rest that follows the last record. */
    const laterMs = Array.from({ length: 60 }, (_, step) => (last.time - first.time) / 1e6 + 1.4 * restMs + 5 * step);
    const runs = laterMs.map((byMs) => ({ ...request, late: [{ message: `request ${first.msg}`, byMs }] }));
    const results = runs.map((each) => checkSimulation(simulate(each), each));
    expect(results.map(({ anomalies }) => anomalies.map(({ summary }) => summary))).toEqual(laterMs.map(() => []));
  });
});

describe('the processes of a simulated run', () => {
  it('have one operation under way at a time, and are replaced when one ended with info', () => {
    const run = simulate(requestFor('hw', 4));
    const last = new Map<unknown, Operation['type']>();
    const over = new Set<number>();
    for (const { process, type } of ofClients(run)) {
      if (type === 'invoke') {
        expect(last.get(process)).not.toBe('invoke');
        expect(over).not.toContain(process);
      } else {
        expect(last.get(process)).toBe('invoke');
      }
      last.set(process, type);
      if (type === 'info') over.add(process as number);
    }
    expect(over.size).toBeGreaterThan(0);
    const known = new Set(last.keys());
    const followed = [...over].filter((process) => known.has(process + 8));
    expect(followed.length).toBeGreaterThan(0);
  });

  it('do exactly what a load that is written out says, in order and not before its time', () => {
    const key = 'tide-2';
    const plan: LoadPlan = {
      schemaVersion: 1,
      operations: [
        { atMs: 300, thread: 1, operation: { f: 'send', key, value: 41 } },
        { atMs: 0, thread: 0, operation: { f: 'assign', keys: [key], seek: 'earliest' } },
        { atMs: 900, thread: 0, operation: { f: 'poll' } },
        { atMs: 100, thread: 1, operation: { f: 'send', key, value: 42 } },
      ],
    };
    const run = simulate({ ...requestWith([], { concurrency: 2 }), load: plan });
    const load = ofClients(run).filter(({ index }) => index < run.history.findIndex(({ final }) => final === true));
    const invoked = load.filter(({ type }) => type === 'invoke');
    const startNs = invoked[0]!.time;
    expect(invoked.map(({ process, f, value }) => [process, f, value])).toEqual([
      [0, 'assign', [key]],
      [1, 'send', [['send', key, 41]]],
      [1, 'send', [['send', key, 42]]],
      [0, 'poll', [['poll']]],
    ]);
    expect(Math.round((invoked[1]!.time - startNs) / 1e6)).toBe(300);
    /* Its time had passed: it begins when the one before it on its thread is over. */
    const firstSent = load.find(({ type, process }) => type === 'ok' && process === 1);
    expect(invoked[2]!.time).toBe(firstSent?.time);
    expect(Math.round((invoked[3]!.time - startNs) / 1e6)).toBe(900);
    expect(load.findLast(({ f }) => f === 'poll')?.value).toEqual([
      [
        'poll',
        {
          [key]: [
            [0, 41],
            [1, 42],
          ],
        },
      ],
    ]);
  });
});

describe('the steps of a simulated fault', () => {
  const stepsOf = (run: Simulation, fault: string) =>
    (endOf(run, fault).steps ?? []) as readonly {
      readonly step: string;
      readonly ms: number;
      readonly came?: boolean;
    }[];

  it.each([
    { seen: 'ack', partition: 'tide-0', by: 'first' },
    { seen: 'hw', partition: 'tide-0', by: 1 },
  ] as const)('go on a millisecond after $seen was seen, where a wait of a millisecond says so', (what) => {
    const fault: Fault = {
      id: 's',
      kind: 'script',
      partition: 'tide-0',
      at: { ms: 500 },
      until: { await: { seen: 'steps-done' }, deadlineMs: 3_000 },
      steps: [
        { step: 'await', what, deadlineMs: 2_000, otherwise: 'give-up' },
        { step: 'wait', ms: 1 },
        { step: 'pause', node: 'second' },
      ],
    };
    const [seen, wait, pause] = stepsOf(simulate(requestWith([fault])), 's');
    expect(seen?.came).toBe(true);
    expect(pause?.step).toBe('pause second');
    expect(pause!.ms - wait!.ms).toBe(1);
  });
});

describe('the evidence of a simulated fault', () => {
  it('of a partition is what its cuts kept from arriving', () => {
    const topology = {
      shape: 'isolated-node',
      side: { role: 'nodes', nodes: [1] },
      controller: true,
      clients: true,
    } as const;
    const run = simulate(
      requestWith([{ id: 'p', kind: 'partition', at: { ms: 1_000 }, until: { ms: 1_500 }, topology }]),
    );
    const { effective, evidence } = endOf(run, 'p');
    expect(effective).toBe(true);
    const { dropped } = evidence!.find(({ action }) => action === 'cut') as { dropped: Record<string, number> };
    expect(dropped['1→2']! + dropped['2→1']!).toBeGreaterThan(0);
  });

  it('is missing where a cut swallowed nothing, and then the fault counts for nothing', () => {
    const topology = {
      shape: 'isolated-node',
      side: { role: 'nodes', nodes: [1] },
      controller: true,
      clients: true,
    } as const;
    const run = simulate(requestWith([{ id: 'p', kind: 'partition', at: { ms: 1_000 }, until: { ms: 1 }, topology }]));
    expect(endOf(run, 'p').effective).toBe(false);
  });

  it('of a pause and a crash is the state of the process, before and after', () => {
    const targets = { role: 'nodes', nodes: [2] } as const;
    const run = simulate(
      requestWith([
        { id: 'z', kind: 'pause', at: { ms: 500 }, until: { ms: 700 }, targets },
        { id: 'c', kind: 'crash', at: { ms: 1_500 }, until: { ms: 700 }, targets },
      ]),
    );
    expect(endOf(run, 'z')).toMatchObject({
      effective: true,
      evidence: [
        { action: 'pause', node: 2, boot: 1, state: 'paused', effective: true },
        { action: 'resume', node: 2, boot: 1, state: 'running', effective: true },
      ],
    });
    expect(endOf(run, 'c')).toMatchObject({
      effective: true,
      evidence: [
        { action: 'kill', node: 2, boot: 1, state: 'gone', effective: true },
        { action: 'start', node: 2, boot: 2, state: 'running', effective: true },
      ],
    });
    expect([...run.trace].filter(({ node, event }) => node === 2 && event === 'start').map(({ boot }) => boot)).toEqual(
      [1, 2],
    );
  });

  it('of a leader move is the broker through which it was asked for', () => {
    const targets = { role: 'isr-follower', partition: 'tide-0', draw: 1 } as const;
    const run = simulate(
      requestWith([
        { id: 'm', kind: 'leader-move', at: { ms: 500 }, until: { ms: 500 }, partition: 'tide-0', targets },
      ]),
    );
    expect(endOf(run, 'm')).toMatchObject({ effective: true, evidence: [{ action: 'move', partition: 'tide-0' }] });
  });

  it('of a leader move is one request, also where a broker is paused that is asked whether it is awake', () => {
    const paused = { role: 'nodes', nodes: [1] } as const;
    const targets = { role: 'nodes', nodes: [2] } as const;
    const request = requestWith([
      { id: 'z', kind: 'pause', at: { ms: 500 }, until: { ms: 1_000 }, targets: paused },
      { id: 'm', kind: 'leader-move', at: { ms: 600 }, until: { ms: 500 }, partition: 'tide-0', targets },
    ]);
    const asked: string[] = [];
    const run = simulate(request, {
      onEvent: ({ describe: told }) =>
        asked.push(
          ...told()
            .matchAll(/MoveLeader request client-admin#\d+ /g)
            .map(String),
        ),
    });
    expect(endOf(run, 'm')).toMatchObject({ effective: true, evidence: [{ action: 'move', through: 2 }] });
    expect(asked).toHaveLength(1);
  });

  it('of a rolling restart are processes that ended because they were asked to, and none that had to be killed', () => {
    const restart = { kind: 'rolling-restart', draw: 0, downMs: 100, patienceMs: 1_000 } as const;
    const until = { await: { seen: 'steps-done' }, deadlineMs: 30_000 } as const;
    const stops = (faults: readonly Fault[]) => {
      const run = simulate(
        requestWith([...faults, { id: 'r', at: { ms: 500 }, until, ...restart }], { timeLimitMs: 12_000 }),
      );
      return endOf(run, 'r').evidence!.filter(({ action }) => action === 'stop');
    };
    const orderly = { action: 'stop', effective: true, orderly: true, state: 'gone' };
    expect(stops([])).toMatchObject([1, 2, 3].map((node) => ({ ...orderly, node })));
    const targets = { role: 'nodes', nodes: [2] } as const;
    const paused: Fault = { id: 'z', kind: 'pause', at: { ms: 100 }, until: { ms: 10_000 }, targets };
    const [, second] = stops([paused]);
    expect(second).toMatchObject({ node: 2, effective: false, orderly: false, state: 'gone' });
  });
});

describe('a cluster that never gets ready', () => {
  it('is told as such, and nothing is concluded from it', () => {
    const request = requestFor('epoch', 1, { brokers: 2, replicationFactor: 3, nemesis: [] });
    const run = simulate(request);
    expect(run.facts.error).toContain('does not create topic tide');
    const results = checkSimulation(run, request);
    expect(results.valid).toBe('unknown');
    expect(results.anomalies).toEqual([]);
  });
});
