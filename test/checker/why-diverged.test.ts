/** Why two replicas differ, or a record was lost: which lines of a trace are told, and which are not. */
import { describe, expect, it } from 'vitest';
import type { Evidence } from '../../checker/evidence.ts';
import type { Fate, Promised } from '../../checker/excuse.ts';
import type { FinalLog } from '../../checker/final-logs.ts';
import { readTrace } from '../../checker/parse-trace.ts';
import { rebuildReplicas } from '../../checker/replicas.ts';
import { whyDiverged } from '../../checker/why-diverged.ts';
import { whyLost } from '../../checker/why-lost.ts';

const partition = 'tide-0';

type Line = readonly [node: number | 'controller', fields: Readonly<Record<string, unknown>>, boot?: number];

function evidenceOf(lines: readonly Line[]): Evidence {
  const seqs = new Map<string, number>();
  const trace = lines.map(([node, fields, boot = 1], at) => {
    const name = `${node} ${boot}`;
    const seq = seqs.get(name) ?? 0;
    seqs.set(name, seq + 1);
    return { seq, time: at, node, boot, partition, ...fields };
  });
  const cluster = rebuildReplicas(readTrace(trace));
  const values = { correlation: { get: () => -1 }, completed: { get: () => 5 } };
  return { cluster, history: { faults: [], rowCount: 0, values, valueOf: () => 'a' } } as unknown as Evidence;
}

/** Broker 1 holds offset 1 of epoch 0, broker 2 that of epoch 1. */
function told(...lines: readonly Line[]): string[] {
  const camps = [
    { nodes: [1], value: 'a', epoch: 0 },
    { nodes: [2], value: 'b', epoch: 1 },
  ];
  return whyDiverged(evidenceOf(lines), partition, 1, camps).map(({ text }) => text);
}

const append = (epoch: number, base = 1, more: object = {}): Readonly<Record<string, unknown>> => ({
  event: 'append',
  leaderEpoch: epoch,
  batches: [{ base, last: base, epoch, hash: `${base}000000${epoch}` }],
  ...more,
});
const ack = (epoch: number, base: number, acks: number): Readonly<Record<string, unknown>> => ({
  event: 'ack',
  leaderEpoch: epoch,
  base,
  last: base,
  acks,
  isr: [1, 2],
});
const follows = (leaderEpoch: number, leo: number): Readonly<Record<string, unknown>> => ({
  event: 'role',
  leaderEpoch,
  role: 'follower',
  leader: 2,
  leo,
  hw: 1,
  isr: [1, 2],
});
const elected = (leaderEpoch: number, leader: number): Line => [
  'controller',
  { event: 'election', leaderEpoch, leader, previousLeader: null, isr: [1, 2], clean: true, reason: 'test' },
];
const written: readonly Line[] = [elected(0, 1), [1, append(0)], elected(1, 2), [2, append(1)]];
const about = (word: string, steps: readonly string[]): string[] => steps.filter((step) => step.includes(word));

describe('the acknowledgement of a record that differs', () => {
  it('is told with what was asked for', () => {
    const acked = (...lines: Line[]): string[] => about('acknowledged', told(...written, ...lines));
    expect(acked([1, ack(0, 1, -1)])).toEqual([
      'Broker 1 acknowledged the record of epoch 0 (acks=all) with the in-sync replicas 1, 2.',
    ]);
    expect(acked([1, ack(0, 1, 1)])[0]).toContain('(acks=1)');
    expect(acked([1, ack(0, 1, 0)])).toEqual([]);
    expect(acked([1, append(0, 2)], [1, ack(0, 2, -1)])).toEqual([]);
  });
});

describe('why a broker kept its record', () => {
  const kept = (...lines: Line[]): string[] => about('truncated nothing', told(...written, ...lines));

  it('is that it followed a later leader and truncated nothing', () => {
    expect(kept([1, follows(1, 2)])).toEqual([
      'Broker 1, now a follower of broker 2 in epoch 1, truncated nothing; its log ended at 2, its high watermark was 1.',
    ]);
    expect(kept()).toEqual([]);
  });

  it('is not that it followed before, in the same epoch, or without having the record', () => {
    expect([kept([1, follows(0, 2)]), kept([1, follows(1, 1)]), kept([1, follows(1, 0)])]).toEqual([[], [], []]);
  });
});

describe('who wrote a record', () => {
  it('is who had it from a client, or else who was elected in that epoch, whoever comes first', () => {
    const wrote = (...lines: Line[]): string[] => about('appended a ', told(...lines));
    const other: Line = [3, append(0)];
    expect(wrote(elected(0, 1), other, [1, append(0)], elected(1, 2), [2, append(1)])).toEqual([
      'Broker 1, leader in epoch 0, appended a at offset 1 of tide-0.',
    ]);
    const steps = told(elected(0, 1), [1, append(0)], elected(1, 3), [2, append(1)], [3, append(1)]);
    expect(about('appended b ', steps)).toEqual(['Broker 3, leader in epoch 1, appended b at offset 1 of tide-0.']);
    const client: Line = [3, append(0, 1, { msg: 'client-7#1' })];
    expect(wrote(elected(0, 1), [1, append(0)], client, elected(1, 2), [2, append(1)])).toEqual([
      'Broker 3, leader in epoch 0, appended a at offset 1 of tide-0.',
    ]);
  });
});

