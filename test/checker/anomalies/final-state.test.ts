/** What is wrong with how a run ended, partition by partition and word for word. */
import { describe, expect, it } from 'vitest';
import { findNoConvergence } from '../../../checker/anomalies/convergence.ts';
import type { Evidence } from '../../../checker/evidence.ts';
import { readObservations } from '../../../checker/observations.ts';

const key = 'tide-0';

interface End {
  readonly run?: object;
  readonly source?: string;
  readonly isr?: readonly number[];
  readonly replicas?: readonly number[] | null;
  readonly leader?: number | null;
  /** Ends of logs and high watermarks, by node. */
  readonly ends?: Readonly<Record<number, number>>;
  readonly marks?: Readonly<Record<number, number>>;
  readonly flawed?: readonly number[];
  readonly noLogs?: boolean;
  readonly deleted?: boolean;
  readonly damage?: readonly string[];
  readonly observed?: readonly object[];
  /** Of the history, in nanoseconds. */
  readonly lastTime?: number;
}

function judged(end: End = {}) {
  const { isr = [1, 2, 3], replicas = [1, 2, 3], leader = 1, ends = { 1: 4, 2: 4, 3: 4 }, marks = ends } = end;
  const { flawed = [], noLogs = false, deleted = false, damage = [], observed, run } = end;
  const byNode = <T>(of: Readonly<Record<number, T>>) =>
    new Map(Object.entries(of).map(([node, each]) => [Number(node), each]));
  const logs = Object.fromEntries(
    Object.entries(ends).map(([node, last]) => [
      node,
      { node: Number(node), log: { start: 0, end: last, flaw: flawed.includes(Number(node)) ? {} : null } },
    ]),
  );
  const partition = {
    key,
    replicas,
    isr,
    deleted,
    highWatermark: byNode(marks),
    elections: leader === undefined ? [] : [{ line: { leader } }],
    roles: new Map([[2, [{ row: 4 }, { row: 5 }, { row: 6 }]]]),
  };
  const evidence = {
    source: end.source ?? 'run',
    run: { settled: true, healed: true, residual: [], settleMs: 5, finalLeaders: {}, ...run },
    observed: observed === undefined ? null : readObservations(observed),
    cluster:
      observed === undefined
        ? {
            damage,
            partitions: new Map([[key, partition]]),
            store: { nodeOf: () => 2, boot: { get: () => 1 }, seq: { get: (row: number) => row } },
          }
        : null,
    logs: noLogs ? null : { byKey: new Map([[key, byNode(logs)]]) },
    history: { lastTime: end.lastTime ?? 0 },
    unknown: new Map<string, Set<string>>(),
  };
  const findings = findNoConvergence(evidence as unknown as Evidence);
  return {
    told: findings.map(({ summary }) => summary),
    findings,
    doubts: [...(evidence.unknown.get('convergence') ?? [])],
  };
}

const nothing = { told: [], findings: [], doubts: [] };

