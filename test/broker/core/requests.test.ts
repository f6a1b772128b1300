import { describe, expect, it } from 'vitest';
import { ErrorCode } from '../../../broker/protocol/index.ts';
import type { RequestBody } from '../../../broker/protocol/index.ts';
import { Cluster } from './cluster.ts';

function started(build = 'epoch'): Cluster {
  const cluster = new Cluster({ build, brokers: 2 });
  cluster.push({ leader: 1, epoch: 0, isr: [1, 2] });
  cluster.produce(1, 1);
  cluster.run(1_200);
  return cluster;
}

function listOffset(
  cluster: Cluster,
  to: number,
  timestamp: number,
  of: { replicaId?: number; version?: number } = {},
) {
  const { replicaId = -1, version = 5 } = of;
  const topics = [{ name: 't', partitions: [{ partitionIndex: 0, currentLeaderEpoch: -1, timestamp }] }];
  const sent = cluster.request(to, 'ListOffsets', version, { replicaId, isolationLevel: 0, topics });
  const answer = cluster.answerOf('ListOffsets', sent)?.topics[0]?.partitions[0];
  return answer?.errorCode === ErrorCode.NONE ? answer.offset : `error ${answer?.errorCode}`;
}

function epochEnd(cluster: Cluster, to: number, leaderEpoch: number, currentLeaderEpoch = -1) {
  const topics = [{ topic: 't', partitions: [{ partition: 0, currentLeaderEpoch, leaderEpoch }] }];
  const sent = cluster.request(to, 'OffsetForLeaderEpoch', 3, { replicaId: -1, topics });
  const answer = cluster.answerOf('OffsetForLeaderEpoch', sent)?.topics[0]?.partitions[0];
  return [answer?.errorCode, answer?.leaderEpoch, answer?.endOffset];
}

function metadata(cluster: Cluster, of: number, topics: RequestBody<'Metadata'>['topics']) {
  const body = {
    topics,
    allowAutoTopicCreation: false,
    includeClusterAuthorizedOperations: false,
    includeTopicAuthorizedOperations: false,
  };
  return cluster.answerOf('Metadata', cluster.request(of, 'Metadata', 7, body))!;
}

describe('ListOffsets', () => {
  it('tells a consumer the log start and the high watermark, a replica the end', () => {
    const cluster = started();
    cluster.produce(1, 2);
    expect([listOffset(cluster, 1, -2), listOffset(cluster, 1, -1)]).toEqual([0, 1]);
    expect(listOffset(cluster, 1, -1, { replicaId: 2 })).toBe(2);
    expect(listOffset(cluster, 2, -1)).toBe('error 6');
  });

  it('does not tell what is latest before a new leader has committed what it found (KIP-207), on epoch', () => {
    const latest = (build: string, version: number) => {
      const cluster = started(build);
      cluster.produce(1, 2);
      cluster.deliver();
      cluster.push({ leader: 2, epoch: 1, isr: [1, 2] });
      expect(cluster.ends(2)).toEqual([2, 1]);
      return listOffset(cluster, 2, -1, { version });
    };
    expect(latest('epoch', 5)).toBe(`error ${ErrorCode.OFFSET_NOT_AVAILABLE}`);
    expect(latest('epoch', 4)).toBe(`error ${ErrorCode.LEADER_NOT_AVAILABLE}`);
    expect(latest('hw', 5)).toBe(1);
  });

  it('tells a follower the end also while a new leader has yet to commit it', () => {
    const cluster = started();
    cluster.produce(1, 2);
    cluster.deliver();
    cluster.push({ leader: 2, epoch: 1, isr: [1, 2] });
    expect(cluster.ends(2)).toEqual([2, 1]);
    expect(listOffset(cluster, 2, -1, { replicaId: 1 })).toBe(2);
  });
});

describe('OffsetForLeaderEpoch', () => {
  it('is answered by the leader only, straight from its cache', () => {
    const cluster = started();
    cluster.push({ leader: 1, epoch: 3, isr: [1, 2] });
    expect(epochEnd(cluster, 1, 0)).toEqual([0, 0, 1]);
    expect(epochEnd(cluster, 1, 2)).toEqual([0, 0, 1]);
    expect(epochEnd(cluster, 1, 3)).toEqual([0, 3, 1]);
    expect(epochEnd(cluster, 1, 4)).toEqual([0, -1, -1]);
    expect(epochEnd(cluster, 2, 0)).toEqual([ErrorCode.NOT_LEADER_OR_FOLLOWER, -1, -1]);
  });

  it('is fenced by the epoch that the caller knows', () => {
    const cluster = started();
    cluster.push({ leader: 1, epoch: 3, isr: [1, 2] });
    expect(epochEnd(cluster, 1, 0, 2)[0]).toBe(ErrorCode.FENCED_LEADER_EPOCH);
    expect(epochEnd(cluster, 1, 0, 4)[0]).toBe(ErrorCode.UNKNOWN_LEADER_EPOCH);
    expect(epochEnd(cluster, 1, 0, 3)[0]).toBe(ErrorCode.NONE);
    expect(cluster.lines(1, 'fenced').at(-1)).toMatchObject({
      by: 'OffsetForLeaderEpoch',
      requestEpoch: 4,
      leaderEpoch: 3,
      from: 'client-0',
    });
  });

  it('knows nothing on hw, which keeps no epochs', () => {
    expect(epochEnd(started('hw'), 1, 0)).toEqual([0, -1, -1]);
  });
});

