/** What may have destroyed what was written, who led in the end, and whose log tells: from every kind of evidence. */
import { describe, expect, it } from 'vitest';
import { checkRun } from '../../checker/check.ts';
import {
  beyondTarget,
  finalLeader,
  leaderLog,
  partitionOf,
  replicasOf,
  storageFaultSeen,
  uncleanElectionPossible,
  unknownBecause,
  wholeTrace,
  type Evidence,
} from '../../checker/evidence.ts';
import type { FaultRecord } from '../../checker/history.ts';
import { readObservations } from '../../checker/observations.ts';
import { s1a, s2 } from './schedules.ts';
import { kinds, key } from './story.ts';

/** A fault of a kind, with what its record says besides. */
type Fault = readonly [kind: string, record: Partial<FaultRecord>];

/** Evidence of which only the given parts are there. */
function evidence(parts: Readonly<Record<string, unknown>>, faults: readonly Fault[] = []): Evidence {
  const lines = faults.map(([kind, record], at) => ({
    time: at,
    kind,
    record: { fault: 'f1', phase: 'start', roles: {}, nodes: {}, ...record },
  }));
  return {
    history: { faults: lines },
    cluster: null,
    observed: null,
    logs: null,
    promises: { acks: 'all', minInsyncReplicas: 2, uncleanElection: false },
    unknown: new Map(),
    ...parts,
    run: { settled: true, finalLeaders: {}, ...(parts['run'] as object | undefined) },
  } as unknown as Evidence;
}

describe('a loss without a trace', () => {
  const judged = (kind: string): readonly [string[], unknown] => {
    const story = s1a('hw');
    story.fault('f9', kind, { target: 1 });
    story.fault('f9', kind, { target: 1 }, 'end');
    const run = { ...story.input().run, finalLeaders: { 'tide-0': 1 } };
    const results = story.check({ trace: null, run });
    return [kinds(results), results.guarantees.durability];
  };

  it.each(['partition', 'pause', 'crash', 'handover-crash', 'start-partition'])('is not excused by %s', (kind) => {
    expect(judged(kind)).toEqual([['lost-acked-write'], false]);
  });

  it.each(['power-loss', 'corrupt-log', 'lose-unfsynced-writes', 'anything'])('may be excused by %s', (kind) => {
    expect(judged(kind)).toEqual([[], 'unknown']);
  });
});