describe('a partition at the end of a run', () => {
  it('has settled where all hold the same, and know that it is committed', () => {
    expect(judged()).toEqual(nothing);
    expect(judged({ replicas: null, isr: [] })).toEqual(nothing);
    expect(judged({ marks: {} })).toEqual(nothing);
  });

  it('of which one is not in sync has not settled', () => {
    const { told, findings } = judged({ isr: [1, 3] });
    expect(told).toEqual(['tide-0 had not settled at the end: broker 2 not in its ISR']);
    const evidence = [{ source: 'trace', node: 2, boot: 1, seq: 6 }];
    expect(findings).toMatchObject([{ kind: 'no-convergence', key, nodes: [2], why: [], evidence }]);
    expect(judged({ isr: [1] }).told).toEqual(['tide-0 had not settled at the end: brokers 2 and 3 not in its ISR']);
  });

  it('whose logs end at different places, or whose high watermarks lag, has not settled', () => {
    expect(judged({ ends: { 1: 4, 2: 3, 3: 5 }, marks: { 1: 4, 2: 4, 3: 3 } }).told).toEqual([
      "tide-0 had not settled at the end: the log of broker 2 ends at 3, the leader's at 4; the log of broker 3 ends at 5, " +
        "the leader's at 4; the high watermark of broker 3 is 3, the leader's log ends at 4",
    ]);
    expect(judged({ isr: [3, 1], ends: { 1: 4, 2: 3, 3: 4 }, marks: {} }).findings).toMatchObject([
      {
        nodes: [2],
        summary:
          "tide-0 had not settled at the end: broker 2 not in its ISR; the log of broker 2 ends at 3, the leader's at 4",
      },
    ]);
    expect(judged({ ends: { 1: 4, 2: 4, 3: 3 }, marks: {}, isr: [1, 2] }).findings[0]?.nodes).toEqual([3]);
    expect(judged({ ends: { 1: 4, 2: 3, 3: 4 }, marks: {}, isr: [1, 2] }).findings).toMatchObject([
      { nodes: [2, 3], evidence: [{ source: 'trace', seq: 6 }] },
    ]);
    expect(judged({ isr: [1, 2] }).findings).toMatchObject([{ nodes: [3], evidence: [] }]);
    expect(judged({ marks: { 1: 4, 2: 4, 3: 3 } }).findings).toMatchObject([{ nodes: [3] }]);
  });

  it('that nobody leads has not settled', () => {
    const { told, findings, doubts } = judged({ leader: null });
    expect([told, doubts]).toEqual([['tide-0 had not settled at the end: nobody leads it'], []]);
    expect(findings).toMatchObject([{ nodes: [], evidence: [] }]);
  });

  it('that was deleted, or never had a leader, is left out', () => {
    expect(judged({ leader: null, deleted: true })).toEqual(nothing);
    expect(judged({ isr: [], leader: undefined as never, deleted: true })).toEqual(nothing);
  });

  it('is compared only with whole logs', () => {
    const doubts = ['tide-0: the whole log of its leader, broker 1, is not there to compare with'];
    expect(judged({ ends: { 2: 4, 3: 3 }, marks: {} })).toEqual({ ...nothing, doubts });
    expect(judged({ ends: { 1: 4, 2: 3 }, flawed: [1], marks: {} })).toEqual({ ...nothing, doubts });
    expect(judged({ ends: { 1: 4, 2: 3, 3: 4 }, flawed: [2], marks: {} })).toEqual(nothing);
    expect(judged({ ends: {}, isr: [1, 2] })).toMatchObject({
      told: ['tide-0 had not settled at the end: broker 3 not in its ISR'],
      doubts,
    });
  });
});

describe('a run', () => {
  it('of which only the history is there is not judged', () => {
    expect(judged({ source: 'history', run: { settled: null } })).toEqual(nothing);
  });

  it('that never got to settling, or whose healing was not proven, is in doubt', () => {
    expect(judged({ run: { settled: null } })).toEqual({ ...nothing, doubts: ['the run never got to settling'] });
    const unproven = 'it was not proven that everything had healed';
    expect(judged({ run: { settled: false, healed: false } }).doubts).toEqual([unproven]);
    expect(judged({ run: { settled: false, healed: false, residual: ['a', 'b'] } }).doubts).toEqual([
      `${unproven}: a; b`,
    ]);
    expect(judged({ run: { healed: null } })).toEqual(nothing);
  });

  it('whose last lines may be missing, or whose logs are, is in doubt', () => {
    const doubts = ['the final state cannot be looked at without a whole trace and the logs'];
    expect(judged({ damage: ['a hole'] })).toEqual({ ...nothing, doubts });
    expect(judged({ noLogs: true })).toEqual({ ...nothing, doubts });
    expect(judged({ run: { traced: false } }).doubts).toEqual([
      'the final state cannot be looked at without observations without a gap and the logs',
    ]);
  });

  it('that did not settle is told with its bound and what was left', () => {
    const told = (run: object): string[] => judged({ run: { settled: false, ...run }, isr: [1] }).told;
    expect(told({ settleMs: 30_000.4 })).toEqual(['the cluster did not settle within 30000 ms after healing']);
    expect(told({ settleMs: null, residual: ['a', 'b'] })).toEqual([
      'the cluster did not settle within its bound after healing: a; b',
    ]);
    expect(judged({ run: { settled: false } }).findings).toMatchObject([{ nodes: [], evidence: [], why: [] }]);
    expect(judged({ run: { settled: false }, damage: ['a hole'] })).toMatchObject({
      findings: [{ nodes: [], key: null }],
    });
  });
});

