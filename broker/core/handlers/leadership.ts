/** Who may be served: the checks that every request to a partition's leader begins with. */
import { ErrorCode } from '../../protocol/index.ts';
import type { ApiName } from '../../protocol/index.ts';
import { isLed } from '../leader.ts';
import type { Led } from '../leader.ts';
import { isInformed, knownPartition } from '../metadata.ts';
import type { Partition } from '../partition.ts';
import { trace } from '../state.ts';
import type { Turn } from '../state.ts';
import type { Origin } from '../step.ts';

/** The caller's request, as far as the trace of a refusal has to name it. */
export interface Caller {
  readonly api: ApiName;
  readonly origin: Origin;
}

/** The replica that this broker holds, whatever its role. */
export function replicaOf(turn: Turn, topic: string, index: number): Partition | undefined {
  return turn.state.partitions.find(topic, index);
}

/** What was made of each topic, in one list. Nearly every request names a single topic, and its list is the whole. */
export function joined<T>(byTopic: readonly T[][]): T[] {
  return byTopic.length === 1 ? byTopic[0]! : byTopic.flat();
}

/**
 * The partition, if this broker leads it in the epoch that the caller knows (−1 for a caller that knows none); else an
 * error code. A refusal by epoch is traced where a caller is named.
 */
export function leadership(
  turn: Turn,
  partition: Partition | undefined,
  topic: string,
  index: number,
  requestEpoch = -1,
  caller?: Caller,
): Led | number {
  if (partition === undefined || partition.leaderEpoch < 0) {
    const { metadata } = turn.state;
    const mayExist = !isInformed(metadata) || knownPartition(metadata, topic, index) !== undefined;
    return mayExist ? ErrorCode.NOT_LEADER_OR_FOLLOWER : ErrorCode.UNKNOWN_TOPIC_OR_PARTITION;
  }
  const { key, leaderEpoch } = partition;
  const { build, defects } = turn.state;
  const differs = requestEpoch >= 0 && requestEpoch !== leaderEpoch;
  if (differs && build.fencesByEpoch && !defects.has('unfenced-requests')) {
    if (caller !== undefined) {
      const { api: by, origin } = caller;
      // The refused request, also where it had waited and something else brought its refusal.
      const from = origin.clientId;
      trace(turn, { event: 'fenced', partition: key, leaderEpoch, by, requestEpoch, from, msg: origin });
    }
    return requestEpoch < leaderEpoch ? ErrorCode.FENCED_LEADER_EPOCH : ErrorCode.UNKNOWN_LEADER_EPOCH;
  }
  return isLed(partition) ? partition : ErrorCode.NOT_LEADER_OR_FOLLOWER;
}
