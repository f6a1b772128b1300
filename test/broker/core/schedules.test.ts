/**
 * The schedules that part the builds, driven by hand: the first fetch rounds, one crash, S1a, S2, and what a consumer
 * sees meanwhile.
 */
import { describe, expect, it } from 'vitest';
import { ErrorCode } from '../../../broker/protocol/index.ts';
import { Cluster } from './cluster.ts';
import type { ClusterOptions } from './cluster.ts';

describe('the first fetch rounds', () => {
  it.each(['hw', 'epoch'])('bring the records in the first and the high watermark in the second, on %s', (build) => {
    const cluster = new Cluster({ build, brokers: 2 });
    cluster.push({ leader: 1, epoch: 0, isr: [1, 2] });
    for (const value of [1, 2, 3]) cluster.produce(1, value);

    cluster.deliver(({ api }) => api !== 'Fetch');
    cluster.fetchRound(2, 1);
    expect(cluster.ends(1)).toEqual([3, 0]);
    expect(cluster.ends(2)).toEqual([3, 0]);
    expect(cluster.lines(1, 'fetch').map(({ offset, leo }) => [offset, leo])).toEqual([[0, 3]]);

    // The second fetch finds nothing to read and waits; it has told the leader where the follower stands.
    cluster.fetchRound(2, 1);
    expect(cluster.lines(1, 'fetch').map(({ offset, leo }) => [offset, leo])).toEqual([
      [0, 3],
      [3, 3],
    ]);
    expect(cluster.ends(1)).toEqual([3, 3]);
    expect(cluster.ends(2)).toEqual([3, 0]);

    // As its wait ends the high watermark is read again.
    cluster.advance(500);
    cluster.deliver(({ kind }) => kind === 'response');
    expect(cluster.ends(2)).toEqual([3, 3]);
  });

  it('answer a fetch that brings data with the high watermark from before it', () => {
    const cluster = startedWith({ brokers: 2 }, 1);
    // The follower is behind by two fetches: it reports 1 while 2 is already there to read.
    cluster.produce(2, 2);
    cluster.deliver(({ kind, to }) => kind === 'response' && to === 1);
    cluster.produce(2, 3);
    cluster.fetchRound(1, 2);
    expect(cluster.ends(2)).toEqual([3, 2]);
    expect(cluster.ends(1)).toEqual([3, 1]);
  });
});

describe('one crash of a leader', () => {
  it('loses an acknowledged record on hw-elect, and none on hw and epoch', () => {
    expect(logAfterOneCrash('hw-elect')).toEqual(['m1@0']);
    expect(logAfterOneCrash('hw')).toEqual(['m1@0', 'm2@0']);
    expect(logAfterOneCrash('epoch')).toEqual(['m1@0', 'm2@0']);
  });
});

describe('S1a: a leader change, then the new leader dies', () => {
  it('loses an acknowledged record on hw', () => {
    const cluster = s1a('hw');
    expect(cluster.lines(1, 'truncation').at(-1)).toMatchObject({
      from: 2,
      to: 1,
      rule: 'high-watermark',
      evidence: { highWatermark: 1 },
    });
    expect(cluster.log(1)).toEqual(['m1@0']);
  });

  it('loses nothing on epoch', () => {
    const cluster = s1a('epoch');
    expect(cluster.log(1)).toEqual(['m1@0', 'm2@0']);
    cluster.restart(3);
    cluster.push({ leader: 1, epoch: 3, isr: [1] });
    cluster.run(1_000);
    expect(cluster.log(3)).toEqual(['m1@0', 'm2@0']);
  });

  it('leaves two different records at one offset on hw, once the new leader has written (S1a′)', () => {
    const cluster = s1aPrime('hw');
    expect(cluster.log(1)).toEqual(['m1@0', 'm3@2', 'm4@2']);
    expect(cluster.log(3)).toEqual(['m1@0', 'm2@0', 'm4@2']);
  });

  it('leaves equal logs on epoch, where the question and its answer are in the trace', () => {
    const cluster = s1aPrime('epoch');
    expect(cluster.log(1)).toEqual(['m1@0', 'm2@0', 'm3@2', 'm4@2']);
    expect(cluster.log(3)).toEqual(cluster.log(1));
    const [asked] = cluster.lines(3, 'truncation').slice(-1);
    expect(asked).toMatchObject({
      from: 2,
      to: 2,
      rule: 'leader-epoch',
      evidence: { leader: 1, question: { epoch: 0 }, answer: { epoch: 0, endOffset: 2 } },
    });
    expect(asked?.msg).toMatchObject({ clientId: 'broker-3.2' });
  });
});