describe('a cluster that tells no trace', () => {
  const line = (seq: number, event: string, fields: object): object => ({
    seq,
    time: seq,
    node: 'controller',
    boot: 1,
    partition: key,
    event,
    ...fields,
  });
  const seen = (isr: readonly number[], leader: number | null = 1): object[] => [
    line(0, 'create', { replicas: [1, 2, 3] }),
    line(1, 'election', { leader, isr: [1, 2, 3] }),
    line(2, 'isr', { to: isr }),
  ];
  const noted = { traced: false, finalLeaders: { [key]: 1 } };

  it('has settled as it was seen last', () => {
    expect(judged({ run: noted, observed: seen([3, 2, 1]) })).toEqual(nothing);
    expect(judged({ run: noted, observed: seen([3, 1]) }).told).toEqual([
      'tide-0 had not settled at the end: broker 2 not in its ISR',
    ]);
    expect(judged({ run: noted, observed: seen([]).slice(0, 1) })).toEqual(nothing);
    expect(judged({ run: noted, observed: seen([1]).slice(0, 2) })).toEqual(nothing);
  });

  it('is in doubt where the run noted no leader, and one was seen', () => {
    const run = { ...noted, finalLeaders: {} };
    expect(judged({ run, observed: seen([1, 2, 3], 2) })).toEqual({
      ...nothing,
      doubts: ["tide-0: broker 2 was last seen to lead it, of which the run's description says nothing"],
    });
    expect(judged({ run, observed: seen([1, 2, 3], null) }).told).toEqual([
      'tide-0 had not settled at the end: nobody leads it',
    ]);
  });

  it('is in doubt where lines are missing, or segments could not be seen', () => {
    expect(judged({ run: noted, observed: seen([1]).slice(1) }).doubts).toHaveLength(1);
    const blind = { seq: 0, time: 5e6, node: 2, boot: 1, event: 'blind', words: 'gone' };
    expect(judged({ run: noted, observed: [...seen([1]), blind] })).toEqual({
      ...nothing,
      doubts: ['whether the cluster settled was not seen: the segments of broker 2 could not be seen from 5 ms on'],
    });
  });

  it('that did not settle is told with who did not come back, and what those said that ended by themselves', () => {
    const end = (node: number, blame: string) => ({
      node,
      blame,
      phase: 'running',
      detail: `exit ${node}`,
      lastLines: ['why'],
    });
    const run = {
      ...noted,
      settled: false,
      residual: ['left'],
      ends: [end(3, 'node'), end(2, 'environment'), end(1, 'node')],
    };
    const { told, findings } = judged({ run, observed: seen([1]) });
    expect(told).toEqual([
      'the cluster did not settle within 5 ms after healing: left; broker 2 did not come back into the ISR of 1 partition; ' +
        'broker 3 did not come back into the ISR of 1 partition',
    ]);
    expect(findings).toMatchObject([
      { nodes: [2, 3], why: [{ text: 'Broker 3 ended by itself: exit 3.' }, { text: 'It had said: why' }] },
    ]);
    expect(findings[0]?.why).toHaveLength(2);
  });

  it('is in doubt where the environment had ended all who did not come back', () => {
    const end = (node: number) => ({ node, blame: 'environment', phase: 'running', detail: 'killed' });
    const doubts = (isr: readonly number[], ...ends: object[]): string[] =>
      judged({ run: { ...noted, settled: false, ends }, observed: seen(isr) }).doubts;
    expect(doubts([1], end(2), end(3))).toEqual([
      'brokers 2 and 3 were ended by the environment and did not come back',
    ]);
    expect(doubts([1, 3], end(2))).toEqual(['broker 2 was ended by the environment and did not come back']);
    expect(doubts([1], end(2))).toEqual([]);
  });

  it('is held to a broker that was back for half a minute, and to those that were there', () => {
    const ends = [2, 3].map((node) => ({ node, blame: 'environment', phase: 'running', detail: 'killed' }));
    const run = { ...noted, settled: false, ends };
    const of = (node: number, boot: number, seq: number, time: number, fields: object): object => ({
      ...line(seq, 'x', {}),
      node,
      boot,
      time,
      ...fields,
    });
    const ended = [of(2, 1, 0, 5, { event: 'ended' }), of(3, 1, 0, 5, { event: 'ended' })];
    const late = [...Array(4).keys()].flatMap((boot) => [of(3, boot + 2, 0, 5, { event: 'ended' })]);
    const back = [
      of(2, 2, 0, 1e9, { event: 'role', role: 'follower', leader: 1 }),
      of(2, 2, 1, 20e9, { event: 'hw', to: 4 }),
    ];
    const found = (lastTime: number, more: readonly object[] = [], given: End = {}): readonly [number, number] => {
      const { findings, doubts } = judged({ run, observed: [...seen([1]), ...ended, ...more], lastTime, ...given });
      return [findings.length, doubts.length];
    };
    expect(found(99e9)).toEqual([0, 1]);
    expect([found(31e9 - 1, back), found(31e9, back), found(49e9, back)]).toEqual([
      [0, 1],
      [1, 0],
      [1, 0],
    ]);
    expect(found(31e9, [...late, ...back])).toEqual([1, 0]);
    expect(found(99e9, [], { ends: { 1: 4, 2: 3, 3: 9 }, marks: {} })).toEqual([0, 1]);
    expect(found(99e9, [], { noLogs: true })).toEqual([0, 1]);
    expect(found(99e9, [], { ends: { 1: 4, 2: 4, 3: 4, 4: 9 }, marks: {} })).toEqual([1, 0]);
  });

  it('is held to each partition of which one that did not end is in sync', () => {
    const ends = [2, 3].map((node) => ({ node, blame: 'environment', phase: 'running', detail: 'killed' }));
    const found = (lines: readonly object[], leaders: object, given: End = {}): number =>
      judged({ run: { ...noted, settled: false, ends, finalLeaders: leaders }, observed: lines, ...given }).findings
        .length;
    const other = (isr: readonly number[], replicas: readonly number[], leader: number | null): object[] =>
      seen(isr, leader)
        .with(0, line(0, 'create', { replicas }))
        .map((each, at) => ({ ...each, seq: at + 3, partition: 'tide-1' }));
    expect(found(seen([1], null), {})).toBe(1);
    expect(found([...seen([1]), ...other([2], [2, 3], null)], { [key]: 1 })).toBe(0);
    const odd = { ends: { 1: 4, 2: 4, 3: 4, 4: 9 }, marks: {} };
    const half = [...seen([1, 2]), ...other([1, 3], [1, 2, 3], 1)];
    expect(found(half, { [key]: 1, 'tide-1': 1 }, odd)).toBe(1);
    expect(found(half, { [key]: 1, 'tide-1': 1 })).toBe(0);
  });

  it('names those who did not come back in their order', () => {
    const lines = seen([1]).with(0, line(0, 'create', { replicas: [3, 1, 2] }));
    const { told, findings } = judged({ run: { ...noted, settled: false }, observed: lines });
    expect(findings).toMatchObject([{ nodes: [2, 3] }]);
    expect(told[0]).toMatch(/broker 2 did not .*; broker 3 did not/);
    expect(
      judged({
        run: { ...noted, settled: false },
        observed: seen([1])
          .slice(1)
          .map((each, seq) => ({ ...each, seq })),
      }).findings,
    ).toMatchObject([{ nodes: [], why: [] }]);
  });

  it('counts the partitions into which a broker did not come back', () => {
    const other = seen([1, 3]).map((each, at) => ({ ...each, seq: at + 3, partition: 'tide-1' }));
    const { told } = judged({ run: { ...noted, settled: false }, observed: [...seen([3, 1]), ...other] });
    expect(told[0]).toContain('broker 2 did not come back into the ISR of 2 partitions');
  });
});
