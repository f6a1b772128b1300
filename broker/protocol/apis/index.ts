/** All APIs by Kafka's names for them. A new one is a table in this folder and a line here. */
import type { ValueOf } from '../schema.ts';
import { alterPartition } from './alter-partition.ts';
import { alterPartitionReassignments } from './alter-partition-reassignments.ts';
import { apiVersions } from './api-versions.ts';
import { brokerHeartbeat } from './broker-heartbeat.ts';
import { brokerRegistration } from './broker-registration.ts';
import { createTopics } from './create-topics.ts';
import { deleteTopics } from './delete-topics.ts';
import { describeQuorum } from './describe-quorum.ts';
import { electLeaders } from './elect-leaders.ts';
import { fetch } from './fetch.ts';
import { listOffsets } from './list-offsets.ts';
import { metadata } from './metadata.ts';
import { moveLeader } from './move-leader.ts';
import { offsetForLeaderEpoch } from './offset-for-leader-epoch.ts';
import { partitionStates } from './partition-states.ts';
import { produce } from './produce.ts';

export const apis = {
  Produce: produce,
  Fetch: fetch,
  ListOffsets: listOffsets,
  Metadata: metadata,
  ApiVersions: apiVersions,
  CreateTopics: createTopics,
  DeleteTopics: deleteTopics,
  OffsetForLeaderEpoch: offsetForLeaderEpoch,
  ElectLeaders: electLeaders,
  AlterPartitionReassignments: alterPartitionReassignments,
  DescribeQuorum: describeQuorum,
  AlterPartition: alterPartition,
  BrokerRegistration: brokerRegistration,
  BrokerHeartbeat: brokerHeartbeat,
  PartitionStates: partitionStates,
  MoveLeader: moveLeader,
} as const;

export type ApiName = keyof typeof apis;
export type RequestBody<A extends ApiName> = ValueOf<(typeof apis)[A]['request']>;
export type ResponseBody<A extends ApiName> = ValueOf<(typeof apis)[A]['response']>;
