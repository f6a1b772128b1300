/**
 * ApiVersions (key 18), the first request of most clients. A version that the broker does not know is answered in
 * version 0 with UNSUPPORTED_VERSION and the range that it does know (KIP-511); therefore the response header never has
 * tagged fields, even where the body is flexible.
 */
import { api, array, field, int16, int32, int64, string, struct } from '../schema.ts';

export const apiVersions = api({
  key: 18,
  minVersion: 0,
  maxVersion: 3,
  flexibleSince: 3,
  advertised: { minVersion: 0, maxVersion: 3 },
  request: struct({
    clientSoftwareName: field(string, { since: 3 }),
    clientSoftwareVersion: field(string, { since: 3 }),
  }),
  response: struct({
    errorCode: int16,
    apiKeys: array(struct({ apiKey: int16, minVersion: int16, maxVersion: int16 })),
    throttleTimeMs: field(int32, { since: 1 }),
    supportedFeatures: field(array(struct({ name: string, minVersion: int16, maxVersion: int16 })), {
      since: 3,
      tag: 0,
    }),
    finalizedFeaturesEpoch: field(int64, { since: 3, tag: 1, default: -1 }),
    finalizedFeatures: field(array(struct({ name: string, maxVersionLevel: int16, minVersionLevel: int16 })), {
      since: 3,
      tag: 2,
    }),
  }),
});