describe('S2: power loss on one of two', () => {
  it('leaves a divergence on hw and none on epoch; the loss of what no disk had is the same', () => {
    expect(s2('hw')).toEqual([
      ['m1@0', 'm2@0'],
      ['m1@0', 'm3@1'],
    ]);
    expect(s2('epoch')).toEqual([
      ['m1@0', 'm3@1'],
      ['m1@0', 'm3@1'],
    ]);
  });
});

describe('a leader that has missed an epoch', () => {
  /** 2 holds m2 in epoch 0; in epoch 1, of which 1 hears nothing, it follows 3 and cuts m2; in epoch 2 it is 1 again. */
  const acknowledgedBeforeTheRest = (build: string) => {
    const cluster = new Cluster({ build });
    cluster.push({ leader: 1, epoch: 0, isr: [1, 2, 3] });
    cluster.produce(1, 1);
    cluster.run(1_200);
    const sent = cluster.produce(1, 2, -1, 10_000);
    cluster.deliverBetween(1, 2);
    cluster.push({ leader: 3, epoch: 1, isr: [1, 2, 3] }, [2, 3]);
    cluster.deliverBetween(2, 3);
    expect(cluster.log(2)).toEqual(['m1@0']);
    cluster.push({ leader: 1, epoch: 2, isr: [1, 2, 3] });
    cluster.deliverBetween(1, 3);
    expect(cluster.log(3)).toEqual(['m1@0', 'm2@0']);
    return cluster.produced(sent) === ErrorCode.NONE;
  };

  it('counts on nobody before it has fetched again, on epoch; hw takes its old word for it', () => {
    expect(acknowledgedBeforeTheRest('epoch')).toBe(false);
    expect(acknowledgedBeforeTheRest('hw')).toBe(true);
  });
});

describe('a leader change at offset 300', () => {
  it('reads `0 0`, `1 300` in the epoch checkpoint, before the new leader has a record', () => {
    const cluster = new Cluster({ build: 'epoch', brokers: 2 });
    cluster.push({ leader: 1, epoch: 0, isr: [1, 2] });
    for (let value = 0; value < 300; value++) cluster.produce(1, value);
    cluster.run(1_200);
    cluster.push({ leader: 2, epoch: 1, isr: [1, 2] });
    expect(cluster.node(2).epochs.get('t-0')).toEqual([
      { epoch: 0, startOffset: 0 },
      { epoch: 1, startOffset: 300 },
    ]);
  });

  it('writes no epoch checkpoint on hw, which stamps epochs all the same', () => {
    const cluster = startedWith({ build: 'hw', brokers: 2 }, 1);
    expect(cluster.log(1)).toEqual(['m1@0']);
    expect(cluster.node(2).epochs.size).toBe(0);
  });
});

describe('a consumer', () => {
  it('sees nothing at or above the high watermark: before, during and after a leader change', () => {
    const cluster = startedWith({ build: 'epoch' }, 1);
    cluster.produce(3, 2);
    cluster.deliver(({ kind }) => kind === 'response');
    expect(cluster.ends(3)).toEqual([2, 1]);
    expect(cluster.consume(3, 0)).toMatchObject({ values: [1], highWatermark: 1 });
    expect(cluster.consume(3, 1)).toMatchObject({ errorCode: 0, values: [] });

    // The next leader holds m2 and has not heard that anybody else does.
    cluster.push({ leader: 1, epoch: 1, isr: [1, 2, 3] });
    expect(cluster.ends(1)).toEqual([2, 1]);
    expect(cluster.consume(1, 0)).toMatchObject({ values: [1], highWatermark: 1 });
    expect(cluster.consume(3, 0)).toMatchObject({ errorCode: 6 });

    cluster.run(1_200);
    expect(cluster.consume(1, 0)).toMatchObject({ values: [1, 2], highWatermark: 2 });
    expect(cluster.consume(1, 3)).toMatchObject({ errorCode: 1 });
  });

  it('reads two values at one offset across S1a′ on hw', () => {
    const cluster = s1a('hw', (running) => expect(running.consume(3, 1)).toMatchObject({ values: [2] }));
    writeOn(cluster);
    expect(cluster.consume(1, 1)).toMatchObject({ values: [3, 4] });
  });

  it('sees uncommitted records on a broker with the defect for it', () => {
    const cluster = startedWith({ build: 'epoch', defects: ['read-above-high-watermark'] }, 1);
    cluster.produce(3, 2);
    expect(cluster.consume(3, 0)).toMatchObject({ values: [1, 2], highWatermark: 1 });
  });
});