describe('how a broker gave up an older record', () => {
  it('is told where it did, and of no record that it still has', () => {
    const cut = {
      event: 'truncation',
      leaderEpoch: 1,
      from: 2,
      to: 1,
      rule: 'high-watermark',
      evidence: { highWatermark: 1 },
    };
    const gave = (...lines: Line[]): string[] =>
      about('truncated its log', told(elected(0, 1), [2, append(0)], [1, append(0)], elected(1, 2), ...lines));
    expect(gave([2, cut], [2, append(1)])).toEqual([
      'Broker 2 truncated its log from 2 to 1, by its own high watermark 1.',
    ]);
    expect(gave([2, append(1)])).toEqual([]);
    expect(gave([2, cut], [2, append(0)], [2, append(1)])).toHaveLength(1);
  });
});

describe('why a record was lost', () => {
  /** Of the record of epoch 0 at offset 1, promised by the third line; row -1 is one whose value nobody knows. */
  const lost = (lines: readonly Line[], more: Partial<Fate> = {}, made: Partial<Promised> = {}, row = 0) => {
    const evidence = evidenceOf(lines);
    const promised = { offset: 1, epoch: 0, row: 2, madeInEpoch: 0, isr: [1], ...made };
    const fate = { promised, removals: [], lacking: null, ...more } as unknown as Fate;
    return whyLost(evidence, partition, row, fate, { node: 2, log: { end: 4 } } as unknown as FinalLog);
  };
  const lackingIn = (epoch: number): Partial<Fate> => ({
    lacking: { row: 0, epoch, isrBefore: [], line: { leader: 2 } } as unknown as Fate['lacking'],
  });
  const texts = (word: string, ...told: Parameters<typeof lost>): string[] =>
    about(
      word,
      lost(...told).map(({ text }) => text),
    );

  it('points to its acknowledgement in the history where that was the promise, and its value is known', () => {
    const hw = { event: 'hw', leaderEpoch: 0, from: 0, to: 2, isr: [1] };
    const pointed = (line: object, row: number): unknown =>
      lost([elected(0, 1), [1, append(0)], [1, line as Line[1]]], {}, {}, row)
        .flatMap(({ references }) => references)
        .filter(({ source }) => source === 'history');
    expect(pointed(ack(0, 1, -1), 0)).toEqual([{ source: 'history', index: 5 }]);
    expect([pointed(ack(0, 1, -1), -1), pointed(hw, 0), pointed(hw, -1)]).toEqual([[], [], []]);
  });

  it('is that its leader joined after the promise and before it was elected', () => {
    const joins = (leaderEpoch: number): Line => ['controller', { event: 'isr', leaderEpoch, to: [1, 2], reason: 'x' }];
    const from: Line = ['controller', { event: 'election', leaderEpoch: 0, leader: 1, isr: [1], clean: true }];
    const joined = (epoch: number): string[] =>
      texts('was taken into', [from, [1, append(0)], [1, ack(0, 1, -1)], joins(epoch)], lackingIn(3), {
        madeInEpoch: 1,
      });
    expect(joined(1)).toEqual([
      'Broker 2 was taken into the in-sync replicas of tide-0 in epoch 1, now 1, 2, without the record.',
    ]);
    expect(joined(2)).toHaveLength(1);
    expect([joined(0), joined(3)]).toEqual([[], []]);
  });

  it('names who took its place, even in the epoch of the leader that lacked it', () => {
    const lines: Line[] = [elected(0, 1), [1, append(0)], [1, ack(0, 1, -1)], [3, append(1)]];
    expect(texts(' put ', lines, lackingIn(1))).toEqual(['Broker 3 put another record at offset 1 in epoch 1.']);
  });

  it('names who still holds it', () => {
    const lines: Line[] = [elected(0, 1), [1, append(0)], [1, ack(0, 1, -1)], [3, append(0)]];
    expect(texts('In the end', lines)).toEqual([
      'In the end broker 2 leads tide-0, its log ends at 4; brokers 1 and 3 still hold it, which saves nothing.',
    ]);
    expect(texts('In the end', lines.slice(0, 3))[0]).toContain('; broker 1 still holds it,');
  });

  it('is told of a broker that lost it as it started again, and never had a role', () => {
    const recover = { event: 'recover', logStart: 0, flushed: 1, from: 2, to: 1, cut: 'power-loss', hw: 0, epochs: [] };
    const lines: Line[] = [elected(0, 1), [1, append(0)], [1, ack(0, 1, -1)], [3, append(0)], [3, recover, 2]];
    const removals = [{ node: 3, row: 4, by: 'storage-fault' }] as unknown as Fate['removals'];
    expect(texts('started again', lines, { removals })).toEqual([
      'Broker 3 started again and had lost it: its log, cut by power loss, ended at 1 (flushed up to 1).',
    ]);
  });
});
