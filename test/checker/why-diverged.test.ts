/** Why two replicas differ: which lines of a trace are told, and which are not. */
import { describe, expect, it } from 'vitest';
import type { Evidence } from '../../checker/evidence.ts';
import { readTrace } from '../../checker/parse-trace.ts';
import { rebuildReplicas } from '../../checker/replicas.ts';
import { whyDiverged } from '../../checker/why.ts';

const partition = 'tide-0';

type Line = readonly [node: number | 'controller', fields: Readonly<Record<string, unknown>>, boot?: number];

/** Broker 1 holds offset 1 of epoch 0, broker 2 that of epoch 1. */
function told(...lines: readonly Line[]): string[] {
  const seqs = new Map<string, number>();
  const trace = lines.map(([node, fields, boot = 1], at) => {
    const name = `${node} ${boot}`;
    const seq = seqs.get(name) ?? 0;
    seqs.set(name, seq + 1);
    return { seq, time: at, node, boot, partition, ...fields };
  });
  const cluster = rebuildReplicas(readTrace(trace));
  const values = { correlation: { get: () => -1 } };
  const evidence = { cluster, history: { faults: [], rowCount: 0, values } } as unknown as Evidence;
  const camps = [
    { nodes: [1], value: 'a', epoch: 0 },
    { nodes: [2], value: 'b', epoch: 1 },
  ];
  return whyDiverged(evidence, partition, 1, camps).map(({ text }) => text);
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
  });
});
