/**
 * What parts the builds, seen from outside of a broker: what they send, when they ask, what they refuse, and how the
 * two histories end that took Kafka two more proposals after KIP-101.
 */
import { describe, expect, it } from 'vitest';
import { buildNamed, buildNames } from '../../../broker/core/builds.ts';
import { ErrorCode } from '../../../broker/protocol/index.ts';
import type { RequestBody } from '../../../broker/protocol/index.ts';
import { Cluster } from './cluster.ts';
import { fetchBody } from './values.ts';

/** Broker 1 leads epoch 0, and 2 holds m1 and knows that it is committed. */
function twoBrokers(build: string): Cluster {
  const cluster = new Cluster({ build, brokers: 2, minInsyncReplicas: 1 });
  cluster.push({ leader: 1, epoch: 0, isr: [1, 2] });
  cluster.produce(1, 1);
  cluster.run(1_200);
  return cluster;
}

describe('the builds', () => {
  it('are five, in the order of the flaws that they still have', () => {
    expect(buildNames).toEqual(['hw', 'hw-elect', 'kip101', 'kip279', 'epoch']);
    for (const name of buildNames) expect(buildNamed(name)?.standsFor).toMatch(/\S/);
  });

  it.each([
    ['hw', 4, undefined],
    ['hw-elect', 4, undefined],
    ['kip101', 5, 0],
    ['kip279', 8, 1],
    ['epoch', 11, 3],
  ])('%s fetches with version %i and asks for epochs with version %s', (build, fetch, question) => {
    const cluster = twoBrokers(build);
    cluster.kill(2);
    cluster.restart(2);
    cluster.push({ leader: 1, epoch: 1, isr: [1] });
    const asked = cluster.inFlight.find(({ api }) => api === 'OffsetForLeaderEpoch');
    expect(asked?.version).toBe(question);
    cluster.deliver(({ api }) => api === 'OffsetForLeaderEpoch');
    expect(cluster.inFlight.find(({ api, from }) => api === 'Fetch' && from === 2)?.version).toBe(fetch);
  });
});

describe('a new epoch under the same leader', () => {
  it.each(['hw', 'kip101', 'kip279'])('is only noted on %s: nothing is asked, nothing truncated', (build) => {
    const cluster = twoBrokers(build);
    const looked = cluster.lines(2, 'truncation').length;
    cluster.push({ leader: 1, epoch: 1, isr: [1, 2] });
    expect(cluster.inFlight.filter(({ api }) => api === 'OffsetForLeaderEpoch')).toEqual([]);
    expect(cluster.lines(2, 'truncation')).toHaveLength(looked);
    expect(cluster.partition(2).leaderEpoch).toBe(1);
  });

  it('makes a follower ask again on epoch', () => {
    const cluster = twoBrokers('epoch');
    cluster.push({ leader: 1, epoch: 1, isr: [1, 2] });
    cluster.run(600);
    expect(cluster.lines(2, 'truncation').at(-1)).toMatchObject({ leaderEpoch: 1, rule: 'leader-epoch' });
  });
});

describe('a request that knows another epoch', () => {
  it.each(['hw', 'kip101', 'kip279'])('is served on %s', (build) => {
    const cluster = twoBrokers(build);
    const sent = cluster.request(1, 'Fetch', 11, fetchBody(-1, 0, 0, 7));
    expect(cluster.consumed(sent)).toMatchObject({ errorCode: ErrorCode.NONE, values: [1] });
  });

  it('is refused on epoch', () => {
    const cluster = twoBrokers('epoch');
    const sent = cluster.request(1, 'Fetch', 11, fetchBody(-1, 0, 0, 7));
    expect(cluster.consumed(sent)).toMatchObject({ errorCode: ErrorCode.UNKNOWN_LEADER_EPOCH });
  });

  it.each(['kip101', 'kip279'])('is never sent by %s', (build) => {
    const cluster = twoBrokers(build);
    cluster.push({ leader: 2, epoch: 1, isr: [1, 2] });
    const [question] = cluster.inFlight.filter(({ api }) => api === 'OffsetForLeaderEpoch');
    const body = question?.body as RequestBody<'OffsetForLeaderEpoch'> | undefined;
    expect(body?.topics[0]?.partitions).toEqual([{ partition: 0, currentLeaderEpoch: -1, leaderEpoch: 0 }]);
  });
});