describe('what may have destroyed what was written', () => {
  const seen = (...faults: readonly Fault[]): boolean => storageFaultSeen(evidence({}, faults), key);

  it.each(
    'partition slow-links lossy-links pause crash leader-move leader-burst handover-crash rejoin-crash rolling-restart upgrade slow-disk clock-skew'.split(
      ' ',
    ),
  )('is none of our faults that leave the disk alone: %s', (kind) => {
    expect(seen([kind, {}])).toBe(false);
  });

  it.each(
    'start-partition stop-partition kill start resume start-pause stop-pause start-kill stop-kill join join-node leave leave-node remove-node grow shrink bump strobe reset bump-clock strobe-clock reset-clock check-offsets check-clock-offsets'.split(
      ' ',
    ),
  )('is none of those of Jepsen for processes, links, members and clocks: %s', (kind) => {
    expect(seen([kind, {}])).toBe(false);
  });

  it('is any other, unless it is proven that it took no effect', () => {
    expect(seen()).toBe(false);
    expect(seen(['power-loss', {}])).toBe(true);
    expect(seen(['pause', {}], ['anything', {}])).toBe(true);
    expect(seen(['power-loss', {}], ['power-loss', { phase: 'end', effective: true }])).toBe(true);
    expect(seen(['power-loss', {}], ['power-loss', { phase: 'end' }])).toBe(true);
    expect(seen(['power-loss', {}], ['power-loss', { phase: 'end', effective: false }])).toBe(false);
    expect(seen(['power-loss', {}], ['power-loss', { fault: 'f2', phase: 'end', effective: false }])).toBe(true);
  });

  it('is a script whose end tells of power loss, or tells nothing', () => {
    const end = (...actions: string[]): Fault => [
      'script',
      { phase: 'end', evidence: actions.map((action) => ({ action })) },
    ];
    const start: Fault = ['script', {}];
    expect(seen(start)).toBe(true);
    expect(seen(start, end('pause', 'crash'))).toBe(false);
    expect(seen(start, end())).toBe(false);
    expect(seen(start, end('pause', 'power-loss'))).toBe(true);
    expect(seen(start, ['script', { phase: 'end' }])).toBe(true);
    expect(seen(start, ['script', { fault: 'f2', phase: 'end', evidence: [] }])).toBe(true);
    expect(seen(start, ['script', { phase: 'end', effective: false, evidence: [{ action: 'power-loss' }] }])).toBe(
      true,
    );
  });

  it('is a recovery of this partition that cut a log after power loss', () => {
    const recoveries = (cut: string) =>
      evidence({
        cluster: {
          store: {
            recoveries: new Map([
              [7, { cut: 'none' }],
              [8, { cut }],
            ]),
          },
          partitions: new Map([
            [
              key,
              {
                recoveries: new Map([
                  [1, [7]],
                  [2, [7, 8]],
                ]),
              },
            ],
            ['other-0', { recoveries: new Map() }],
          ]),
        },
      });
    expect(storageFaultSeen(recoveries('power-loss'), key)).toBe(true);
    expect(storageFaultSeen(recoveries('torn-tail'), key)).toBe(false);
    expect(storageFaultSeen(recoveries('power-loss'), 'other-0')).toBe(false);
    expect(storageFaultSeen(recoveries('power-loss'), 'unheard-0')).toBe(false);
  });
});

/** A trace of which this is known of `key`. */
const traced = (partition: object, damage: readonly string[] = []) => ({
  damage,
  partitions: new Map([[key, partition]]),
});
const elected = (leader: number | null, clean = true, epoch = 0) => ({ epoch, line: { leader, clean } });

describe('an unclean election', () => {
  it('is possible where one was traced, or where no whole trace tells and it was allowed', () => {
    const possible = (clean: boolean, allowed: boolean, parts: object = {}): boolean =>
      uncleanElectionPossible(
        evidence({
          cluster: traced({ elections: [elected(1), elected(2, clean), elected(1)] }),
          promises: { uncleanElection: allowed },
          ...parts,
        }),
        key,
      );
    expect([possible(false, false), possible(true, false), possible(true, true)]).toEqual([true, false, false]);
    const holed = { cluster: traced({ elections: [elected(1, false)] }, ['a hole']) };
    expect([possible(true, true, holed), possible(true, false, holed)]).toEqual([true, false]);
    expect([possible(true, true, { cluster: null }), possible(true, false, { cluster: null })]).toEqual([true, false]);
    const killed = { run: { settled: null } };
    expect([possible(true, true, killed), possible(true, false, killed)]).toEqual([true, false]);
    expect(possible(true, true, { run: { settled: false } })).toBe(false);
  });
});

describe('the final leader', () => {
  const leader = (noted: number | null | undefined, cluster: object | null): number | null =>
    finalLeader(evidence({ cluster, run: { finalLeaders: noted === undefined ? {} : { [key]: noted } } }), key);
  const two = { elections: [elected(1), elected(2)] };

  it('is who was elected last, if the trace is whole', () => {
    expect(leader(1, traced(two))).toBe(2);
    expect(leader(undefined, traced(two))).toBe(2);
    expect(leader(1, traced({ elections: [elected(1), elected(null)] }))).toBeNull();
  });

  it('is who the run noted, where the trace is not whole or tells of no election', () => {
    expect(leader(1, traced(two, ['a hole']))).toBe(1);
    expect(leader(null, traced(two, ['a hole']))).toBeNull();
    expect(leader(3, traced({ elections: [] }))).toBe(3);
    expect(leader(3, null)).toBe(3);
  });

  it('is not known where nobody tells', () => {
    expect(leader(undefined, null)).toBeNull();
    expect(leader(undefined, traced({ elections: [] }))).toBeNull();
    expect(leader(undefined, traced(two, ['a hole']))).toBe(2);
  });
});

