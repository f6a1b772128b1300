/**
 * PartitionStates (key 1000, private): the controller pushes the newest state of partitions, and the live endpoints, to
 * a broker until it is acknowledged. A full push holds all partitions. So a broker can hear late and miss an epoch.
 */
import { api, array, bool, int16, int32, int64, string, struct } from '../schema.ts';

export const partitionStates = api({
  key: 1000,
  minVersion: 0,
  maxVersion: 0,
  flexibleSince: Infinity,
  advertised: null,
  request: struct({
    metadataVersion: int64,
    full: bool,
    brokers: array(struct({ brokerId: int32, brokerEpoch: int64, host: string, port: int32, fenced: bool })),
    partitions: array(
      struct({
        topic: string,
        partition: int32,
        // −1: none.
        leader: int32,
        leaderEpoch: int32,
        partitionEpoch: int32,
        isr: array(int32),
        replicas: array(int32),
        deleted: bool,
      }),
    ),
  }),
  response: struct({ errorCode: int16, metadataVersion: int64 }),
});