describe('defects', () => {
  it('truncate-none keeps a tail that the new leader never had', () => {
    const logs = (defects: readonly string[]) => {
      const cluster = startedWith({ build: 'epoch', brokers: 2, defects, minInsyncReplicas: 1 }, 1);
      cluster.kill(1);
      cluster.produce(2, 2, 1);
      cluster.kill(2);
      cluster.restart(1);
      cluster.push({ leader: 1, epoch: 1, isr: [1] });
      cluster.produce(1, 3);
      cluster.restart(2);
      cluster.push({ leader: 1, epoch: 2, isr: [1] });
      cluster.run(1_000);
      return [cluster.log(1), cluster.log(2)];
    };
    expect(logs([])).toEqual([
      ['m1@0', 'm3@1'],
      ['m1@0', 'm3@1'],
    ]);
    expect(logs(['truncate-none'])).toEqual([
      ['m1@0', 'm3@1'],
      ['m1@0', 'm2@0'],
    ]);
  });

  it('ack-at-leo acknowledges what nobody else has', () => {
    const cluster = startedWith({ build: 'epoch', defects: ['ack-at-leo'] }, 1);
    const sent = cluster.produce(3, 2);
    expect(cluster.produced(sent)).toBe(0);
    expect(cluster.ends(3)).toEqual([2, 1]);
    expect(cluster.lines(3, 'ack').at(-1)).toMatchObject({ base: 1, last: 1, acks: -1 });
  });
});

/** A cluster whose last broker leads epoch 0, with m1 committed and known to be so everywhere. */
function startedWith(options: ClusterOptions, value: number): Cluster {
  const count = options.brokers ?? 3;
  const isr = Array.from({ length: count }, (_, index) => index + 1);
  const cluster = new Cluster(options);
  cluster.push({ leader: count, epoch: 0, isr });
  cluster.produce(count, value);
  cluster.run(1_200);
  for (const id of isr) expect(cluster.ends(id)).toEqual([1, 1]);
  return cluster;
}

/** m2 is acknowledged, and no follower has heard that it is committed. */
function acknowledgedTail(options: ClusterOptions): Cluster {
  const cluster = startedWith(options, 1);
  const leader = options.brokers ?? 3;
  const sent = cluster.produce(leader, 2);
  cluster.deliver();
  expect(cluster.produced(sent)).toBe(0);
  for (let id = 1; id < leader; id++) expect(cluster.ends(id)).toEqual([2, 1]);
  return cluster;
}

function logAfterOneCrash(build: string): string[] {
  const cluster = acknowledgedTail({ build });
  cluster.kill(3);
  cluster.push({ leader: 1, epoch: 1, isr: [1, 2] });
  cluster.run(1_000);
  expect(cluster.log(2)).toEqual(cluster.log(1));
  return cluster.log(1);
}

/** Steps 1 to 8: broker 3 led, 2 leads epoch 1 and dies before broker 1 has fetched from it, 1 leads epoch 2. */
function s1a(build: string, beforeTheChange: (cluster: Cluster) => void = () => {}): Cluster {
  const cluster = acknowledgedTail({ build });
  beforeTheChange(cluster);
  cluster.push({ leader: 2, epoch: 1, isr: [1, 2, 3] }, [1, 2]);
  cluster.kill(3);
  cluster.kill(2);
  cluster.push({ leader: 1, epoch: 2, isr: [1] });
  return cluster;
}

/** Step 9: the new leader writes at the freed offset; then the first one returns. */
function s1aPrime(build: string): Cluster {
  const cluster = s1a(build);
  writeOn(cluster);
  cluster.restart(3);
  cluster.push({ leader: 1, epoch: 3, isr: [1] });
  cluster.run(1_000);
  return cluster;
}

function writeOn(cluster: Cluster): void {
  cluster.node(3).highWatermarks = { 't-0': 2 };
  for (const value of [3, 4]) cluster.produce(1, value, 1);
}

/** Both brokers lose power after m2; broker 2 kept it and its high watermark, broker 1 lost it. Returns both logs. */
function s2(build: string): [string[], string[]] {
  const cluster = acknowledgedTail({ build, brokers: 2, minInsyncReplicas: 1 });
  cluster.event(2, { type: 'checkpoint-now' });
  cluster.kill(1);
  cluster.kill(2);
  cluster.restart(1, 1);
  cluster.push({ leader: 1, epoch: 1, isr: [1] });
  cluster.produce(1, 3);
  cluster.restart(2);
  cluster.push({ leader: 1, epoch: 2, isr: [1] });
  cluster.run(1_000);
  return [cluster.log(2), cluster.log(1)];
}
