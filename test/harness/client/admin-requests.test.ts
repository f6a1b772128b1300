import { describe, expect, it } from 'vitest';
import { ErrorCode } from '../../../broker/protocol/index.ts';
import {
  controllerOf,
  createTopicsRequest,
  electPreferredRequest,
  endOffsets,
  endOffsetsRequest,
  isRefusedByOther,
  preferring,
  reassignRequest,
  refusalOfElection,
  refusalOfReassignment,
  spreadReplicas,
} from '../../../harness/client/admin-requests.ts';
import { metadata, offsets } from './by-hand.ts';

const none = { errorCode: ErrorCode.NONE, errorMessage: null };

describe('replicas that are spread', () => {
  it('go by turns to the given brokers and to no other', () => {
    expect(spreadReplicas([1, 2, 4], 4, 2)).toEqual([
      [1, 2],
      [2, 4],
      [4, 1],
      [1, 2],
    ]);
  });

  it('are no more than there are brokers', () => {
    expect(spreadReplicas([1, 2], 1, 3)).toEqual([[1, 2]]);
  });

  it('are asked for in place of numbers', () => {
    expect(createTopicsRequest('tide', 2, 1, [[3], [1]]).topics).toEqual([
      {
        name: 'tide',
        numPartitions: -1,
        replicationFactor: -1,
        assignments: [
          { partitionIndex: 0, brokerIds: [3] },
          { partitionIndex: 1, brokerIds: [1] },
        ],
        configs: [],
      },
    ]);
  });
});

describe('a leader is moved', () => {
  it('by the same replicas with the new leader first, and its election', () => {
    expect(preferring(3, [1, 2, 3])).toEqual([3, 1, 2]);
    expect(reassignRequest('tide-1', [3, 1, 2]).topics).toEqual([
      { name: 'tide', partitions: [{ partitionIndex: 1, replicas: [3, 1, 2] }] },
    ]);
    expect(electPreferredRequest('tide-1')).toMatchObject({
      electionType: 0,
      topicPartitions: [{ topic: 'tide', partitions: [1] }],
    });
  });

  it('unless the order or the election is refused, as a whole or for the partition', () => {
    const reassigned = { throttleTimeMs: 0, allowReplicationFactorChange: true, ...none };
    const partition = { partitionIndex: 0, ...none };
    const refused = { partitionIndex: 0, errorCode: ErrorCode.INVALID_REPLICA_ASSIGNMENT, errorMessage: 'why' };
    expect(refusalOfReassignment({ ...reassigned, responses: [{ name: 'tide', partitions: [partition] }] })).toBeNull();
    expect(refusalOfReassignment({ ...reassigned, responses: [{ name: 'tide', partitions: [refused] }] })).toBe(
      'INVALID_REPLICA_ASSIGNMENT, why',
    );
    const busy = { ...reassigned, errorCode: ErrorCode.NOT_CONTROLLER, responses: [] };
    expect(refusalOfReassignment(busy)).toBe('NOT_CONTROLLER');
  });

  it('also where it leads already when the election comes', () => {
    const elected = (errorCode: number): Parameters<typeof refusalOfElection>[0] => ({
      throttleTimeMs: 0,
      errorCode: 0,
      replicaElectionResults: [{ topic: 'tide', partitionResult: [{ partitionId: 0, errorCode, errorMessage: null }] }],
    });
    expect(refusalOfElection(elected(ErrorCode.NONE))).toBeNull();
    expect(refusalOfElection(elected(ErrorCode.ELECTION_NOT_NEEDED))).toBeNull();
    expect(refusalOfElection(elected(ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE))).toBe('PREFERRED_LEADER_NOT_AVAILABLE');
  });
});

describe('the controller', () => {
  it('is where Metadata says, if it says so', () => {
    expect(controllerOf(metadata([1]))).toEqual({ node: 1, host: '10.0.0.1', port: 9091 });
    expect(controllerOf({ ...metadata([1]), controllerId: -1 })).toBeNull();
  });

  it('is referred to by any other broker, for the whole request, for a topic or for a partition', () => {
    const other = { errorCode: ErrorCode.NOT_CONTROLLER, errorMessage: null };
    const topic = { throttleTimeMs: 0, topics: [{ name: 'tide', ...other }] };
    expect(isRefusedByOther(topic)).toBe(true);
    expect(isRefusedByOther({ ...topic, topics: [{ name: 'tide', ...none }] })).toBe(false);
    const order = { throttleTimeMs: 0, allowReplicationFactorChange: true };
    expect(isRefusedByOther({ ...order, ...other, responses: [] })).toBe(true);
    const partition = { partitionIndex: 0, ...other };
    expect(isRefusedByOther({ ...order, ...none, responses: [{ name: 'tide', partitions: [partition] }] })).toBe(true);
    const partitionResult = [{ partitionId: 0, ...other }];
    const election = { throttleTimeMs: 0, errorCode: 0, replicaElectionResults: [{ topic: 'tide', partitionResult }] };
    expect(isRefusedByOther(election)).toBe(true);
    expect(isRefusedByOther({ ...election, replicaElectionResults: [] })).toBe(false);
  });
});

describe('the end of a partition', () => {
  it('is asked as a consumer asks for the latest offset', () => {
    const { replicaId, isolationLevel, topics } = endOffsetsRequest(['tide-0', 'tide-2']);
    expect([replicaId, isolationLevel]).toEqual([-1, 0]);
    expect(topics[0]?.partitions.map(({ partitionIndex, timestamp }) => [partitionIndex, timestamp])).toEqual([
      [0, -1],
      [2, -1],
    ]);
  });

  it('is an offset, or the name of what the leader says instead', () => {
    expect(endOffsets(offsets({ 0: 7 }, { 1: ErrorCode.NOT_LEADER_OR_FOLLOWER }))).toEqual(
      new Map<string, unknown>([
        ['tide-0', 7],
        ['tide-1', 'NOT_LEADER_OR_FOLLOWER'],
      ]),
    );
  });
});
