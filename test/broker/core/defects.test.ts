/**
 * What each defect of a broker does, beside what the healthy broker does in the same place. Whether the harness finds
 * them is another test's business; here one only has to see that a name does what its line says.
 */
import { describe, expect, it } from 'vitest';
import { createBroker } from '../../../broker/core/broker.ts';
import type { RecoveredLog } from '../../../broker/core/step.ts';
import { ErrorCode } from '../../../broker/protocol/index.ts';
import { Cluster } from './cluster.ts';
import type { ClusterOptions } from './cluster.ts';
import { batch, configOf, fetchBody } from './values.ts';

/** What a play shows on `epoch`, without the defect and with it. */
function beside<T>(defect: string, play: (options: ClusterOptions) => T): { healthy: T; faulty: T } {
  return { healthy: play({ build: 'epoch' }), faulty: play({ build: 'epoch', defects: [defect] }) };
}

/** Broker 1 leads epoch 0 with m1, committed and known to be so everywhere. */
function started(options: ClusterOptions): Cluster {
  const cluster = new Cluster({ minInsyncReplicas: 1, ...options });
  cluster.push({ leader: 1, epoch: 0, isr: everybody(options) });
  cluster.produce(1, 1);
  cluster.run(1_200);
  return cluster;
}

const everybody = ({ brokers = 3 }: ClusterOptions) => Array.from({ length: brokers }, (_, index) => index + 1);

/** Two brokers; 1 wrote m2 in epoch 0 and m3 with it, which 2 never got, and then follows 2, which leads epoch 1. */
function withTail(options: ClusterOptions): Cluster {
  const cluster = started({ ...options, brokers: 2 });
  cluster.kill(2);
  cluster.produce(1, 2, 1);
  cluster.produce(1, 3, 1);
  cluster.restart(2);
  return cluster;
}

describe('where a follower’s log ends:', () => {
  const afterTail = (options: ClusterOptions) => {
    const cluster = withTail(options);
    cluster.push({ leader: 2, epoch: 1, isr: [2] });
    cluster.deliver(({ api, kind }) => api === 'OffsetForLeaderEpoch' || kind === 'response');
    return cluster.log(1);
  };

  it('truncate-none keeps all, truncate-one-too-few one record, truncate-one-too-many none and one less', () => {
    expect(beside('truncate-none', afterTail)).toEqual({ healthy: ['m1@0'], faulty: ['m1@0', 'm2@0', 'm3@0'] });
    expect(beside('truncate-one-too-few', afterTail).faulty).toEqual(['m1@0', 'm2@0']);
    expect(beside('truncate-one-too-many', afterTail).faulty).toEqual([]);
  });

  it('ask-current-epoch asks for an epoch of which it has no record, and keeps what the leader reaches', () => {
    const asked = (options: ClusterOptions) => {
      const cluster = withTail(options);
      cluster.push({ leader: 2, epoch: 1, isr: [2] });
      for (const value of [4, 5]) cluster.produce(2, value, 1);
      cluster.run(600);
      return cluster.log(1);
    };
    expect(beside('ask-current-epoch', asked)).toEqual({
      healthy: ['m1@0', 'm4@1', 'm5@1'],
      faulty: ['m1@0', 'm2@0', 'm3@0'],
    });
  });

  it('truncate-for-new-leader-only asks nothing when the same broker leads in a new epoch', () => {
    const looks = (options: ClusterOptions) => {
      const cluster = started(options);
      const before = cluster.lines(2, 'truncation').length;
      cluster.push({ leader: 1, epoch: 1, isr: [1, 2, 3] });
      cluster.run(1_500);
      cluster.produce(1, 2);
      cluster.run(600);
      expect(cluster.log(2)).toEqual(['m1@0', 'm2@1']);
      return cluster.lines(2, 'truncation').length - before;
    };
    expect(beside('truncate-for-new-leader-only', looks)).toEqual({ healthy: 1, faulty: 0 });
  });

  it('truncate-unowned lets an answer from a former leader cut what it wrote as leader since', () => {
    const lateAnswer = (options: ClusterOptions) => {
      const cluster = withTail(options);
      cluster.push({ leader: 2, epoch: 1, isr: [2] });
      const questionAndFetch = ({ api, kind }: { api: string; kind: string }) =>
        (api === 'OffsetForLeaderEpoch' && kind === 'request') || (api === 'Fetch' && kind === 'response');
      cluster.deliver(questionAndFetch);
      cluster.push({ leader: 1, epoch: 2, isr: [1] }, [1]);
      cluster.deliver(({ api }) => api === 'OffsetForLeaderEpoch');
      return cluster.log(1);
    };
    expect(beside('truncate-unowned', lateAnswer)).toEqual({ healthy: ['m1@0', 'm2@0', 'm3@0'], faulty: ['m1@0'] });
  });
});