describe('the log of the final leader', () => {
  const log = { node: 1, log: { start: 0, end: 4 } };
  const logs = { byKey: new Map([[key, new Map([[1, log]])]]) };
  const noted = { finalLeaders: { [key]: 1 } };

  it('is there if it was copied and the run settled', () => {
    expect(leaderLog(evidence({ logs, run: noted }), key)).toBe(log);
    expect(leaderLog(evidence({ logs }), key)).toBeNull();
    expect(leaderLog(evidence({ logs, run: { finalLeaders: { [key]: 2 } } }), key)).toBeNull();
    expect(leaderLog(evidence({ logs, run: { finalLeaders: { 'other-0': 1 } } }), 'other-0')).toBeNull();
    expect(leaderLog(evidence({ run: noted }), key)).toBeNull();
    expect(leaderLog(evidence({ logs, run: { ...noted, settled: false } }), key)).toBeNull();
  });

  it('is there without settling only as the trace saw it last, by who had begun to lead', () => {
    const role = (of: string, epoch: number) => ({ epoch, line: { role: of } });
    const partition = (roles: readonly object[], end = 4) => ({
      elections: [elected(3), elected(1, true, 5)],
      roles: new Map([[1, roles]]),
      end: new Map([[1, end]]),
    });
    const found = (of: object, damage: readonly string[] = []): boolean =>
      leaderLog(evidence({ logs, cluster: traced(of, damage), run: { ...noted, settled: null } }), key) === log;
    expect(found(partition([role('follower', 4), role('leader', 5)]))).toBe(true);
    expect(found(partition([role('leader', 6)]))).toBe(true);
    expect(found(partition([role('leader', 4)]))).toBe(false);
    expect(found(partition([role('leader', 5), role('follower', 5)]))).toBe(false);
    expect(found(partition([]))).toBe(false);
    expect(found({ ...partition([]), roles: new Map() })).toBe(false);
    expect(found(partition([role('leader', 5)], 3))).toBe(false);
    expect(found(partition([role('leader', 5)], 5))).toBe(false);
    expect(found(partition([role('leader', 5)]), ['a hole'])).toBe(false);
    expect(found({ ...partition([role('leader', 5)]), elections: [] })).toBe(false);
  });

  it('is there without settling only as it was seen last from outside, where no trace is', () => {
    const at = (line: object, seq: number): object => ({ seq, time: seq, boot: 1, partition: key, ...line });
    const lines = (role: object, election: object, end: number): object[] => [
      at({ node: 1, event: 'append', batches: [{ last: end - 1 }] }, 0),
      at({ node: 1, event: 'role', ...role }, 1),
      at({ node: 'controller', event: 'election', isr: [1], ...election }, 0),
    ];
    const found = (seen: readonly (object | string)[], run: object = {}): boolean => {
      const observed = readObservations(seen);
      const how = { ...noted, settled: false, traced: false, logsCollected: true, ...run };
      return leaderLog(evidence({ logs, observed, run: how }), key) === log;
    };
    const leads = { role: 'leader', leaderEpoch: 5 };
    const wins = { leader: 1, leaderEpoch: 5 };
    expect(found(lines(leads, wins, 4))).toBe(true);
    expect(found(lines({ role: 'leader' }, { leader: 1 }, 4))).toBe(true);
    expect(found(lines({ role: 'leader', leaderEpoch: 6 }, wins, 4))).toBe(true);
    expect(found(lines({ role: 'leader', leaderEpoch: 0 }, { leader: 1 }, 4))).toBe(true);
    expect(found(lines({ role: 'leader' }, { leader: 1, leaderEpoch: 0 }, 4))).toBe(false);
    expect(found(lines({ role: 'leader', leaderEpoch: 4 }, wins, 4))).toBe(false);
    expect(found(lines({ role: 'follower', leader: 2, leaderEpoch: 5 }, wins, 4))).toBe(false);
    expect(found(lines(leads, { leader: 2, leaderEpoch: 5 }, 4))).toBe(false);
    expect(found(lines(leads, wins, 3))).toBe(false);
    expect(found(lines(leads, wins, 4), { logsCollected: null })).toBe(false);
    expect(found(lines(leads, wins, 4), { logsCollected: false })).toBe(false);
    expect(found(lines(leads, wins, 4).slice(0, 2))).toBe(false);
    expect(found(lines(leads, wins, 4).toSpliced(1, 1))).toBe(false);
    expect(found([...lines(leads, wins, 4), '{', '{'])).toBe(false);
    const run = { ...noted, settled: false, traced: false, logsCollected: true };
    expect(leaderLog(evidence({ logs, run }), key)).toBeNull();
    const empty = { byKey: new Map([[key, new Map([[1, { node: 1, log: { start: 0, end: 0 } }]])]]) };
    const observed = readObservations(
      lines(leads, wins, 4)
        .slice(1)
        .map((line, seq) => ({ ...line, ...(seq === 0 ? { seq } : {}) })),
    );
    expect(leaderLog(evidence({ logs: empty, observed, run }), key)?.node).toBe(1);
  });
});

