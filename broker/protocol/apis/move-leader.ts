/**
 * MoveLeader (key 1001, private): makes `target`, a member of the ISR, the leader. Kafka moves leaders only to the
 * preferred replica; a nemesis must name the one it means. Any broker forwards it to the controller.
 */
import { api, field, int16, int32, string, struct } from '../schema.ts';

export const moveLeader = api({
  key: 1001,
  minVersion: 0,
  maxVersion: 0,
  flexibleSince: Infinity,
  advertised: null,
  request: struct({ topic: string, partition: int32, target: int32 }),
  response: struct({ errorCode: int16, errorMessage: field(string, { nullableSince: 0, default: null }) }),
});