describe('a truncation below the high watermark', () => {
  it.each([
    ['kip101', 2],
    ['kip279', 2],
    ['epoch', 1],
  ])('on %s leaves the high watermark at %i', (build, highWatermark) => {
    const cluster = new Cluster({ build, brokers: 2, minInsyncReplicas: 1 });
    // Each has a record at offset 1 that the other has not; broker 1 took its own for committed.
    cluster.push({ leader: 2, epoch: 0, isr: [1, 2] });
    cluster.produce(2, 1);
    cluster.run(1_200);
    cluster.push({ leader: 1, epoch: 1, isr: [1] }, [1]);
    cluster.produce(1, 2);
    expect(cluster.ends(1)).toEqual([2, 2]);
    cluster.push({ leader: 2, epoch: 2, isr: [2] }, [2]);
    cluster.produce(2, 3);
    cluster.push({ leader: 2, epoch: 2, isr: [2] }, [1]);
    cluster.deliver(({ api, kind }) => api === 'OffsetForLeaderEpoch' || kind === 'response');
    expect(cluster.ends(1)).toEqual([1, highWatermark]);
  });
});

describe('two fast failovers, the first of which the old leader never hears of (S3b)', () => {
  const logsAfter = (build: string) => {
    const cluster = twoBrokers(build);
    cluster.push({ leader: 2, epoch: 1, isr: [1, 2] }, [2]);
    cluster.produce(1, 10, -1, 10_000);
    cluster.produce(2, 20, -1, 10_000);
    cluster.push({ leader: 1, epoch: 2, isr: [1, 2] }, [1]);
    cluster.produce(1, 11, -1, 10_000);
    cluster.push({ leader: 1, epoch: 2, isr: [1, 2] }, [2]);
    cluster.run(1_200);
    return [cluster.log(1), cluster.log(2)];
  };

  it('leave two records at one offset on kip101', () => {
    const [one, two] = logsAfter('kip101');
    expect(one).toEqual(['m1@0', 'm10@0', 'm11@2']);
    expect(two).toEqual(['m1@0', 'm20@1', 'm11@2']);
  });

  it.each(['hw', 'kip279', 'epoch'])('leave equal logs on %s', (build) => {
    const [one, two] = logsAfter(build);
    expect(one).toEqual(['m1@0', 'm10@0', 'm11@2']);
    expect(two).toEqual(one);
  });
});

describe('a record of an epoch below the first one of the leader (KAFKA-7415)', () => {
  const logsAfter = (build: string) => {
    const cluster = new Cluster({ build, brokers: 2, minInsyncReplicas: 1 });
    // Broker 2 leads epoch 1 alone and writes its first record; broker 1 led epoch 0 and leads epoch 2.
    cluster.push({ leader: 1, epoch: 0, isr: [1, 2] }, [1]);
    cluster.push({ leader: 2, epoch: 1, isr: [2] }, [2]);
    cluster.produce(1, 1, 1);
    cluster.produce(2, 2, 1);
    cluster.push({ leader: 1, epoch: 2, isr: [1] });
    cluster.produce(1, 3, 1);
    cluster.run(1_200);
    return [cluster.log(1), cluster.log(2)];
  };

  it.each(['kip101', 'kip279'])('stays on %s', (build) => {
    expect(logsAfter(build)).toEqual([
      ['m1@0', 'm3@2'],
      ['m2@1', 'm3@2'],
    ]);
  });

  it('goes on epoch', () => {
    expect(logsAfter('epoch')).toEqual([
      ['m1@0', 'm3@2'],
      ['m1@0', 'm3@2'],
    ]);
  });
});
