/** DeleteTopics (key 20), by name; topic ids begin with version 6. Version 4 is flexible. */
import { api, array, field, int16, int32, string, struct } from '../schema.ts';

export const deleteTopics = api({
  key: 20,
  minVersion: 0,
  maxVersion: 4,
  flexibleSince: 4,
  advertised: { minVersion: 0, maxVersion: 4 },
  request: struct({ topicNames: array(string), timeoutMs: int32 }),
  response: struct({
    throttleTimeMs: field(int32, { since: 1 }),
    responses: array(struct({ name: string, errorCode: int16 })),
  }),
});