describe('the epochs that a replica knows:', () => {
  it('no-epoch-start leaves the cache of a new leader as it was', () => {
    const cacheOf = (options: ClusterOptions) => {
      const cluster = started(options);
      cluster.push({ leader: 2, epoch: 1, isr: [1, 2, 3] });
      return cluster.partition(2).epochs;
    };
    const { healthy, faulty } = beside('no-epoch-start', cacheOf);
    expect(healthy).toEqual([
      { epoch: 0, startOffset: 0 },
      { epoch: 1, startOffset: 1 },
    ]);
    expect(faulty).toEqual([{ epoch: 0, startOffset: 0 }]);
  });

  it('note-own-epoch notes old records under the epoch in which they were copied', () => {
    const cacheOf = (options: ClusterOptions) => {
      const cluster = withTail(options);
      cluster.push({ leader: 1, epoch: 1, isr: [1] });
      cluster.run(600);
      expect(cluster.log(2)).toEqual(['m1@0', 'm2@0', 'm3@0']);
      return cluster.partition(2).epochs;
    };
    const { healthy, faulty } = beside('note-own-epoch', cacheOf);
    expect(healthy).toEqual([{ epoch: 0, startOffset: 0 }]);
    expect(faulty).toEqual([
      { epoch: 0, startOffset: 0 },
      { epoch: 1, startOffset: 1 },
    ]);
  });

  it('unknown-epoch-ends-at-end answers where it should say that it does not know', () => {
    const answer = (defects: readonly string[]) => {
      const cluster = started({ build: 'kip279', defects });
      const topics = [{ topic: 't', partitions: [{ partition: 0, currentLeaderEpoch: -1, leaderEpoch: 7 }] }];
      const sent = cluster.request(1, 'OffsetForLeaderEpoch', 1, { replicaId: -1, topics });
      return cluster.answerOf('OffsetForLeaderEpoch', sent)?.topics[0]?.partitions[0]?.endOffset;
    };
    expect(answer([])).toBe(-1);
    expect(answer(['unknown-epoch-ends-at-end'])).toBe(1);
  });

  it('unfenced-requests serves a reader of another epoch', () => {
    const served = (options: ClusterOptions) => {
      const cluster = started(options);
      return cluster.consumed(cluster.request(1, 'Fetch', 11, fetchBody(-1, 0, 0, 5)));
    };
    expect(beside('unfenced-requests', served)).toMatchObject({
      healthy: { errorCode: ErrorCode.UNKNOWN_LEADER_EPOCH, values: [] },
      faulty: { errorCode: ErrorCode.NONE, values: [1] },
    });
  });

  it('stamp-previous-epoch goes on with the epoch of the record before', () => {
    const written = (options: ClusterOptions) => {
      const cluster = started(options);
      cluster.push({ leader: 2, epoch: 1, isr: [1, 2, 3] });
      cluster.produce(2, 2);
      return cluster.log(2);
    };
    expect(beside('stamp-previous-epoch', written)).toEqual({ healthy: ['m1@0', 'm2@1'], faulty: ['m1@0', 'm2@0'] });
  });
});

