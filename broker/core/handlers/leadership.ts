/** Who may be served: the checks that every request to a partition's leader begins with. */
import { ErrorCode } from '../../protocol/index.ts';
import { isLed } from '../leader.ts';
import type { Led } from '../leader.ts';
import { knownPartition } from '../metadata.ts';
import { trace } from '../state.ts';
import type { Turn } from '../state.ts';
import type { ApiName } from '../../protocol/index.ts';
import type { Origin } from '../step.ts';

export type Leadership = { readonly led: Led } | { readonly errorCode: number };

/** The caller's request, as far as a refusal has to name it. */
export interface Caller {
  readonly api: ApiName;
  readonly origin: Origin;
}

/** The partition, if this broker leads it in the epoch that the caller knows; −1 for a caller that knows none. */
export function leadership(turn: Turn, topic: string, index: number, requestEpoch = -1, caller?: Caller): Leadership {
  const partition = turn.state.partitions.get(`${topic}-${index}`);
  if (partition === undefined || partition.leaderEpoch < 0) {
    const exists = knownPartition(turn.state.metadata, topic, index) !== undefined;
    return { errorCode: exists ? ErrorCode.NOT_LEADER_OR_FOLLOWER : ErrorCode.UNKNOWN_TOPIC_OR_PARTITION };
  }
  const { key, leaderEpoch } = partition;
  if (turn.state.build.fencesByEpoch && requestEpoch >= 0 && requestEpoch !== leaderEpoch) {
    if (caller !== undefined) {
      const { api: by, origin } = caller;
      trace(turn, { event: 'fenced', partition: key, leaderEpoch, by, requestEpoch, from: origin.clientId });
    }
    const older = requestEpoch < leaderEpoch;
    return { errorCode: older ? ErrorCode.FENCED_LEADER_EPOCH : ErrorCode.UNKNOWN_LEADER_EPOCH };
  }
  return isLed(partition) ? { led: partition } : { errorCode: ErrorCode.NOT_LEADER_OR_FOLLOWER };
}