describe('what is known of a partition', () => {
  it('is what the trace says of it, whole or not', () => {
    const partition = { replicas: [1, 2], elections: [] };
    const from = evidence({ cluster: traced(partition, ['a hole']) });
    expect([partitionOf(from, key), partitionOf(from, 'other-0'), partitionOf(evidence({}), key)]).toEqual([
      partition,
      null,
      null,
    ]);
    expect([wholeTrace(from), wholeTrace(evidence({}))]).toEqual([null, null]);
    const whole = traced(partition);
    expect(wholeTrace(evidence({ cluster: whole }))).toBe(whole);
  });

  it('are its replicas, by the trace or else by what was seen', () => {
    const observed = readObservations([
      { seq: 0, time: 0, node: 'controller', boot: 1, event: 'create', partition: key, replicas: [3, 4] },
    ]);
    expect(replicasOf(evidence({ cluster: traced({ replicas: [1, 2] }), observed }), key)).toEqual([1, 2]);
    expect(replicasOf(evidence({ observed }), key)).toEqual([3, 4]);
    expect(replicasOf(evidence({ observed }), 'other-0')).toBeNull();
    expect(replicasOf(evidence({}), key)).toBeNull();
  });
});

describe('what a target cannot show', () => {
  it('is what it says that it cannot', () => {
    const able = (guarantees: object | null) =>
      beyondTarget(
        { run: { target: { name: 'x', capabilities: guarantees === null ? null : { guarantees } } } } as never,
        'order',
      );
    expect(able({ order: { not: 'it has none' } })).toBe('it has none');
    expect([able({ order: true }), able({ agreement: { not: 'x' } }), able(null)]).toEqual([null, null, null]);
    expect(beyondTarget(evidence({}), 'order')).toBeNull();
  });
});

describe('reasons why a guarantee cannot be judged', () => {
  it('are collected by guarantee, each once', () => {
    const from = evidence({});
    for (const reason of ['a', 'b', 'a']) unknownBecause(from, 'order', reason);
    unknownBecause(from, 'offsets', 'a');
    expect([...from.unknown].map(([guarantee, reasons]) => [guarantee, [...reasons]])).toEqual([
      ['order', ['a', 'b']],
      ['offsets', ['a']],
    ]);
  });
});

describe('a recovery after power loss', () => {
  it('excuses by the trace alone, without a fault in the history', () => {
    expect(checkRun(s2('epoch').input()).anomalies.map((anomaly) => anomaly.class)).not.toContain('violation');
  });
});
