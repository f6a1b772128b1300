import { describe, expect, it } from 'vitest';
import { findExposures } from '../../checker/exposures.ts';
import { readTrace } from '../../checker/parse-trace.ts';
import { rebuildReplicas } from '../../checker/replicas.ts';
import type { Exposure } from '../../checker/results.ts';

type Batch = readonly [base: number, last: number, epoch: number];

/** A trace by hand: broker 1 leads in epoch 0, and broker 2 copies what it is told to. */
class Told {
  readonly lines: object[] = [];
  /** Of the lines to come. */
  key: string;
  readonly #seqs = new Map<string, number>();

  constructor(key = 'tide-0') {
    this.key = key;
    for (const node of [1, 2, 3, 4, 5]) this.line(node, { event: 'start', port: 1, build: 'hw', defects: [] });
    this.role(1, 0, 1, 0, 0);
    this.role(2, 0, 1, 0, 0);
  }

  line(node: number, fields: object, boot = 1): this {
    const seq = this.#seqs.get(`${node} ${boot}`) ?? 0;
    this.#seqs.set(`${node} ${boot}`, seq + 1);
    this.lines.push({ seq, time: this.lines.length, node, boot, ...fields });
    return this;
  }

  role(node: number, epoch: number, leader: number | null, leo: number, hw: number, more: object = {}): this {
    const role = leader === node ? 'leader' : 'follower';
    const fields = {
      event: 'role',
      partition: this.key,
      leaderEpoch: epoch,
      role,
      leader,
      leo,
      hw,
      isr: [1, 2, 3, 4, 5],
    };
    return this.line(node, { ...fields, ...more });
  }

  append(node: number, [base, last, epoch]: Batch): this {
    const batches = [{ base, last, epoch, hash: `${base}${epoch}`.padStart(8, '0') }];
    return this.line(node, { event: 'append', partition: this.key, leaderEpoch: epoch, batches });
  }

  ack(base: number, last: number, epoch = 0, acks = -1): this {
    const fields = { event: 'ack', partition: this.key, leaderEpoch: epoch, base, last, acks, isr: [1, 2, 3] };
    return this.line(1, { ...fields, msg: `client-1#${base}` });
  }

  /** Written by the leader, copied by broker 2 and acknowledged. */
  commit(...batch: Batch): this {
    return this.append(1, batch).append(2, batch).ack(batch[0], batch[1], batch[2]);
  }

  truncate(from: number, to: number, epoch: number): this {
    const evidence = { highWatermark: to };
    const rule = 'high-watermark';
    return this.line(2, { event: 'truncation', partition: this.key, leaderEpoch: epoch, from, to, rule, evidence });
  }

  exposures(): Exposure[] {
    return findExposures(rebuildReplicas(readTrace(this.lines)));
  }
}

function acknowledged(told: Told): unknown {
  return told.exposures().map((exposure) => exposure.acknowledged);
}