describe('what survives a start:', () => {
  const found: RecoveredLog = {
    log: 't-0',
    logStartOffset: 0,
    batches: [batch({ value: 1 })],
    epochs: [{ epoch: 0, startOffset: 0 }],
    checkpointedHighWatermark: 1,
    flushedOffset: 0,
    foundEndOffset: 1,
    cut: 'none',
  };

  it('start-empty leaves nothing, on the disk too', () => {
    const startOf = (defects: readonly string[]) => createBroker(configOf(1, 'epoch', { defects }), [found], 0);
    const faulty = startOf(['start-empty']);
    expect(startOf([]).state.partitions.get('t-0')).toMatchObject({ highWatermark: 1, log: { endOffset: 1 } });
    expect(faulty.state.partitions.get('t-0')).toMatchObject({ highWatermark: 0, epochs: [], log: { endOffset: 0 } });
    expect(faulty.effects).toContainEqual({ type: 'reset-log', log: 't-0', offset: 0 });
    expect(faulty.effects).toContainEqual({
      type: 'trace',
      line: expect.objectContaining({ event: 'recover', from: 1, to: 0, cut: 'torn-tail' }),
    });
  });

  it('checkpoint-end-offset writes the end of the log in place of the high watermark', () => {
    const written = (options: ClusterOptions) => {
      const cluster = started(options);
      cluster.produce(1, 2);
      cluster.event(1, { type: 'checkpoint-now' });
      return cluster.node(1).highWatermarks;
    };
    expect(beside('checkpoint-end-offset', written)).toEqual({ healthy: { 't-0': 1 }, faulty: { 't-0': 2 } });
  });
});

