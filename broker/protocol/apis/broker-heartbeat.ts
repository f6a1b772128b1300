/** BrokerHeartbeat (key 63): keeps a broker's session, asks to be fenced or to shut down (KIP-631). */
import { api, bool, field, int16, int32, int64, struct } from '../schema.ts';

export const brokerHeartbeat = api({
  key: 63,
  minVersion: 0,
  maxVersion: 0,
  flexibleSince: 0,
  advertised: null,
  request: struct({
    brokerId: int32,
    brokerEpoch: field(int64, { default: -1 }),
    currentMetadataOffset: int64,
    wantFence: bool,
    wantShutDown: bool,
  }),
  response: struct({
    throttleTimeMs: int32,
    errorCode: int16,
    isCaughtUp: bool,
    isFenced: field(bool, { default: true }),
    shouldShutDown: bool,
  }),
});