describe('an exposure', () => {
  it('is a follower to be that holds, above its own high watermark, what was acknowledged', () => {
    const told = new Told().commit(0, 0, 0).commit(1, 1, 0).role(2, 1, 3, 2, 1);
    expect(told.exposures()).toEqual([
      {
        key: 'tide-0',
        node: 2,
        leaderEpoch: 1,
        highWatermark: 1,
        endOffset: 2,
        acknowledged: [1, 1],
        reference: { source: 'trace', node: 2, boot: 1, seq: 4 },
      },
    ]);
  });

  it('names the first and the last offset at risk, from the high watermark on', () => {
    expect(acknowledged(new Told().commit(0, 4, 0).role(2, 1, 3, 5, 2))).toEqual([[2, 4]]);
    expect(acknowledged(new Told().commit(0, 0, 0).commit(1, 2, 0).commit(3, 3, 0).role(2, 1, 3, 4, 0))).toEqual([
      [0, 3],
    ]);
    expect(
      acknowledged(new Told().append(1, [0, 0, 0]).append(2, [0, 0, 0]).commit(1, 1, 0).role(2, 1, 3, 2, 0)),
    ).toEqual([[1, 1]]);
  });

  it.each([
    ['all of it is below its high watermark', new Told().commit(0, 0, 0).role(2, 1, 3, 1, 1)],
    ['nothing was acknowledged', new Told().append(1, [0, 0, 0]).append(2, [0, 0, 0]).role(2, 1, 3, 1, 0)],
    ['only acks=0 was asked', new Told().append(1, [0, 0, 0]).append(2, [0, 0, 0]).ack(0, 0, 0, 0).role(2, 1, 3, 1, 0)],
    ['it is out of sync', new Told().commit(0, 0, 0).role(2, 1, 3, 1, 0, { isr: [1, 3] })],
    ['it leads', new Told().commit(0, 0, 0).role(2, 1, 2, 1, 0)],
    ['nobody leads', new Told().commit(0, 0, 0).role(2, 1, null, 1, 0)],
    ['it goes on following', new Told().commit(0, 0, 0).role(2, 1, 1, 1, 0)],
    [
      'what was acknowledged lies beyond its end',
      new Told().commit(0, 0, 0).append(1, [1, 1, 0]).ack(1, 1).role(2, 1, 3, 1, 1),
    ],
    ['it never had the record', new Told().append(1, [0, 0, 0]).ack(0, 0).role(2, 1, 3, 1, 0)],
    [
      'it has another record there',
      new Told().append(1, [0, 0, 0]).ack(0, 0).append(2, [0, 0, -1]).role(2, 1, 3, 1, 0),
    ],
    ['it had cut the record off before', new Told().commit(0, 0, 0).truncate(1, 0, 0).role(2, 1, 3, 1, 0)],
    ['it copied the record later', new Told().append(1, [0, 0, 0]).ack(0, 0).role(2, 1, 3, 1, 0).append(2, [0, 0, 0])],
    [
      'the record is of the same epoch',
      new Told().append(1, [0, 0, 1]).append(2, [0, 0, 1]).ack(0, 0, 1).role(2, 1, 3, 1, 0),
    ],
  ])('is none where %s', (_, told) => {
    expect(told.exposures()).toEqual([]);
  });

  it('is one at acks=1 too, when it cuts the record off, and when it was started again', () => {
    const copied = (): Told => new Told().append(1, [0, 0, 0]).append(2, [0, 0, 0]);
    expect(acknowledged(copied().ack(0, 0, 0, 1).role(2, 1, 3, 1, 0))).toEqual([[0, 0]]);
    expect(acknowledged(copied().ack(0, 0, 0, 0).ack(0, 0).role(2, 1, 3, 1, 0))).toEqual([[0, 0]]);
    expect(acknowledged(copied().ack(0, 0).role(2, 1, 3, 1, 0).truncate(1, 0, 1))).toEqual([[0, 0]]);
    const again = copied().ack(0, 0).line(2, { event: 'start', port: 1, build: 'hw', defects: [] }, 2);
    const fields = { event: 'role', partition: 'tide-0', leaderEpoch: 1, role: 'follower', leader: 1 };
    again.line(2, { ...fields, leo: 1, hw: 0, isr: [1, 2, 3] }, 2);
    expect(acknowledged(again)).toEqual([[0, 0]]);
  });

  it('ends where the log of the broker ends, though more was acknowledged at once', () => {
    const told = new Told().append(1, [0, 1, 0]).append(1, [2, 3, 0]).append(2, [0, 1, 0]).ack(0, 3);
    expect(acknowledged(told.role(2, 1, 3, 2, 0))).toEqual([[0, 1]]);
  });

  it('stands before those of greater brokers, and of later partitions, in whatever order they come', () => {
    const inOrder = (keys: readonly string[], nodes: readonly number[]): string[] => {
      const told = new Told('z-0');
      for (const [at, key] of keys.entries()) {
        told.key = key;
        told.role(1, 0, 1, 0, 0).append(1, [0, 0, 0]).ack(0, 0);
        for (const node of nodes) told.append(node, [0, 0, 0]).role(node, 9 - at, 3, 1, 0);
      }
      return told.exposures().map(({ key, node }) => `${key} ${node}`);
    };
    const sorted = ['a-0 2', 'a-0 4', 'a-0 5', 'b-0 2', 'b-0 4', 'b-0 5', 'c-0 2', 'c-0 4', 'c-0 5'];
    for (const nodes of [
      [2, 4, 5],
      [5, 4, 2],
      [4, 5, 2],
    ]) {
      expect(inOrder(['a-0', 'b-0', 'c-0'], nodes)).toEqual(sorted);
      expect(inOrder(['c-0', 'b-0', 'a-0'], nodes)).toEqual(sorted);
      expect(inOrder(['b-0', 'c-0', 'a-0'], nodes)).toEqual(sorted);
    }
  });

  it('stands in the order of partition, epoch and broker', () => {
    const told = new Told('b-0').commit(0, 0, 0).append(3, [0, 0, 0]);
    told.role(3, 2, 1, 1, 0).role(3, 4, 2, 1, 0).role(2, 1, 3, 1, 0).role(2, 2, 1, 1, 0).role(2, 3, 3, 1, 0);
    told.key = 'a-0';
    told.role(1, 0, 1, 0, 0).commit(0, 0, 0).role(2, 9, 3, 1, 0);
    const places = told.exposures().map(({ key, leaderEpoch, node }) => [key, leaderEpoch, node]);
    expect(places).toEqual([
      ['a-0', 9, 2],
      ['b-0', 1, 2],
      ['b-0', 2, 2],
      ['b-0', 2, 3],
      ['b-0', 3, 2],
      ['b-0', 4, 3],
    ]);
  });
});