describe('what counts as committed:', () => {
  /** m2 is on the leader, and on those of the followers that may fetch. */
  const highWatermark = (options: ClusterOptions, ...followers: readonly number[]) => {
    const cluster = started(options);
    cluster.produce(1, 2);
    if (followers.length > 0) cluster.deliverBetween(1, ...followers);
    return cluster.ends(1)[1];
  };

  it('high-watermark-at-end takes in what nobody else has, high-watermark-of-majority what one follower has', () => {
    expect(beside('high-watermark-at-end', highWatermark)).toEqual({ healthy: 1, faulty: 2 });
    expect(beside('high-watermark-of-majority', highWatermark)).toEqual({ healthy: 1, faulty: 1 });
    expect(beside('high-watermark-of-majority', (options) => highWatermark(options, 2))).toEqual({
      healthy: 1,
      faulty: 2,
    });
  });

  it('count-sent-as-held believes that what it sends at once has arrived', () => {
    const behind = (options: ClusterOptions) => {
      const cluster = started({ ...options, brokers: 2 });
      cluster.produce(1, 2);
      cluster.deliver(({ kind }) => kind === 'response');
      cluster.produce(1, 3);
      // This fetch finds m3 waiting.
      cluster.deliver(({ kind }) => kind === 'request', 1);
      expect(cluster.ends(2)[0]).toBe(2);
      return cluster.ends(1)[1];
    };
    expect(beside('count-sent-as-held', behind)).toEqual({ healthy: 2, faulty: 3 });
  });

  it('high-watermark-falls and commit-all-on-election begin an epoch with nothing, and with everything', () => {
    const elected = (options: ClusterOptions) => {
      const cluster = started(options);
      cluster.produce(1, 2);
      cluster.deliverBetween(1, 2);
      expect(cluster.ends(2)).toEqual([2, 1]);
      cluster.push({ leader: 2, epoch: 1, isr: [1, 2, 3] });
      return cluster.ends(2)[1];
    };
    expect(beside('high-watermark-falls', elected)).toEqual({ healthy: 1, faulty: 0 });
    expect(beside('commit-all-on-election', elected)).toEqual({ healthy: 1, faulty: 2 });
  });

  it('ignore-pending-isr runs away from a follower that it has proposed', () => {
    const committed = (options: ClusterOptions) => {
      const cluster = new Cluster({ minInsyncReplicas: 1, ...options });
      cluster.push({ leader: 1, epoch: 0, isr: [1, 2] });
      cluster.deliver();
      expect(cluster.proposals()).toEqual([[1, 2, 3]]);
      cluster.produce(1, 1);
      cluster.deliverBetween(1, 2);
      return cluster.ends(1)[1];
    };
    expect(beside('ignore-pending-isr', committed)).toEqual({ healthy: 0, faulty: 1 });
  });

  it('forget-pending-isr runs away from a follower that it has proposed once the controller repeats itself', () => {
    const committed = (options: ClusterOptions) => {
      const cluster = new Cluster({ minInsyncReplicas: 1, ...options });
      cluster.push({ leader: 1, epoch: 0, isr: [1, 2] });
      cluster.deliver();
      expect(cluster.proposals()).toEqual([[1, 2, 3]]);
      // Broker 3 is silent for so long that only the proposal holds the high watermark back.
      cluster.run(3_500, ({ from, to }) => from !== 3 && to !== 3);
      cluster.produce(1, 1);
      const { partitionEpoch } = cluster.partition(1);
      cluster.push({ leader: 1, epoch: 0, isr: [1, 2], partitionEpoch }, [1]);
      cluster.deliverBetween(1, 2);
      return cluster.ends(1)[1];
    };
    expect(beside('forget-pending-isr', committed)).toEqual({ healthy: 0, faulty: 1 });
  });

  it('shrink-before-commit does not wait for the controller to agree', () => {
    const committed = (options: ClusterOptions) => {
      const cluster = started(options);
      cluster.produce(1, 2);
      cluster.run(3_500, ({ from, to }) => from !== 3 && to !== 3);
      expect(cluster.proposals()).toEqual([[1, 2]]);
      return cluster.ends(1)[1];
    };
    expect(beside('shrink-before-commit', committed)).toEqual({ healthy: 1, faulty: 2 });
  });
});

describe('who is in sync:', () => {
  const proposed = (options: ClusterOptions, leader: number, epoch: number) => {
    const cluster = withTail(options);
    cluster.push({ leader, epoch, isr: [leader] });
    if (leader === 2) cluster.produce(2, 9, 1);
    cluster.deliver(({ api, kind }) => api !== 'Fetch' || kind === 'response');
    cluster.deliver(({ api, kind }) => api === 'Fetch' && kind === 'request', 1);
    return cluster.proposals();
  };

  it('expand-at-once takes in a follower with its first fetch', () => {
    expect(beside('expand-at-once', (options) => proposed(options, 1, 1))).toEqual({ healthy: [], faulty: [[1, 2]] });
  });

  it('expand-without-epoch-start takes in a follower at the high watermark, below the start of the epoch', () => {
    const caughtUp = (options: ClusterOptions) => {
      const cluster = started({ ...options, brokers: 2 });
      cluster.kill(2);
      cluster.produce(1, 2, 1);
      cluster.push({ leader: 1, epoch: 1, isr: [1, 2] });
      cluster.restart(2);
      cluster.push({ leader: 1, epoch: 2, isr: [1], partitionEpoch: 9 });
      cluster.partition(1).highWatermark = 1;
      cluster.deliver(({ api }) => api !== 'Fetch');
      cluster.deliver(({ api, kind }) => api === 'Fetch' && kind === 'request', 1);
      return cluster.proposals();
    };
    expect(beside('expand-without-epoch-start', caughtUp)).toEqual({ healthy: [], faulty: [[1, 2]] });
  });

  it('rejoin-while-fenced proposes a follower that the controller counts as gone', () => {
    const asked = (options: ClusterOptions) => {
      const cluster = started(options);
      cluster.push({ leader: 1, epoch: 1, isr: [1, 2], fenced: [3] });
      cluster.run(600);
      return cluster.proposals();
    };
    expect(beside('rejoin-while-fenced', asked)).toEqual({ healthy: [], faulty: [[1, 2, 3]] });
  });

  it('stale-partition-epoch proposes under the epoch of an ISR that is no more', () => {
    const epochOf = (options: ClusterOptions) => {
      const cluster = started(options);
      const before = cluster.partition(1).partitionEpoch;
      cluster.push({ leader: 1, epoch: 0, isr: [1, 2], partitionEpoch: before + 1 });
      expect(cluster.partition(1).isr).toEqual([1, 2]);
      return cluster.partition(1).partitionEpoch - before;
    };
    expect(beside('stale-partition-epoch', epochOf)).toEqual({ healthy: 1, faulty: 0 });
  });
});