describe('Metadata', () => {
  it('tells what the controller has pushed', () => {
    const cluster = started();
    const answer = metadata(cluster, 2, null);
    expect(answer.brokers.map(({ nodeId, host, port }) => [nodeId, host, port])).toEqual([
      [1, 'host-1', 9092],
      [2, 'host-2', 9092],
    ]);
    // Whoever is asked hands on what belongs to the controller.
    expect([answer.controllerId, answer.clusterId]).toEqual([2, 'test']);
    expect(answer.topics).toMatchObject([
      {
        errorCode: 0,
        name: 't',
        partitions: [{ errorCode: 0, leaderId: 1, leaderEpoch: 0, replicaNodes: [1, 2], isrNodes: [1, 2] }],
      },
    ]);
  });

  it('shows no fenced broker, and a partition without leader as such', () => {
    const cluster = started();
    cluster.push({ leader: -1, epoch: 1, isr: [1], fenced: [1] });
    const answer = metadata(cluster, 2, null);
    expect(answer.brokers.map(({ nodeId }) => nodeId)).toEqual([2]);
    expect(answer.topics[0]?.partitions[0]).toMatchObject({
      errorCode: ErrorCode.LEADER_NOT_AVAILABLE,
      leaderId: -1,
      offlineReplicas: [1],
    });
  });

  it('answers for the topics asked for, known or not', () => {
    const cluster = started();
    expect(metadata(cluster, 1, []).topics).toEqual([]);
    expect(metadata(cluster, 1, [{ name: 'x' }]).topics).toMatchObject([
      { errorCode: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, name: 'x' },
    ]);
    cluster.push({ leader: -1, epoch: 1, isr: [1], deleted: true });
    expect(metadata(cluster, 1, null).topics).toEqual([]);
  });

  it('forgets what a full push does not name', () => {
    const cluster = started();
    const brokers = [{ brokerId: 1, brokerEpoch: 1, host: 'host-1', port: 9092, fenced: false }];
    cluster.request(
      1,
      'PartitionStates',
      0,
      { metadataVersion: 9, full: true, brokers, partitions: [] },
      'controller.2',
    );
    expect(metadata(cluster, 1, null).topics).toEqual([]);
  });

  it('is not taken back by a push that was overtaken by a newer one', () => {
    const cluster = started();
    const brokers = [{ brokerId: 1, brokerEpoch: 1, host: 'host-1', port: 9092, fenced: true }];
    cluster.request(
      1,
      'PartitionStates',
      0,
      { metadataVersion: 0, full: true, brokers, partitions: [] },
      'controller.1',
    );
    const answer = metadata(cluster, 1, null);
    expect(answer.brokers.map(({ nodeId }) => nodeId)).toEqual([1, 2]);
    expect(answer.topics.map(({ name }) => name)).toEqual(['t']);
  });

  it('sends nobody away for good before the controller has said anything: clients ask again, here', () => {
    const cluster = started();
    cluster.kill(2);
    cluster.restart(2);
    const answer = metadata(cluster, 2, [{ name: 't' }]);
    expect(answer.brokers).toMatchObject([{ nodeId: 2, host: 'host-2', port: 9092 }]);
    expect(answer.topics).toMatchObject([{ errorCode: ErrorCode.LEADER_NOT_AVAILABLE, name: 't', partitions: [] }]);
    expect(cluster.produced(cluster.produce(2, 7))).toBe(ErrorCode.NOT_LEADER_OR_FOLLOWER);
  });
});

describe('ApiVersions', () => {
  it('offers what old clients need to see, and nothing that only brokers speak', () => {
    const cluster = started();
    const sent = cluster.request(1, 'ApiVersions', 3, { clientSoftwareName: '', clientSoftwareVersion: '' });
    const keys = cluster.answerOf('ApiVersions', sent)!.apiKeys;
    expect(keys.find(({ apiKey }) => apiKey === 0)).toMatchObject({ minVersion: 0 });
    expect(keys.map(({ apiKey }) => apiKey)).not.toContain(56);
    expect(keys.map(({ apiKey }) => apiKey)).not.toContain(1_000);
  });
});

describe('a request', () => {
  it('for a partition that nobody knows says so; for one that is elsewhere sends the client there', () => {
    const cluster = started();
    expect(cluster.produced(cluster.produce(2, 1))).toBe(ErrorCode.NOT_LEADER_OR_FOLLOWER);
    cluster.push({ leader: -1, epoch: 1, isr: [1], deleted: true });
    expect(cluster.produced(cluster.produce(2, 1))).toBe(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
  });

  it('that only the controller answers ends the connection', () => {
    const cluster = started();
    const body = { brokerId: 2, brokerEpoch: 1, currentMetadataOffset: 0, wantFence: false, wantShutDown: false };
    const sent = cluster.request(1, 'BrokerHeartbeat', 0, body);
    expect(cluster.disconnected).toEqual([1_000 + sent]);
  });
});
