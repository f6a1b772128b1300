/** BrokerRegistration (key 62): a broker tells the controller where it listens and gets its broker epoch (KIP-631). */
import { api, array, field, int16, int32, int64, string, struct, uint16, uuid } from '../schema.ts';

export const brokerRegistration = api({
  key: 62,
  minVersion: 0,
  maxVersion: 0,
  flexibleSince: 0,
  advertised: null,
  request: struct({
    brokerId: int32,
    clusterId: string,
    incarnationId: uuid,
    listeners: array(struct({ name: string, host: string, port: uint16, securityProtocol: int16 })),
    features: array(struct({ name: string, minSupportedVersion: int16, maxSupportedVersion: int16 })),
    rack: field(string, { nullableSince: 0 }),
  }),
  response: struct({
    throttleTimeMs: int32,
    errorCode: int16,
    brokerEpoch: field(int64, { default: -1 }),
  }),
});