describe('what a client is told:', () => {
  it('ack-at-leo and ack-below-min-isr acknowledge without the replicas that were promised', () => {
    const alone = (options: ClusterOptions) => {
      const cluster = new Cluster({ ...options, minInsyncReplicas: 2 });
      cluster.push({ leader: 1, epoch: 0, isr: [1] });
      return cluster.produced(cluster.produce(1, 1));
    };
    expect(beside('ack-below-min-isr', alone)).toEqual({ healthy: ErrorCode.NOT_ENOUGH_REPLICAS, faulty: 0 });
    const waiting = (options: ClusterOptions) => {
      const cluster = started(options);
      return cluster.produced(cluster.produce(1, 2));
    };
    expect(beside('ack-at-leo', waiting)).toEqual({ healthy: undefined, faulty: 0 });
  });

  const deposed = (options: ClusterOptions) => {
    const cluster = started({ ...options, brokers: 2 });
    const sent = cluster.produce(1, 2);
    cluster.push({ leader: 2, epoch: 1, isr: [1, 2] });
    return { cluster, sent };
  };

  it('deny-append says that nothing was written', () => {
    expect(
      beside('deny-append', (options) => {
        const { cluster, sent } = deposed(options);
        return cluster.produced(sent);
      }),
    ).toEqual({ healthy: ErrorCode.NOT_LEADER_OR_FOLLOWER, faulty: ErrorCode.LEADER_NOT_AVAILABLE });
  });

  it('ack-after-deposition acknowledges in a later epoch what was cut in between', () => {
    const { cluster, sent } = deposed({ build: 'epoch', defects: ['ack-after-deposition'] });
    cluster.run(300);
    expect(cluster.produced(sent)).toBeUndefined();
    expect(cluster.log(1)).toEqual(['m1@0']);
    cluster.push({ leader: 1, epoch: 2, isr: [1, 2] });
    cluster.produce(1, 3);
    cluster.run(300);
    expect(cluster.log(1)).toEqual(['m1@0', 'm3@2']);
    expect(cluster.produced(sent)).toBe(ErrorCode.NONE);
  });

  it('answer-high-watermark names an offset at which another record stands', () => {
    const offsets = (options: ClusterOptions) => {
      const cluster = started(options);
      const sent = [2, 3].map((value) => cluster.produce(1, value));
      cluster.run(100);
      return sent.map((id) => cluster.answerOf('Produce', id)?.responses[0]?.partitionResponses[0]?.baseOffset);
    };
    expect(beside('answer-high-watermark', offsets)).toEqual({ healthy: [1, 2], faulty: [1, 1] });
  });

  it('read-above-high-watermark gives a consumer what is not committed', () => {
    const read = (options: ClusterOptions) => {
      const cluster = started(options);
      cluster.produce(1, 2);
      return cluster.consume(1, 0);
    };
    expect(beside('read-above-high-watermark', read)).toMatchObject({
      healthy: { values: [1] },
      faulty: { values: [1, 2] },
    });
  });
});
